/**
 * The pace: how soon one request for an account may follow another, whoever sent the first.
 */
import type { SignedIn } from '../tokens/token-record.ts'
import { type AccountCache, ageOf, freshnessOf, isAsked } from './account-memory.ts'
import type { Context } from './context.ts'
import { elapsed, type Instant, instantOf } from './runtime.ts'

/** Milliseconds between two refreshes while the owner API refuses each new token, at the most. */
const longestPause = 60 * 60_000
/** The same where tokens live for seconds, at the least. */
const leastInterval = 10_000

/** Refreshed too recently to be refreshed again. */
export const isJustRefreshed = (cache: AccountCache, context: Context): boolean => pauseLeft(cache, context) > 0

/** Milliseconds until it may be refreshed again; nothing is left of a pause at 0 and below. */
export function pauseLeft(cache: AccountCache, context: Context): number {
  const { record } = cache
  if (record?.state !== 'signed-in' || record.refreshes === 0) return 0
  const now = instantOf(context.runtime)
  const interval = intervalOf(record, context)
  if (freshnessOf(cache, now) !== 'fresh') return interval - ageOf(cache, now)
  const asked = isAsked(cache)
  return (asked ? interval : pauseOf(cache, record, interval)) - sinceRefresh(cache, record, now, asked)
}

/**
 * `minRefreshInterval`; for tokens that live less than two of them, half their life: they have to be replaced in time.
 */
function intervalOf({ lifetime }: SignedIn, { minRefreshInterval }: Context): number {
  return Math.min(minRefreshInterval, Math.max(lifetime * 500, leastInterval))
}

/** After a token that was refused unused: the interval, doubled for each such token right before it, up to an hour. */
function pauseOf({ rejected }: AccountCache, { refusals }: SignedIn, interval: number): number {
  if (refusals === undefined || !(refusals.thisOne || rejected?.unused === true)) return interval
  const before = refusals.inARow - (refusals.thisOne ? 1 : 0)
  return Math.max(interval, Math.min(interval * 2 ** before, longestPause))
}

/**
 * Milliseconds since the tokens replaced others. Whoever saw that happen counts by its own clocks, so that processes whose
 * clocks differ don't outrun each other. Whoever did not has the writer's clock alone: one that was ahead of ours by more than
 * a pause says nothing, and must not keep a refused token for as long as it was ahead.
 */
function sinceRefresh(cache: AccountCache, { obtained_at }: SignedIn, now: Instant, asked: boolean): number {
  const sinceSeen = elapsed(cache.seen, now)
  return cache.sawReplaced && !asked ? sinceSeen : Math.abs(cache.seen.wall - obtained_at * 1000) + sinceSeen
}
