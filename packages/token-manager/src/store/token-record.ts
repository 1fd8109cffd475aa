/**
 * What a token store keeps for one account, as the refresh protocol needs it. Its shape belongs to core; a store treats
 * it as a sealed JSON value.
 */
import type { ReauthenticationReason } from '../errors.ts'
import type { TokenSet } from '../issuer/token-set.ts'
import type { Holder } from '../support/holder.ts'

/** What a store keeps for one account: JSON-safe, and nothing that a store has to look into. */
export type TokenRecord =
  | AccountRecord
  | FirewallRecord
  | RefreshBudgetRecord
  | TriesRecord
  | RollCallRecord
  | KeeperRecord
  | RefreshTokensRecord
  | NotesRecord
  | SpooledRecord
  | SealedRecord

export type AccountRecord = SignedIn | ReauthenticationRequired | SignedOut

/** Where a record stands among the sign-ins and sign-outs of its account. */
export interface Ancestry {
  readonly schema: 1
  /** Counts sign-ins and sign-outs, for people who look and for older releases. It decides nothing: see `isBehind`. */
  readonly generation: number
  /** Names this sign-in or sign-out; random. Records of older releases have none: see `sessionOf`. */
  readonly session?: string
  /** The sign-ins and sign-outs that were seen when it was made, the newest first; so many of them as `ancestryOver` keeps. */
  readonly replaces?: readonly string[]
}

/** What a record knows of the time before it. */
export interface Memories {
  /** Lineages of those that are of no use any more, and that somebody may bring back: see `spentByRefresh`. */
  readonly spent?: readonly string[]
  /** What happened to the account, as one text: see `history.ts`. */
  readonly history?: string | undefined
}

interface TokensHeld extends Ancestry, Memories {
  /** Refreshes since that sign-in. */
  readonly refreshes: number
  /** Names the refresh token without revealing it: see `lineageOf`. */
  readonly lineage: string
  /** Its access token is empty where a refresh token was brought along alone: until its first refresh (`bareTokenSet`). */
  readonly tokens: TokenSet
  /** Seconds since the epoch at which the tokens were asked for, by the clock of the process that received them; at a sign-in, when it was saved. */
  readonly obtained_at: number
  /** Seconds from `obtained_at` that the access token is assumed to work: see `assumedLifetime`. */
  readonly lifetime: number
  /** There while the owner API refuses one new access token after the other. */
  readonly refusals?: Refusals
  /** How many access tokens of a refresh were refused right before its own, whether or not they had been accepted: spaces refreshes. */
  readonly refusedBefore?: number
  /** There while nobody knows whether the owner API accepts the record's own access token: see `predecessor.ts`. */
  readonly predecessor?: Predecessor
}

/** Access tokens that came of a refresh and that the owner API refused, before it can have accepted them. */
export interface Refusals {
  /** Those in a row, without one between them that was accepted. */
  readonly inARow: number
  /** The record's own access token is the last of them. */
  readonly thisOne: boolean
  /** The record's own access token is the one before the last of them: it took its place. */
  readonly fellBack?: true
  /** Then: when that last one was asked for, in seconds since the epoch. */
  readonly refreshed_at?: number
}

/** The access token before the record's own, which may still work. */
export interface Predecessor extends Pick<TokensHeld, 'obtained_at' | 'lifetime'> {
  /** Without a refresh token: that is spent. */
  readonly tokens: TokenSet
}

/** Refreshes that the token endpoint called wrong requests, all with the record's own refresh token. */
export interface Rejections {
  readonly inARow: number
  /** Seconds since the epoch of the last one, by the clock of the process that sent it. */
  readonly at: number
  /** What the service said of it, as far as it may be quoted. */
  readonly description?: string
}

export interface SignedIn extends TokensHeld {
  readonly state: 'signed-in'
  /** There while the token endpoint rejects one request with this refresh token after the other: see `rejectionsAfter`. */
  readonly rejections?: Rejections
  /** There while the refresh token may have been sent. It is the lock as well: see `docs/internals/refresh-protocol.md`. */
  readonly intent?: Intent
}

/** The refresh token is dead. Its access token may live on for a while. */
export interface ReauthenticationRequired extends TokensHeld {
  readonly state: 'reauthentication-required'
  readonly reason: ReauthenticationReason
  /** What the service said, as far as it may be quoted. */
  readonly description?: string
}

