/**
 * Refreshes that are left to others (`refresh: 'elsewhere'`): this process serves what the store has, and never sends. Where a
 * refresh is due it waits for somebody else's, and tells in time that nobody makes one.
 */
import { RefreshElsewhereError } from '../errors.ts'
import type { SignedIn } from '../store/token-record.ts'
import { elapsed } from '../support/runtime.ts'
import { ageOf, isUsable, type Knowledge, type Moment, openIntent } from './knowledge.ts'
import { backingOff, isIntentAlive, pauseLeft, restedFrom } from './pace.ts'
import { end, type Flow, fromManager, go, type Step } from './steps.ts'

/** Milliseconds that a caller without a working token waits: whoever refreshes looks every 15 seconds whether one was refused. */
const patience = 30_000
/** Milliseconds that others have for a refresh that is due, until it is overdue. */
const grace = 20_000
/** Milliseconds before its end at which one is overdue that is made as late as is safe. */
const leastNotice = 180_000
/** Milliseconds between two looks at an account that is overdue, and that nobody asks for. */
const lookEvery = 30_000

/** A caller without a working token waits for others; after a wait in vain, the next ones for a while do no more than look. */
export function leaveToOthers(known: Knowledge, flow: Flow & { kind: 'refresh' }, now: Moment): Step {
  const isWaiting = known.callers > 0 && !isUsable(known, now) && restedFrom(known, now) === undefined
  if (isWaiting && now.monotonic - flow.began < patience) return go(known, { do: 'watch', flow })
  const error = notRefreshed(known)
  return end(isWaiting ? backingOff(known, error, now) : known, flow, error)
}

export function notRefreshed({ record }: Knowledge): RefreshElsewhereError {
  return new RefreshElsewhereError(record?.state === 'signed-in' ? lastRefreshOf(record) : 0, fromManager)
}

const lastRefreshOf = ({ refusals, obtained_at }: SignedIn): number => refusals?.refreshed_at ?? obtained_at

/** Since when nobody has refreshed, where that is due and left to others: seconds since the epoch. */
export function overdueSince(known: Knowledge, now: Moment): number | undefined {
  const { record, ages } = known
  if (!now.settings.refreshesElsewhere || record?.state !== 'signed-in') return undefined
  const intent = openIntent(known)
  if (intent !== undefined && isIntentAlive(known, intent, now)) return undefined
  const { ageing, expiring, expired } = ages
  const inTime = ageing + Math.min(grace, (expiring - ageing) / 2)
  const age = ageing < expiring ? inTime : Math.max(expired - leastNotice, expired / 2, grace)
  const isMissed = !isUsable(known, now) && known.backOff !== undefined
  return isMissed || ageOf(known, now) >= age ? lastRefreshOf(record) : undefined
}

/** Tells it with the end of a flow: once of each token, also where the store can't be read. */
export function tellingIfOverdue(step: Step, now: Moment): Step {
  const { knowledge, notices, next } = step
  const { account, record } = knowledge
  const since = next.do === 'end' ? overdueSince(knowledge, now) : undefined
  if (since === undefined || record?.state !== 'signed-in' || isTold(knowledge)) return step
  const event = { account, since, expires_at: record.obtained_at + record.lifetime }
  return {
    next,
    knowledge: { ...knowledge, toldOverdue: tokensOf(record) },
    notices: [...notices, { tell: 'not-refreshed', event }],
  }
}

/** The same refresh token may stay, and an access token may become current again. */
const tokensOf = ({ lineage, obtained_at }: SignedIn): string => `${lineage} ${obtained_at}`

const isTold = ({ record, toldOverdue }: Knowledge): boolean =>
  record?.state === 'signed-in' && toldOverdue === tokensOf(record)

/**
 * Whether it has to be looked at although nobody asks for it: to tell, or to learn that somebody has refreshed. And to refresh what
 * others had refused, where that had to wait when they called.
 */
export function isWorthALook(known: Knowledge, now: Moment): boolean {
  const isRecent = known.lookedAt !== undefined && elapsed(known.lookedAt, now) < lookEvery
  if (!now.settings.refreshesElsewhere) {
    const isLeft = known.record?.state === 'signed-in' && known.record.refusals?.thisOne === true
    return isLeft && !isRecent && pauseLeft(known, now) <= 0
  }
  // A caller's look from before it was overdue has told nobody.
  return !(isRecent && isTold(known)) && overdueSince(known, now) !== undefined
}
