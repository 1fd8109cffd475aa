/**
 * How a client's refresh token is replaced by a new one at each use, without harm where an answer gets lost.
 *
 * A client that never got the new token comes back with the former one, and is served. Only when a new token is used is it
 * certain that the client has it: then all before it end, after a grace for calls of the same client that are under way.
 */
import type { ClientKey, KeptClient } from './client.ts'

/** Seconds that a grace may last: ten years are for ever. */
export const longestGrace: number = 10 * 365 * 86_400

/** New tokens of a client that it has not used yet: so often it may be answered in vain before the first of them ends. */
const mostUnused = 8

/**
 * The client after its token `used` was presented and `issued` is to be its next one.
 *
 * @param used - hash of one of its keys
 * @param issued - hash of the new one
 * @param graceEnd - seconds since the epoch at which the ones before `used` end
 * @param now - seconds since the epoch
 */
export function rotated(client: KeptClient, used: string, issued: string, graceEnd: number, now: number): KeptClient {
  const at = client.keys.findIndex(({ sha256 }) => sha256 === used)
  const former = client.keys.slice(0, at).map((key) => endingBy(key, graceEnd))
  const [current, ...unused] = client.keys.slice(at)
  if (at < 0 || current === undefined) return client
  const living = former.filter(({ expires_at = Infinity }) => expires_at > now)
  return { ...client, keys: [...living, current, ...unused.slice(1 - mostUnused), { sha256: issued }] }
}

/** Never later than it was to end before. */
export function endingBy(key: ClientKey, end: number): ClientKey {
  return { ...key, expires_at: Math.min(key.expires_at ?? Infinity, end) }
}
