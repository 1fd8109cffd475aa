/**
 * The refresh protocol as one machine: what is known of an account, and something that happened, lead to what is known then
 * and to what is done next. `docs/refresh-protocol.md` tells the whole. Nothing here reads, waits or sends: `driver.ts` does.
 */
import {
  FirewallChallengeError,
  OtherOwnerError,
  ReauthenticationRequiredError,
  SessionExistsError,
  SignedOutError,
  StoreError,
} from '../errors.ts'
import { tokenSet } from '../issuer/token-set.ts'
import { unknownFields } from '../store/record-check.ts'
import type { AccountRecord, ReauthenticationRequired, SignedIn } from '../store/token-record.ts'
import { bareTokenSet } from '../issuer/bare-refresh-token.ts'
import { assumedLifetime } from './freshness.ts'
import {
  accepted,
  accessTokenOf,
  freshnessOf,
  hostOf,
  instant,
  isUnused,
  isUnwanted,
  isUsable,
  type Knowledge,
  type Moment,
  openIntent,
  withOwnIntent,
  withoutIntent,
  writeOf,
} from './knowledge.ts'
import {
  ancestryOf,
  ancestryOver,
  descends,
  holdsResult,
  holdsTokensOf,
  isBehind,
  isSameWrite,
  lineageOf,
  mayReplace,
  type RefreshResult,
  sessionOf,
  successorOf,
  type VersionedRecord,
  type Write,
} from '../store/lineage.ts'
import { type Outcome, SendGuardError } from './outcome.ts'
import {
  backingOff,
  hasWatchedLongEnough,
  inDoubt,
  isGivenUp,
  isHeldUp,
  isInGrace,
  isInTimeToSend,
  isIntentAlive,
  isJustRefreshed,
  refusalsBefore,
  rejectionsAfter,
  replayRestLeft,
  restedFrom,
  withRefusal,
} from './pace.ts'
import { elapsed, type Instant } from '../support/runtime.ts'
import { reasonAgainst, spentBefore, spentByRefresh } from '../store/spent-refresh-tokens.ts'
import type {
  Commit,
  Event,
  Flow,
  HeldRequest,
  Look,
  Notice,
  Permit,
  Purpose,
  Request,
  Spooled,
  Step,
  Swap,
  Task,
  Unsuccessful,
} from './steps.ts'

export interface Machine {
  step(known: Knowledge, event: Event, now: Moment): Step
  /** The send guard, asked right before the request is written. */
  maySend(known: Knowledge, request: Request, now: Moment): boolean
}

export const machine: Machine = { step, maySend }

export function step(known: Knowledge, event: Event, now: Moment): Step {
  switch (event.on) {
    case 'begun':
      return begin(known, event.flow, now)
    case 'looked':
      return afterLook(known, event, now)
    case 'read':
      return event.task.commit === undefined
        ? overwrite(known, event.task.flow, event.stored, now)
        : commitOver(known, event.task.flow, event.task.commit, event.stored, now)
    case 'swapped':
      return afterSwap(known, event.task, { ...event.write, record: event.task.record }, now)
    case 'conflict':
      return afterConflict(known, event.task, now)
    case 'watched':
      return look(known, event.task.flow)
    case 'permitted':
      return event.hasWaited ? look(known, event.task.flow) : holdIntent(known, event.task, now)
    case 'answered':
      return conclude(known, event, now)
    case 'reported': {
      const { flow, news } = event.task
      if (news.kind === 'passed') return news.next === 'look' ? look(known, flow) : end(known, flow, news.error)
      const { request, outcome, sentAt } = news
      const { nextAttemptAt } = event
      return takeIntentOut(known, flow, request, { ...outcome, sentAt, nextAttemptAt }, now)
    }
    case 'kept':
      return afterKeeping(known, event)
    case 'cleared':
      return afterClearing(known, event, now)
    case 'paused':
      return read(known, event.task.flow, event.task.commit)
    case 'indexed':
      return read(known, event.task.flow)
    case 'dropped':
      return end(known, event.task.flow)
    case 'failed':
      return afterFailure(known, event, now)
    case 'caller-came':
      return noted({ ...known, callers: known.callers + 1 })
    case 'caller-left':
      return noted({ ...known, callers: known.callers - 1 })
    case 'replacement-asked':
      return noted({ ...known, toReplace: event.accessToken })
    case 'replacement-over':
      return noted(known.toReplace === event.accessToken ? { ...known, toReplace: undefined } : known)
    case 'refreshed-in-vain':
      return noted({ ...known, backgroundRest: { since: instant(now), wait: event.wait } })
  }
}

