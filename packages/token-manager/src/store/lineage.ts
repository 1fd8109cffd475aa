/**
 * What may stand in place of what. Lineage: which refresh token a record holds, and so what may replace it. It makes a lost
 * update impossible, whatever pauses and crashes happen. Ancestry: which sign-ins and sign-outs a record was made over. Each
 * has a random name and carries the names of those before it, so that "newer" is something a process can prove. Numbers and
 * clocks can't: a store that was emptied counts from the beginning again, and a clock that was a year ahead for a minute would
 * be right for a year.
 */
import { createHmac } from 'node:crypto'
import { joined } from './history.ts'
import { unknownFields } from './record-check.ts'
import { tokenSet } from '../issuer/token-set.ts'
import { wholeOf } from '../support/redaction.ts'
import type { AccountRecord, Ancestry, Predecessor, ReauthenticationRequired, SignedIn } from './token-record.ts'
import type { Versioned } from './token-store.ts'

/**
 * Names a refresh token without revealing it: its HMAC-SHA256 under the account's name, which every process can compute
 * and which tells nothing about the same token under another account.
 */
export function lineageOf(account: string, refreshToken: string): string {
  return createHmac('sha256', account).update(refreshToken).digest('base64url')
}

/** What a refresh came to: the record to store, and the record that it was derived from. */
export interface RefreshResult {
  readonly derivedFrom: SignedIn
  readonly next: SignedIn | ReauthenticationRequired
}

/**
 * The lineage rule: the result of a refresh may replace any record that still holds the refresh token it was derived from,
 * another's intent included. It never replaces a newer sign-in or a sign-out. Where the service keeps the refresh token,
 * a newer result has the same lineage: a late one that brings no other refresh token does not replace it.
 */
export function mayReplace(stored: AccountRecord, { derivedFrom, next }: RefreshResult): boolean {
  if (stored.state === 'signed-out' || stored.lineage !== derivedFrom.lineage) return false
  const rotated = next.lineage !== derivedFrom.lineage
  return rotated || sessionOf(stored) !== sessionOf(derivedFrom) || stored.refreshes <= derivedFrom.refreshes
}

/** Whether a record already holds this result, so that a repeated commit has nothing left to do. */
export function holdsResult(stored: AccountRecord, { next }: RefreshResult): boolean {
  return stored.state === next.state && holdsTokensOf(stored, next)
}

/** Whether a record's tokens are those of a result. Its access token alone doesn't say so: it may have none. */
export function holdsTokensOf(record: AccountRecord, { tokens, lineage }: RefreshResult['next']): boolean {
  if (record.state === 'signed-out') return false
  return record.lineage === lineage && record.tokens.access_token === tokens.access_token
}

/** The result as it is stored in place of `stored`, which holds the refresh token that it was derived from. */
function successorOf(stored: SignedIn | ReauthenticationRequired, { derivedFrom, next }: RefreshResult): AccountRecord {
  const grown = next.state === 'signed-in' ? 1 : 0
  // Another process has taken the way back meanwhile: that one leads to what it found to work.
  const isOther = stored.tokens.access_token !== derivedFrom.tokens.access_token
  return {
    ...next,
    ...unknownFields(stored),
    ...ancestryOf(stored),
    history: joined(stored.history, next.history),
    refreshes: Math.max(stored.refreshes + grown, next.refreshes),
    ...(isOther && next.predecessor && { predecessor: predecessorIn(stored) }),
  }
}

/** A result as it goes over what the store holds: a store that lost the record takes it as it is. */
export function placed(result: RefreshResult, stored: AccountRecord | undefined): AccountRecord {
  if (stored === undefined || stored.state === 'signed-out') return result.next
  return stored.lineage === result.derivedFrom.lineage ? successorOf(stored, result) : result.next
}

/** A record's access token, as what the next record keeps of it. */
export function predecessorIn({
  tokens,
  obtained_at,
  lifetime,
}: Pick<SignedIn, 'tokens' | 'obtained_at' | 'lifetime'>): Predecessor {
  return { tokens: tokenSet({ ...wholeOf(tokens), refresh_token: '' }), obtained_at, lifetime }
}

/** Which write a record is: its version, and where the store tells it the name of the write. */
export type Write = Pick<Versioned, 'version' | 'writeId'>

/** An account's record as it stands in the store. */
export interface VersionedRecord extends Write {
  readonly record: AccountRecord
}

/** A store that was emptied or set back may use a version again, for another write. */
export function isSameWrite(one: Write, other: Write): boolean {
  return one.version === other.version && one.writeId === other.writeId
}

/**
 * Whether `stored` provably stands behind `seen`: the store went back in time, as Redis does after a failover that lost
 * writes. Another sign-in or sign-out is behind where `seen` was made over it; of two that know nothing of each other neither
 * is, and what stands in the store stays, whatever any clock said. Within one sign-in fewer refreshes are behind. The same
 * tokens are behind where an intent or a refusal was lost: they must not be sent as if nobody had sent them.
 */
export function isBehind(stored: VersionedRecord, seen: VersionedRecord): boolean {
  if (sessionOf(stored.record) !== sessionOf(seen.record)) return descends(seen.record, stored.record)
  const older = refreshesOf(stored.record) - refreshesOf(seen.record)
  if (older !== 0) return older < 0
  // A refusal is the end of its tokens, however often they were put back since.
  if (stored.record.state !== seen.record.state) return seen.record.state === 'reauthentication-required'
  const isEarlier = stored.version < seen.version || (stored.version === seen.version && !isSameWrite(stored, seen))
  return isEarlier && maySpendAgain(stored.record) && !maySpendAgain(seen.record)
}

function refreshesOf(record: AccountRecord): number {
  return record.state === 'signed-out' ? 0 : record.refreshes
}

function maySpendAgain(record: AccountRecord): boolean {
  return record.state === 'signed-in' && record.intent === undefined
}

/** How many names a record carries. One that was made over more is not known to descend from the oldest of them. */
const remembered = 16

/** The name of a record's sign-in or sign-out. */
export function sessionOf({ session, generation }: Ancestry): string {
  return session ?? `generation ${generation}`
}

/** Whether a record is of a sign-in or sign-out that was made over the other's. */
export function descends(record: Ancestry, from: Ancestry): boolean {
  return record.replaces?.includes(sessionOf(from)) ?? false
}

/** What a record hands down to those that refreshes make of it. */
export function ancestryOf(record: Ancestry): Required<Ancestry> {
  return { schema: 1, generation: record.generation, session: sessionOf(record), replaces: record.replaces ?? [] }
}

/** A place above all of `records` and what they were made over. Those that are not there don't matter. */
export function ancestryOver(session: string, ...records: readonly (AccountRecord | undefined)[]): Required<Ancestry> {
  const before = records.filter((record) => record !== undefined)
  const names = [...before.map(sessionOf), ...before.flatMap(({ replaces = [] }) => replaces)]
  return {
    schema: 1,
    generation: Math.max(0, ...before.map(({ generation }) => generation)) + 1,
    session,
    replaces: [...new Set(names)].filter((name) => name !== session).slice(0, remembered),
  }
}
