/**
 * Refreshes that are left to others (`refresh: 'elsewhere'`): this process serves what the store has, and never sends. Where a
 * refresh is due it waits for somebody else's, and tells in time that nobody makes one.
 */
import { RefreshElsewhereError } from '../errors.ts'
import type { AccountRecord } from '../store/token-record.ts'
import { elapsed } from '../support/runtime.ts'
import type { Ages } from './freshness.ts'
import { ageOf, isUsable, type Knowledge, type Moment, openIntent } from './knowledge.ts'
import { backingOff, isIntentAlive, restedFrom } from './pace.ts'
import { end, type Flow, fromManager, go, type Step } from './steps.ts'

/** Milliseconds that a caller without a working token waits: whoever refreshes looks every 15 seconds whether one was refused. */
const patience = 30_000
/** Milliseconds that others have for a refresh that is due, until it counts as overdue. */
const grace = 20_000
/** Milliseconds before its end at which one is overdue that is refreshed as late as is safe. */
const leastNotice = 180_000
/** Milliseconds between two looks at an account that nobody refreshes, and nobody asks for. */
const lookEvery = 60_000

/** A caller without a working token waits for others; after a wait in vain, the next ones for a while do no more than look. */
export function leaveToOthers(known: Knowledge, flow: Flow & { kind: 'refresh' }, now: Moment): Step {
  const isWaiting = known.callers > 0 && !isUsable(known, now) && restedFrom(known, now) === undefined
  if (isWaiting && now.monotonic - flow.began < patience) return go(known, { do: 'watch', flow })
  const error = notRefreshed(known)
  return end(isWaiting ? backingOff(known, error, now) : known, flow, error)
}

export const notRefreshed = ({ record }: Knowledge): RefreshElsewhereError =>
  new RefreshElsewhereError(lastRefreshOf(record), fromManager)

/** When the refresh token was issued: seconds since the epoch. */
export function lastRefreshOf(record: AccountRecord | undefined): number | undefined {
  if (record === undefined || record.state === 'signed-out') return undefined
  return record.refusals?.refreshed_at ?? record.obtained_at
}

/** Whether a refresh is due that is left to others, and none of them makes it. */
export function isOverdue(known: Knowledge, now: Moment): boolean {
  if (!now.settings.refreshesElsewhere || known.record?.state !== 'signed-in') return false
  const intent = openIntent(known)
  if (intent !== undefined && isIntentAlive(known, intent, now)) return false
  const isMissed = !isUsable(known, now) && known.backOff !== undefined
  return isMissed || ageOf(known, now) >= overdueAge(known.ages)
}

function overdueAge({ ageing, expiring, expired }: Ages): number {
  if (ageing < expiring) return ageing + Math.min(grace, (expiring - ageing) / 2)
  return Math.max(expired - leastNotice, expired / 2, grace)
}

/** Tells it with the end of a flow: once of each token, also where the store can't be read. */
export function tellingIfOverdue(step: Step, now: Moment): Step {
  const { knowledge, notices, next } = step
  if (next.do !== 'end' || !isOverdue(knowledge, now) || isTold(knowledge)) return step
  const { account, record } = knowledge
  if (record?.state !== 'signed-in') return step
  const since = lastRefreshOf(record) ?? 0
  const event = { account, since, expires_at: record.obtained_at + record.lifetime }
  return {
    next,
    knowledge: { ...knowledge, toldOverdue: nameOf(record) },
    notices: [...notices, { tell: 'not-refreshed', event }],
  }
}

/** Whether it has to be looked at although nobody asks for it: to tell, or to learn that somebody has refreshed. */
export function isWorthALook(known: Knowledge, now: Moment): boolean {
  const isRecent = known.lookedAt !== undefined && elapsed(known.lookedAt, now) < lookEvery
  return isOverdue(known, now) && !(isTold(known) && isRecent)
}

const isTold = ({ record, toldOverdue }: Knowledge): boolean =>
  record?.state === 'signed-in' && toldOverdue === nameOf(record)

/** Names the tokens: the same refresh token may stay, and an access token may become current again. */
const nameOf = ({ lineage, obtained_at }: { readonly lineage: string; readonly obtained_at: number }): string =>
  `${lineage} ${obtained_at}`
