/**
 * The back-off after a refresh that failed without spending the token: the service is asked again only after a while. It
 * keeps a broken network or a wrong configuration from becoming a storm of requests.
 *
 * Most failures are counted by this process alone. A rejection is counted in the record, for all processes: the token
 * endpoint calls the refresh a wrong request (`invalid_request`), which may be a slip of the service or its word for a dead
 * refresh token. So the request is made a few times more, and then the owner signs in again.
 */
import { type SsoError, TokenRejectedError } from '../errors.ts'
import type { Rejections, SignedIn } from '../tokens/token-record.ts'
import { type AccountCache, isAsked } from './account-memory.ts'
import type { Context } from './context.ts'
import { elapsed, instantOf } from './runtime.ts'

/** Milliseconds between two tries of a request that failed, at the most: a service that is well again waits no longer. */
export const longestBackOff: number = 8 * 60_000

/** Requests with one refresh token that are rejected, until it counts as dead. */
const mostRejections = 5

/** Begins a back-off of `minRefreshInterval`, twice as long after each failure in a row, up to eight minutes. */
export function backOff(cache: AccountCache, error: SsoError, { minRefreshInterval, runtime }: Context): void {
  const failures = (cache.backOff?.failures ?? 0) + 1
  const wait = Math.min(minRefreshInterval * 2 ** (failures - 1), longestBackOff)
  cache.backOff = { since: instantOf(runtime), wait, failures, error }
}

/** @throws SsoError the failure that is backed off from. A caller of `refresh()` waits `minRefreshInterval` at most. */
export function throwIfBackingOff(cache: AccountCache, { minRefreshInterval, runtime }: Context): void {
  const asked = isAsked(cache)
  const wallClock = runtime.wallClock()
  const rejected =
    cache.record?.state === 'signed-in' && recentRejection(cache.record, { minRefreshInterval, wallClock, asked })
  if (rejected) throw rejected
  if (cache.backOff === undefined) return
  const { since, wait, error } = cache.backOff
  if (elapsed(since, instantOf(runtime)) < (asked ? Math.min(wait, minRefreshInterval) : wait)) throw error
}

/** What the record keeps of a request that failed: one rejection more, or what it kept before. */
export function rejectionsAfter(
  { rejections }: SignedIn,
  error: SsoError,
  wallClock: number,
): Pick<SignedIn, 'rejections'> {
  if (!(error instanceof TokenRejectedError) || error.error !== 'invalid_request')
    return rejections ? { rejections } : {}
  const { description } = error
  const counted: Rejections = { inARow: (rejections?.inARow ?? 0) + 1, at: Math.floor(wallClock / 1000) }
  return { rejections: description === undefined ? counted : { ...counted, description } }
}

/** Whether the refresh token counts as dead after so many of them. */
export function isGivenUp({ rejections }: Pick<SignedIn, 'rejections'>): boolean {
  return (rejections?.inARow ?? 0) >= mostRejections
}

/**
 * The rejection that is backed off from, while that lasts: `minRefreshInterval`, twice as long after each, up to eight minutes.
 *
 * @param asked - a caller of `refresh()` waits `minRefreshInterval` at most
 */
function recentRejection(
  { rejections }: SignedIn,
  { minRefreshInterval, wallClock, asked }: { minRefreshInterval: number; wallClock: number; asked: boolean },
): TokenRejectedError | undefined {
  if (!rejections) return undefined
  const wait = Math.min(minRefreshInterval * 2 ** (asked ? 0 : rejections.inARow - 1), longestBackOff)
  // A clock that differs by more than the back-off must not stretch it.
  if (Math.abs(wallClock - rejections.at * 1000) >= wait) return undefined
  return new TokenRejectedError('invalid_request', { step: 'refresh', requestSent: false }, rejections.description)
}
