/**
 * What caches may do with an answer that was made with somebody's token. A private cache may keep it, and asks before it uses it; a
 * shared cache may do nothing.
 *
 * At the owner API, shared caches leave such answers alone because the request has an `Authorization` header (RFC 9111 section
 * 3.5). The caller's request has none: it carries a cookie or an API key.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import onHeaders from 'on-headers'

/** Headers that shared caches follow in place of `Cache-Control` (RFC 9213, and what came before it). */
const targetedCaching = /^(?:surrogate-control|edge-control|(?:.+-)?cdn-cache-control)$/u

/**
 * The headers of an answer that caches read.
 *
 * @param upstream - of the owner API
 * @param own - what the application has set on its response already
 */
export function cachingHeaders(
  upstream: Readonly<OutgoingHttpHeaders>,
  own: Readonly<OutgoingHttpHeaders>,
): OutgoingHttpHeaders {
  const said = `${String(upstream['cache-control'])},${String(own['cache-control'])}`.toLowerCase()
  // What compresses on the way (`compression()` in front, a cache) would hold events back until it has enough of them.
  const isAsItIs = said.includes('no-transform') || isEventStream(upstream) || isEventStream(own)
  const headers: OutgoingHttpHeaders = {
    // `private` never with field names (`private="set-cookie"`): shared caches would store the rest of the answer.
    'cache-control': `private, ${said.includes('no-store') ? 'no-store' : 'no-cache'}${isAsItIs ? ', no-transform' : ''}`,
  }
  for (const name of Object.keys(own)) if (targetedCaching.test(name)) headers[name] = 'no-store'
  return headers
}

/**
 * The same for an answer that somebody else writes, whatever headers its writer sets.
 *
 * @param response - whose headers are not written yet
 */
export function keepFromSharedCaches(response: ServerResponse): void {
  const own = response.getHeaders()
  onHeaders(response, () => {
    const written = response.getHeaders()
    for (const [name, value] of Object.entries(cachingHeaders(own, written))) response.setHeader(name, value!)
    // A cache that does not know `private` would share the answer until then.
    response.removeHeader('expires')
  })
}

function isEventStream({ 'content-type': type }: Readonly<OutgoingHttpHeaders>): boolean {
  return /^text\/event-stream\s*(?:;|$)/iu.test(String(type))
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
