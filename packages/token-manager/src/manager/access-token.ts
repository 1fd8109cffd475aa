/**
 * `getAccessToken`, `getTokens`, `refresh` and `invalidate`: what a caller gets, and when it has to wait.
 */
import { RefreshBudgetError, RefreshElsewhereError, ShortValidityError, SignedOutError } from '../errors.ts'
import type { CallOptions } from '../issuer/call-options.ts'
import { type Account, openWindow } from '../kernel/account-memory.ts'
import type { AccessTokenOptions, CurrentTokens, InvalidateOptions, RefreshCallOptions } from './token-manager.ts'
import { expectsRefusal } from '../kernel/freshness.ts'
import type { Context } from '../kernel/context.ts'
import { momentOf, note, run } from '../kernel/driver.ts'
import { inFlightRefresh, landInCall, waitForAccount, waitForRefresh } from '../kernel/flight.ts'
import { accessTokenOf, ageOf, freshnessOf, isRefusedNow, isUsable } from '../kernel/knowledge.ts'
import { isJustRefreshed, pauseLeft } from '../kernel/pace.ts'
import { isInQuestion } from '../kernel/predecessor.ts'
import { elapsed, instantOf } from '../support/runtime.ts'

/** The hot path: one look-up and one reading of the clock. Nothing is written, and nothing else is read. */
export function servedNow(account: string, { memory, runtime }: Context): Promise<string> | undefined {
  const served = memory.served(account)
  if (served === undefined) return undefined
  const now = Math.floor(runtime.wallClock() / 1000)
  return now >= served.from && now < served.until ? Promise.resolve(served.accessToken) : undefined
}

/** @throws ShortValidityError where it ends before `minValidity` is over, and a refresh changes nothing about that */
export async function getTokens(
  account: string,
  options: AccessTokenOptions,
  context: Context,
): Promise<CurrentTokens> {
  const { minValidity = 0 } = options
  const tokens = await tokensThatWork(account, options, context)
  if (livesFor(tokens, minValidity, context)) return tokens
  const { record } = context.memory.of(account).knowledge
  const isRefreshable = record?.state === 'signed-in' && !expectsRefusal(record)
  if (isRefreshable) await refreshNow(account, options, context).catch(unlessElsewhere)
  const next = isRefreshable ? await tokensThatWork(account, options, context) : tokens
  if (livesFor(next, minValidity, context)) return next
  throw new ShortValidityError(next.expires_at)
}

/** Where others refresh it was a look at what they have stored. */
function unlessElsewhere(error: unknown): void {
  if (!(error instanceof RefreshElsewhereError)) throw error
}

function livesFor({ expires_at }: CurrentTokens, seconds: number, { runtime }: Context): boolean {
  return seconds === 0 || expires_at - runtime.wallClock() / 1000 >= seconds
}

async function tokensThatWork(account: string, options: CallOptions, context: Context): Promise<CurrentTokens> {
  await getAccessToken(account, options, context)
  // What is known by now: newer than the access token perhaps, and gone where somebody signed out meanwhile.
  const { record } = context.memory.of(account).knowledge
  // Other accounts took its place in memory.
  if (record === undefined) return tokensThatWork(account, options, context)
  if (record.state === 'signed-out') {
    throw new SignedOutError({ step: 'token-manager', requestSent: false })
  }
  const { access_token, token_type, id_token } = record.tokens
  const expires_at = record.obtained_at + record.lifetime
  return { access_token, token_type, expires_at, ...(id_token !== undefined && { id_token }) }
}

/**
 * A token that still works is returned at once; its refresh, if one is due, runs in the background. Where nothing may, the
 * call that finds it due makes it.
 */
export function getAccessToken(name: string, options: CallOptions | undefined, context: Context): Promise<string> {
  const account = context.memory.of(name)
  const { knowledge } = account
  const now = instantOf(context.runtime)
  if (!isUsable(knowledge, now)) {
    return waitForRefresh(account, newestAccessToken(account, context), options?.signal, context)
  }
  const accessToken = accessTokenOf(knowledge.record) ?? ''
  if (freshnessOf(knowledge, now) === 'fresh') {
    openWindow(account, now, knowledge.ages.ageing - ageOf(knowledge, now), context.memory)
  } else if (refreshInBackground(account, context) && !context.work.settings.outlivesCalls) {
    return serveOnceLanded(account, accessToken, context)
  }
  return Promise.resolve(accessToken)
}

/** @param before - it worked when it was asked for, whatever comes of the refresh */
async function serveOnceLanded(account: Account, before: string, context: Context): Promise<string> {
  await landInCall(account, context)
  const { knowledge } = account
  return isUsable(knowledge, instantOf(context.runtime)) ? (accessTokenOf(knowledge.record) ?? before) : before
}

