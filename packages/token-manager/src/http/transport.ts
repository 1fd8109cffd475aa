/**
 * TLS, HTTP/2 and the User-Agent of requests to the service and the owner API, as one value. The document's is TLS 1.2 and
 * HTTP/1.1. The service's edge was seen to accept a token only from some transports, so it can be changed here
 * (`docs/internals/decisions.md`).
 */
import type { SecureContextOptions } from 'node:tls'
import { checkedAuthority } from './certificate-authority.ts'
import { parseJson } from './json-object.ts'
import { checkOptions, isObject, kinds, type OptionRows, requireThat } from '../support/options.ts'
import { version } from '../version.ts'

/** A TLS version, as `node:tls` names it. The document's service takes at most 1.2 ("Limits"). */
export type TlsVersion = 'TLSv1.2' | 'TLSv1.3'

/** TLS. Verification can't be turned off. */
export interface TlsOptions {
  /** The lowest version. Default `TLSv1.2`. */
  readonly minVersion?: TlsVersion | undefined
  /** The highest version. Default `TLSv1.2`: the document's. */
  readonly maxVersion?: TlsVersion | undefined
  /** PEM of a private certificate authority, or several; in place of the usual ones. */
  readonly ca?: SecureContextOptions['ca'] | undefined
  /** A list in OpenSSL's form. Default: Node's. */
  readonly ciphers?: string | undefined
}

/** The parts of a transport. A part that is left out is the document's. */
export interface TransportOptions {
  readonly tls?: TlsOptions | undefined
  /** Offers HTTP/2 beside HTTP/1.1; the service chooses. Without TLS nothing is offered. Default false. */
  readonly http2?: boolean | undefined
  /** Default `owner-sso/<version>`. A browser-like one is a TypeError: the service would demand JavaScript. */
  readonly userAgent?: string | undefined
}

/**
 * `document`: TLS 1.2 and HTTP/1.1, as the interface document has it. `modern`: TLS 1.3 and HTTP/2. The others by their parts. The
 * service's edge judges the tokens by them.
 */
export type TransportName = 'document' | 'modern' | 'tls13-http1' | 'tls12-http2'

/** A name, or the parts. */
export type TransportOption = TransportName | TransportOptions

/** A transport with every part filled in. */
export interface Transport {
  readonly tls: {
    readonly minVersion: TlsVersion
    readonly maxVersion: TlsVersion
    readonly ca?: SecureContextOptions['ca'] | undefined
    readonly ciphers?: string | undefined
  }
  readonly http2: boolean
  readonly userAgent: string
}

const tls13 = { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' } as const

const named: Readonly<Record<TransportName, TransportOptions>> = {
  document: {},
  modern: { tls: tls13, http2: true },
  'tls13-http1': { tls: tls13 },
  'tls12-http2': { http2: true },
}

/** The names, in the order in which one is found that mints tokens the owner API takes (field notes, for Node). */
export const transportNames: readonly TransportName[] = ['tls13-http1', 'modern', 'tls12-http2', 'document']

const partRows: OptionRows<TransportOptions> = { tls: kinds.any, http2: kinds.boolean, userAgent: kinds.any }

const tlsVersion = kinds.oneOf('TLSv1.2', 'TLSv1.3')

const tlsRows: OptionRows<TlsOptions> = {
  minVersion: tlsVersion,
  maxVersion: tlsVersion,
  ca: kinds.any,
  ciphers: kinds.text,
}

const browserLike =
  /mozilla|applewebkit|webkit|gecko|chrome|chromium|crios|safari|firefox|fxios|opera|opr\/|edg|msie|trident/iu

/**
 * The transport that options ask for. `tls` and `userAgent` beside `transport` are its parts in short, and come before them:
 * `{ transport: 'modern', tls: { ca } }`.
 *
 * @throws TypeError that names the option
 */
export function transportOf(options: {
  readonly transport?: TransportOption | undefined
  readonly tls?: TlsOptions | undefined
  readonly userAgent?: string | undefined
}): Transport {
  // What somebody put on Object.prototype is no option.
  const own: typeof options = Object.assign(Object.create(null), options)
  const { transport = 'document', tls = {}, userAgent } = own
  requireThat(
    isName(transport) || isObject(transport),
    `transport must be ${transportNames.map((name) => `'${name}'`).join(', ')}, or an object with tls, http2 and userAgent`,
  )
  const parts = checkOptions('transport', isName(transport) ? named[transport] : transport, partRows, 'transport.')
  const given = { ...checkedTls(parts.tls ?? {}, 'transport.tls'), ...checkedTls(tls, 'tls') }
  return {
    tls: checkedTogether(given),
    http2: parts.http2 ?? false,
    userAgent: checkedUserAgent(userAgent ?? parts.userAgent ?? `owner-sso/${version}`),
  }
}

/**
 * A transport as text, for a variable of the environment or an argument: a name, or the parts as JSON.
 *
 * @param where - what the text was given as, for the error
 * @throws TypeError
 */
export function transportFromText(text: string, where = 'a transport'): TransportOption {
  requireThat(typeof text === 'string', `${where} must be a string`)
  const name = text.trim()
  if (isName(name)) return name
  const value = parseJson(name)
  requireThat(
    isObject(value),
    `${where} must be ${transportNames.join(', ')}, or JSON such as {"tls":{"maxVersion":"TLSv1.3"},"http2":true}`,
  )
  return value
}

function isName(value: unknown): value is TransportName {
  return transportNames.some((name) => name === value)
}

function checkedTls(tls: unknown, where: string): TlsOptions {
  requireThat(typeof tls === 'object' && tls !== null, `${where} must be an object`)
  requireThat(
    !Object.hasOwn(tls, 'rejectUnauthorized'),
    `${where}.rejectUnauthorized is not an option; certificate verification can’t be turned off`,
  )
  const own = checkOptions<TlsOptions>(where, tls, tlsRows, `${where}.`)
  const ca = own.ca === undefined ? undefined : checkedAuthority(own.ca, `${where}.ca`)
  return Object.fromEntries(Object.entries({ ...own, ca }).filter(([, value]) => value !== undefined))
}

function checkedTogether(given: TlsOptions): Transport['tls'] {
  const { minVersion = 'TLSv1.2', maxVersion = 'TLSv1.2', ca, ciphers } = given
  requireThat(
    minVersion <= maxVersion,
    `tls.minVersion (${minVersion}) must not be above tls.maxVersion (${maxVersion})`,
  )
  const tls = { minVersion, maxVersion, ...(ca !== undefined && { ca }), ...(ciphers !== undefined && { ciphers }) }
  if (ciphers !== undefined) requireThat(isUsable(tls), 'tls.ciphers must be a list that this Node’s OpenSSL knows')
  return tls
}

/** TLS is loaded only where there is something to try. */
function isUsable(tls: SecureContextOptions): boolean {
  try {
    process.getBuiltinModule('node:tls').createSecureContext(tls)
    return true
  } catch {
    return false
  }
}

function checkedUserAgent(userAgent: unknown): string {
  requireThat(
    typeof userAgent === 'string' && /^[\x21-\x7e][\x20-\x7e]{0,255}$/u.test(userAgent),
    'userAgent must be visible ASCII text of at most 256 characters',
  )
  requireThat(
    !browserLike.test(userAgent),
    'userAgent must not look like a browser’s: the service would demand JavaScript',
  )
  return userAgent
}
