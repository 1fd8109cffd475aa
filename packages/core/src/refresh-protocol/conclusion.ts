/**
 * What follows from the outcome of a refresh request, for the record, for the callers and for the other processes.
 */
import type { FirewallChallengeError, ReauthenticationReason, SsoError } from '../errors.ts'
import { tokenSet } from '../tokens/token-set.ts'
import type { TokenSet } from '../tokens/token-set.ts'
import type { Intent, ReauthenticationRequired, SignedIn } from '../tokens/token-record.ts'
import { adopt } from './account-memory.ts'
import type { Known } from './account-memory.ts'
import { ancestryOf } from './ancestry.ts'
import { commit } from './commit.ts'
import type { Context } from './context.ts'
import { inDoubt, isInGrace } from './doubt.ts'
import { believedLifetime } from './lifetime.ts'
import { lineageOf } from './lineage.ts'
import type { Placed } from './lineage.ts'
import { SendGuardError } from './outcome.ts'
import type { Outcome } from './outcome.ts'
import { givenUp, withOwnIntent } from './own-intents.ts'
import { refusalsBefore } from './refusal.ts'
import { isGivenUp, rejectionsAfter } from './rejection.ts'
import { rest } from './rest.ts'
import { elapsed, instantOf } from './runtime.ts'
import type { Instant } from './runtime.ts'

/** `again`: nothing new is in memory yet, and it is worth another look at the record. */
export type Attempted = 'done' | 'again'

/** A request that has ended. */
export interface Ended {
  /** The record as it was before the request. */
  readonly derivedFrom: SignedIn
  /** The same with our intent in it, as it stands in the store. */
  readonly held: Placed
  readonly intent: Intent
  /** The intent of the earlier request whose answer was lost. */
  readonly before: Intent | undefined
  /** The moment before the request was written. */
  readonly sentAt: Instant
  readonly outcome: Outcome
  /** An earlier answer had been lost. */
  readonly replay: boolean
}

export async function conclude(known: Known, ended: Ended, context: Context): Promise<Attempted> {
  const { outcome } = ended
  if (outcome.kind === 'tokens') return keepTokens(known, ended, outcome.tokens, context)
  if (outcome.kind === 'refused') return endSession(known, ended, outcome.error, context)
  if (outcome.kind === 'in-doubt') return leaveInDoubt(known, ended, outcome.error, context)
  if (outcome.kind === 'blocked') return tellOfBlock(known, ended, outcome.error, context)
  const rejections = rejectionsAfter(ended.derivedFrom, outcome.error, context.runtime.wallClock())
  if (isGivenUp(rejections)) return endSession(known, ended, rejections.rejections, context)
  await leaveAsBefore(known, ended, context)
  // The process was held up, and nothing was sent: look again, somebody else may have done it.
  if (outcome.error instanceof SendGuardError) return 'again'
  context.emit('refresh-failed', { account: known.account, error: outcome.error })
  rest(known, outcome.error, context)
  if (outcome.error.requestSent) await context.breaker.passed(ended.derivedFrom.tokens.auth_url)
  throw outcome.error
}

/** First the block, then the intent: in the other order all who waited for it would send, one after the other. */
async function tellOfBlock(
  known: Known,
  ended: Ended,
  error: FirewallChallengeError,
  context: Context,
): Promise<never> {
  const { account } = known
  const { auth_url } = ended.derivedFrom.tokens
  const nextAttemptAt = await context.breaker.challenged(auth_url, error)
  await leaveAsBefore(known, ended, context)
  context.emit('refresh-failed', { account, error })
  context.emit('blocked', { account, auth_url, nextAttemptAt })
  throw error
}

async function keepTokens(known: Known, ended: Ended, tokens: TokenSet, context: Context): Promise<Attempted> {
  const { derivedFrom, held, replay } = ended
  const next = refreshed(known, ended, tokens, context)
  known.rest = undefined
  if ((await commit(known, { derivedFrom, next }, held, context)) === 'superseded') return 'again'
  context.emit('refreshed', { account: known.account, expires_at: next.obtained_at + next.lifetime, replay })
  await context.breaker.passed(derivedFrom.tokens.auth_url)
  return 'done'
}