// How a flow goes on

const go = (knowledge: Knowledge, next: Task, ...notices: readonly Notice[]): Step => ({ knowledge, notices, next })

const noted = (knowledge: Knowledge): Step => ({ knowledge, notices: [], next: { do: 'end', error: undefined } })

function end(known: Knowledge, flow: Flow, error?: Error, ...notices: readonly Notice[]): Step {
  const knowledge = flow.kind === 'refresh' ? { ...known, isRefreshing: false } : known
  const { account } = known
  const ofStore: Notice[] =
    flow.kind === 'refresh' && error instanceof StoreError
      ? [{ tell: 'refresh-failed', event: { account, error } }]
      : []
  return { knowledge, notices: [...notices, ...ofStore], next: { do: 'end', error } }
}

/** What was to be told before comes first. */
const after = (notices: readonly Notice[], next: Step): Step => ({ ...next, notices: [...notices, ...next.notices] })

function look(known: Knowledge, flow: Flow, ...notices: readonly Notice[]): Step {
  const host = flow.kind === 'refresh' ? hostOf(known) : undefined
  return go(known, { do: 'look', flow, host, upon: writeOf(known) }, ...notices)
}

const read = (known: Knowledge, flow: Flow, commit?: Commit): Step => go(known, { do: 'read', flow, commit })

function swap(
  known: Knowledge,
  flow: Flow,
  over: Write | undefined,
  record: AccountRecord,
  purpose: Purpose,
  { writeId, forgetOlder = false }: { readonly writeId?: string; readonly forgetOlder?: boolean } = {},
): Step {
  return go(known, { do: 'swap', flow, over, record, writeId, forgetOlder, purpose })
}

function begin(known: Knowledge, flow: Flow, now: Moment): Step {
  switch (flow.kind) {
    case 'refresh': {
      const { unsaved } = known
      if (unsaved === undefined) return look({ ...known, isRefreshing: true }, flow)
      // Tokens that the store has not taken yet are committed before anything else happens.
      return end(known, flow, unsaved.error ?? new StoreError('busy', 'New tokens are being stored.'))
    }
    case 'look':
      return look(known, flow)
    case 'sign-in':
      // What memory and spool know counts as well. Before the index, which then still names the session that is there.
      return flow.replaces ? go(known, { do: 'index', flow }) : look(known, flow)
    case 'invalidate':
      return known.record === undefined ? look(known, flow) : invalidate(known, flow, now)
    case 'sign-out':
    case 'save':
      return read(known, flow)
  }
}

// A look

/** What the store holds is accepted as the newest. Where it has lost what is known here, that is put back. */
function afterLook(known: Knowledge, { task, stored, spooled, lookedAt }: Event & { on: 'looked' }, now: Moment): Step {
  // What only this process holds is written by its commit, not from here.
  if (known.unsaved !== undefined) return goOn(known, task, true, now)
  const record = restorationOf(known, stored, now)
  if (record !== undefined) {
    const purpose = { of: 'restoration', look: task, spooled, knew: known.record } as const
    return swap(known, task.flow, stored, record, purpose, { forgetOlder: record.state === 'signed-out' })
  }
  const next = stored === undefined ? known : { ...accepted(known, stored, now), lookedAt }
  return carryOver(next, task, stored, spooled, now)
}

function afterRestoration(
  known: Knowledge,
  { look: task, spooled, knew }: Purpose & { of: 'restoration' },
  stored: VersionedRecord,
  now: Moment,
): Step {
  // A call of this process may have come in between.
  const next = known.record === knew ? accepted(known, stored, now) : known
  const notices: Notice[] = [{ tell: 'restored', event: { account: known.account } }, { tell: 'roll-call' }]
  return after(notices, carryOver(next, task, stored, spooled, now))
}

