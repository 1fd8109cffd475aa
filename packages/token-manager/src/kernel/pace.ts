/**
 * The pace of the protocol: how long an intent is respected, how soon a request follows another, and how long a failure is
 * rested from. Each is a question to what is known now.
 */
import { RefreshInDoubtError, type SsoError, TokenRejectedError } from '../errors.ts'
import { withEvent } from '../store/history.ts'
import type { Intent, Rejections, SignedIn } from '../store/token-record.ts'
import {
  ageOf,
  freshnessOf,
  hasFallenBack,
  intentOf,
  isRefusedNow,
  isReplacementAsked,
  isUsable,
  type Knowledge,
  type Moment,
  openIntent,
  instant,
} from './knowledge.ts'
import { elapsed, type Instant } from '../support/runtime.ts'

/** Milliseconds that the one request may take, answer included. */
export const requestTimeout = 30_000
/** Milliseconds after its own swap in which the holder of an intent may still send. */
const sendWithin = 10_000
/** Milliseconds that an observer respects an intent, counted on its own monotonic clock from its first sight of it. */
const intentLife: number = requestTimeout + 15_000
/** The same where the holder is provably running on this host: it may only be stopped. */
const runningHolderIntentLife = 120_000
/** The same for a record that was put back: in this time every living process has answered a roll call, several times. */
const restorationLife = 120_000
/** Milliseconds that one refresh watches a record before it gives up: longer than any single intent lives. */
const watchTimeout = 150_000
/** Milliseconds between two tries of a request that failed, at the most: a service that is well again waits no longer. */
const longestBackOff = 8 * 60_000
/** Milliseconds between two refreshes while the owner API refuses each new token, at the most. */
const longestPause = 60 * 60_000
/** Milliseconds between two refreshes where tokens live for seconds, at the least. */
const leastInterval = 10_000
/** Requests with one refresh token that the service calls wrong, until the refresh token counts as dead. */
const mostRejections = 5

// An intent and its holder

export function isIntentAlive(known: Knowledge, intent: Intent, now: Moment): boolean {
  if (intent.answerLost || known.ownIntents.some(({ id }) => id === intent.id)) return false
  const observed = observedFor(known, now)
  if (intent.restored) return observed < restorationLife
  const liveness = now.livenessOf(intent.holder)
  if (liveness === 'dead') return false
  return observed < (liveness === 'running' ? runningHolderIntentLife : intentLife)
}

/** Milliseconds on the monotonic clock alone: a wall clock that jumps must not kill a living intent. */
function observedFor({ intentSeen }: Knowledge, now: Instant): number {
  return intentSeen === undefined ? 0 : now.monotonic - intentSeen.at.monotonic
}

/** The send guard, by the clock that shows more: a process that was stopped never sends on an old intent. */
export function isInTimeToSend(swappedAt: Instant, now: Instant): boolean {
  return elapsed(swappedAt, now) <= sendWithin
}

/** When the wait for another's intent runs out, callers get what there is: never an unguarded request. */
export function hasWatchedLongEnough(began: number, now: Instant): boolean {
  return now.monotonic - began >= watchTimeout
}

// Doubt

/**
 * Whether this process lost the answer itself, so recently that the service repeats it (`rotationGrace`): counted by the
 * faster clock from the moment before the request was written.
 */
export function isInGrace({ lostAnswer }: Knowledge, { id }: Intent, now: Moment): boolean {
  return id === lostAnswer?.id && elapsed(lostAnswer.sentAt, now) < now.settings.rotationGrace
}

/**
 * Milliseconds until the request of a lost answer is sent again: at once the first time, then after `minRefreshInterval`,
 * twice as long each time, up to eight minutes. A caller of `refresh()` waits `minRefreshInterval` at most.
 */
export function replayRestLeft(known: Knowledge, intent: Intent, now: Moment): number {
  if (intent.replay === 0) return 0
  const isAsked = isReplacementAsked(known)
  const wait = restAfter(isAsked ? 1 : intent.replay, now)
  const { intentSeen } = known
  const sinceSeen = intentSeen === undefined ? 0 : elapsed(intentSeen.at, now)
  if (intentSeen?.knewBefore === true && !isAsked) return wait - sinceSeen
  // The holder's clock is all there is to go by. Further ahead than the wait is long, it says nothing.
  return wait - Math.max(sinceSeen, Math.abs(now.wall - intent.at * 1000))
}

