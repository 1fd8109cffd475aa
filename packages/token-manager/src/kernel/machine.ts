/**
 * The refresh protocol as one machine: what is known of an account, and something that happened, lead to what is known then
 * and to what is done next. `docs/internals/refresh-protocol.md` tells the whole. Nothing here reads, waits or sends: `driver.ts` does.
 */
import { OtherOwnerError, ReauthenticationRequiredError, SignedOutError, StoreError } from '../errors.ts'
import { isSameWrite, type VersionedRecord } from '../store/lineage.ts'
import type { AccountRecord } from '../store/token-record.ts'
import { afterKeeping, commitFailed, committed, commitOver } from './commit.ts'
import { after, end, fromManager, go, look, noted, read, swap } from './flow.ts'
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
  writeOf,
} from './knowledge.ts'
import {
  hasWatchedLongEnough,
  inDoubt,
  isHeldUp,
  isInGrace,
  isIntentAlive,
  isJustRefreshed,
  replayRestLeft,
  restedFrom,
  withRefusal,
} from './pace.ts'
import { fallBack, isWayBack, toldOfFallBack, tokenAccepted, wayBack, withoutWayBack } from './predecessor.ts'
import { afterEndOfIntent, conclude, holdIntent, maySend, takeIntentOut } from './request.ts'
import { restorationOf } from './restoration.ts'
import { afterSession, overwrite, welcomeFor } from './session.ts'
import type { Begun, Commit, Event, Flow, Look, Notice, Purpose, Request, Spooled, Step, Swap } from './steps.ts'

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
    case 'token-accepted':
      return noted(tokenAccepted(known, event.accessToken, now))
    case 'refreshed-in-vain':
      return noted({ ...known, backgroundRest: { since: instant(now), wait: event.wait } })
  }
}

function begin(known: Knowledge, flow: Begun, now: Moment): Step {
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

/** Several processes may carry the same tokens over, and all come to the same record; one of them tells. */
function afterClearing(known: Knowledge, { task, hasCleared }: Event & { on: 'cleared' }, now: Moment): Step {
  const { from } = task.commit
  if (from.kind !== 'spool') return end(known, task.flow)
  const notices: Notice[] =
    hasCleared && task.isSaved ? [{ tell: 'carried-over', event: { account: known.account } }] : []
  return after(notices, goOn(known, from.look, true, now))
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

export type Decision = 'serve' | 'fall-back' | 'not-signed-in' | 'sign-in-again' | 'wait' | 'defer' | 'send' | 'replay'

/** The heart of the protocol: what one look at the record leads to. */
export function decide(known: Knowledge, now: Moment): Decision {
  const { record } = known
  if (record === undefined || record.state === 'signed-out') return 'not-signed-in'
  if (wayBack(known, now) !== undefined) return 'fall-back'
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
  const back = decision === 'fall-back' ? wayBack(known, now) : undefined
  if (back !== undefined) return fallBack(known, flow, back, now)
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

function signInAgain(record: AccountRecord | undefined): Error {
  const isKnown = record?.state === 'reauthentication-required'
  const { reason, description } = isKnown
    ? record
    : { reason: 'refresh_token_rejected' as const, description: undefined }
  if (reason === 'other_owner') return new OtherOwnerError(fromManager)
  return new ReauthenticationRequiredError(reason, fromManager, description)
}

// An access token that the owner API refused

/** Its predecessor takes its place, where that works. Otherwise only what is said of the current one changes anything. */
function invalidate(known: Knowledge, flow: Flow & { kind: 'invalidate' }, now: Moment): Step {
  const { accessToken } = flow
  if (known.record !== undefined && isWayBack(known.record, accessToken)) return withoutWayBack(known, flow)
  if (accessTokenOf(known.record) !== accessToken) return end(known, flow)
  const isNews = known.invalidated?.accessToken !== accessToken
  const next = isNews ? { ...known, invalidated: { accessToken, unused: isUnused(known, now) } } : known
  const before = wayBack(next, now)
  if (before !== undefined) return fallBack(next, flow, before, now)
  if (!flow.mayRefresh) return end(known, flow)
  const record = withRefusal(next)
  if (record === undefined) return end(next, flow)
  return swap(next, flow, writeOf(next), record, { of: 'refusal', upon: writeOf(next) })
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
    case 'fall-back': {
      const next = isSameWrite(known, purpose.upon) ? accepted(known, stored, now) : known
      return purpose.of === 'refusal'
        ? end(next, flow)
        : end(next, flow, undefined, toldOfFallBack(known.account, stored.record))
    }
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
    case 'fall-back':
      return look(known, flow)
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
  // The next refresh counts it; the predecessor is served here, and the next look that finds it missing writes it again.
  if ((purpose.of === 'refusal' || purpose.of === 'fall-back') && error instanceof StoreError) return end(known, flow)
  return end(known, flow, error)
}
