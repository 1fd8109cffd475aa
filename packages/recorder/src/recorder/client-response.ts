/**
 * The service's answer as the client under test can use it: the service's addresses are the recorder's, cookies fit plain
 * http.
 */
import type { SeenResponse } from '../masking/exchange-mask.ts'
import { swapped, type Swap } from './addresses.ts'

/** @param foreign - redirect URIs of the client that are not the recorder's: a redirect there stays, its query aside */
export function clientResponse(
  answer: SeenResponse,
  swaps: readonly Swap[],
  foreign: ReadonlySet<string>,
): SeenResponse {
  const back = swaps.map(([ours, theirs]) => [theirs, ours] as const)
  const { status, headers, body } = answer
  return {
    status,
    headers: headers.map(([name, value]) => [name, clientHeader(name.toLowerCase(), value, back, foreign)] as const),
    body: swappedBody(body, back),
  }
}

/** A body with its addresses swapped, unless it is no text. */
export function swappedBody(body: Buffer, swaps: readonly Swap[]): Buffer {
  const text = body.toString('utf8')
  if (!Buffer.from(text).equals(body)) return body
  return Buffer.from(swapped(text, swaps))
}

function clientHeader(name: string, value: string, back: readonly Swap[], foreign: ReadonlySet<string>): string {
  if (name === 'set-cookie') return clientCookie(value)
  const kept = name === 'location' ? [...foreign].find((address) => value.startsWith(address)) : undefined
  return kept === undefined ? swapped(value, back) : kept + swapped(value.slice(kept.length), back)
}

/** Without `Domain`, and without what needs https: but for names whose prefix asks for it (RFC 6265bis section 4.1.3). */
function clientCookie(header: string): string {
  const [pair = '', ...attributes] = header.split(';')
  const isPrefixed = /^\s*__(?:Host|Secure)-/iu.test(pair)
  const dropped = isPrefixed
    ? /^\s*domain\s*=/iu
    : /^\s*(?:domain\s*=|secure\s*$|partitioned\s*$|samesite\s*=\s*none)/iu
  return [pair, ...attributes.filter((attribute) => !dropped.test(attribute))].join(';')
}