/**
 * Milliseconds until a record that was put back may be sent: until then whoever holds newer tokens puts these over it. Not for
 * other intents, whose holder may be done any moment.
 */
function restorationLeft(known: Knowledge, intent: Intent | undefined, now: Instant): number {
  return intent?.restored === true ? restorationLife - observedFor(known, now) : 0
}

/** Whether a caller who needs the token has to wait for minutes, whatever becomes of any request. */
export function isHeldUp(known: Knowledge, now: Instant): boolean {
  return restorationLeft(known, openIntent(known), now) > 0
}

/**
 * What callers hear while in doubt, with the time of the replay: shortly before the old access token expires, unless the owner
 * API refused it, and not while a record that was put back may yet be replaced by a newer one.
 */
export function inDoubt(known: Knowledge, now: Moment, cause?: unknown): RefreshInDoubtError {
  const intent = openIntent(known)
  const working = isUsable(known, now) ? known.ages.expiring - ageOf(known, now) : 0
  const restLeft = intent === undefined ? 0 : replayRestLeft(known, intent, now)
  const wait = Math.max(working, restLeft, restorationLeft(known, intent, now), 1000)
  const nextAttemptAt = Math.ceil((now.wall + wait) / 1000)
  return new RefreshInDoubtError(nextAttemptAt, { step: 'token-manager', cause })
}

// One refresh after another

export const isJustRefreshed = (known: Knowledge, now: Moment): boolean => pauseLeft(known, now) > 0

/** Milliseconds until it may be refreshed again; nothing is left of a pause at 0 and below. */
export function pauseLeft(known: Knowledge, now: Moment): number {
  const { record } = known
  if (record?.state !== 'signed-in' || record.refreshes === 0) return 0
  const interval = intervalOf(record, now)
  if (hasFallenBack(record)) return pauseAfterFallBack(known, record, interval, now)
  if (freshnessOf(known, now) !== 'fresh') return interval - ageOf(known, now)
  const isAsked = isReplacementAsked(known)
  return (isAsked ? interval : pauseOf(record, interval)) - sinceRefresh(known, record, now, isAsked)
}

/** `minRefreshInterval`; for tokens that live less than two of them, half their life: they have to be replaced in time. */
function intervalOf({ lifetime }: SignedIn, { settings }: Moment): number {
  return Math.min(settings.minRefreshInterval, Math.max(lifetime * 500, leastInterval))
}

/**
 * The interval, doubled for each refused token right before this one, up to an hour. Whether it was accepted elsewhere does not
 * matter: a caller can ask for what is refused with every token.
 */
const pauseOf = ({ refusedBefore = 0 }: SignedIn, interval: number): number =>
  Math.max(interval, Math.min(interval * 2 ** refusedBefore, longestPause))

/**
 * After a refused token that gave its place back: the same, from its refresh on. Where the access token has ended, or somebody asks
 * for another, the interval alone.
 */
function pauseAfterFallBack(known: Knowledge, record: SignedIn, interval: number, now: Moment): number {
  const isNeeded = isReplacementAsked(known) || freshnessOf(known, now) === 'expired'
  const pause = isNeeded ? interval : pauseOf(record, interval)
  return pause - Math.abs(now.wall - (record.refusals?.refreshed_at ?? 0) * 1000)
}

/**
 * Milliseconds since the tokens replaced others. Whoever saw that happen counts from its own last look without them, so that
 * processes whose clocks differ don't outrun each other: after a night without one they may be hours old. Whoever did not has the
 * writer's clock alone: one that was ahead of ours by more than a pause says nothing, and must not keep a refused token for as long
 * as it was ahead.
 */
function sinceRefresh(known: Knowledge, { obtained_at }: SignedIn, now: Instant, isAsked: boolean): number {
  const { seen, sawReplaced } = known
  if (sawReplaced && !isAsked) return ageOf(known, now)
  return Math.abs(seen.wall - obtained_at * 1000) + elapsed(seen, now)
}

// One failure after another

/**
 * A failure that did not spend the refresh token begins a rest of this process: `minRefreshInterval`, twice as long after
 * each failure in a row, up to eight minutes. It keeps a broken network or a wrong configuration from becoming a storm.
 */
export function backingOff(known: Knowledge, error: SsoError, now: Moment): Knowledge {
  const failures = (known.backOff?.failures ?? 0) + 1
  return { ...known, backOff: { since: instant(now), wait: restAfter(failures, now), failures, error } }
}

