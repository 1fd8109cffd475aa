/**
 * What follows from the outcome of a refresh request, for the record, for the callers and for the other processes.
 */
import { FirewallChallengeError, type ReauthenticationReason, type SsoError } from '../errors.ts'
import { tokenSet, type TokenSet } from '../issuer/token-set.ts'
import { unknownFields } from '../tokens/record-check.ts'
import type { Intent, ReauthenticationRequired, SignedIn } from '../tokens/token-record.ts'
import { acceptRecord, type AccountCache } from './account-memory.ts'
import { ancestryOf } from './ancestry.ts'
import { bareTokenSet, isBare, isOfAnotherOwner } from './bare-refresh-token.ts'
import { commit } from './commit.ts'
import type { Context } from './context.ts'
import { inDoubt, isInGrace } from './doubt.ts'
import { assumedLifetime } from './freshness.ts'
import { lineageOf, type VersionedRecord } from './lineage.ts'
import { type Outcome, SendGuardError } from './outcome.ts'
import { givenUp, withOwnIntent } from './own-intents.ts'
import { refusalsBefore } from './refusal.ts'
import { spentByRefresh } from './spent-refresh-tokens.ts'
import { backOff, isGivenUp, rejectionsAfter } from './back-off.ts'
import { elapsed, type Instant, instantOf } from './runtime.ts'

/** `again`: nothing new is in memory yet, and it is worth another look at the record. */
export type AttemptOutcome = 'done' | 'again'

/** A request that has ended. */
export interface RequestResult {
  /** The record as it was before the request. */
  readonly derivedFrom: SignedIn
  /** The same with our intent in it, as it stands in the store. */
  readonly held: VersionedRecord
  readonly intent: Intent
  /** The intent of the earlier request whose response was lost. */
  readonly before: Intent | undefined
  /** The moment before the request was written. */
  readonly sentAt: Instant
  readonly outcome: Outcome
  /** An earlier response had been lost. */
  readonly replay: boolean
}

export async function conclude(cache: AccountCache, ended: RequestResult, context: Context): Promise<AttemptOutcome> {
  const { outcome } = ended
  if (outcome.kind === 'tokens') return keepTokens(cache, ended, outcome.tokens, context)
  if (outcome.kind === 'refused') return endSession(cache, ended, outcome.error, context)
  if (outcome.kind === 'in-doubt') return leaveInDoubt(cache, ended, outcome.error, context)
  if (outcome.kind === 'blocked') return tellOfBlock(cache, ended, outcome.error, context)
  const rejections = rejectionsAfter(ended.derivedFrom, outcome.error, context.runtime.wallClock())
  if (isGivenUp(rejections)) return endSession(cache, ended, rejections.rejections, context)
  await leaveAsBefore(cache, ended, context)
  // The process was held up, and nothing was sent: look again, somebody else may have done it.
  if (outcome.error instanceof SendGuardError) return 'again'
  context.emit('refresh-failed', { account: cache.account, error: outcome.error })
  backOff(cache, outcome.error, context)
  if (outcome.error.requestSent) await context.breaker.passed(ended.derivedFrom.tokens.auth_url)
  throw outcome.error
}

/** First the block, then the intent: in the other order all who waited for it would send, one after the other. */
async function tellOfBlock(
  cache: AccountCache,
  ended: RequestResult,
  page: FirewallChallengeError,
  context: Context,
): Promise<never> {
  const { account } = cache
  const { auth_url } = ended.derivedFrom.tokens
  const nextAttemptAt = await context.breaker.challenged(auth_url, page)
  await leaveAsBefore(cache, ended, context)
  // Whoever met it waits as long as all others.
  const { step, status, requestSent } = page
  const error = new FirewallChallengeError(nextAttemptAt, { step, status, requestSent })
  context.emit('refresh-failed', { account, error })
  context.emit('blocked', { account, auth_url, nextAttemptAt })
  throw error
}

async function keepTokens(
  cache: AccountCache,
  ended: RequestResult,
  tokens: TokenSet,
  context: Context,
): Promise<AttemptOutcome> {
  const { derivedFrom, held, replay } = ended
  const next = refreshed(cache, ended, tokens, context)
  if (isBare(derivedFrom.tokens) && (await isOfAnotherOwner(cache.account, tokens, context))) {
    return keepWithoutServing(cache, ended, next, context)
  }
  cache.backOff = undefined
  if ((await commit(cache, { derivedFrom, next }, held, context)) === 'superseded') return 'again'
  context.emit('refreshed', { account: cache.account, expires_at: next.obtained_at + next.lifetime, replay })
  await context.breaker.passed(derivedFrom.tokens.auth_url)
  return 'done'
}

