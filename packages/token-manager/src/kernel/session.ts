/**
 * The beginning and the end of a session: a sign-in replaces whatever was there, a sign-out leaves a tombstone. Unlike a
 * refresh, they give way to nobody.
 */
import { SessionExistsError } from '../errors.ts'
import { tokenSet } from '../issuer/token-set.ts'
import { joined, withEvent } from '../store/history.ts'
import {
  ancestryOver,
  isBehind,
  lineageOf,
  type VersionedRecord,
  reasonAgainst,
  spentBefore,
} from '../store/lineage.ts'
import type { AccountRecord, SignedIn } from '../store/token-record.ts'
import { standingRefusals } from './predecessor.ts'
import { assumedLifetime } from './freshness.ts'
import { accepted, type Knowledge, type Moment, writeOf } from './knowledge.ts'
import { end, type Flow, fromManager, seconds, type Step, swap } from './steps.ts'

export function overwrite(known: Knowledge, flow: Flow, stored: VersionedRecord | undefined, now: Moment): Step {
  if (flow.kind === 'sign-in') return signIn(known, flow, stored, now)
  const isUnknown = stored === undefined && known.record === undefined
  if (flow.kind !== 'sign-out' || isUnknown) return end(known, flow)
  const record = { ...overAll(known, flow.session, stored), state: 'signed-out', signed_out_at: seconds(now) } as const
  const told = withEvent(record, { what: 'signed-out' }, now)
  return swap(known, flow, stored, told, { of: 'session' }, flow.session)
}

/** Over what this process remembers as well: the store may have lost it, and another process may put it back. */
function overAll({ record }: Knowledge, session: string, stored: VersionedRecord | undefined) {
  const before = stored?.record
  const history = joined(before?.history, record?.history)
  return { ...ancestryOver(session, before, record), spent: spentBefore(before, record), history }
}

function signIn(
  known: Knowledge,
  flow: Flow & { kind: 'sign-in' },
  stored: VersionedRecord | undefined,
  now: Moment,
): Step {
  const welcome = welcomeFor(flow, stored?.record, known.account)
  if (welcome !== 'welcome') return end(known, flow, welcome)
  const { tokens, session, brought } = flow
  const lineage = lineageOf(known.account, tokens.refresh_token)
  const above = overAll(known, session, stored)
  const record: SignedIn = {
    ...above,
    history: joined(above.history, brought?.history),
    state: 'signed-in',
    refreshes: 0,
    lineage,
    tokens: tokenSet(tokens),
    obtained_at: seconds(now),
    lifetime: assumedLifetime(tokens, seconds(now), false),
  }
  // The same refresh token is as doubtful as it was.
  const doubt = stored?.record.state === 'signed-in' && stored.record.lineage === lineage && stored.record.intent
  const saved = { ...record, ...(doubt && { intent: doubt }), ...standingRefusals(stored?.record) }
  const told = withEvent(saved, { what: 'signed-in', why: brought && 'brought' }, now)
  return swap(known, flow, stored, told, { of: 'session' }, session)
}

export function afterSession(known: Knowledge, flow: Flow, written: VersionedRecord, now: Moment): Step {
  const isOvertaken = known.record !== undefined && isBehind(written, { ...writeOf(known), record: known.record })
  // What a refresh before it brought, and why one failed, is of no account any more.
  const next = isOvertaken ? known : { ...accepted(known, written, now), unsaved: undefined, backOff: undefined }
  return end(next, flow)
}

/**
 * Whether tokens may take the place of `stored`: none that were spent. A sign-in may; a refresh token that was brought along may
 * only where no session is there that it would end: nobody has proved that it is newer. Nothing where it is there already;
 * otherwise the reason.
 */
export function welcomeFor(
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