async function newestAccessToken(account: Account, context: Context): Promise<string> {
  const flight = inFlightRefresh(account, context)
  const isEnough = (): boolean => isUsable(account.knowledge, instantOf(context.runtime))
  await flight.synced
  try {
    // What another process stored may do already; the refresh then goes on in the background.
    if (!context.work.settings.outlivesCalls || !isEnough()) await flight.done
  } catch (error) {
    if (!isEnough()) throw error
  }
  const accessToken = accessTokenOf(account.knowledge.record)
  if (accessToken === undefined) throw new SignedOutError({ step: 'token-manager', requestSent: false })
  return accessToken
}

/** Milliseconds between two background refreshes that led to nothing, at the least and at the most. */
const leastRest = 250
const longestRest = 60_000

function refreshInBackground(account: Account, context: Context): boolean {
  const { knowledge } = account
  const { runtime, work } = context
  // Tokens that the store has not taken yet are committed before anything else happens.
  if (account.flight !== undefined || knowledge.unsaved !== undefined || work.isEnding()) return false
  const now = instantOf(runtime)
  const { backgroundRest } = knowledge
  const rest = backgroundRest === undefined ? 0 : backgroundRest.wait - elapsed(backgroundRest.since, now)
  if (rest > 0) {
    openWindow(account, now, Math.min(rest, knowledge.ages.expired - ageOf(knowledge, now)), context.memory)
    return false
  }
  inFlightRefresh(account, context).done.catch(() => {
    const wait = Math.min(Math.max(work.settings.minRefreshInterval, leastRest), longestRest)
    note(account, { on: 'refreshed-in-vain', wait: wait * (0.75 + 0.5 * runtime.random()) }, context)
  })
  return true
}

/**
 * Replaces the current access token, unless it works and was refreshed less than `minRefreshInterval` ago.
 *
 * @throws RefreshBudgetError where it does not work, and may not be refreshed yet
 */
export async function refreshNow(name: string, options: RefreshCallOptions, context: Context): Promise<void> {
  const account = context.memory.of(name)
  const { signal, priority } = options
  const work = context.work.track(replaceCurrent(account, context))
  const wait = priority === 'background' ? waitForAccount : waitForRefresh
  await wait(account, work, signal, context)
}

async function replaceCurrent(account: Account, context: Context): Promise<void> {
  await run(account, { kind: 'look' }, context)
  const current = accessTokenOf(account.knowledge.record)
  const accessToken = current ?? ''
  note(account, { on: 'replacement-asked', accessToken }, context)
  try {
    await inFlightRefresh(account, context).done
    // The refresh that was joined may have decided before this call that all is well.
    const isReplaced = accessTokenOf(account.knowledge.record) !== current
    if (!isReplaced && !isJustRefreshed(account.knowledge, momentOf(context))) {
      await inFlightRefresh(account, context).done
    }
    throwIfStillUseless(account, current, context)
  } finally {
    note(account, { on: 'replacement-over', accessToken }, context)
  }
}

/** Within `minRefreshInterval` of the last refresh there is no other. That is well where its token works, and no success otherwise. */
function throwIfStillUseless({ knowledge }: Account, before: string | undefined, context: Context): void {
  const now = momentOf(context)
  const isReplaced = accessTokenOf(knowledge.record) !== before
  if (isReplaced || (isUsable(knowledge, now) && !isRefusedNow(knowledge))) return
  const nextAttemptAt = Math.ceil((now.wall + Math.max(pauseLeft(knowledge, now), 1000)) / 1000)
  throw new RefreshBudgetError(nextAttemptAt, {}, 'minRefreshInterval')
}

/** The owner API accepted this access token. Called on every answer: it does nothing unless that was in question. */
export function acceptAccessToken(name: string, accessToken: string, context: Context): void {
  const account = context.memory.peek(name)
  const record = account?.knowledge.record
  if (account === undefined || record === undefined || !isInQuestion(record)) return
  note(account, { on: 'token-accepted', accessToken }, context)
}

/** The owner API refused this access token. Returns whether another one works now. */
export async function invalidate(
  name: string,
  accessToken: string,
  { refresh: mayRefresh = true }: InvalidateOptions,
  context: Context,
): Promise<boolean> {
  const account = context.memory.of(name)
  await run(account, { kind: 'invalidate', accessToken, mayRefresh }, context)
  const current = accessTokenOf(account.knowledge.record)
  return current !== accessToken && isUsable(account.knowledge, instantOf(context.runtime))
}
