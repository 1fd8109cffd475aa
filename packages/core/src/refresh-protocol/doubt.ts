/**
 * Doubt: an intent stands in the record, so its refresh token may be spent. Whose it is, whether somebody is still at it,
 * and when the request is replayed.
 */
import { RefreshInDoubtError } from '../errors.ts'
import type { Intent } from '../tokens/token-record.ts'
import { accessTokenOf, ageOf } from './account-memory.ts'
import type { Known } from './account-memory.ts'
import type { Context } from './context.ts'
import { longestRest } from './pace.ts'
import { elapsed, instantOf } from './runtime.ts'

/** The intent of the record; where it is this process's own and nothing was spent under it, what stood there before. */
export function openIntent({ record, ownIntents }: Known): Intent | undefined {
  const intent = record?.state === 'signed-in' ? record.intent : undefined
  const own = ownIntents.find(({ id }) => id === intent?.id)
  return own === undefined || own.spent ? intent : own.before
}

/** Whether its holder may still act on it. Counted from the first sight of it, so that no clock but our own matters. */
export function isIntentAlive(known: Known, intent: Intent, { rules, runtime }: Context): boolean {
  if (known.ownIntents.some(({ id }) => id === intent.id)) return false
  return rules.isAlive(intent, observed(known, runtime.monotonicClock()), runtime.vitality(intent.holder))
}

/**
 * Milliseconds until a lost answer is asked for again: at once the first time, then after `minRefreshInterval`, twice as long
 * each time, up to eight minutes. A caller of `refresh()` waits `minRefreshInterval` at most.
 */
export function replayRestLeft(known: Known, intent: Intent, { runtime, minRefreshInterval }: Context): number {
  if (intent.replay === 0) return 0
  const isAsked = known.unwanted !== undefined && known.unwanted === accessTokenOf(known.record)
  const rest = isAsked ? minRefreshInterval : Math.min(minRefreshInterval * 2 ** (intent.replay - 1), longestRest)
  const now = instantOf(runtime)
  const sinceSeen = known.intentSeen === undefined ? 0 : elapsed(known.intentSeen.at, now)
  if (known.intentSeen?.sawPlaced === true && !isAsked) return rest - sinceSeen
  // The holder's clock is all there is to go by. Further ahead than a rest is long, it says nothing.
  return rest - Math.max(sinceSeen, Math.abs(now.wall - intent.at * 1000))
}

/**
 * Whether this process lost the answer itself, so recently that the service repeats it (`rotationGrace`): counted by the
 * faster clock from the moment before the request was written.
 */
export function isInGrace({ lostAnswer }: Known, intent: Intent, { runtime, rotationGrace }: Context): boolean {
  return intent.id === lostAnswer?.id && elapsed(lostAnswer.sentAt, instantOf(runtime)) < rotationGrace
}

/** Milliseconds on the monotonic clock alone: a wall clock that jumps must not kill a living intent. */
function observed({ intentSeen }: Known, now: number): number {
  return intentSeen === undefined ? 0 : now - intentSeen.at.monotonic
}

/** What callers hear while in doubt, with the time of the replay: shortly before the old access token expires. */
export function inDoubt(known: Known, context: Context, cause?: unknown): RefreshInDoubtError {
  const now = instantOf(context.runtime)
  const intent = openIntent(known)
  const working = known.ages.expiring - ageOf(known, now)
  const resting = intent === undefined ? 0 : replayRestLeft(known, intent, context)
  const nextAttemptAt = Math.ceil((now.wall + Math.max(working, resting, 1000)) / 1000)
  return new RefreshInDoubtError(nextAttemptAt, { step: 'token-manager', cause })
}
