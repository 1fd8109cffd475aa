/**
 * The words between the machine and its driver: what is begun for an account, what the driver is asked to do next, and how
 * that ended. All of it is plain data.
 */
import type { SsoError, StoreError } from '../errors.ts'
import type { TokenSet } from '../issuer/token-set.ts'
import type { AccountRecord, Intent, SignedIn, SpooledResult } from '../store/token-record.ts'
import type { TokenManagerEvents } from './events.ts'
import type { Knowledge } from './knowledge.ts'
import type { RefreshResult, VersionedRecord, Write } from '../store/lineage.ts'
import type { Outcome } from './outcome.ts'
import type { Instant } from '../support/runtime.ts'

/** What waits in a spool to be carried over. */
export interface Spooled extends SpooledResult {
  /** The write that it stands as in the spool. */
  readonly at: Write
}

/** What is begun for an account, and goes on from step to step until its end. */
export type Flow =
  /**
   * Sees to it that the newest access token is in memory. `began` is by the monotonic clock; `hasToldOfDoubt`: that callers wait,
   * since the store went back.
   */
  | { readonly kind: 'refresh'; readonly began: number; readonly hasToldOfDoubt?: boolean }
  /** A look at the record; what the store has lost is put back, and what waits in the spool is carried over. */
  | { readonly kind: 'look' }
  /** `replaces`: it ends a session that is there; otherwise it gives way to it. `session` names the sign-in. */
  | { readonly kind: 'sign-in'; readonly tokens: TokenSet; readonly replaces: boolean; readonly session: string }
  | { readonly kind: 'sign-out'; readonly session: string }
  /** The owner API refused this access token. `mayRefresh`: where there is no way back, a new one is needed. */
  | { readonly kind: 'invalidate'; readonly accessToken: string; readonly mayRefresh: boolean }
  /** A commit that goes on after its refresh. */
  | { readonly kind: 'save' }

/** A flow that something outside begins. */
export type Begun = Exclude<Flow, { kind: 'save' }>

/** What the driver does next. Its end is the next event of the flow. */
export type Task = Look | Read | Swap | Watch | Permit | Send | Report | Keep | Clear | Pause | Index | Drop

/** Reads the record, the spool, and what is known of the host's firewall, all at once. */
export interface Look {
  readonly do: 'look'
  readonly flow: Flow
  /** Whose firewall is asked about: where this flow may send. */
  readonly host: string | undefined
  /** The record that was known before. */
  readonly upon: Write
}

/** Reads the record alone, to write over it. */
export interface Read {
  readonly do: 'read'
  readonly flow: Flow
  readonly commit: Commit | undefined
}

/** Writes `record` over `over`, if that is still what stands there. */
export interface Swap {
  readonly do: 'swap'
  readonly flow: Flow
  readonly over: Write | undefined
  readonly record: AccountRecord
  /** A repetition has the same; any other is a new one. */
  readonly writeId: string | undefined
  readonly forgetOlder: boolean
  readonly purpose: Purpose
}

export type Purpose =
  | {
      readonly of: 'restoration'
      readonly look: Look
      readonly spooled: Spooled | undefined
      readonly knew: AccountRecord | undefined
    }
  | { readonly of: 'intent'; readonly request: Request }
  | { readonly of: 'commit'; readonly commit: Commit }
  | { readonly of: 'end-of-intent'; readonly request: HeldRequest; readonly outcome: Unsuccessful }
  | { readonly of: 'session' }
  /** The owner API refused the record's access token, or its predecessor; or the predecessor is current again. */
  | { readonly of: 'refusal' | 'fall-back'; readonly upon: Write }

/** Waits until the record may have changed. */
export interface Watch {
  readonly do: 'watch'
  readonly flow: Flow
}

/** Waits for a place in the budget, and asks the firewall: after it, one request may go to the host. */
export interface Permit {
  readonly do: 'permit'
  readonly flow: Flow
  readonly host: string
  /** The record upon which it was decided. */
  readonly upon: Write
  readonly replay: boolean
  /** What is known of the firewall may be older than the record. */
  readonly isOutdated: boolean
}

/** Sends the one request. */
export interface Send {
  readonly do: 'send'
  readonly flow: Flow
  readonly request: HeldRequest
}

/** A request, from its intent on. */
export interface Request {
  /** The record as it was before. */
  readonly derivedFrom: SignedIn
  readonly intent: Intent
  /** The intent of the earlier request whose answer was lost, as one that was given up. */
  readonly before: Intent | undefined
  /** An earlier answer was lost. */
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
  /** Seconds since the epoch; after a firewall's challenge. */
  readonly nextAttemptAt?: number
}

