/**
 * What the environment says about how the broker runs. The command line, which lets programs in, reads the same variables.
 */
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { secretFromText, settingFromText, type SsoOptions, ssoOptionsFromEnvironment } from '@owner-sso/core'

export interface Settings {
  /** The SSO service. Its `transport` is the owner API's as well. */
  readonly sso: SsoOptions
  /** The owner API, for programs with the scope `proxy`; without it, nothing is forwarded. */
  readonly apiUrl: string | undefined
  /** A folder, Redis or PostgreSQL: `file:PATH`, `redis://…`, `postgres://…`. May have a password in it, so it is never printed. */
  readonly store: string
  /** What token sets are sealed with, 32 bytes each: the first seals, all open. */
  readonly encryptionKeys: readonly Uint8Array[] | undefined
  readonly host: string
  readonly port: number
  /** A certificate of the broker's own, and its key, in PEM. */
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined
  /** Nobody but a proxy with TLS, or this machine, reaches the port. */
  readonly behindTlsProxy: boolean
  /** Names that the broker goes by, beside `localhost` and IP addresses. */
  readonly hosts: readonly string[]
  /** How people and programs call it. */
  readonly publicUrl: URL | undefined
  readonly webhook: { readonly url: string; readonly secret: string } | undefined
}

/** A variable of the environment that can't be used; the message says what to set. */
export class SettingsError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SettingsError'
  }
}

/** @throws SettingsError that names the variable, and never its value */
export function settingsFrom(environment: NodeJS.ProcessEnv): Settings {
  /** An empty variable is an unset one. */
  const optional = (name: string, read = settingFromText): string | undefined =>
    readOrTell(() => read(environment[name] ?? '', name)) || undefined
  const required = (name: string, meaning: string, read = settingFromText): string => {
    const value = optional(name, read)
    if (value === undefined) throw new SettingsError(`${name} is not set: it must be ${meaning}.`)
    return value
  }
  const list = (name: string): string[] => (optional(name) ?? '').split(/[\s,]+/u).filter(Boolean)
  const webhookUrl = optional('OWNER_SSO_ALERT_WEBHOOK')
  const described = readOrTell(() => ssoOptionsFromEnvironment(environment))
  return {
    sso: { ...described, authUrl: required('OWNER_SSO_AUTH_URL', 'the address of the SSO service') },
    apiUrl: optional('OWNER_SSO_API_URL'),
    store: storeAddress(required('OWNER_SSO_STORE', stores)),
    encryptionKeys: keys(environment['OWNER_SSO_ENCRYPTION_KEY']?.trim() || undefined),
    host: optional('HOST') ?? '127.0.0.1',
    port: port(optional('PORT') ?? '8700'),
    tls: certificate(optional('OWNER_SSO_TLS_CERT'), optional('OWNER_SSO_TLS_KEY')),
    behindTlsProxy: flag('OWNER_SSO_BEHIND_TLS_PROXY', optional('OWNER_SSO_BEHIND_TLS_PROXY')),
    hosts: hostNames(list('OWNER_SSO_HOSTS')),
    publicUrl: address('OWNER_SSO_PUBLIC_URL', optional('OWNER_SSO_PUBLIC_URL')),
    webhook:
      webhookUrl === undefined
        ? undefined
        : {
            url: webhookUrl,
            secret: required('OWNER_SSO_ALERT_SECRET', signing, secretFromText),
          },
  }
}

/** What core reads out of text. @throws SettingsError */
function readOrTell<Value>(read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    throw new SettingsError(`${error instanceof Error ? error.message : String(error)}.`)
  }
}

const signing = 'what alerts are signed with (openssl rand -base64 32)'
const stores = 'file:/data/tokens, redis://HOST:PORT (rediss:// for TLS) or postgres://HOST/DATABASE'

/** The value is not repeated: there may be a password in it. */
function storeAddress(value: string): string {
  const url = /^(?:rediss?|postgres(?:ql)?):/u.test(value) && URL.canParse(value) ? new URL(value) : undefined
  if (/^file:[^~]/su.test(value) || (url !== undefined && url.hostname !== '')) return value
  throw new SettingsError(`OWNER_SSO_STORE must be ${stores}.`)
}

/** Separated by commas or spaces, so that one can be changed: the new one first. */
function keys(value: string | undefined): readonly Uint8Array[] | undefined {
  if (value === undefined) return undefined
  const all = value
    .split(/[\s,]+/u)
    .filter(Boolean)
    .map((each) => Buffer.from(each, 'base64'))
  if (all.length > 0 && all.every(({ byteLength }) => byteLength === 32)) return all
  throw new SettingsError(
    "OWNER_SSO_ENCRYPTION_KEY must be 32 bytes in base64, such as 'openssl rand -base64 32' prints.",
  )
}

/** Another word would be taken for no without a word. */
function flag(name: string, value = '0'): boolean {
  if (/^[01]$/u.test(value)) return value === '1'
  throw new SettingsError(`${name} must be 1 or 0.`)
}

function hostNames(names: readonly string[]): readonly string[] {
  if (names.every((name) => /^[a-z\d.-]+$/iu.test(name))) return names
  throw new SettingsError('OWNER_SSO_HOSTS must be names such as broker.home.example, without a port.')
}

function certificate(cert: string | undefined, key: string | undefined): Settings['tls'] {
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined || key === undefined) {
    throw new SettingsError('OWNER_SSO_TLS_CERT and OWNER_SSO_TLS_KEY belong together: set both, or neither.')
  }
  const pair = { cert: fileAt('OWNER_SSO_TLS_CERT', cert), key: fileAt('OWNER_SSO_TLS_KEY', key) }
  try {
    createSecureContext(pair)
  } catch {
    throw new SettingsError('OWNER_SSO_TLS_CERT and OWNER_SSO_TLS_KEY must be a certificate and its key, in PEM.')
  }
  return pair
}

function fileAt(name: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch {
    throw new SettingsError(`${name} must be the path of a file in PEM that this user can read.`)
  }
}

function port(value: string): number {
  if (/^\d{1,5}$/u.test(value) && Number(value) <= 65_535) return Number(value)
  throw new SettingsError('PORT must be a whole number from 0 to 65535.')
}

function address(name: string, value: string | undefined): URL | undefined {
  if (value === undefined) return undefined
  if (URL.canParse(value) && /^https?:$/u.test(new URL(value).protocol)) return new URL(value)
  throw new SettingsError(`${name} must be an address such as https://broker.example.com.`)
}