/** What waits in the spool goes over into the store, by the lineage rule. */
function carryOver(
  known: Knowledge,
  task: Look,
  stored: VersionedRecord | undefined,
  spooled: Spooled | undefined,
  now: Moment,
): Step {
  if (spooled === undefined) return goOn(known, task, stored !== undefined, now)
  const commit: Commit = { result: spooled, writeId: now.uniqueId(), from: { kind: 'spool', spooled, look: task } }
  return commitOver(known, task.flow, commit, stored, now)
}

/** With what the look was for. @param isThere - the store has a record */
function goOn(known: Knowledge, task: Look, isThere: boolean, now: Moment): Step {
  const { flow } = task
  if (flow.kind === 'refresh') return goOnRefreshing(known, flow, task, isThere, now)
  if (flow.kind === 'invalidate') return invalidate(known, flow, now)
  if (flow.kind !== 'sign-in') return end(known, flow)
  const welcome = welcomeFor(flow, known.record, known.account)
  return welcome === 'welcome' ? go(known, { do: 'index', flow }) : end(known, flow, welcome)
}

// The decision

export type Decision = 'serve' | 'not-signed-in' | 'sign-in-again' | 'wait' | 'defer' | 'send' | 'replay'

/** The heart of the protocol: what one look at the record leads to. */
export function decide(known: Knowledge, now: Moment): Decision {
  const { record } = known
  if (record === undefined || record.state === 'signed-out') return 'not-signed-in'
  if (record.state === 'reauthentication-required') return 'sign-in-again'
  const freshness = freshnessOf(known, now)
  const isWanted = !isUnwanted(known)
  if (freshness === 'fresh' && isWanted) return 'serve'
  if (isJustRefreshed(known, now)) return 'serve'
  const intent = openIntent(known)
  if (intent === undefined) return 'send'
  if (isIntentAlive(known, intent, now)) return 'wait'
  // In doubt: the refresh token may be spent. As long as the access token works and nobody wants another, a late success is
  // worth waiting for.
  const isDue = freshness === 'expiring' || freshness === 'expired' || !isWanted || isInGrace(known, intent, now)
  return isDue && replayRestLeft(known, intent, now) <= 0 ? 'replay' : 'defer'
}

function goOnRefreshing(
  known: Knowledge,
  flow: Flow & { kind: 'refresh' },
  { host: askedHost, upon: before }: Look,
  isThere: boolean,
  now: Moment,
): Step {
  const decision = isThere ? decide(known, now) : 'not-signed-in'
  if (decision === 'serve') return end(known, flow)
  if (decision === 'not-signed-in') return end(known, flow, new SignedOutError(fromManager))
  if (decision === 'sign-in-again') return end(known, flow, signInAgain(known.record))
  if (decision === 'defer') return end(known, flow, inDoubt(known, now))
  if (decision === 'wait') {
    const isOver = isLeftToOthers(known, now) || hasWatchedLongEnough(flow.began, now)
    return isOver ? end(known, flow, inDoubt(known, now)) : watch(known, flow, now)
  }
  const rested = restedFrom(known, now)
  const host = hostOf(known)
  if (rested !== undefined || host === undefined) return end(known, flow, rested)
  const upon = writeOf(known)
  // Another's block may have been written between the two reads: then the record has changed as well.
  const isOutdated = host !== askedHost || !isSameWrite(upon, before)
  return go(known, { do: 'permit', flow, host, upon, replay: decision === 'replay', isOutdated })
}

/** Callers who have to wait for minutes, since the store went back, hear so once, and until when. */
function watch(known: Knowledge, flow: Flow & { kind: 'refresh' }, now: Moment): Step {
  if (flow.hasToldOfDoubt === true || !isHeldUp(known, now)) return go(known, { do: 'watch', flow })
  const { nextAttemptAt } = inDoubt(known, now)
  const notice: Notice = { tell: 'in-doubt', event: { account: known.account, nextAttemptAt } }
  return go(known, { do: 'watch', flow: { ...flow, hasToldOfDoubt: true } }, notice)
}

/** Nobody in this process needs the token that another one is getting, and this one is leaving, or may be frozen any time. */
function isLeftToOthers(known: Knowledge, now: Moment): boolean {
  const isNeeded = known.callers > 0
  if (now.settings.outlivesCalls) return now.isEnding && !isNeeded
  return !isNeeded || (known.toReplace === undefined && isUsable(known, now))
}

const fromManager = { step: 'token-manager', requestSent: false } as const

