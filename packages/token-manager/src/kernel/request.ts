/**
 * The one request: the intent goes in, the request goes out, and what follows from its answer is put where every process finds
 * it.
 */
import { ReauthenticationRequiredError, type SsoError, TokenRejectedError } from '../errors.ts'
import { type Happening, historyWith, noWord, withEvent } from '../store/history.ts'
import { unknownFields } from '../store/record-check.ts'
import { bareTokenSet, tokenSet } from '../issuer/token-set.ts'
import { ancestryOf, isSameWrite, lineageOf, spentByRefresh } from '../store/lineage.ts'
import type { Intent, ReauthenticationRequired, SignedIn } from '../store/token-record.ts'
import { elapsed, type Instant } from '../support/runtime.ts'
import { commitAnswer } from './commit.ts'
import { assumedLifetime } from './freshness.ts'
import {
  instant,
  type Knowledge,
  type Moment,
  openIntent,
  refreshNeed,
  withoutIntent,
  withOwnIntent,
  writeOf,
} from './knowledge.ts'
import { type Outcome, SendGuardError } from './outcome.ts'
import {
  backingOff,
  inDoubt,
  isGivenUp,
  isInGrace,
  isInTimeToSend,
  refusalsBefore,
  refusedUpTo,
  rejectionsAfter,
} from './pace.ts'
import { predecessorOf } from './predecessor.ts'
import {
  end,
  type Enter,
  type Event,
  type Flow,
  type HeldRequest,
  look,
  type Notice,
  type Purpose,
  type Request,
  seconds,
  type Step,
  swap,
  type Unsuccessful,
} from './steps.ts'

/** The intent goes in, over the very record upon which it was decided: another process's intent must not be swapped away. */
export function holdIntent(known: Knowledge, { flow, upon, replay }: Enter, now: Moment): Step {
  const { record } = known
  if (record?.state !== 'signed-in' || !isSameWrite(known, upon)) return look(known, flow)
  const unanswered = replay ? openIntent(known) : undefined
  const request: Request = {
    derivedFrom: withLostHolder(record, known, unanswered),
    why: refreshNeed(known, now),
    intent: {
      id: now.uniqueId(),
      holder: now.holder,
      replay: unanswered === undefined ? 0 : unanswered.replay + 1,
      at: seconds(now),
    },
    before: unanswered && { ...unanswered, answerLost: true },
    replay,
    graceOf: unanswered && isInGrace(known, unanswered, now) ? unanswered : undefined,
    swappedAt: instant(now),
  }
  const { derivedFrom, intent, before } = request
  // Even if the store never tells: until something is sent, this intent changes nothing about the refresh token.
  const next = withOwnIntent(known, { id: intent.id, spent: false, before })
  return swap(next, flow, writeOf(known), { ...derivedFrom, intent }, { of: 'intent', request })
}

/** Who held an intent and never said what came of it, by the time of that intent. */
function withLostHolder(record: SignedIn, { ownIntents }: Knowledge, unanswered: Intent | undefined): SignedIn {
  if (unanswered === undefined || unanswered.answerLost || unanswered.restored) return record
  const { holder, at, id } = unanswered
  const code = ownIntents.some((own) => own.id === id) ? undefined : noWord
  return withEvent(record, { what: 'in-doubt', code }, { wall: at * 1000, holder })
}

export function maySend(known: Knowledge, { swappedAt, graceOf }: Request, now: Moment): boolean {
  // A replay for the grace's sake does no good once that is over: another look tells whether it is due.
  return isInTimeToSend(swappedAt, now) && (graceOf === undefined || isInGrace(known, graceOf, now))
}

export function conclude(known: Knowledge, { task, outcome, sentAt }: Event & { on: 'answered' }, now: Moment): Step {
  const { flow, request } = task
  switch (outcome.kind) {
    case 'tokens':
      return keepTokens(known, flow, request, outcome, sentAt, now)
    case 'invalid-grant':
      return endSession(known, flow, request, outcome.error, now)
    case 'challenged':
      // The block was told first: in the other order all who waited for the intent would send, one after the other.
      return takeIntentOut(known, flow, request, { ...outcome, sentAt }, now)
    case 'unspent': {
      const isOver = isGivenUp(rejectionsAfter(request.derivedFrom, outcome.error, now))
      if (isOver) return endSession(known, flow, request, outcome.error, now)
      return takeIntentOut(known, flow, request, { ...outcome, sentAt }, now)
    }
    case 'in-doubt':
      return leaveInDoubt(known, flow, request, { ...outcome, sentAt }, now)
  }
}

