/**
 * Rejections: the token endpoint calls a refresh a wrong request (`invalid_request`). That may be a slip of the service, and it
 * may be its word for a dead refresh token; the answer does not say which. So the request is made a few times more, with rests
 * between them, and then the owner signs in again. Tries and rests are counted in the record, for all processes.
 */
import { TokenRejectedError } from '../errors.ts'
import type { SsoError } from '../errors.ts'
import type { Rejections, SignedIn } from '../tokens/token-record.ts'
import { longestRest } from './pace.ts'

/** Requests with one refresh token that are rejected, until it counts as dead. */
const mostRejections = 5

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
 * The rejection that a rest follows, while it lasts: `minRefreshInterval`, twice as long after each, up to eight minutes.
 *
 * @param asked - a caller of `refresh()` waits `minRefreshInterval` at most
 */
export function restingRejection(
  { rejections }: SignedIn,
  { minRefreshInterval, wallClock, asked }: { minRefreshInterval: number; wallClock: number; asked: boolean },
): TokenRejectedError | undefined {
  if (!rejections) return undefined
  const rest = Math.min(minRefreshInterval * 2 ** (asked ? 0 : rejections.inARow - 1), longestRest)
  // A clock that differs by more than the rest must not stretch it.
  if (Math.abs(wallClock - rejections.at * 1000) >= rest) return undefined
  return new TokenRejectedError('invalid_request', { step: 'refresh', requestSent: false }, rejections.description)
}