/** The failure that is rested from. A caller of `refresh()` waits `minRefreshInterval` at most. */
export function restedFrom(known: Knowledge, now: Moment): SsoError | undefined {
  const { record, backOff } = known
  const isAsked = isReplacementAsked(known)
  const rejections = record?.state === 'signed-in' ? record.rejections : undefined
  if (rejections !== undefined) {
    const wait = restAfter(isAsked ? 1 : rejections.inARow, now)
    // A clock that differs by more than the rest must not stretch it.
    if (Math.abs(now.wall - rejections.at * 1000) < wait) return rejectedAs(rejections)
  }
  if (backOff === undefined) return undefined
  const wait = isAsked ? Math.min(backOff.wait, now.settings.minRefreshInterval) : backOff.wait
  return elapsed(backOff.since, now) < wait ? backOff.error : undefined
}

const rejectedAs = ({ description }: Rejections): TokenRejectedError =>
  new TokenRejectedError('invalid_request', { step: 'refresh', requestSent: false }, description)

function restAfter(failures: number, { settings }: Moment): number {
  return Math.min(settings.minRefreshInterval * 2 ** (failures - 1), longestBackOff)
}

/**
 * What the record keeps of requests that the token endpoint called wrong (`invalid_request`): that may be a slip of the
 * service, or its word for a dead refresh token. They are counted in the record, for all processes.
 */
export function rejectionsAfter({ rejections }: SignedIn, error: SsoError, now: Instant): Rejections | undefined {
  if (!(error instanceof TokenRejectedError) || error.error !== 'invalid_request') return rejections
  const { description } = error
  const counted = { inARow: (rejections?.inARow ?? 0) + 1, at: Math.floor(now.wall / 1000) }
  return description === undefined ? counted : { ...counted, description }
}

export const isGivenUp = (rejections: Rejections | undefined): boolean => (rejections?.inARow ?? 0) >= mostRejections

// Access tokens that the owner API refuses, one after the other, as it does while it is broken

/** What the record keeps of them, with this one: nothing more to note where that is known, or where somebody is writing it. */
export function withRefusal(known: Knowledge, now: Moment): SignedIn | undefined {
  const { record, invalidated } = known
  const isLeft = now.settings.refreshesElsewhere
  if (record?.state !== 'signed-in' || record.refusals?.thisOne === true || invalidated === undefined) return undefined
  // Whoever refreshes elsewhere has to hear of each of them.
  if (!invalidated.unused && !isLeft) return undefined
  // Whoever is refreshing, or has tokens to save, writes the record itself.
  const isWritten = (known.isRefreshing && !isLeft) || known.unsaved !== undefined
  if (intentOf(record) !== undefined || isWritten) return undefined
  const inARow = refusedInARow(record) + (invalidated.unused ? 1 : 0)
  return withEvent({ ...record, refusals: { inARow, thisOne: true } }, { what: 'refused' }, now)
}

/**
 * What the record keeps of them when `replaced` gives way to new tokens: nothing, where its own came of a refresh and were accepted.
 * Those of a sign-in say nothing of the ones that come of a refresh.
 */
export function refusalsBefore({ invalidated }: Knowledge, replaced: SignedIn): Pick<SignedIn, 'refusals'> {
  const inARow = refusedInARow(replaced)
  const isRefused = invalidated?.unused === true && invalidated.accessToken === replaced.tokens.access_token
  if (replaced.refusals?.thisOne !== true && isRefused) return { refusals: { inARow: inARow + 1, thisOne: false } }
  const isStanding = replaced.refusals?.thisOne === true || replaced.refreshes === 0 || hasFallenBack(replaced)
  return isStanding && inARow > 0 ? { refusals: { inARow, thisOne: false } } : {}
}

/** How many refused tokens the next one has right before it. One that gave its place back was counted then. */
export function refusedUpTo(known: Knowledge, replaced: SignedIn): number {
  const { refusedBefore = 0, refreshes } = replaced
  if (refreshes === 0 || hasFallenBack(replaced)) return refusedBefore
  return isRefusedNow({ record: replaced, invalidated: known.invalidated }) ? refusedBefore + 1 : 0
}

export const refusedInARow = ({ refusals }: Pick<SignedIn, 'refusals'>): number => refusals?.inARow ?? 0
