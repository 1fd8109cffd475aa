/**
 * How the recorder speaks TLS with the service, in the words that the client under test has for its transport.
 */

import { checkNames } from '../known-names.ts'

/**
 * `document`: TLS 1.2. `modern`: TLS 1.3. Or its parts. What passes is HTTP/1.1 and has the client's own User-Agent, whatever
 * `http2` and `userAgent` say.
 */
export type UpstreamTransport =
  | 'document'
  | 'modern'
  | {
      readonly tls?: {
        readonly minVersion?: 'TLSv1.2' | 'TLSv1.3'
        readonly maxVersion?: 'TLSv1.2' | 'TLSv1.3'
        readonly ciphers?: string
      }
      readonly http2?: boolean
      readonly userAgent?: string
    }

/** What a connection to the service is made with. */
export interface UpstreamTls {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
  readonly maxVersion: 'TLSv1.2' | 'TLSv1.3'
  /** PEM of an authority that is trusted in place of the usual ones. */
  readonly ca?: string
  readonly ciphers?: string
}

/** @throws {TypeError} The value is not a transport. */
export function upstreamTls(transport: unknown = 'document', ca?: string): UpstreamTls {
  const { minVersion = 'TLSv1.2', maxVersion = 'TLSv1.2', ciphers } = partsOf(transport)
  const isRange = isVersion(minVersion) && isVersion(maxVersion) && minVersion <= maxVersion
  if (!isRange || (ciphers !== undefined && typeof ciphers !== 'string')) throw wrong()
  return { minVersion, maxVersion, ...(ciphers !== undefined && { ciphers }), ...(ca !== undefined && { ca }) }
}

/** A transport as an argument has it: a name, or JSON. Its parts are checked where it is used. @throws {TypeError} It is neither. */
export function transportFromText(text: string): UpstreamTransport {
  if (text === 'document' || text === 'modern') return text
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch {
    // Said below.
  }
  throw wrong()
}

function partsOf(transport: unknown): Readonly<Record<string, unknown>> {
  if (transport === 'document') return {}
  if (transport === 'modern') return { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' }
  if (!isObject(transport)) throw wrong()
  checkNames('option', 'transport.', transport, ['tls', 'http2', 'userAgent'])
  const { tls = {} } = transport
  if (!isObject(tls)) throw wrong()
  checkNames('option', 'transport.tls.', tls, ['minVersion', 'maxVersion', 'ciphers'])
  return tls
}

function isVersion(value: unknown): value is 'TLSv1.2' | 'TLSv1.3' {
  return value === 'TLSv1.2' || value === 'TLSv1.3'
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function wrong(): TypeError {
  return new TypeError(
    'Option transport must be document, modern, or { tls: { minVersion, maxVersion, ciphers } } with TLSv1.2 or TLSv1.3',
  )
}
