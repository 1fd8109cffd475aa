/**
 * The headers that come back from the owner API.
 */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { signInChallenge } from '../answers/problem.ts'
import { cachingHeaders, variance } from '../caching.ts'
import { connectionNames } from './header-names.ts'
import type { ProxySettings } from './options.ts'
import { isBelow, isUnambiguous } from './request-path.ts'

export interface AnswerRules {
  /** Lower-case names. */
  readonly names: ReadonlySet<string>
  /** Whether a text has the access token in it. */
  readonly showsToken: (text: string) => boolean
  /** What the application has set on its response already, by lower-case names. */
  readonly own: Readonly<OutgoingHttpHeaders>
  /** What a `Location` is here; `undefined` where it leads elsewhere. */
  readonly location: (value: string) => string | undefined
}

/**
 * Those of the owner API's headers that are on the list, in their safe form. Its pages are not the application's: they run no
 * script in its origin and are not taken for another type.
 */
export function answerHeaders(status: number, upstream: IncomingHttpHeaders, rules: AnswerRules): OutgoingHttpHeaders {
  const hopByHop = connectionNames(upstream.connection)
  // Filled field by field: V8 takes several times as long to add fields to a spread copy.
  const headers = cachingHeaders(upstream, rules.own)
  headers['content-security-policy'] = "sandbox; default-src 'none'"
  headers['x-content-type-options'] = 'nosniff'
  if (status === 401) headers['www-authenticate'] = signInChallenge
  let length: string | undefined
  for (const name of Object.keys(upstream)) {
    if (!rules.names.has(name) || name === 'cache-control' || name === 'expires' || hopByHop?.has(name)) continue
    // An answer without a body has no length (RFC 9110 section 8.6).
    if (status === 204 && name === 'content-length') continue
    const value = upstream[name]
    if (value === undefined || !passing.test(String(value)) || rules.showsToken(String(value))) continue
    if (name === 'content-length') length = String(value)
    else if (name === 'vary') headers[name] = variance(rules.own['vary'], String(value))
    else if (name !== 'location') headers[name] = value
    else {
      const location = rules.location(String(value))
      if (location !== undefined) headers[name] = location
    }
  }
  // Node writes other bytes of a Content-Disposition, a line's end among them, where a length comes before it.
  if (length !== undefined) headers['content-length'] = length
  return headers
}

/** A value whose characters are all bytes that a header may have (RFC 9110 section 5.5). */
const passing = /^[\t\x20-\x7e\x80-\xff]*$/u

/**
 * A `Location` within the offered part of the owner API, as a path under the proxy's own mount point. Anything else is
 * `undefined`: the caller is not sent to another host, nor to a path that would be rejected.
 *
 * @param value - each character is a byte
 * @param requestPath - path of the owner API that was asked for: what a relative location is relative to
 * @param mountPath - where the application has put the proxy (Express's `req.baseUrl`), without a slash at its end
 */
export function ownLocation(
  value: string,
  requestPath: string,
  mountPath: string,
  { target, basePath, paths }: Pick<ProxySettings, 'target' | 'basePath' | 'paths'>,
): string | undefined {
  // The bytes themselves: the URL standard would take each for a character, and write two.
  const location = value.replaceAll(/[\x80-\xff]/gu, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`)
  const base = new URL(requestPath, target)
  if (!URL.canParse(location, base.href)) return undefined
  const { origin, pathname, search } = new URL(location, base)
  const isOffered = origin === target.origin && isUnambiguous(pathname) && isBelow(pathname, paths)
  if (!isOffered || !pathname.startsWith(`${basePath}/`)) return undefined
  return mountPath + pathname.slice(basePath.length) + search
}