/** A tombstone, in place of a deletion: a refresh still under way must not undo a sign-out. */
export interface SignedOut extends Ancestry, Memories {
  readonly state: 'signed-out'
  /** Seconds since the epoch, by the clock of the process that signed out. */
  readonly signed_out_at?: number
}

/** "This refresh token may have been spent", swapped in before the request that spends it. */
export interface Intent {
  readonly id: string
  readonly holder: Holder
  /** 0 for the first request with this refresh token, then the number of the replay. */
  readonly replay: number
  /** Seconds since the epoch by the holder's clock. Spaces replays; never decides whether the holder lives. */
  readonly at: number
  /** The holder gave up waiting for the response: nothing more will come of it. */
  readonly answerLost?: true
  /**
   * No request of its own: the store had lost this record, and a process put it back from its memory. Another process may
   * hold newer tokens, so the refresh token may have been spent.
   */
  readonly restored?: true
}

/** What all processes know about the firewall of one host, in a record of its own (`firewallRecordName`). */
export interface FirewallRecord {
  readonly schema: 1
  readonly state: 'firewall'
  /** Challenges in a row; 0 once the service answered itself again. */
  readonly challenges: number
  /** Seconds since the epoch at which the block was noted, or a probe was claimed. */
  readonly noted_at: number
  /** Seconds from `noted_at` in which nobody sends. */
  readonly wait: number
  /** What it is that challenges, where that is no firewall: the client was rejected. */
  readonly because?: 'invalid_client' | undefined
}

/** How much of the budget for refreshes at one host is taken, in a record of its own (`refreshBudgetRecordName`). */
export interface RefreshBudgetRecord {
  readonly schema: 1
  readonly state: 'refresh-budget'
  /** The current window: its number. */
  readonly window: number
  /** Places of it that were claimed: each is one request. */
  readonly used: number
  /** The first place that nobody has reserved: the number of its window, and its own in that window. */
  readonly free: readonly [window: number, place: number]
}

/** How often waiting sign-ins were answered, in records of their own: see `TokenManager.claimTry`. */
export interface TriesRecord {
  readonly schema: 1
  readonly state: 'tries'
  /** By a hash of the sign-in's id: answers so far, and the seconds since the epoch at which the sign-in is over. */
  readonly sign_ins: Readonly<Record<string, readonly [tries: number, expires_at: number]>>
}

/** What stands in a spool, in place of an account's record. */
export interface SpooledRecord {
  readonly schema: 1
  readonly state: 'spooled'
  /** Absent once it was carried over. */
  readonly result?: SpooledResult
}

export interface SpooledResult {
  /** Of the record while the refresh was under way. */
  readonly version: number
  /** The record that was refreshed: what `next` may replace goes by it. */
  readonly derivedFrom: SignedIn
  readonly next: SignedIn
}

/** Under which accounts refresh tokens were saved, in records of their own: see `saved-once.ts`. */
export interface RefreshTokensRecord {
  readonly schema: 1
  readonly state: 'refresh-tokens'
  /** By a hash of the refresh token, the newest last: the account, and the name of the sign-in. */
  readonly saved: Readonly<Record<string, readonly [account: string, session: string]>>
}

/** Notes of another package of ours, in records of their own: see `notebook`. */
export interface NotesRecord {
  readonly schema: 1
  readonly state: 'notes'
  /** JSON values, which their owner checks. */
  readonly notes: Readonly<Record<string, unknown>>
}

/** Changes whenever a process finds that the store lost something, in a record of its own (`watch-over.ts`). */
export interface RollCallRecord {
  readonly schema: 1
  readonly state: 'roll-call'
  readonly call: string
}

/** Which process keeps the accounts signed in, in a record of its own: see `keeper/claim.ts`. */
export interface KeeperRecord {
  readonly schema: 1
  readonly state: 'keeper'
  /** The process that sweeps; absent while none does. */
  readonly holder?: Holder
  /** Changes as long as it lives. */
  readonly signs: number
  /** When it last did, in seconds since the epoch by its clock; former releases did not tell. */
  readonly at?: number
  /** Seconds since the epoch at which the last sweep began that came to its end; 0 before the first. */
  readonly swept_at: number
}

/** Any other record, encrypted: see `withEncryption`. */
export interface SealedRecord {
  readonly schema: 1
  readonly state: 'sealed'
  /** Names the key without revealing it. */
  readonly key: string
  /** 12 random bytes, base64url. */
  readonly nonce: string
  /** Ciphertext and tag of AES-256-GCM, base64url. */
  readonly sealed: string
}
