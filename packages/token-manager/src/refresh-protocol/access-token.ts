/**
 * `getAccessToken`, `getTokens`, `refresh` and `invalidate`: what a caller gets, and when it has to wait.
 */
import { RefreshBudgetError, SignedOutError } from '../errors.ts'
import type { CallOptions } from '../issuer/call-options.ts'
import {
  accessTokenOf,
  type AccountCache,
  ageOf,
  closeWindow,
  freshnessOf,
  isUsable,
  openWindow,
} from './account-memory.ts'
import { checkedAccountName } from '../tokens/options.ts'
import { syncFromStoreAndSpool } from './carry-over.ts'
import type { CurrentTokens, RefreshCallOptions } from '../tokens/token-manager.ts'
import type { Context } from './context.ts'
import { inFlightRefresh, landInCall, waitForAccount, waitForRefresh } from './in-flight-refresh.ts'
import { elapsed, instantOf } from './runtime.ts'
import { isJustRefreshed, pauseLeft } from './pace.ts'
import { isRefusedNow, isUnused, noteRefusal } from './refusal.ts'

/** The hot path: one look-up and one reading of the clock. Nothing is written, and nothing else is read. */
export function getAccessToken(account: string, options: CallOptions | undefined, context: Context): Promise<string> {
  const served = context.memory.served(account)
  if (served === undefined) return serveFirst(account, options, context)
  const now = Math.floor(context.runtime.wallClock() / 1000)
  if (now >= served.from && now < served.until) return Promise.resolve(served.accessToken)
  return serve(context.memory.of(account), options, context)
}

/** The same with what else a caller may know of it, from one record. */
export async function getTokens(
  account: string,
  options: CallOptions | undefined,
  context: Context,
): Promise<CurrentTokens> {
  await getAccessToken(account, options, context)
  // What is known by now: newer than the access token perhaps, and gone where somebody signed out meanwhile.
  const { record } = context.memory.of(account)
  // Other accounts took its place in memory.
  if (record === undefined) return getTokens(account, options, context)
  if (record.state === 'signed-out') {
    throw new SignedOutError({ step: 'token-manager', requestSent: false })
  }
  const { access_token, token_type, id_token } = record.tokens
  const expires_at = record.obtained_at + record.lifetime
  return { access_token, token_type, expires_at, ...(id_token !== undefined && { id_token }) }
}

async function serveFirst(account: string, options: CallOptions | undefined, context: Context): Promise<string> {
  return serve(context.memory.of(checkedAccountName(account)), options, context)
}

/**
 * A token that still works is returned at once; its refresh, if one is due, runs in the background. Where nothing may, the
 * call that finds it due makes it.
 */
function serve(cache: AccountCache, options: CallOptions | undefined, context: Context): Promise<string> {
  const now = instantOf(context.runtime)
  if (!isUsable(cache, now)) return waitForRefresh(cache, newestAccessToken(cache, context), options?.signal, context)
  const accessToken = accessTokenOf(cache.record) ?? ''
  if (freshnessOf(cache, now) === 'fresh') openWindow(cache, now, cache.ages.ageing - ageOf(cache, now), context.memory)
  else if (refreshInBackground(cache, context) && !context.background.outlivesCalls) {
    return serveOnceLanded(cache, accessToken, context)
  }
  return Promise.resolve(accessToken)
}

/** @param before - it worked when it was asked for, whatever comes of the refresh */
async function serveOnceLanded(cache: AccountCache, before: string, context: Context): Promise<string> {
  await landInCall(cache, context)
  return isUsable(cache, instantOf(context.runtime)) ? (accessTokenOf(cache.record) ?? before) : before
}

