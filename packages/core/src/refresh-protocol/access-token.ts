/**
 * `getAccessToken`, `refresh` and `invalidate`: what a caller gets, and when it has to wait.
 */
import { SignedOutError } from '../errors.ts'
import type { CallOptions } from '../login/sso.ts'
import { accessTokenOf, ageOf, closeWindow, isUsable, openWindow, standingOf } from './account-memory.ts'
import type { Known } from './account-memory.ts'
import { accountName } from './arguments.ts'
import { lookEverywhere } from './carry-over.ts'
import type { Context } from './context.ts'
import { awaited, flightOf } from './flight.ts'
import { elapsed, instantOf } from './runtime.ts'
import { isJustRefreshed } from './pace.ts'
import { isUnused, noteRefusal } from './refusal.ts'

/** The hot path: a look-up and a glance at the clock. Nothing is written, and nothing else is looked at. */
export function getAccessToken(account: string, options: CallOptions | undefined, context: Context): Promise<string> {
  const known = context.memory.get(account)
  if (known !== undefined) {
    const now = Math.floor(context.runtime.wallClock() / 1000)
    if (now >= known.answerFrom && now < known.answerUntil) return Promise.resolve(known.answer)
  }
  return known === undefined
    ? firstAnswer(account, options, context)
    : answer(context.memory.of(account), options, context)
}

async function firstAnswer(account: string, options: CallOptions | undefined, context: Context): Promise<string> {
  return answer(context.memory.of(accountName(account)), options, context)
}

/** A token that still works is given at once; its refresh, where one is due, goes on beside. */
function answer(known: Known, options: CallOptions | undefined, context: Context): Promise<string> {
  const now = instantOf(context.runtime)
  if (!isUsable(known, now)) return awaited(known, newest(known, context), options?.signal, context)
  if (standingOf(known, now) === 'fresh') openWindow(known, now, known.ages.ageing - ageOf(known, now))
  else refreshBeside(known, context)
  return Promise.resolve(known.answer)
}

async function newest(known: Known, context: Context): Promise<string> {
  const flight = flightOf(known, context)
  await flight.looked
  try {
    // What another process stored may do already; the flight then goes on beside.
    if (!isUsable(known, instantOf(context.runtime))) await flight.done
  } catch (error) {
    if (!isUsable(known, instantOf(context.runtime))) throw error
  }
  const accessToken = accessTokenOf(known.record)
  if (accessToken === undefined) throw new SignedOutError({ step: 'token-manager', requestSent: false })
  return accessToken
}

/** Milliseconds between two background refreshes that led to nothing, at the least and at the most. */
const leastPause = 250
const longestPause = 60_000

function refreshBeside(known: Known, context: Context): void {
  const { runtime, minRefreshInterval, underWay } = context
  // Tokens that the store has not taken yet are committed before anything else happens.
  if (known.flight !== undefined || known.unsaved !== undefined || underWay.isEnding()) return
  const now = instantOf(runtime)
  const pause = known.nextLook === undefined ? 0 : known.nextLook.wait - elapsed(known.nextLook.since, now)
  if (pause > 0) {
    openWindow(known, now, Math.min(pause, known.ages.expired - ageOf(known, now)))
    return
  }
  flightOf(known, context).done.catch(() => {
    const wait = Math.min(Math.max(minRefreshInterval, leastPause), longestPause) * (0.75 + 0.5 * runtime.random())
    known.nextLook = { since: instantOf(runtime), wait }
  })
}

/** Replaces the current access token, unless it was refreshed less than `minRefreshInterval` ago. */
export async function refreshNow(account: string, options: CallOptions | undefined, context: Context): Promise<void> {
  const known = context.memory.of(account)
  await awaited(known, context.underWay.track(replaceCurrent(known, context)), options?.signal, context)
}

async function replaceCurrent(known: Known, context: Context): Promise<void> {
  await lookEverywhere(known, context)
  const current = accessTokenOf(known.record)
  known.unwanted = current
  try {
    await flightOf(known, context).done
    // The flight that was joined may have decided before this call that all is well.
    if (accessTokenOf(known.record) === current && !isJustRefreshed(known, context)) await flightOf(known, context).done
  } finally {
    if (known.unwanted === current) known.unwanted = undefined
  }
}

/** The owner API refused this access token. Only the first to say so of the current one changes anything. */
export async function invalidate(account: string, accessToken: string, context: Context): Promise<void> {
  const known = context.memory.of(account)
  if (known.record === undefined) await lookEverywhere(known, context)
  if (accessTokenOf(known.record) !== accessToken || known.rejected?.accessToken === accessToken) return
  known.rejected = { accessToken, unused: isUnused(known, context) }
  closeWindow(known)
  await noteRefusal(known, context)
}
