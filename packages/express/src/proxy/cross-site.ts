/**
 * Whether a page of another site makes the call, with the owner's cookies in it.
 */
import type { IncomingMessage } from 'node:http'

/**
 * `Sec-Fetch-Site` decides where a browser sends it, else `Origin` against `Host`. A caller with neither is no browser,
 * and so sends no owner's cookies on behalf of a page.
 *
 * @param trustedOrigins - origins that may call as if they were this one
 */
export function isCrossSite({ method, headers }: IncomingMessage, trustedOrigins: ReadonlySet<string>): boolean {
  // Over HTTP/2, the host has a name of its own (RFC 9113 section 8.3.1).
  const { origin, host = headers[':authority'] } = headers
  if (origin !== undefined && trustedOrigins.has(origin)) return false
  const site = headers['sec-fetch-site']
  if (site === undefined) return origin !== undefined && !isSameHost(origin, String(host))
  // Reading across subdomains is what the application's own CORS rules decide; writing is not.
  if (method === 'GET' || method === 'HEAD') return site === 'cross-site'
  return site !== 'same-origin' && site !== 'none'
}

/** A dot at the end of a host says that its name is whole, and nothing else. */
const withoutDot = (host: string): string => host.replace(/\.(?=:\d+$|$)/u, '')

/** The scheme may be another: what ends TLS in front asks over http. An app's own (`capacitor://localhost`) is no site. */
function isSameHost(origin: string, host: string): boolean {
  if (!/^https?:/u.test(origin) || !URL.canParse(origin)) return false
  const { protocol, host: originHost } = new URL(origin)
  const own = `${protocol}//${host}`
  return URL.canParse(own) && withoutDot(new URL(own).host) === withoutDot(originHost)
}