function keepTokens(
  known: Knowledge,
  flow: Flow,
  request: HeldRequest,
  { tokens, isOfAnotherOwner }: Outcome & { kind: 'tokens' },
  sentAt: Instant,
  now: Moment,
): Step {
  const { derivedFrom } = request
  const { schema, generation, session, replaces } = ancestryOf(derivedFrom)
  const lineage = lineageOf(known.account, tokens.refresh_token)
  const what = request.replay ? 'replayed' : 'refreshed'
  const next: SignedIn = {
    // Each by its name: for a literal that begins with a spread V8 takes as long as for a third of a refresh.
    schema,
    generation,
    session,
    replaces,
    spent: spentByRefresh(derivedFrom, lineage),
    history: historyWith(derivedFrom.history, { what, why: request.why, lineage }, now),
    state: 'signed-in',
    refreshes: derivedFrom.refreshes + 1,
    lineage,
    tokens: tokenSet(tokens),
    // As old as they can be: they may have been issued long before their answer was read.
    obtained_at: Math.floor((now.wall - elapsed(sentAt, now)) / 1000),
    lifetime: assumedLifetime(tokens, seconds(now), true),
    ...refusalsBefore(known, derivedFrom),
    refusedBefore: refusedUpTo(known, derivedFrom),
    ...predecessorOf(derivedFrom, known, now),
    ...unknownFields(derivedFrom),
  }
  if (!isOfAnotherOwner) return commitAnswer({ ...known, backOff: undefined }, flow, request, next, now)
  // The new refresh token is the only one that works, so it is kept. Its access token is nobody's here.
  const state = 'reauthentication-required'
  const { predecessor: _, ...ended } = {
    ...next,
    state,
    reason: 'other_owner',
    lifetime: 0,
    tokens: bareTokenSet(tokens),
  } as const
  const told = withEvent(ended, { what: 'ended', why: request.why, code: 'other_owner' }, now)
  return commitAnswer(known, flow, request, told, now)
}

/** The refresh token is dead. By the lineage rule as well: a newer sign-in knows nothing of it. */
function endSession(
  known: Knowledge,
  flow: Flow,
  request: HeldRequest,
  error: SsoError & Partial<Pick<ReauthenticationRequired, 'reason' | 'description'>>,
  now: Moment,
): Step {
  const { reason = 'refresh_token_rejected', description } = error
  const next: ReauthenticationRequired = {
    ...withoutIntent(withHappening(request, 'ended', error, now)),
    state: 'reauthentication-required',
    reason: request.replay ? 'rotated_token_lost' : reason,
    ...(description === undefined ? {} : { description }),
  }
  return commitAnswer(known, flow, request, next, now)
}

/** The intent stays: the refresh token may be spent. It says that nobody waits for the answer any more. */
function leaveInDoubt(
  known: Knowledge,
  flow: Flow,
  request: HeldRequest,
  outcome: Unsuccessful & { kind: 'in-doubt' },
  now: Moment,
): Step {
  const { intent, before, replay, held } = request
  const spent = withOwnIntent(known, { id: intent.id, spent: true, before })
  const next = replay ? spent : { ...spent, lostAnswer: { id: intent.id, sentAt: outcome.sentAt } }
  const told = withHappening(request, 'in-doubt', outcome.error, now)
  const record: SignedIn = { ...told, intent: { ...intent, answerLost: true } }
  return swap(next, flow, held, record, { of: 'end-of-intent', request, outcome })
}

/** The refresh token is what it was: unspent, or still in doubt because of an earlier request. */
function takeIntentOut(known: Knowledge, flow: Flow, request: HeldRequest, outcome: Unsuccessful, now: Moment): Step {
  const { derivedFrom, before, held } = request
  const rejections = outcome.kind === 'unspent' ? rejectionsAfter(derivedFrom, outcome.error, now) : undefined
  const record: SignedIn = {
    ...withoutIntent(withHappening(request, 'failed', outcome.error, now)),
    ...(rejections && { rejections }),
    ...(before && { intent: before }),
  }
  return swap(known, flow, held, record, { of: 'end-of-intent', request, outcome })
}

function withHappening(
  { derivedFrom, why }: HeldRequest,
  what: Happening['what'],
  error: SsoError,
  now: Moment,
): SignedIn {
  return error instanceof SendGuardError ? derivedFrom : withEvent(derivedFrom, { what, why, code: codeOf(error) }, now)
}

/** The service's own word, where it had one. */
function codeOf(error: SsoError): string {
  if (error instanceof TokenRejectedError) return error.error
  if (error instanceof ReauthenticationRequiredError) return error.error ?? error.reason
  const isAnswer = error.code === 'ERR_SSO_UNEXPECTED_RESPONSE' && error.status !== undefined
  return isAnswer ? `HTTP_${error.status}` : error.code.replace('ERR_SSO_', '')
}

/** Whether or not the record says so by now: the outcome is what callers need to hear. */
export function afterEndOfIntent(
  known: Knowledge,
  flow: Flow,
  { request, outcome }: Purpose & { of: 'end-of-intent' },
  now: Moment,
): Step {
  const { account } = known
  const { auth_url } = request.derivedFrom.tokens
  const { error } = outcome
  switch (outcome.kind) {
    case 'unspent': {
      // The process was held up, and nothing was sent: somebody else may have done it.
      if (error instanceof SendGuardError) return look(known, flow)
      const next = backingOff(known, error, now)
      return end(next, flow, error, { tell: 'refresh-failed', event: { account, error } })
    }
    case 'challenged': {
      // Whoever met it waits as long as all others.
      const { nextAttemptAt } = outcome.error
      const failed: Notice = { tell: 'refresh-failed', event: { account, error } }
      return end(known, flow, error, failed, { tell: 'blocked', event: { account, auth_url, nextAttemptAt } })
    }
    case 'in-doubt': {
      const failed: Notice = { tell: 'refresh-failed', event: { account, error } }
      if (isInGrace(known, request.intent, now)) return look(known, flow, failed)
      const doubt = inDoubt(known, now, error)
      const { nextAttemptAt } = doubt
      return end(known, flow, doubt, failed, { tell: 'in-doubt', event: { account, nextAttemptAt } })
    }
  }
}
