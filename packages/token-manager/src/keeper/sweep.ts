/**
 * One sweep: a look at all accounts, then those whose session ends soon get new tokens, the soonest first.
 */
import { isError } from '../support/callback-fault.ts'
import {
  ClientRejectedError,
  FirewallChallengeError,
  ReauthenticationRequiredError,
  RefreshBudgetError,
  RefreshInDoubtError,
  SignedOutError,
  StoreError,
  TokenRejectedError,
} from '../errors.ts'
import { jwtExpiry } from '../issuer/jwt-expiry.ts'
import type { Context } from '../kernel/context.ts'
import { note, run as runFlow } from '../kernel/driver.ts'
import { inFlightRefresh, landingInCall } from '../kernel/flight.ts'
import { accessTokenOf, openIntent } from '../kernel/knowledge.ts'
import { isOfOneRecord } from '../store/read-record.ts'
import type { SignedIn } from '../store/token-record.ts'
import type { Alarm } from '../support/alarm.ts'
import { type Claim, signOfLifeEvery } from './claim.ts'
import type { KeeperSettings, SweepCounts } from './keeper-options.ts'
import { createQueue, type Queue, spacing } from './queue.ts'
import { type Announce, type Counts, type Need, needOf, survey } from './survey.ts'

/** Refreshes at the same time, at the most. */
const mostInFlight = 8
/** Failures in a row after which a sweep that nothing follows gives up. */
const mostFailures = 5

export interface SweepRun {
  readonly context: Context
  readonly settings: KeeperSettings
  /** Refreshes are spread over the time until the next sweep; else they are made one after the other. */
  readonly isPaced: boolean
  readonly claim: Claim
  readonly alarm: Alarm
  readonly announce: Announce
  /** Counted on while it goes on. */
  readonly counts: Counts
}

/** `part`: it came to its end, but more accounts were due than it knew by name. */
export type SweepEnd = 'whole' | 'part' | 'broken-off'

export const noCounts: SweepCounts = {
  accounts: 0,
  due: 0,
  refreshed: 0,
  spared: 0,
  failed: 0,
  signInAgain: 0,
  unreadable: 0,
}

/** Returns `broken-off` where it was stopped, or another process took over. @throws StoreError where the store fails */
export async function sweep(run: SweepRun): Promise<SweepEnd> {
  let end: SweepEnd = 'broken-off'
  try {
    end = await lookAndRefresh(run)
    return end
  } finally {
    // After a part of it the next one is due at once. Where the store is down, the claim ends by itself.
    await run.claim.release(end === 'whole').catch(() => undefined)
  }
}

async function lookAndRefresh(run: SweepRun): Promise<SweepEnd> {
  const { context, settings, claim, announce, alarm, counts } = run
  const goesOn = async (isDoubted?: boolean): Promise<boolean> => !alarm.isStopped() && (await claim.goesOn(isDoubted))
  settings.tell({ ...counts, phase: 'started' })
  const soonest = await survey(context, settings, counts, announce, goesOn)
  if (!(await goesOn())) return 'broken-off'
  settings.tell({ ...counts, phase: 'surveyed' })
  if (!(await refreshInTurn(soonest, run, goesOn))) return 'broken-off'
  return counts.due > soonest.length ? 'part' : 'whole'
}

/** A sweep that refreshes those that are due. */
interface Refreshing extends SweepRun {
  readonly queue: Queue
  readonly isDue: (account: string) => (record: SignedIn) => boolean
  /** The store failed, and whether all of it did or one record alone is not known. */
  isStoreDoubted: boolean
}

