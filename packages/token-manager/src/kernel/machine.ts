/**
 * The refresh protocol as one machine: what is known of an account, and something that happened, lead to what is known then
 * and to what is done next. `docs/internals/refresh-protocol.md` tells the whole. Nothing here reads, waits or sends: `driver.ts` does.
 */
import { StoreError } from '../errors.ts'
import { isSameWrite, type VersionedRecord } from '../store/lineage.ts'
import type { Instant } from '../support/runtime.ts'
import { commitFailed, committed, commitOver } from './commit.ts'
import { afterRefreshLook } from './decide.ts'
import { tellingIfOverdue } from './elsewhere.ts'
import { accepted, accessTokenOf, instant, isUnused, type Knowledge, type Moment, writeOf } from './knowledge.ts'
import { withRefusal } from './pace.ts'
import { fallBack, isWayBack, toldOfFallBack, tokenAccepted, wayBack, withoutWayBack } from './predecessor.ts'
import { afterEndOfIntent, conclude, holdIntent, maySend } from './request.ts'
import { restorationOf } from './restoration.ts'
import { afterSession, overwrite } from './session.ts'
import {
  after,
  type Begun,
  end,
  type Event,
  type Flow,
  go,
  look,
  noted,
  type Purpose,
  read,
  type Request,
  type Step,
  type Swap,
  swap,
} from './steps.ts'

export interface Machine {
  step(known: Knowledge, event: Event, now: Moment): Step
  /** The send guard, asked right before the request is written. */
  maySend(known: Knowledge, request: Request, now: Moment): boolean
}

export const machine: Machine = { step, maySend }

export function step(known: Knowledge, event: Event, now: Moment): Step {
  const next = stepAfter(known, event, now)
  return 'task' in event ? tellingIfOverdue(next, now) : next
}

function stepAfter(known: Knowledge, event: Event, now: Moment): Step {
  switch (event.on) {
    case 'begun':
      return begin(known, event.flow, now)
    case 'read':
      return afterRead(known, event, now)
    case 'swapped':
      return afterSwap(known, event.task, { ...event.write, record: event.task.record }, now)
    case 'conflict':
      return afterConflict(known, event.task, now)
    case 'watched':
      return look(known, event.task.flow)
    case 'entered':
      return event.hasWaited ? look(known, event.task.flow) : holdIntent(known, event.task, now)
    case 'answered':
      return conclude(known, event, now)
    case 'paused':
      return read(known, event.task.flow, event.task.commit)
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
    case 'invalidate':
      return known.record === undefined ? look(known, flow) : invalidate(known, flow, now)
    case 'sign-in':
    case 'sign-out':
      return read(known, flow, 'overwrite')
  }
}

// A look

function afterRead(known: Knowledge, { task, stored, at }: Event & { on: 'read' }, now: Moment): Step {
  const { flow, to } = task
  if (to === 'overwrite') return overwrite(known, flow, stored, now)
  return to === 'decide' ? afterLook(known, flow, stored, at, now) : commitOver(known, flow, to, stored, now)
}

/** What the store holds is accepted as the newest. Where it has lost what is known here, that is put back. */
function afterLook(
  known: Knowledge,
  flow: Flow,
  stored: VersionedRecord | undefined,
  lookedAt: Instant,
  now: Moment,
): Step {
  // What only this process holds is written by its commit, not from here.
  if (known.unsaved !== undefined) return goOn(known, flow, true, now)
  const record = restorationOf(known, stored, now)
  if (record !== undefined) return swap(known, flow, stored, record, { of: 'restoration', knew: known.record })
  const next = stored === undefined ? known : { ...accepted(known, stored, now), lookedAt }
  return goOn(next, flow, stored !== undefined, now)
}

function afterRestoration(
  known: Knowledge,
  flow: Flow,
  { knew }: Purpose & { of: 'restoration' },
  stored: VersionedRecord,
  now: Moment,
): Step {
  // A call of this process may have come in between.
  const next = known.record === knew ? accepted(known, stored, now) : known
  return after([{ tell: 'restored', event: { account: known.account } }], goOn(next, flow, true, now))
}

/** With what the look was for. @param isThere - the store has a record */
function goOn(known: Knowledge, flow: Flow, isThere: boolean, now: Moment): Step {
  if (flow.kind === 'refresh') return afterRefreshLook(known, flow, isThere, now)
  return flow.kind === 'invalidate' ? invalidate(known, flow, now) : end(known, flow)
}

// An access token that the owner API refused

/** Its predecessor takes its place, where that works. Otherwise only what is said of the current one changes anything. */
function invalidate(known: Knowledge, flow: Flow & { kind: 'invalidate' }, now: Moment): Step {
  const { accessToken } = flow
  if (known.record !== undefined && isWayBack(known.record, accessToken)) return withoutWayBack(known, flow, now)
  if (accessTokenOf(known.record) !== accessToken) return end(known, flow)
  const isNews = known.invalidated?.accessToken !== accessToken
  const next = isNews ? { ...known, invalidated: { accessToken, unused: isUnused(known, now) } } : known
  const before = wayBack(next, now)
  if (before !== undefined) return fallBack(next, flow, before, now)
  if (!flow.mayRefresh) return end(known, flow)
  const record = withRefusal(next, now)
  if (record === undefined) return end(next, flow)
  return swap(next, flow, writeOf(next), record, { of: 'refusal', upon: writeOf(next) })
}

// How a swap ended

function afterSwap(known: Knowledge, { flow, purpose }: Swap, stored: VersionedRecord, now: Moment): Step {
  switch (purpose.of) {
    case 'restoration':
      return afterRestoration(known, flow, purpose, stored, now)
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
    case 'intent':
    case 'fall-back':
      return look(known, flow)
    case 'commit':
      return read(known, flow, purpose.commit)
    case 'session':
      return read(known, flow, 'overwrite')
    case 'end-of-intent':
      return afterEndOfIntent(known, flow, purpose, now)
    case 'refusal':
      return end(known, flow)
  }
}

function afterFailure(known: Knowledge, { task, error }: Event & { on: 'failed' }, now: Moment): Step {
  const { flow } = task
  if (task.do === 'read') {
    if (typeof task.to === 'object') return commitFailed(known, flow, task.to, error)
    // The holder of an intent could not store its result either: its life begins anew when the store is back.
    return end(task.to === 'decide' ? { ...known, intentSeen: undefined } : known, flow, error)
  }
  if (task.do !== 'swap') return end(known, flow, error)
  const { purpose } = task
  if (purpose.of === 'commit') return commitFailed(known, flow, purpose.commit, error)
  // The next look meets the store's error again; until then `ownIntents` remembers what could not be written.
  if (purpose.of === 'end-of-intent') return afterEndOfIntent(known, flow, purpose, now)
  // The next refresh counts it; the predecessor is served here, and the next look that finds it missing writes it again.
  if ((purpose.of === 'refusal' || purpose.of === 'fall-back') && error instanceof StoreError) return end(known, flow)
  return end(known, flow, error)
}
