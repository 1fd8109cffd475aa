/**
 * The pace: how soon one request for an account may follow another, whoever sent the first.
 */
import type { SignedIn } from '../tokens/token-record.ts'
import { accessTokenOf, ageOf, standingOf } from './account-memory.ts'
import type { Known } from './account-memory.ts'
import type { Context } from './context.ts'
import { elapsed, instantOf } from './runtime.ts'
import type { Instant } from './runtime.ts'

/** Milliseconds between two tries of a request that failed, at the most: a service that is well again waits no longer. */
export const longestRest: number = 8 * 60_000

/** Milliseconds between two refreshes while the owner API refuses each new token, at the most. */
const longestPause = 60 * 60_000
/** The same where tokens live for seconds, at the least. */
const leastInterval = 10_000

/** Refreshed too recently to be refreshed again. */
export function isJustRefreshed(known: Known, context: Context): boolean {
  const { record } = known
  if (record?.state !== 'signed-in' || record.refreshes === 0) return false
  const now = instantOf(context.runtime)
  const interval = intervalOf(record, context)
  if (standingOf(known, now) !== 'fresh') return ageOf(known, now) < interval
  const isAsked = accessTokenOf(record) === known.unwanted
  return sinceRefresh(known, record, now, isAsked) < (isAsked ? interval : pauseOf(known, record, interval))
}

/**
 * `minRefreshInterval`; for tokens that live less than two of them, half their life: they have to be replaced in time.
 */
function intervalOf({ lifetime }: SignedIn, { minRefreshInterval }: Context): number {
  return Math.min(minRefreshInterval, Math.max(lifetime * 500, leastInterval))
}

/** After a token that was refused unused: the interval, doubled for each such token right before it, up to an hour. */
function pauseOf({ rejected }: Known, { refusals }: SignedIn, interval: number): number {
  if (refusals === undefined || !(refusals.thisOne || rejected?.unused === true)) return interval
  const before = refusals.inARow - (refusals.thisOne ? 1 : 0)
  return Math.max(interval, Math.min(interval * 2 ** before, longestPause))
}

/**
 * Milliseconds since the tokens replaced others. Whoever saw that happen counts by its own clocks, so that processes whose
 * clocks differ don't outrun each other. Whoever did not has the writer's clock alone: one that was ahead of ours by more than
 * a pause says nothing, and must not keep a refused token for as long as it was ahead.
 */
function sinceRefresh(known: Known, { obtained_at }: SignedIn, now: Instant, isAsked: boolean): number {
  const sinceSeen = elapsed(known.seen, now)
  return known.sawReplaced && !isAsked ? sinceSeen : Math.abs(known.seen.wall - obtained_at * 1000) + sinceSeen
}