function signInAgain(record: AccountRecord | undefined): Error {
  const isKnown = record?.state === 'reauthentication-required'
  const { reason, description } = isKnown
    ? record
    : { reason: 'refresh_token_rejected' as const, description: undefined }
  if (reason === 'other_owner') return new OtherOwnerError(fromManager)
  return new ReauthenticationRequiredError(reason, fromManager, description)
}

// The one request

/** The intent goes in, over the very record upon which it was decided: another process's intent must not be swapped away. */
function holdIntent(known: Knowledge, { flow, upon, replay }: Permit, now: Moment): Step {
  const { record } = known
  if (record?.state !== 'signed-in' || !isSameWrite(known, upon)) return look(known, flow)
  const unanswered = replay ? openIntent(known) : undefined
  const request: Request = {
    derivedFrom: record,
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
  const { intent, before } = request
  // Even if the store never tells: until something is sent, this intent changes nothing about the refresh token.
  const next = withOwnIntent(known, { id: intent.id, spent: false, before })
  return swap(next, flow, writeOf(known), { ...record, intent }, { of: 'intent', request })
}

function maySend(known: Knowledge, { swappedAt, graceOf }: Request, now: Moment): boolean {
  // A replay for the grace's sake does no good once that is over: another look tells whether it is due.
  return isInTimeToSend(swappedAt, now) && (graceOf === undefined || isInGrace(known, graceOf, now))
}

/** What follows from the answer: for the record, for the callers and for the other processes. */
function conclude(known: Knowledge, { task, outcome, sentAt }: Event & { on: 'answered' }, now: Moment): Step {
  const { flow, request } = task
  switch (outcome.kind) {
    case 'tokens':
      return keepTokens(known, flow, request, outcome, sentAt, now)
    case 'invalid-grant':
      return endSession(known, flow, request, outcome.error, now)
    case 'challenged': {
      // First the block, then the intent: in the other order all who waited for it would send, one after the other.
      const host = request.derivedFrom.tokens.auth_url
      return go(known, { do: 'report', flow, host, news: { kind: 'challenged', request, outcome, sentAt } })
    }
    case 'unspent': {
      const rejections = rejectionsAfter(request.derivedFrom, outcome.error, now)
      if (isGivenUp(rejections)) return endSession(known, flow, request, rejections ?? {}, now)
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
  const next: SignedIn = {
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
    // As old as they can be: they may have been issued long before their answer was read.
    obtained_at: Math.floor((now.wall - elapsed(sentAt, now)) / 1000),
    lifetime: assumedLifetime(tokens, seconds(now), true),
    ...refusalsBefore(known, derivedFrom),
    ...unknownFields(derivedFrom),
  }
  if (!isOfAnotherOwner) return commitAnswer({ ...known, backOff: undefined }, flow, request, next, now)
  // The new refresh token is the only one that works, so it is kept. Its access token is nobody's here.
  const state = 'reauthentication-required'
  const ended = { ...next, state, reason: 'other_owner', lifetime: 0, tokens: bareTokenSet(tokens) } as const
  return commitAnswer(known, flow, request, ended, now)
}

/** The refresh token is dead. By the lineage rule as well: a newer sign-in knows nothing of it. */
function endSession(
  known: Knowledge,
  flow: Flow,
  request: HeldRequest,
  { reason = 'refresh_token_rejected', description }: Partial<Pick<ReauthenticationRequired, 'reason' | 'description'>>,
  now: Moment,
): Step {
  const next: ReauthenticationRequired = {
    ...withoutIntent(request.derivedFrom),
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
  const { derivedFrom, intent, before, replay, held } = request
  const spent = withOwnIntent(known, { id: intent.id, spent: true, before })
  const next = replay ? spent : { ...spent, lostAnswer: { id: intent.id, sentAt: outcome.sentAt } }
  const record: SignedIn = { ...derivedFrom, ...failureOf(outcome, now), intent: { ...intent, answerLost: true } }
  return swap(next, flow, held, record, { of: 'end-of-intent', request, outcome })
}

/** The refresh token is what it was: unspent, or still in doubt because of an earlier request. */
function takeIntentOut(known: Knowledge, flow: Flow, request: HeldRequest, outcome: Unsuccessful, now: Moment): Step {
  const { derivedFrom, before, held } = request
  const rejections = outcome.kind === 'unspent' ? rejectionsAfter(derivedFrom, outcome.error, now) : undefined
  const record: SignedIn = {
    ...withoutIntent(derivedFrom),
    ...(rejections && { rejections }),
    ...failureOf(outcome, now),
    ...(before && { intent: before }),
  }
  return swap(known, flow, held, record, { of: 'end-of-intent', request, outcome })
}

/** For people who look at the status: in a write that is made in any case. */
function failureOf({ error }: Unsuccessful, now: Moment): Pick<SignedIn, 'failure'> {
  return error instanceof SendGuardError ? {} : { failure: { code: error.code, at: seconds(now) } }
}

/** Whether or not the record says so by now: the outcome is what callers need to hear. */
function afterEndOfIntent(
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
      const notice: Notice = { tell: 'refresh-failed', event: { account, error } }
      if (!error.requestSent) return end(next, flow, error, notice)
      return go(next, { do: 'report', flow, host: auth_url, news: { kind: 'passed', next: 'end', error } }, notice)
    }
    case 'challenged': {
      // Whoever met it waits as long as all others.
      const { step: during, status, requestSent } = outcome.error
      const nextAttemptAt = outcome.nextAttemptAt ?? outcome.error.nextAttemptAt
      const blocked = new FirewallChallengeError(nextAttemptAt, { step: during, status, requestSent })
      return end(
        known,
        flow,
        blocked,
        { tell: 'refresh-failed', event: { account, error: blocked } },
        { tell: 'blocked', event: { account, auth_url, nextAttemptAt } },
      )
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

// The commit

function commitAnswer(
  known: Knowledge,
  flow: Flow,
  request: HeldRequest,
  next: RefreshResult['next'],
  now: Moment,
): Step {
  const { derivedFrom, held } = request
  const result = { derivedFrom, next }
  const commit: Commit = { result, writeId: now.uniqueId(), from: { kind: 'answer', request } }
  // In memory at once: from here on the new tokens are served, whatever becomes of the store.
  const isNewest = known.record === undefined || mayReplace(known.record, result)
  const served = isNewest
    ? { ...accepted(known, { ...writeOf(held), record: next }, now), unsaved: { result, error: undefined } }
    : known
  return commitOver(served, flow, commit, held, now)
}

/** Puts a result where the lineage rule lets it. @param stored - what the store holds */
function commitOver(
  known: Knowledge,
  flow: Flow,
  commit: Commit,
  stored: VersionedRecord | undefined,
  now: Moment,
): Step {
  const { result, writeId, from } = commit
  if (stored !== undefined && holdsResult(stored.record, result)) return committed(known, flow, commit, stored, now)
  const isNext = stored !== undefined && mayReplace(stored.record, result)
  const version = from.kind === 'spool' ? Math.max(from.spooled.version, known.version) : known.version
  // The store went back to a time before this refresh.
  const isLost = stored === undefined || isBehind(stored, { version, record: result.derivedFrom })
  if (stored !== undefined && !isNext && !isLost) return superseded(known, flow, commit, stored, now)
  const record = recordOf(result, stored)
  // A store that lost the record takes a fresh result, which exists nowhere else, without a doubt. One that was in the spool
  // may have been in the store before, and been spent since.
  const isDoubtful = from.kind === 'spool' && !isNext
  return swap(
    known,
    flow,
    stored,
    isDoubtful ? inDoubtAgain(record, known, now) : record,
    { of: 'commit', commit },
    { writeId },
  )
}

function recordOf(result: RefreshResult, stored: VersionedRecord | undefined): AccountRecord {
  if (stored === undefined || stored.record.state === 'signed-out') return result.next
  return stored.record.lineage === result.derivedFrom.lineage ? successorOf(stored.record, result) : result.next
}

/** The store holds the result. */
function committed(known: Knowledge, flow: Flow, commit: Commit, stored: VersionedRecord, now: Moment): Step {
  return afterCommit(settled(known, commit, stored, now), flow, commit, 'saved')
}

/** The store holds something newer. */
function superseded(known: Knowledge, flow: Flow, commit: Commit, stored: VersionedRecord, now: Moment): Step {
  const notice: Notice = { tell: 'superseded', event: { account: known.account } }
  return after([notice], afterCommit(settled(known, commit, stored, now), flow, commit, 'superseded'))
}

function settled(known: Knowledge, { result }: Commit, stored: VersionedRecord, now: Moment): Knowledge {
  const next = known.unsaved?.result === result ? { ...known, unsaved: undefined } : known
  // A sign-in or sign-out of this process may have come in between; what is known may only grow.
  const isGrowth =
    next.record === undefined ||
    holdsTokensOf(next.record, result.next) ||
    !isBehind(stored, { ...writeOf(next), record: next.record })
  return isGrowth ? accepted(next, stored, now) : next
}

function afterCommit(known: Knowledge, flow: Flow, commit: Commit, ending: 'saved' | 'superseded' | 'unsaved'): Step {
  const { from, result } = commit
  const isSaved = ending === 'saved'
  if (from.kind === 'spool') return go(known, { do: 'clear', flow, at: from.spooled.at, commit, isSaved })
  if (from.kind === 'memory') {
    return from.kept === undefined ? end(known, flow) : go(known, { do: 'clear', flow, at: from.kept, commit, isSaved })
  }
  return afterAnswer(known, flow, from.request, result.next, ending)
}

function afterAnswer(
  known: Knowledge,
  flow: Flow,
  { derivedFrom, replay }: HeldRequest,
  next: RefreshResult['next'],
  ending: 'saved' | 'superseded' | 'unsaved',
): Step {
  const { account } = known
  const host = derivedFrom.tokens.auth_url
  if (next.state === 'signed-in') {
    if (ending === 'superseded') return look(known, flow)
    const expires_at = next.obtained_at + next.lifetime
    const notice: Notice = { tell: 'refreshed', event: { account, expires_at, replay } }
    return go(known, { do: 'report', flow, host, news: { kind: 'passed', next: 'end' } }, notice)
  }
  const { reason } = next
  const notices: Notice[] =
    ending === 'superseded' ? [] : [{ tell: 'reauthentication-required', event: { account, reason } }]
  return go(known, { do: 'report', flow, host, news: { kind: 'passed', next: 'look' } }, ...notices)
}

/** After 250 ms, then after twice as long each time, up to 15 s, a third of an intent's life. */
const firstPause = 250
const longestPause = 15_000

/** The store did not take the result. */
function commitFailed(known: Knowledge, flow: Flow, commit: Commit, error: Error): Step {
  const { from } = commit
  // What is in the spool stays there.
  if (from.kind === 'spool' || !(error instanceof StoreError)) return end(known, flow, error)
  if (from.kind === 'memory' && from.kept !== undefined) return commitLater(known, flow, commit, from.kept, from.pause)
  const isHeld = from.kind === 'answer' && known.unsaved?.result === commit.result
  const next = isHeld ? { ...known, unsaved: { result: commit.result, error } } : known
  // A refusal is not spooled: there is nothing to save.
  if (commit.result.next.state === 'signed-in') return go(next, { do: 'keep', flow, commit, error })
  return afterKeeping(next, { on: 'kept', task: { do: 'keep', flow, commit, error }, at: undefined })
}

function afterKeeping(known: Knowledge, { task, at }: Event & { on: 'kept' }): Step {
  const { flow, commit, error } = task
  if (commit.from.kind !== 'answer') {
    return commitLater(known, flow, commit, at, commit.from.kind === 'memory' ? commit.from.pause : firstPause)
  }
  const notice: Notice = { tell: 'unsaved', event: { account: known.account, error, spooled: at !== undefined } }
  const { next: beside } = commitLater(known, { kind: 'save' }, commit, at, firstPause)
  const next = after([notice], afterCommit(known, flow, commit, 'unsaved'))
  return beside.do === 'end' ? next : { ...next, beside }
}

function commitLater(known: Knowledge, flow: Flow, commit: Commit, kept: Write | undefined, pause: number): Step {
  const { from } = commit
  if (from.kind === 'spool') return end(known, flow)
  const next = { kind: 'memory', request: from.request, kept, pause: Math.min(pause * 2, longestPause) } as const
  const isSafe = kept !== undefined
  return go(known, { do: 'pause', flow, commit: { ...commit, from: next }, milliseconds: pause, isSafe })
}

/** Several processes may carry the same tokens over, and all come to the same record; one of them tells. */
function afterClearing(known: Knowledge, { task, hasCleared }: Event & { on: 'cleared' }, now: Moment): Step {
  const { from } = task.commit
  if (from.kind !== 'spool') return end(known, task.flow)
  const notices: Notice[] =
    hasCleared && task.isSaved ? [{ tell: 'carried-over', event: { account: known.account } }] : []
  return after(notices, goOn(known, from.look, true, now))
}

// Sign-in and sign-out: unlike a refresh, they give way to nobody

function overwrite(known: Knowledge, flow: Flow, stored: VersionedRecord | undefined, now: Moment): Step {
  if (flow.kind === 'sign-in') return signIn(known, flow, stored, now)
  const isUnknown = stored === undefined && known.record === undefined
  if (flow.kind !== 'sign-out' || isUnknown) return end(known, flow)
  const record = { ...overAll(known, flow.session, stored), state: 'signed-out', signed_out_at: seconds(now) } as const
  return swap(known, flow, stored, record, { of: 'session' }, { writeId: flow.session, forgetOlder: true })
}

/** Over what this process remembers as well: the store may have lost it, and another process may put it back. */
function overAll({ record }: Knowledge, session: string, stored: VersionedRecord | undefined) {
  return { ...ancestryOver(session, stored?.record, record), spent: spentBefore(stored?.record, record) }
}

function signIn(
  known: Knowledge,
  flow: Flow & { kind: 'sign-in' },
  stored: VersionedRecord | undefined,
  now: Moment,
): Step {
  const welcome = welcomeFor(flow, stored?.record, known.account)
  if (welcome !== 'welcome') return end(known, flow, welcome)
  const { tokens, session } = flow
  const lineage = lineageOf(known.account, tokens.refresh_token)
  const record: SignedIn = {
    ...overAll(known, session, stored),
    state: 'signed-in',
    refreshes: 0,
    lineage,
    tokens: tokenSet(tokens),
    obtained_at: seconds(now),
    lifetime: assumedLifetime(tokens, seconds(now), false),
  }
  // The same refresh token is as doubtful as it was.
  const doubt = stored?.record.state === 'signed-in' && stored.record.lineage === lineage && stored.record.intent
  const saved = doubt ? { ...record, intent: doubt } : record
  return swap(known, flow, stored, saved, { of: 'session' }, { writeId: session, forgetOlder: true })
}

function afterSession(known: Knowledge, flow: Flow, written: VersionedRecord, now: Moment): Step {
  const isOvertaken = known.record !== undefined && isBehind(written, { ...writeOf(known), record: known.record })
  // What a refresh before it brought, and why one failed, is of no account any more.
  const next = isOvertaken ? known : { ...accepted(known, written, now), unsaved: undefined, backOff: undefined }
  return go(next, { do: 'drop', flow })
}

/**
 * Whether tokens may take the place of `stored`: none that were spent. A sign-in may; a refresh token that was brought along may
 * only where no session is there that it would end: nobody has proved that it is newer. Nothing where it is there already;
 * otherwise the reason.
 */
function welcomeFor(
  { replaces, tokens }: Flow & { kind: 'sign-in' },
  stored: AccountRecord | undefined,
  account: string,
): 'welcome' | Error | undefined {
  const reason = reasonAgainst(stored, account, tokens.refresh_token)
  if (reason !== undefined) return reason
  if (replaces || stored?.state !== 'signed-in') return 'welcome'
  const isSame = stored.lineage === lineageOf(account, tokens.refresh_token)
  return isSame ? undefined : new SessionExistsError(fromManager)
}

// An access token that the owner API refused

/** Only the first to say so of the current one changes anything. */
function invalidate(known: Knowledge, flow: Flow & { kind: 'invalidate' }, now: Moment): Step {
  const { accessToken } = flow
  if (accessTokenOf(known.record) !== accessToken || known.invalidated?.accessToken === accessToken)
    return end(known, flow)
  const next = { ...known, invalidated: { accessToken, unused: isUnused(known, now) } }
  const record = withRefusal(next)
  if (record === undefined) return end(next, flow)
  return swap(next, flow, writeOf(next), record, { of: 'refusal', upon: writeOf(next) })
}

// The store went back in time, or is lost

/**
 * What has to be put into the store in place of `stored`; nothing where that is to be believed. It is a memory, and another
 * process may remember more: so it goes in with an intent, as one that nobody may send yet, and as one in doubt from then on.
 */
function restorationOf(known: Knowledge, stored: VersionedRecord | undefined, now: Moment): AccountRecord | undefined {
  const { record } = known
  if (record === undefined) return undefined
  if (stored === undefined || isBehind(stored, { ...writeOf(known), record })) return inDoubtAgain(record, known, now)
  if (!isOlderMemory(stored.record, record, now)) return undefined
  return inDoubtAgain({ ...record, ...ancestryOver(sessionOf(record), record, stored.record) }, known, now)
}

/** A new intent, because its life begins anew: another process's tokens may have been put back meanwhile. */
function inDoubtAgain(record: AccountRecord, known: Knowledge, now: Moment): AccountRecord {
  if (record.state !== 'signed-in') return record
  const { replay, at } = openIntent(known) ?? { replay: 0, at: seconds(now) }
  return { ...record, intent: { id: now.uniqueId(), holder: now.holder, replay, at, restored: true } }
}

/** Seconds that clocks may differ and still be believed. */
const aDay = 86_400

/**
 * Of two memories that know nothing of each other, the later counts. It takes two losses and a sign-in between them to get
 * there, and it is the one place where clocks decide: a time that has yet to come is not believed, so that a clock that was
 * ahead does no harm for ever.
 */
function isOlderMemory(stored: AccountRecord, seen: AccountRecord, now: Moment): boolean {
  if (stored.state !== 'signed-in' || stored.intent?.restored !== true) return false
  if (sessionOf(stored) === sessionOf(seen) || descends(stored, seen)) return false
  const toldAt = (record: AccountRecord): number => {
    const at = record.state === 'signed-out' ? (record.signed_out_at ?? 0) : record.obtained_at
    return at > now.wall / 1000 + aDay ? 0 : at
  }
  return toldAt(stored) < toldAt(seen)
}

// How a swap ended

function afterSwap(known: Knowledge, { flow, purpose }: Swap, stored: VersionedRecord, now: Moment): Step {
  switch (purpose.of) {
    case 'restoration':
      return afterRestoration(known, purpose, stored, now)
    case 'intent': {
      const request = { ...purpose.request, held: stored }
      return go(accepted(known, stored, now), { do: 'send', flow, request })
    }
    case 'commit':
      return committed(known, flow, purpose.commit, stored, now)
    case 'end-of-intent':
      return afterEndOfIntent(accepted(known, stored, now), flow, purpose, now)
    case 'session':
      return afterSession(known, flow, stored, now)
    case 'refusal':
      return end(isSameWrite(known, purpose.upon) ? accepted(known, stored, now) : known, flow)
  }
}

/** Somebody else changed the record: what stands there now is read, unless nothing more depends on it. */
function afterConflict(known: Knowledge, { flow, purpose }: Swap, now: Moment): Step {
  switch (purpose.of) {
    case 'restoration':
      return go(known, purpose.look)
    case 'intent':
      return look(known, flow)
    case 'commit':
      return read(known, flow, purpose.commit)
    case 'session':
      return read(known, flow)
    case 'end-of-intent':
      return afterEndOfIntent(known, flow, purpose, now)
    case 'refusal':
      return end(known, flow)
  }
}

function afterFailure(known: Knowledge, { task, error }: Event & { on: 'failed' }, now: Moment): Step {
  const { flow } = task
  if (task.do === 'read' && task.commit !== undefined) return commitFailed(known, flow, task.commit, error)
  // The holder of an intent could not store its result either: its life begins anew when the store is back.
  if (task.do === 'look') return end({ ...known, intentSeen: undefined }, flow, error)
  if (task.do !== 'swap') return end(known, flow, error)
  const { purpose } = task
  if (purpose.of === 'commit') return commitFailed(known, flow, purpose.commit, error)
  // The next look meets the store's error again; until then `ownIntents` remembers what could not be written.
  if (purpose.of === 'end-of-intent') return afterEndOfIntent(known, flow, purpose, now)
  // The next refresh counts it.
  if (purpose.of === 'refusal' && error instanceof StoreError) return end(known, flow)
  return end(known, flow, error)
}

const seconds = ({ wall }: Instant): number => Math.floor(wall / 1000)
