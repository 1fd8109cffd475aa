/**
 * The decision: what one look at the record leads to. A new rule on when a refresh is due, and when it has to wait, goes in here.
 */
import { OtherOwnerError, ReauthenticationRequiredError, SignedOutError } from '../errors.ts'
import type { AccountRecord } from '../store/token-record.ts'
import {
  freshnessOf,
  hostOf,
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
} from './pace.ts'
import { leaveToOthers, notRefreshed } from './elsewhere.ts'
import { fallBack, wayBack } from './predecessor.ts'
import { end, type Flow, fromManager, go, type Notice, type Step } from './steps.ts'

export type Decision = 'serve' | 'fall-back' | 'not-signed-in' | 'sign-in-again' | 'wait' | 'defer' | 'send' | 'replay'

export function decide(known: Knowledge, now: Moment): Decision {
  const { record } = known
  if (record === undefined || record.state === 'signed-out') return 'not-signed-in'
  if (wayBack(known, now) !== undefined) return 'fall-back'
  if (record.state === 'reauthentication-required') return 'sign-in-again'
  const freshness = freshnessOf(known, now)
  const isWanted = !isUnwanted(known)
  if (freshness === 'fresh' && isWanted) return 'serve'
  // Those who refresh may see it earlier: they are waited for.
  const isUseless = now.settings.refreshesElsewhere && !isUsable(known, now)
  if (isJustRefreshed(known, now) && !isUseless) return 'serve'
  const intent = openIntent(known)
  if (intent !== undefined && isIntentAlive(known, intent, now)) return 'wait'
  if (now.settings.refreshesElsewhere) return 'defer'
  if (intent === undefined) return 'send'
  // In doubt: the refresh token may be spent. As long as the access token works and nobody wants another, a late success is
  // worth waiting for.
  const isDue = freshness === 'expiring' || freshness === 'expired' || !isWanted || isInGrace(known, intent, now)
  return isDue && replayRestLeft(known, intent, now) <= 0 ? 'replay' : 'defer'
}

type Refresh = Flow & { kind: 'refresh' }

/** How a refresh goes on after a look. @param isThere - the store has a record */
export function afterRefreshLook(known: Knowledge, flow: Refresh, isThere: boolean, now: Moment): Step {
  const decision = isThere ? decide(known, now) : 'not-signed-in'
  const back = decision === 'fall-back' ? wayBack(known, now) : undefined
  if (back !== undefined) return fallBack(known, flow, back, now)
  if (decision === 'serve') return end(known, flow)
  if (decision === 'not-signed-in') return end(known, flow, new SignedOutError(fromManager))
  if (decision === 'sign-in-again') return end(known, flow, signInAgain(known.record))
  const isLeft = now.settings.refreshesElsewhere
  if (decision === 'defer') return isLeft ? leaveToOthers(known, flow, now) : end(known, flow, inDoubt(known, now))
  if (decision === 'wait') {
    const isOver = isLeftToOthers(known, now) || hasWatchedLongEnough(flow.began, now)
    if (!isOver) return watch(known, flow, now)
    return end(known, flow, isLeft ? notRefreshed(known) : inDoubt(known, now))
  }
  const rested = restedFrom(known, now)
  const host = hostOf(known)
  if (rested !== undefined || host === undefined) return end(known, flow, rested)
  return go(known, { do: 'enter', flow, host, upon: writeOf(known), replay: decision === 'replay' })
}

/** Callers who have to wait for minutes, since the store went back, hear so once, and until when. */
function watch(known: Knowledge, flow: Refresh, now: Moment): Step {
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