function refreshed(cache: AccountCache, ended: RequestResult, tokens: TokenSet, context: Context): SignedIn {
  const { derivedFrom, sentAt } = ended
  const now = instantOf(context.runtime)
  const { schema, generation, session, replaces } = ancestryOf(derivedFrom)
  const lineage = lineageOf(cache.account, tokens.refresh_token)
  return {
    // Each by its name: for a literal that begins with a spread V8 takes as long as for a third of a refresh.
    schema,
    generation,
    session,
    replaces,
    spent: spentByRefresh(derivedFrom, lineage),
    state: 'signed-in',
    refreshes: derivedFrom.refreshes + 1,
    lineage,
    tokens: tokenSet(tokens),
    // As old as they can be: they may have been issued long before their response was read.
    obtained_at: Math.floor((now.wall - elapsed(sentAt, now)) / 1000),
    lifetime: assumedLifetime(tokens, Math.floor(now.wall / 1000), true),
    ...refusalsBefore(cache, derivedFrom),
    ...unknownFields(derivedFrom),
  }
}

/** The new refresh token is the only one that works, so it is kept. Its access token is nobody's here. */
async function keepWithoutServing(
  cache: AccountCache,
  ended: RequestResult,
  { tokens, ...others }: SignedIn,
  context: Context,
): Promise<AttemptOutcome> {
  const state = 'reauthentication-required'
  return storeEnd(
    cache,
    ended,
    { ...others, state, reason: 'other_owner', lifetime: 0, tokens: bareTokenSet(tokens) },
    context,
  )
}

interface Refusal {
  readonly reason?: ReauthenticationReason
  /** What the service said. */
  readonly description?: string | undefined
}

/** The refresh token is dead. By the lineage rule as well: a newer sign-in knows nothing of it. */
async function endSession(
  cache: AccountCache,
  ended: RequestResult,
  { reason: refusal = 'refresh_token_rejected', description }: Refusal = {},
  context: Context,
): Promise<AttemptOutcome> {
  const next: ReauthenticationRequired = {
    ...withoutIntent(ended.derivedFrom),
    state: 'reauthentication-required',
    reason: ended.replay ? 'rotated_token_lost' : refusal,
    ...(description === undefined ? {} : { description }),
  }
  return storeEnd(cache, ended, next, context)
}

async function storeEnd(
  cache: AccountCache,
  { derivedFrom, held }: RequestResult,
  next: ReauthenticationRequired,
  context: Context,
): Promise<AttemptOutcome> {
  if ((await commit(cache, { derivedFrom, next }, held, context)) !== 'superseded') {
    context.emit('reauthentication-required', { account: cache.account, reason: next.reason })
  }
  await context.breaker.passed(derivedFrom.tokens.auth_url)
  return 'again'
}

/** The intent stays: the refresh token may be spent. It says that nobody waits for the response any more. */
async function leaveInDoubt(
  cache: AccountCache,
  ended: RequestResult,
  error: SsoError,
  context: Context,
): Promise<AttemptOutcome> {
  const { account } = cache
  const { derivedFrom, intent, before, sentAt } = ended
  cache.ownIntents = withOwnIntent(cache.ownIntents, { id: intent.id, spent: true, before }, derivedFrom)
  if (!ended.replay) cache.lostResponse = { id: intent.id, sentAt }
  await putBack(cache, ended, { ...derivedFrom, ...noted(error, context), intent: givenUp(intent) }, context)
  if (isInGrace(cache, intent, context)) {
    context.emit('refresh-failed', { account, error })
    return 'again'
  }
  const thrown = inDoubt(cache, context, error)
  context.emit('refresh-failed', { account, error })
  context.emit('in-doubt', { account, nextAttemptAt: thrown.nextAttemptAt })
  throw thrown
}

/** The refresh token is what it was: unspent, or still in doubt because of an earlier request. */
async function leaveAsBefore(cache: AccountCache, ended: RequestResult, context: Context): Promise<void> {
  const { derivedFrom, before, outcome } = ended
  const rejections =
    outcome.kind === 'unspent' ? rejectionsAfter(derivedFrom, outcome.error, context.runtime.wallClock()) : {}
  const failed = 'error' in outcome && !(outcome.error instanceof SendGuardError) ? noted(outcome.error, context) : {}
  const record = { ...withoutIntent(derivedFrom), ...rejections, ...failed }
  await putBack(cache, ended, before === undefined ? record : { ...record, intent: before }, context)
}

/** For people who look at the status: in a write that is made in any case. */
function noted({ code }: SsoError, { runtime }: Context): Pick<SignedIn, 'failure'> {
  return { failure: { code, at: Math.floor(runtime.wallClock() / 1000) } }
}

/** Unless somebody else changed the record. Where the store is down, `ownIntents` remembers what could not be written. */
async function putBack(
  cache: AccountCache,
  { held }: RequestResult,
  record: SignedIn,
  context: Context,
): Promise<void> {
  const { runtime, store } = context
  try {
    const swapped = await store.swap(cache.account, held, record, runtime.uniqueId())
    if (!('conflict' in swapped)) acceptRecord(cache, { ...swapped, record }, runtime, context.refreshAfter)
  } catch {
    // The refresh's own outcome is what callers need to hear; the next look meets the store's error again.
  }
}

function withoutIntent(record: SignedIn): SignedIn {
  const copy: { -readonly [Field in keyof SignedIn]: SignedIn[Field] } = { ...record }
  delete copy.intent
  return copy
}