async function newestAccessToken(cache: AccountCache, context: Context): Promise<string> {
  const inFlight = inFlightRefresh(cache, context)
  await inFlight.synced
  try {
    // What another process stored may do already; the refresh then goes on in the background.
    if (!context.background.outlivesCalls || !isUsable(cache, instantOf(context.runtime))) await inFlight.done
  } catch (error) {
    if (!isUsable(cache, instantOf(context.runtime))) throw error
  }
  const accessToken = accessTokenOf(cache.record)
  if (accessToken === undefined) throw new SignedOutError({ step: 'token-manager', requestSent: false })
  return accessToken
}

/** Milliseconds between two background refreshes that led to nothing, at the least and at the most. */
const leastPause = 250
const longestPause = 60_000

/** Returns whether it began one. */
function refreshInBackground(cache: AccountCache, context: Context): boolean {
  const { runtime, minRefreshInterval, underWay } = context
  // Tokens that the store has not taken yet are committed before anything else happens.
  if (cache.inFlight !== undefined || cache.unsaved !== undefined || underWay.isEnding()) return false
  const now = instantOf(runtime)
  const pause =
    cache.backgroundBackOff === undefined
      ? 0
      : cache.backgroundBackOff.wait - elapsed(cache.backgroundBackOff.since, now)
  if (pause > 0) {
    openWindow(cache, now, Math.min(pause, cache.ages.expired - ageOf(cache, now)), context.memory)
    return false
  }
  inFlightRefresh(cache, context).done.catch(() => {
    const wait = Math.min(Math.max(minRefreshInterval, leastPause), longestPause) * (0.75 + 0.5 * runtime.random())
    cache.backgroundBackOff = { since: instantOf(runtime), wait }
  })
  return true
}

/**
 * Replaces the current access token, unless it works and was refreshed less than `minRefreshInterval` ago.
 *
 * @throws RefreshBudgetError where it does not work, and may not be refreshed yet
 */
export async function refreshNow(account: string, options: RefreshCallOptions, context: Context): Promise<void> {
  const cache = context.memory.of(account)
  const { signal, priority } = options
  const work = context.underWay.track(replaceCurrent(cache, context))
  await (priority === 'background'
    ? waitForAccount(cache, work, signal, context)
    : waitForRefresh(cache, work, signal, context))
}

async function replaceCurrent(cache: AccountCache, context: Context): Promise<void> {
  await syncFromStoreAndSpool(cache, context)
  const current = accessTokenOf(cache.record)
  const unwanted = current ?? ''
  cache.unwanted = unwanted
  try {
    await inFlightRefresh(cache, context).done
    // The refresh that was joined may have decided before this call that all is well.
    if (accessTokenOf(cache.record) === current && !isJustRefreshed(cache, context))
      await inFlightRefresh(cache, context).done
    throwIfStillUseless(cache, current, context)
  } finally {
    if (cache.unwanted === unwanted) cache.unwanted = undefined
  }
}

/**
 * Within `minRefreshInterval` of the last refresh there is no other. That is well where its token works, and no success where
 * the token was refused or has ended.
 *
 * @throws RefreshBudgetError with the time of the next refresh
 */
function throwIfStillUseless(cache: AccountCache, before: string | undefined, context: Context): void {
  const now = instantOf(context.runtime)
  const isReplaced = accessTokenOf(cache.record) !== before
  if (isReplaced || (isUsable(cache, now) && !isRefusedNow(cache))) return
  const nextAttemptAt = Math.ceil((now.wall + Math.max(pauseLeft(cache, context), 1000)) / 1000)
  throw new RefreshBudgetError(nextAttemptAt, {}, 'minRefreshInterval')
}

/** The owner API refused this access token. Only the first to say so of the current one changes anything. */
export async function invalidate(account: string, accessToken: string, context: Context): Promise<void> {
  const cache = context.memory.of(account)
  if (cache.record === undefined) await syncFromStoreAndSpool(cache, context)
  if (accessTokenOf(cache.record) !== accessToken || cache.rejected?.accessToken === accessToken) return
  cache.rejected = { accessToken, unused: isUnused(cache, context) }
  closeWindow(cache)
  await noteRefusal(cache, context)
}
