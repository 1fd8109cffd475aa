/**
 * The commit: the result of a refresh goes into the store by the lineage rule, again and again until it is there, with the
 * same write id, for as long as the process lives.
 */
import { StoreError } from '../errors.ts'
import { isSafe } from '../store/guarded-store.ts'
import {
  holdsResult,
  holdsTokensOf,
  isBehind,
  mayReplace,
  placed,
  type RefreshResult,
  type VersionedRecord,
} from '../store/lineage.ts'
import { accepted, type Knowledge, type Moment, writeOf } from './knowledge.ts'
import {
  after,
  type Commit,
  end,
  type Flow,
  go,
  type HeldRequest,
  look,
  type Notice,
  type Pause,
  type Step,
  swap,
} from './steps.ts'

export function commitAnswer(
  known: Knowledge,
  flow: Flow,
  request: HeldRequest,
  next: RefreshResult['next'],
  now: Moment,
): Step {
  const { derivedFrom, held } = request
  const result = { derivedFrom, next }
  const commit: Commit = { result, writeId: now.uniqueId(), request }
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
  const { result, writeId } = commit
  if (stored !== undefined && holdsResult(stored.record, result)) return committed(known, flow, commit, stored, now)
  // The store went back to a time before this refresh. It takes a fresh result, which exists nowhere else, without a doubt.
  const isLost = stored === undefined || isBehind(stored, { version: known.version, record: result.derivedFrom })
  if (!isLost && !mayReplace(stored.record, result)) return superseded(known, flow, commit, stored, now)
  return swap(known, flow, stored, placed(result, stored?.record), { of: 'commit', commit }, writeId)
}

export function committed(known: Knowledge, flow: Flow, commit: Commit, stored: VersionedRecord, now: Moment): Step {
  return afterCommit(settled(known, commit, stored, now), flow, commit, 'saved')
}

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

type Ending = 'saved' | 'superseded' | 'unsaved'

function afterCommit(known: Knowledge, flow: Flow, { request, result, pause }: Commit, ending: Ending): Step {
  // Its refresh has ended long since.
  if (pause !== undefined) return end(known, flow)
  const { account } = known
  const { next } = result
  if (next.state === 'signed-in') {
    if (ending === 'superseded') return look(known, flow)
    const expires_at = next.obtained_at + next.lifetime
    return end(known, flow, undefined, { tell: 'refreshed', event: { account, expires_at, replay: request.replay } })
  }
  const { reason } = next
  const notices: Notice[] =
    ending === 'superseded' ? [] : [{ tell: 'reauthentication-required', event: { account, reason } }]
  return look(known, flow, ...notices)
}

/** After 250 ms, then after twice as long each time, up to 15 s, a third of an intent's life. */
const firstPause = 250
const longestPause = 15_000

/** The store did not take the result: that is repeated for as long as the process lives, beside what goes on. */
export function commitFailed(known: Knowledge, flow: Flow, commit: Commit, error: Error): Step {
  if (!(error instanceof StoreError)) return end(known, flow, error)
  if (commit.pause !== undefined) return go(known, later(flow, commit, commit.pause, error))
  const isHeld = known.unsaved?.result === commit.result
  const next = isHeld ? { ...known, unsaved: { result: commit.result, error } } : known
  const notice: Notice = { tell: 'unsaved', event: { account: known.account, error, spooled: isSafe(error) } }
  const beside = later({ kind: 'save' }, commit, firstPause, error)
  return { ...after([notice], afterCommit(next, flow, commit, 'unsaved')), beside }
}

const later = (flow: Flow, commit: Commit, pause: number, error: StoreError): Pause => ({
  do: 'pause',
  flow,
  commit: { ...commit, pause: Math.min(pause * 2, longestPause) },
  milliseconds: pause,
  isSafe: isSafe(error),
})