/** Tells all processes what a host's firewall did. */
export interface Report {
  readonly do: 'report'
  readonly flow: Flow
  readonly host: string
  readonly news: Challenged | Passed
}

/** Its page came in place of an answer. */
interface Challenged {
  readonly kind: 'challenged'
  readonly request: HeldRequest
  readonly outcome: Outcome & { kind: 'challenged' }
  readonly sentAt: Instant
}

/** The service itself answered. `next` is how the flow goes on. */
interface Passed {
  readonly kind: 'passed'
  readonly next: 'end' | 'look'
  readonly error?: SsoError
}

/** The commit of a result: into the store, by the lineage rule, again and again until it is there. */
export interface Commit {
  readonly result: RefreshResult
  /** Of every repetition. */
  readonly writeId: string
  readonly from: Origin
}

export type Origin =
  /** The answer to a request, right now. */
  | { readonly kind: 'answer'; readonly request: HeldRequest }
  /** The same later: the store did not take it. `kept` is where it stands in the spool, if it does. */
  | { readonly kind: 'memory'; readonly request: HeldRequest; readonly kept: Write | undefined; readonly pause: number }
  /** The spool, where a process has left it. */
  | { readonly kind: 'spool'; readonly spooled: Spooled; readonly look: Look }

/** Puts a result into the spool. */
export interface Keep {
  readonly do: 'keep'
  readonly flow: Flow
  readonly commit: Commit
  readonly error: StoreError
}

/** Takes a result out of the spool. */
export interface Clear {
  readonly do: 'clear'
  readonly flow: Flow
  readonly at: Write
  readonly commit: Commit
  readonly isSaved: boolean
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

/** Notes in the index of refresh tokens that a sign-in will hold this one. */
export interface Index {
  readonly do: 'index'
  readonly flow: Flow & { kind: 'sign-in' }
}

/** Takes out of the spool what a sign-in or a sign-out has made worthless. */
export interface Drop {
  readonly do: 'drop'
  readonly flow: Flow
}

/** The end of a flow. */
export interface End {
  readonly do: 'end'
  readonly error: Error | undefined
}

/** How what the driver did ended, or what else it was told. */
export type Event =
  | { readonly on: 'begun'; readonly flow: Begun }
  | {
      readonly on: 'looked'
      readonly task: Look
      readonly stored: VersionedRecord | undefined
      readonly spooled: Spooled | undefined
      /** The moment before. */
      readonly lookedAt: Instant
    }
  | { readonly on: 'read'; readonly task: Read; readonly stored: VersionedRecord | undefined }
  | { readonly on: 'swapped'; readonly task: Swap; readonly write: Write }
  | { readonly on: 'conflict'; readonly task: Swap }
  | { readonly on: 'watched'; readonly task: Watch }
  /** `hasWaited`: for the place, so that the record may have changed. */
  | { readonly on: 'permitted'; readonly task: Permit; readonly hasWaited: boolean }
  /** `sentAt` is the moment before the request was written. */
  | { readonly on: 'answered'; readonly task: Send; readonly outcome: Outcome; readonly sentAt: Instant }
  | { readonly on: 'reported'; readonly task: Report; readonly nextAttemptAt: number }
  | { readonly on: 'kept'; readonly task: Keep; readonly at: Write | undefined }
  | { readonly on: 'cleared'; readonly task: Clear; readonly hasCleared: boolean }
  | { readonly on: 'paused'; readonly task: Pause }
  | { readonly on: 'indexed'; readonly task: Index }
  | { readonly on: 'dropped'; readonly task: Drop }
  | { readonly on: 'failed'; readonly task: Task; readonly error: Error }
  | { readonly on: 'caller-came' | 'caller-left' }
  /** `refresh()` is to replace this access token; empty where there is none. */
  | { readonly on: 'replacement-asked' | 'replacement-over'; readonly accessToken: string }
  /** By the owner API. */
  | { readonly on: 'token-accepted'; readonly accessToken: string }
  /** A refresh in the background led to nothing; the next one waits so many milliseconds. */
  | { readonly on: 'refreshed-in-vain'; readonly wait: number }

/** What the driver tells others. */
export type Notice =
  | {
      [Name in keyof TokenManagerEvents]: { readonly tell: Name; readonly event: TokenManagerEvents[Name] }
    }[keyof TokenManagerEvents]
  /** Calls all processes, because an account was found lost. */
  | { readonly tell: 'roll-call' }

/** What one event leads to. */
export interface Step {
  readonly knowledge: Knowledge
  readonly notices: readonly Notice[]
  /** How the flow goes on. */
  readonly next: Task | End
  /** A flow that goes on beside it from here. */
  readonly beside?: Task
}
