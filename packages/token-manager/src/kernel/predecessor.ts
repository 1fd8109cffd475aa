/**
 * The predecessor: the access token before the newest one. It is kept as a way back, because the owner API may refuse a token that
 * came of a refresh while the one before it still works.
 *
 * It is there until its successor was accepted, or until it has ended or was refused itself. Where the successor is refused, it
 * takes its place in the record: then every process serves it, one of an older release as well.
 */
import { tokenSet } from '../issuer/token-set.ts'
import { withEvent } from '../store/history.ts'
import { predecessorIn } from '../store/lineage.ts'
import type { AccountRecord, Predecessor, SignedIn } from '../store/token-record.ts'
import { agesOf, expectsRefusal, workingAge } from './freshness.ts'
import {
  accepted,
  accessTokenOf,
  ageOf,
  asKnown,
  intentOf,
  isRefreshed,
  isRefusedNow,
  type Knowledge,
  type Moment,
  writeOf,
} from './knowledge.ts'
import { refusedInARow } from './pace.ts'
import { wholeOf } from '../support/redaction.ts'
import { end, type Flow, type Notice, type Step, swap } from './steps.ts'

type Holding = Exclude<AccountRecord, { state: 'signed-out' }>

/** The way back from the next token set: the access token that is current before it, where that works. */
export function predecessorOf(replaced: SignedIn, known: Knowledge, now: Moment): Pick<SignedIn, 'predecessor'> {
  const isRefused = isRefusedNow({ record: replaced, invalidated: known.invalidated })
  // As old as it is here by the faster clock: whoever goes back to it has the wall clock alone.
  const isKnown = accessTokenOf(known.record) === replaced.tokens.access_token
  const since = isKnown ? Math.floor((now.wall - ageOf(known, now)) / 1000) : replaced.obtained_at
  const current = { ...predecessorIn(replaced), obtained_at: Math.min(replaced.obtained_at, since) }
  const kept = [isRefused ? undefined : current, replaced.predecessor].find(
    (one) => one !== undefined && works(one, now) && one.tokens.access_token !== known.invalidated?.accessToken,
  )
  return kept === undefined ? {} : { predecessor: kept }
}

/** By the clocks alone: nobody may have seen it arrive. */
function works({ tokens, obtained_at, lifetime }: Predecessor, now: Moment): boolean {
  if (tokens.access_token === '') return false
  return now.wall - obtained_at * 1000 < workingAge({ lifetime })
}

/** The predecessor, where the current access token was refused and nobody asks for another one. */
export function wayBack(known: Knowledge, now: Moment): Predecessor | undefined {
  const { record, toReplace } = known
  if (record === undefined || record.state === 'signed-out' || !isRefusedNow(known)) return undefined
  const { predecessor } = record
  if (predecessor === undefined || toReplace === record.tokens.access_token) return undefined
  return works(predecessor, now) ? predecessor : undefined
}

export function isWayBack(record: AccountRecord, accessToken: string): boolean {
  return record.state !== 'signed-out' && record.predecessor?.tokens.access_token === accessToken
}

/** The predecessor is current again: here at once, and for all processes by a swap. */
export function fallBack(known: Knowledge, flow: Flow, to: Predecessor, now: Moment): Step {
  const { record } = known
  if (record === undefined || record.state === 'signed-out') return end(known, flow)
  const { refresh_token, auth_url } = record.tokens
  const { predecessor: _, ...rest } = record
  const fallen: Holding = {
    ...rest,
    tokens: tokenSet({ ...wholeOf(to.tokens), refresh_token, auth_url }),
    obtained_at: to.obtained_at,
    lifetime: to.lifetime,
    refusedBefore: (record.refusedBefore ?? 0) + 1,
    refusals: {
      inARow: refusedInARow(record) + (record.refusals?.thisOne === true ? 0 : 1),
      thisOne: false,
      fellBack: true,
      refreshed_at: record.obtained_at,
    },
  }
  const told = withEvent(fallen, { what: 'fell-back' }, now)
  return write(accepted(known, { ...writeOf(known), record: told }, now), flow, told, 'fall-back')
}

export function withoutWayBack(known: Knowledge, flow: Flow & { kind: 'invalidate' }, now: Moment): Step {
  const { record } = known
  if (record === undefined || record.state === 'signed-out') return end(known, flow)
  const { predecessor: _, ...rest } = record
  // What was refused before it is worth more: that one is current.
  const invalidated = isRefusedNow(known) ? known.invalidated : { accessToken: flow.accessToken, unused: false }
  const told = withEvent(rest, { what: 'refused' }, now)
  return write({ ...known, record: told, invalidated }, flow, told, 'refusal')
}

/** Unless somebody else is to write the record: the holder of its intent, or the commit of what it holds. */
function write(next: Knowledge, flow: Flow, record: Holding, purpose: 'fall-back' | 'refusal'): Step {
  const intent = intentOf(record)
  const isHeld = next.unsaved !== undefined || (intent !== undefined && intent.answerLost !== true)
  return isHeld ? end(next, flow) : swap(next, flow, writeOf(next), record, { of: purpose, upon: writeOf(next) })
}

/** What the owner API makes of this account's refreshed tokens, for the next sign-in: it says nothing of that one's own token. */
export function standingRefusals(record: AccountRecord | undefined): Pick<SignedIn, 'refusals' | 'refusedBefore'> {
  if (record === undefined || record.state === 'signed-out' || !expectsRefusal(record)) return {}
  const inARow = refusedInARow(record)
  return { refusals: { inARow, thisOne: false }, refusedBefore: inARow }
}

export function toldOfFallBack(account: string, record: AccountRecord): Notice {
  const { obtained_at = 0, lifetime = 0, refusals } = record.state === 'signed-out' ? {} : record
  const event = { account, expires_at: obtained_at + lifetime, in_a_row: refusals?.inARow ?? 1 }
  return { tell: 'refreshed-token-refused', event }
}

/** The owner API accepted this access token. What is known of it here goes into the record with the next write. */
export function tokenAccepted(known: Knowledge, accessToken: string, now: Moment): Knowledge {
  const { record } = known
  if (record === undefined || !isInQuestion(record) || accessTokenOf(record) !== accessToken) return known
  const settled = {
    ...known,
    acceptedToken: accessToken,
    record: asKnown(record, { ...known, acceptedToken: accessToken }),
  }
  return { ...settled, ages: agesOf(settled.record, now.settings.refreshAfter) }
}

/** Whether it says anything that the owner API accepts a record's access token. */
export function isInQuestion(record: AccountRecord): boolean {
  if (record.state === 'signed-out' || !isRefreshed(record)) return false
  return record.predecessor !== undefined || record.refusals !== undefined
}
