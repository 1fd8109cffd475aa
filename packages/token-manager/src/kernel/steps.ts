/**
 * The words between the machine and its driver: what is begun for an account, what the driver is asked to do next, and how
 * that ended. All of it is plain data. Below, how a flow goes on: the steps that the rules are written in.
 */
import { StoreError } from '../errors.ts'
import type { TokenSet } from '../issuer/token-set.ts'
import type { RefreshResult, VersionedRecord, Write } from '../store/lineage.ts'
import type { AccountRecord, Intent, SignedIn } from '../store/token-record.ts'
import type { Instant } from '../support/runtime.ts'
import type { TokenManagerEvents } from './events.ts'
import type { Knowledge, RefreshNeed } from './knowledge.ts'
import type { Outcome } from './outcome.ts'

/** What is begun for an account, and goes on from step to step until its end. */
export type Flow =
  /**
   * Sees to it that the newest access token is in memory. `began` is by the monotonic clock; `hasToldOfDoubt`: that callers wait,
   * since the store went back.
   */
  | { readonly kind: 'refresh'; readonly began: number; readonly hasToldOfDoubt?: boolean }
  /** A look at the record; what the store has lost is put back. */
  | { readonly kind: 'look' }
  /**
   * `replaces`: it ends a session that is there; otherwise it gives way to it. `session` names the sign-in. `brought`: the tokens
   * come from elsewhere, perhaps with the account's history there.
   */
  | {
      readonly kind: 'sign-in'
      readonly tokens: TokenSet
      readonly replaces: boolean
      readonly session: string
      readonly brought?: { readonly history: string | undefined } | undefined
    }
  | { readonly kind: 'sign-out'; readonly session: string }
  /** The owner API refused this access token. `mayRefresh`: where there is no way back, a new one is needed. */
  | { readonly kind: 'invalidate'; readonly accessToken: string; readonly mayRefresh: boolean }
  /** A commit that goes on after its refresh. */
  | { readonly kind: 'save' }

export type Begun = Exclude<Flow, { kind: 'save' }>

/** What the driver does next. Its end is the next event of the flow. */
export type Task = Read | Swap | Watch | Enter | Send | Pause

export interface Read {
  readonly do: 'read'
  readonly flow: Flow
  readonly to: 'decide' | 'overwrite' | Commit
}

export interface Swap {
  readonly do: 'swap'
  readonly flow: Flow
  readonly over: Write | undefined
  readonly record: AccountRecord
  /** A repetition has the same; any other is a new one. */
  readonly writeId: string | undefined
  readonly purpose: Purpose
}

export type Purpose =
  | { readonly of: 'restoration'; readonly knew: AccountRecord | undefined }
  | { readonly of: 'intent'; readonly request: Request }
  | { readonly of: 'commit'; readonly commit: Commit }
  | { readonly of: 'end-of-intent'; readonly request: HeldRequest; readonly outcome: Unsuccessful }
  | { readonly of: 'session' }
  /** The owner API refused the record's access token, or its predecessor; or the predecessor is current again. */
  | { readonly of: 'refusal' | 'fall-back'; readonly upon: Write }

export interface Watch {
  readonly do: 'watch'
  readonly flow: Flow
}

export interface Enter {
  readonly do: 'enter'
  readonly flow: Flow
  readonly host: string
  /** The record upon which it was decided. */
  readonly upon: Write
  readonly replay: boolean
}

export interface Send {
  readonly do: 'send'
  readonly flow: Flow
  readonly request: HeldRequest
}

export interface Request {
  readonly derivedFrom: SignedIn
  readonly intent: Intent
  readonly why: RefreshNeed
  /** The intent of the earlier request whose answer was lost, as one that was given up. */
  readonly before: Intent | undefined
  readonly replay: boolean
  /** The intent in whose grace it is sent; a replay does no good once that is over. */
  readonly graceOf: Intent | undefined
  /** The moment before the intent was swapped in. */
  readonly swappedAt: Instant
}

export interface HeldRequest extends Request {
  /** The record with the intent in it, as it stands in the store. */
  readonly held: VersionedRecord
}

/** A request that brought no tokens, and did not end the session either. */
export type Unsuccessful = Extract<Outcome, { kind: 'challenged' | 'unspent' | 'in-doubt' }> & {
  readonly sentAt: Instant
}

