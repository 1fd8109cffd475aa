/**
 * What caches may do with an answer that was made with somebody's token. A private cache may do what the owner API and the
 * application both allow; a shared cache may do nothing.
 *
 * At the owner API, shared caches leave such answers alone because the request has an `Authorization` header (RFC 9111 section
 * 3.5). The caller's request has none: it carries a cookie or an API key.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import onHeaders from 'on-headers'

/** Headers that shared caches follow in place of `Cache-Control` (RFC 9213, and what came before it). */
const targetedCaching = /^(?:surrogate-control|edge-control|(?:.+-)?cdn-cache-control)$/u

/**
 * The headers of an answer that caches read: in each the stricter of both sides.
 *
 * @param upstream - of the owner API
 * @param own - what the application has set on its response already
 */
export function cachingHeaders(
  upstream: Readonly<OutgoingHttpHeaders>,
  own: Readonly<OutgoingHttpHeaders>,
): OutgoingHttpHeaders {
  const control = cacheControl(upstream, own)
  // What compresses on the way (`compression()` in front, a cache) would hold events back until it has enough of them.
  const isHeldBack = [upstream, own].some(isEventStream) && !control.includes('no-transform')
  const headers: OutgoingHttpHeaders = { 'cache-control': isHeldBack ? `${control}, no-transform` : control }
  for (const name of Object.keys(own)) if (targetedCaching.test(name)) headers[name] = 'no-store'
  return headers
}

/**
 * The same for an answer that somebody else writes. Whatever headers its writer sets, the answer leaves with the stricter
 * of those and of what the application had set before.
 *
 * @param response - whose headers are not written yet
 */
export function keepFromSharedCaches(response: ServerResponse): void {
  const own = response.getHeaders()
  onHeaders(response, () => {
    const written = response.getHeaders()
    for (const [name, value] of Object.entries(cachingHeaders(own, written))) response.setHeader(name, value!)
    // Replaced by max-age: a cache that does not know `private` would share the answer until then.
    response.removeHeader('expires')
  })
}

function isEventStream({ 'content-type': type }: Readonly<OutgoingHttpHeaders>): boolean {
  return /^text\/event-stream\s*(?:;|$)/iu.test(String(type))
}

/** Directives by their names in lower case (RFC 9111 section 5.2), with their arguments. */
type Directives = ReadonlyMap<string, string>

/** What the strictest of both sides says counts. What makes a cache laxer (`immutable`, `stale-if-error`) is left out. */
const strict = ['no-cache', 'must-revalidate', 'no-transform'] as const

function cacheControl(...sides: OutgoingHttpHeaders[]): string {
  const policies = sides.map(directivesOf)
  // Where directives can't be read, `no-store` is the only way to be sure to follow them.
  if (policies.some((side) => side === undefined || side.has('no-store'))) return 'private, no-store'
  const readable = policies.filter((side) => side !== undefined)
  const lifetimes = readable.flatMap((side) => side.get('max-age') ?? []).map(secondsOf)
  return [
    // Never with field names (`private="set-cookie"`): shared caches would store the rest of the answer.
    'private',
    ...(lifetimes.length > 0 ? [`max-age=${Math.min(...lifetimes)}`] : []),
    ...strict.filter((name) => readable.some((side) => side.has(name))),
  ].join(', ')
}

/** A name, with an argument or without; in quotation marks it may have anything in it but what ends the list's element. */
const directive = /^([\w!#$%&'*+.^`|~-]+)(?:=(?:"([^",\\]*)"|([\w!#$%&'*+.^`|~-]+)))?$/u

/** `undefined` where its `Cache-Control` can't be read. An `Expires` alone, which has to be compared with a clock, keeps nothing fresh. */
function directivesOf({ 'cache-control': control, expires }: OutgoingHttpHeaders): Directives | undefined {
  const elements = [control ?? []].flat().join(',').split(',')
  const directives = new Map<string, string>()
  for (const element of elements.map((each) => each.trim()).filter(Boolean)) {
    const [whole, name = '', quoted, plain] = directive.exec(element) ?? []
    if (whole === undefined) return undefined
    directives.set(name.toLowerCase(), plain ?? quoted ?? '')
  }
  if (expires !== undefined && !directives.has('max-age')) directives.set('max-age', '0')
  return directives
}

/** An argument in seconds; one that is no number keeps nothing fresh. */
function secondsOf(argument: string): number {
  return /^\d+$/u.test(argument) ? Math.min(Number(argument), 2 ** 31) : 0
}

/** What the application says an answer depends on, and what the owner API says, as one list. */
export function variance(own: OutgoingHttpHeaders[string], upstream: string): string {
  const names = new Map<string, string>()
  for (const name of [own, upstream].flat().join(',').split(',')) {
    const plain = name.trim()
    if (plain !== '' && !names.has(plain.toLowerCase())) names.set(plain.toLowerCase(), plain)
  }
  return [...names.values()].join(', ')
}
