/**
 * The headers that come back from the owner API.
 */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { signInChallenge } from '../answers/problem.ts'
import { connectionNames } from './header-names.ts'

export interface AnswerRules {
  /** Lower-case names. */
  readonly names: ReadonlySet<string>
  /** Whether a text has the access token in it. */
  readonly showsToken: (text: string) => boolean
  /** What a `Location` is here; `undefined` where it leads elsewhere. */
  readonly location: (value: string) => string | undefined
}

/**
 * The owner API's pages are not the application's: they run no script in its origin and are not taken for another type.
 */
const guards = { 'content-security-policy': "sandbox; default-src 'none'", 'x-content-type-options': 'nosniff' }

/** Those of the owner API's headers that are on the list, in their safe form. */
export function answerHeaders(status: number, upstream: IncomingHttpHeaders, rules: AnswerRules): OutgoingHttpHeaders {
  const hopByHop = connectionNames(upstream.connection)
  const headers: OutgoingHttpHeaders = { ...guards, 'cache-control': ownCacheControl(upstream['cache-control']) }
  if (status === 401) headers['www-authenticate'] = signInChallenge
  for (const name of Object.keys(upstream)) {
    if (!rules.names.has(name) || name === 'cache-control' || hopByHop?.has(name)) continue
    const value = upstream[name]
    if (value === undefined || rules.showsToken(String(value))) continue
    if (name !== 'location') headers[name] = value
    else {
      const location = rules.location(String(value))
      if (location !== undefined) headers[name] = location
    }
  }
  return headers
}

/**
 * The request upstream carried a bearer token, so that shared caches had to leave its answer alone (RFC 9111 section 3.5).
 * The caller's request carries a cookie or an API key, so that they must be told.
 */
function ownCacheControl(value: string | string[] | undefined): string {
  if (value === undefined || value.length === 0) return 'private'
  const directives = String(value)
  return /(?:^|[\s,])(?:public|private|no-store|s-maxage)(?:$|[\s,=])/iu.test(directives)
    ? directives
    : `${directives}, private`
}
