/**
 * How the recorder speaks TLS with the service, by the names that the client under test has for its transport.
 */

/** `document`: TLS 1.2, as the interface document has it. `modern`: TLS 1.3. What passes is HTTP/1.1 in either case. */
export type UpstreamTransport = 'document' | 'modern'

const versions: Readonly<Record<UpstreamTransport, 'TLSv1.2' | 'TLSv1.3'>> = { document: 'TLSv1.2', modern: 'TLSv1.3' }

/** What a connection to the service is made with. */
export interface UpstreamTls {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
  readonly maxVersion: 'TLSv1.2' | 'TLSv1.3'
  /** PEM of an authority that is trusted in place of the usual ones. */
  readonly ca?: string
}

/** @throws {TypeError} There is no such transport. */
export function transportNamed(name: string): UpstreamTransport {
  if (name === 'document' || name === 'modern') return name
  throw new TypeError('Option transport must be document or modern')
}

/** @throws {TypeError} There is no such transport. */
export function upstreamTls(transport: UpstreamTransport = 'document', ca?: string): UpstreamTls {
  const version = versions[transportNamed(transport)]
  return { minVersion: version, maxVersion: version, ...(ca !== undefined && { ca }) }
}
