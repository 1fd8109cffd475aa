/**
 * Doubt: an intent stands in the record, so its refresh token may be spent. Whose it is, whether somebody is still at it,
 * and when the request is replayed.
 */
import { RefreshInDoubtError } from '../errors.ts'
import type { Intent } from '../tokens/token-record.ts'
import { type AccountCache, ageOf, isAsked } from './account-memory.ts'
import type { Context } from './context.ts'
import { longestBackOff } from './back-off.ts'
import { restorationLife } from './rules.ts'
import { elapsed, instantOf } from './runtime.ts'

/** The intent of the record; where it is this process's own and nothing was spent under it, what was there before. */
export function openIntent({ record, ownIntents }: AccountCache): Intent | undefined {
  const intent = record?.state === 'signed-in' ? record.intent : undefined
  const own = ownIntents.find(({ id }) => id === intent?.id)
  return own === undefined || own.spent ? intent : own.before
}

/** Whether its holder may still act on it. Counted from the first sight of it, so that no clock but our own matters. */
export function isIntentAlive(cache: AccountCache, intent: Intent, { rules, runtime }: Context): boolean {
  if (cache.ownIntents.some(({ id }) => id === intent.id)) return false
  return rules.isAlive(intent, observed(cache, runtime.monotonicClock()), runtime.livenessOf(intent.holder))
}

/**
 * Milliseconds until the request of a lost response is sent again: at once the first time, then after `minRefreshInterval`, twice as long
 * each time, up to eight minutes. A caller of `refresh()` waits `minRefreshInterval` at most.
 */
export function replayBackOffLeft(
  cache: AccountCache,
  intent: Intent,
  { runtime, minRefreshInterval }: Context,
): number {
  if (intent.replay === 0) return 0
  const asked = isAsked(cache)
  const wait = asked ? minRefreshInterval : Math.min(minRefreshInterval * 2 ** (intent.replay - 1), longestBackOff)
  const now = instantOf(runtime)
  const sinceSeen = cache.intentSeen === undefined ? 0 : elapsed(cache.intentSeen.at, now)
  if (cache.intentSeen?.knewBefore === true && !asked) return wait - sinceSeen
  // The holder's clock is all there is to go by. Further ahead than the wait is long, it says nothing.
  return wait - Math.max(sinceSeen, Math.abs(now.wall - intent.at * 1000))
}

/**
 * Whether this process lost the response itself, so recently that the service repeats it (`rotationGrace`): counted by the
 * faster clock from the moment before the request was written.
 */
export function isInGrace(
  { lostResponse }: AccountCache,
  intent: Intent,
  { runtime, rotationGrace }: Context,
): boolean {
  return intent.id === lostResponse?.id && elapsed(lostResponse.sentAt, instantOf(runtime)) < rotationGrace
}

/** Milliseconds on the monotonic clock alone: a wall clock that jumps must not kill a living intent. */
function observed({ intentSeen }: AccountCache, now: number): number {
  return intentSeen === undefined ? 0 : now - intentSeen.at.monotonic
}

/**
 * Milliseconds until a record that was put back may be sent: until then whoever holds newer tokens puts these over it. Not for
 * other intents, whose holder may be done any moment.
 */
function restorationLeft(cache: AccountCache, intent: Intent | undefined, { runtime }: Context): number {
  return intent?.restored === true ? restorationLife - observed(cache, runtime.monotonicClock()) : 0
}

/** Whether a caller who needs the token has to wait for minutes, whatever becomes of any request. */
export function isHeldUp(cache: AccountCache, context: Context): boolean {
  return restorationLeft(cache, openIntent(cache), context) > 0
}

/**
 * What callers hear while in doubt, with the time of the replay: shortly before the old access token expires, and not while a
 * record that was put back may yet be replaced by a newer one.
 */
export function inDoubt(cache: AccountCache, context: Context, cause?: unknown): RefreshInDoubtError {
  const now = instantOf(context.runtime)
  const intent = openIntent(cache)
  const working = cache.ages.expiring - ageOf(cache, now)
  const backOffLeft = intent === undefined ? 0 : replayBackOffLeft(cache, intent, context)
  const nextAttemptAt = Math.ceil(
    (now.wall + Math.max(working, backOffLeft, restorationLeft(cache, intent, context), 1000)) / 1000,
  )
  return new RefreshInDoubtError(nextAttemptAt, { step: 'token-manager', cause })
}