/** At an even pace, until the line is empty or the next sweep is due. False where it was broken off. */
async function refreshInTurn(
  soonest: readonly Need[],
  run: SweepRun,
  goesOn: (isDoubted?: boolean) => Promise<boolean>,
): Promise<boolean> {
  const { context, settings, isPaced, alarm, counts } = run
  const { runtime, work } = context
  const expiryOf = await jwtExpiry()
  const gap = isPaced ? spacing(soonest, counts.due, settings, runtime.wallClock()) : 0
  const queue = createQueue(soonest, gap, runtime)
  const isDue: Refreshing['isDue'] = (account) => (record) =>
    needOf(account, record, settings, expiryOf, runtime.wallClock()) !== undefined
  const refreshing: Refreshing = { ...run, queue, isDue, isStoreDoubted: false }
  const flights = new Set<Promise<void>>()
  const began = runtime.monotonicClock()
  const isOver = (): boolean => queue.isEmpty() || (isPaced && runtime.monotonicClock() - began >= settings.every)
  try {
    for (;;) {
      const isDoubted = refreshing.isStoreDoubted
      refreshing.isStoreDoubted = false
      if (!(await goesOn(isDoubted))) return false
      if (isOver() && flights.size === 0) return true
      // While somebody waits for the end of everything, nothing is begun.
      const isHeld = isOver() || flights.size >= mostInFlight || work.isEnding()
      const next = isHeld ? signOfLifeEvery : queue.next()
      if (typeof next === 'number') {
        await alarm.rest(Math.min(next, signOfLifeEvery))
        continue
      }
      const flight = renewOne(next, refreshing).finally(() => {
        flights.delete(flight)
        alarm.wake()
      })
      flights.add(flight)
    }
  } finally {
    await Promise.all(flights)
  }
}

async function renewOne(need: Need, refreshing: Refreshing): Promise<void> {
  const { context, settings, counts, queue, isDue, isPaced } = refreshing
  const { account } = need
  try {
    const renewal = await renew(account, isDue(account), context)
    counts[renewal] += 1
    if (renewal === 'refreshed') queue.succeeded()
    settings.tell({ ...counts, phase: 'progress', account })
  } catch (error) {
    const isTurnKept = error instanceof RefreshBudgetError || (isPaced && isBlock(error))
    if (isTurnKept) return queue.putBack(need, error.nextAttemptAt)
    countFailure(need, error, refreshing)
    const failure = isError(error) ? error : new Error('The refresh failed.')
    settings.tell({ ...counts, phase: 'progress', account, error: failure })
  }
}

function countFailure({ authUrl }: Need, error: unknown, refreshing: Refreshing): void {
  const { counts, queue, isPaced } = refreshing
  counts.failed += 1
  // A job that was started for one sweep does not wait for hours.
  if (isBlock(error)) counts.failed += queue.abandon(authUrl)
  // The whole store, or this account's record alone: a write of our own will tell.
  else if (error instanceof StoreError && !isOfOneRecord(error)) refreshing.isStoreDoubted = true
  else if (!isWaiting(error) && queue.failed() >= mostFailures && !isPaced) counts.failed += queue.abandon()
}

/** Of the host: it is every account's that is refreshed there. */
function isBlock(error: unknown): error is FirewallChallengeError | ClientRejectedError {
  return error instanceof FirewallChallengeError || error instanceof ClientRejectedError
}

/** Nobody asked the service: an earlier request is in doubt, or was rejected, and the time of the next one has not come. */
function isWaiting(error: unknown): boolean {
  if (error instanceof RefreshInDoubtError) return error.cause === undefined
  return error instanceof TokenRejectedError && !error.requestSent
}

/** `spared`: somebody else refreshed, signed in or signed out meanwhile; or nothing is new, and nothing failed. */
type Renewal = 'refreshed' | 'spared' | 'signInAgain'

/** Another look at an account's record, and the refresh of every other caller if it still needs it; only that nobody waits for it. */
async function renew(name: string, isDue: (record: SignedIn) => boolean, context: Context): Promise<Renewal> {
  const account = context.memory.of(name)
  try {
    await runFlow(account, { kind: 'look' }, context)
    const { knowledge } = account
    const { record } = knowledge
    if (record?.state === 'reauthentication-required') return 'signInAgain'
    if (record?.state !== 'signed-in' || !isDue(record)) return 'spared'
    const current = accessTokenOf(record)
    // What is in doubt keeps its time: a late success is worth waiting for, and a replay may end the session.
    const isAsking = openIntent(knowledge) === undefined && knowledge.toReplace === undefined
    if (isAsking) note(account, { on: 'replacement-asked', accessToken: current ?? '' }, context)
    account.isKeepersTurn = true
    await inFlightRefresh(account, context).done.finally(() => {
      account.isKeepersTurn = false
      note(account, { on: 'replacement-over', accessToken: current ?? '' }, context)
    })
    // Not for ever: the others have to have their turn.
    await landingInCall(account, context.runtime)
    return accessTokenOf(account.knowledge.record) === current ? 'spared' : 'refreshed'
  } catch (error) {
    if (error instanceof ReauthenticationRequiredError) return 'signInAgain'
    if (error instanceof SignedOutError) return 'spared'
    throw error
  }
}