function refreshed(known: Known, ended: Ended, tokens: TokenSet, context: Context): SignedIn {
  const { derivedFrom, sentAt } = ended
  const now = instantOf(context.runtime)
  return {
    ...ancestryOf(derivedFrom),
    state: 'signed-in',
    refreshes: derivedFrom.refreshes + 1,
    lineage: lineageOf(known.account, tokens.refresh_token),
    tokens: tokenSet(tokens),
    // As old as they can be: they may have been issued long before their answer was read.
    obtained_at: Math.floor((now.wall - elapsed(sentAt, now)) / 1000),
    lifetime: believedLifetime(tokens, Math.floor(now.wall / 1000), true),
    ...refusalsBefore(known, derivedFrom),
  }
}

interface Refused {
  readonly reason?: ReauthenticationReason
  /** What the service said. */
  readonly description?: string | undefined
}

/** The refresh token is dead. By the lineage rule as well: a newer sign-in knows nothing of it. */
async function endSession(
  known: Known,
  { derivedFrom, held, replay }: Ended,
  { reason: refusal = 'refresh_token_rejected', description }: Refused = {},
  context: Context,
): Promise<Attempted> {
  const reason = replay ? 'rotated_token_lost' : refusal
  const next: ReauthenticationRequired = {
    ...withoutIntent(derivedFrom),
    state: 'reauthentication-required',
    reason,
    ...(description === undefined ? {} : { description }),
  }
  if ((await commit(known, { derivedFrom, next }, held, context)) !== 'superseded') {
    context.emit('reauthentication-required', { account: known.account, reason })
  }
  await context.breaker.passed(derivedFrom.tokens.auth_url)
  return 'again'
}

/** The intent stays: the refresh token may be spent. It says that nobody waits for the answer any more. */
async function leaveInDoubt(known: Known, ended: Ended, error: SsoError, context: Context): Promise<Attempted> {
  const { account } = known
  const { derivedFrom, intent, before, sentAt } = ended
  known.ownIntents = withOwnIntent(known.ownIntents, { id: intent.id, spent: true, before }, derivedFrom)
  if (!ended.replay) known.lostAnswer = { id: intent.id, sentAt }
  await putBack(known, ended, { ...derivedFrom, intent: givenUp(intent) }, context)
  if (isInGrace(known, intent, context)) {
    context.emit('refresh-failed', { account, error })
    return 'again'
  }
  const thrown = inDoubt(known, context, error)
  context.emit('refresh-failed', { account, error })
  context.emit('in-doubt', { account, nextAttemptAt: thrown.nextAttemptAt })
  throw thrown
}

/** The refresh token is what it was: unspent, or still in doubt because of an earlier request. */
async function leaveAsBefore(known: Known, ended: Ended, context: Context): Promise<void> {
  const { derivedFrom, before, outcome } = ended
  const rejections =
    outcome.kind === 'unspent' ? rejectionsAfter(derivedFrom, outcome.error, context.runtime.wallClock()) : {}
  const record = { ...withoutIntent(derivedFrom), ...rejections }
  await putBack(known, ended, before === undefined ? record : { ...record, intent: before }, context)
}

/** Unless somebody else changed the record. Where the store is down, `ownIntents` remembers what could not be written. */
async function putBack(known: Known, { held }: Ended, record: SignedIn, context: Context): Promise<void> {
  const { runtime, store } = context
  try {
    const answer = await store.swap(known.account, held, record, runtime.uniqueId())
    if (!('conflict' in answer)) adopt(known, { ...answer, record }, runtime, context.refreshAfter)
  } catch {
    // The refresh's own outcome is what callers need to hear; the next look meets the store's error again.
  }
}

function withoutIntent(record: SignedIn): SignedIn {
  const copy: { -readonly [Field in keyof SignedIn]: SignedIn[Field] } = { ...record }
  delete copy.intent
  return copy
}
