/**
 * The rules of the refresh protocol as pure functions: given what is known, what is done. `docs/internals/refresh-protocol.md` tells
 * the whole; the simulation takes each rule out in turn and shows the harm.
 */
import type { AccountRecord, Intent, SignedIn } from '../tokens/token-record.ts'
import type { Liveness } from './holder.ts'
import type { Freshness } from './freshness.ts'
import { mayReplace } from './lineage.ts'

/** Milliseconds that the one request may take, response included. */
export const requestTimeout = 30_000
/** Milliseconds after its own swap in which the holder of an intent may still send. */
export const sendWithin = 10_000
/** Milliseconds that an observer respects an intent, counted on its own monotonic clock from its first sight of it. */
export const intentLife: number = requestTimeout + 15_000
/** The same where the holder is provably running on this host: it may only be stopped. */
export const runningHolderIntentLife = 120_000
/** The same for a record that was put back: in this time every living process has answered a roll call, several times. */
export const restorationLife = 120_000
/** Milliseconds that one refresh watches a record before it gives up: longer than any single intent lives. */
export const watchTimeout = 150_000

/** What a process knows when it decides. */
export interface Situation {
  readonly record: AccountRecord | undefined
  readonly freshness: Freshness
  /** `refresh()` or a 401 of the owner API asks for another access token than this one. */
  readonly unwanted: boolean
  /** Refreshed too recently to be refreshed again: see `pace.ts`. */
  readonly justRefreshed: boolean
  /** The intent of the record, unless it is this process's own and nothing was sent under it. */
  readonly intent: Intent | undefined
  /** It may still be acted upon. */
  readonly intentAlive: boolean
  /** This process lost the response, and the service still repeats it: see `rotationGrace`. */
  readonly inGrace: boolean
  /** Enough time has passed since the last replay of this refresh token. */
  readonly replayBackedOff: boolean
}

export type Decision = 'serve' | 'not-signed-in' | 'reauthenticate' | 'wait' | 'defer' | 'send' | 'replay'

/** The heart of the protocol: what one look at the record leads to. */
export function decide(situation: Situation): Decision {
  const { record, freshness } = situation
  if (record === undefined || record.state === 'signed-out') return 'not-signed-in'
  if (record.state === 'reauthentication-required') return 'reauthenticate'
  if (freshness === 'fresh' && !situation.unwanted) return 'serve'
  if (situation.justRefreshed) return 'serve'
  if (situation.intent === undefined) return 'send'
  if (situation.intentAlive) return 'wait'
  // In doubt: the refresh token may be spent. As long as the access token works and nobody wants another, a late success is
  // worth waiting for.
  const due = freshness === 'expiring' || freshness === 'expired' || situation.unwanted || situation.inGrace
  return due && situation.replayBackedOff ? 'replay' : 'defer'
}

/** What the wait for another's intent comes to: when it runs out, never an unguarded refresh. */
export function afterWaiting(waited: number): Decision {
  return waited < watchTimeout ? 'wait' : 'defer'
}

/** Whether an intent may still be acted upon by its holder, `observed` milliseconds after this process first saw it. */
export function isAlive(intent: Intent, observed: number, liveness: Liveness): boolean {
  if (intent.answerLost) return false
  if (intent.restored) return observed < restorationLife
  if (liveness === 'dead') return false
  return observed < (liveness === 'running' ? runningHolderIntentLife : intentLife)
}

/** The send guard, asked right before the request is written. `sinceSwap` in milliseconds, the most that any clock says. */
export function maySend(sinceSwap: number): boolean {
  return sinceSwap <= sendWithin
}

/** The record with an intent in it. */
export function withIntent(record: SignedIn, intent: Intent): SignedIn {
  return { ...record, intent }
}

/** The rules as one value, so that the simulation can take one out. */
export interface Rules {
  readonly decide: typeof decide
  readonly afterWaiting: typeof afterWaiting
  readonly isAlive: typeof isAlive
  readonly maySend: typeof maySend
  readonly mayReplace: typeof mayReplace
  readonly withIntent: typeof withIntent
}

export const rules: Rules = { decide, afterWaiting, isAlive, maySend, mayReplace, withIntent }