/** The commit of a result: into the store, by the lineage rule, again and again until it is there. */
export interface Commit {
  readonly result: RefreshResult
  /** Of every repetition. */
  readonly writeId: string
  readonly request: HeldRequest
  /** Milliseconds before its next repetition, once the store has not taken it. */
  readonly pause?: number
}

/** Waits about so many milliseconds before the commit is repeated. */
export interface Pause {
  readonly do: 'pause'
  readonly flow: Flow
  readonly commit: Commit
  readonly milliseconds: number
  /** The result would outlive this process. */
  readonly isSafe: boolean
}

export interface End {
  readonly do: 'end'
  readonly error: Error | undefined
}

/** How what the driver did ended, or what else it was told. */
export type Event =
  | { readonly on: 'begun'; readonly flow: Begun }
  /** `at` is the moment before. */
  | { readonly on: 'read'; readonly task: Read; readonly stored: VersionedRecord | undefined; readonly at: Instant }
  | { readonly on: 'swapped'; readonly task: Swap; readonly write: Write }
  | { readonly on: 'conflict'; readonly task: Swap }
  | { readonly on: 'watched'; readonly task: Watch }
  /** `hasWaited`: so that the record may have changed. */
  | { readonly on: 'entered'; readonly task: Enter; readonly hasWaited: boolean }
  /** `sentAt` is the moment before the request was written. */
  | { readonly on: 'answered'; readonly task: Send; readonly outcome: Outcome; readonly sentAt: Instant }
  | { readonly on: 'paused'; readonly task: Pause }
  | { readonly on: 'failed'; readonly task: Task; readonly error: Error }
  | { readonly on: 'caller-came' | 'caller-left' }
  /** `refresh()` is to replace this access token; empty where there is none. */
  | { readonly on: 'replacement-asked' | 'replacement-over'; readonly accessToken: string }
  /** By the owner API. */
  | { readonly on: 'token-accepted'; readonly accessToken: string }
  /** A refresh in the background led to nothing; the next one waits so many milliseconds. */
  | { readonly on: 'refreshed-in-vain'; readonly wait: number }

export type Notice = {
  [Name in keyof TokenManagerEvents]: { readonly tell: Name; readonly event: TokenManagerEvents[Name] }
}[keyof TokenManagerEvents]

export interface Step {
  readonly knowledge: Knowledge
  readonly notices: readonly Notice[]
  readonly next: Task | End
  /** A flow that goes on beside it from here. */
  readonly beside?: Task
}

// How a flow goes on

export const go = (knowledge: Knowledge, next: Task, ...notices: readonly Notice[]): Step => ({
  knowledge,
  notices,
  next,
})

export const noted = (knowledge: Knowledge): Step => ({ knowledge, notices: [], next: { do: 'end', error: undefined } })

export function end(known: Knowledge, flow: Flow, error?: Error, ...notices: readonly Notice[]): Step {
  const knowledge = flow.kind === 'refresh' ? { ...known, isRefreshing: false } : known
  const { account } = known
  const ofStore: Notice[] =
    flow.kind === 'refresh' && error instanceof StoreError
      ? [{ tell: 'refresh-failed', event: { account, error } }]
      : []
  return { knowledge, notices: [...notices, ...ofStore], next: { do: 'end', error } }
}

/** What was to be told before comes first. */
export const after = (notices: readonly Notice[], next: Step): Step => ({
  ...next,
  notices: [...notices, ...next.notices],
})

export const look = (known: Knowledge, flow: Flow, ...notices: readonly Notice[]): Step =>
  go(known, { do: 'read', flow, to: 'decide' }, ...notices)

export const read = (known: Knowledge, flow: Flow, to: Read['to']): Step => go(known, { do: 'read', flow, to })

export const swap = (
  known: Knowledge,
  flow: Flow,
  over: Write | undefined,
  record: AccountRecord,
  purpose: Purpose,
  writeId?: string,
): Step => go(known, { do: 'swap', flow, over, record, writeId, purpose })

export const fromManager = { step: 'token-manager', requestSent: false } as const

/** Seconds since the epoch. */
export const seconds = ({ wall }: Instant): number => Math.floor(wall / 1000)
