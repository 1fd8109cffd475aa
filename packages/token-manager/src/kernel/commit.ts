/**
 * The commit: the result of a refresh goes into the store by the lineage rule, again and again until it is there, with the
 * same write id, for as long as the process lives.
 */
import { StoreError } from '../errors.ts'
import {
  holdsResult,
  holdsTokensOf,
  isBehind,
  mayReplace,
  type RefreshResult,
  successorOf,
  type VersionedRecord,
  type Write,
} from '../store/lineage.ts'
import type { AccountRecord } from '../store/token-record.ts'
import { after, end, go, look, swap } from './flow.ts'
import { accepted, type Knowledge, type Moment, writeOf } from './knowledge.ts'
import { inDoubtAgain } from './restoration.ts'
import type { Commit, Event, Flow, HeldRequest, Notice, Step } from './steps.ts'

export function commitAnswer(
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
export function commitOver(
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
export function committed(known: Knowledge, flow: Flow, commit: Commit, stored: VersionedRecord, now: Moment): Step {
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
export function commitFailed(known: Knowledge, flow: Flow, commit: Commit, error: Error): Step {
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

export function afterKeeping(known: Knowledge, { task, at }: Event & { on: 'kept' }): Step {
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
