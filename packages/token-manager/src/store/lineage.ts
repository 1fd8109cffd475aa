/**
 * What may stand in place of what. Lineage: which refresh token a record holds, and so what may replace it. It makes a lost
 * update impossible, whatever pauses and crashes happen. Ancestry: which sign-ins and sign-outs a record was made over. Each
 * has a random name and carries the names of those before it, so that "newer" is something a process can prove. Numbers and
 * clocks can't: a store that was emptied counts from the beginning again, and a clock that was a year ahead for a minute would
 * be right for a year.
 */
import { OtherOwnerError, ReauthenticationRequiredError } from '../errors.ts'
import type { AccountRecord, SignedIn, Ancestry, Predecessor, ReauthenticationRequired } from './token-record.ts'
import { createHmac } from 'node:crypto'
import { joined } from './history.ts'
import { unknownFields } from './record-check.ts'
import { tokenSet } from '../issuer/token-set.ts'
import { wholeOf } from '../support/redaction.ts'
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

/**
 * Whether a record already holds this result, so that a repeated commit has nothing left to do. Its tokens alone don't say so: some
 * services answer with the ones that they have given before.
 */
export function holdsResult(stored: AccountRecord, { next }: RefreshResult): boolean {
  return stored.state === next.state && holdsTokensOf(stored, next) && stored.refreshes >= next.refreshes
}

/** Whether a record's tokens are those of a result. Its access token alone doesn't say so: it may have none. */
export function holdsTokensOf(
  record: AccountRecord,
  { tokens, lineage }: RefreshResult['next'],
): record is SignedIn | ReauthenticationRequired {
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

const mostSpent = 16

/** What the record of the next tokens remembers: all that were saved, and of those that refreshes brought the last alone. */
export function spentByRefresh({ lineage, refreshes, spent = [] }: SignedIn, next: string): readonly string[] {
  if (next === lineage) return spent
  return [lineage, ...spent.slice(refreshes > 1 ? 1 : 0)].slice(0, mostSpent)
}

/** What a sign-in or a sign-out over these records remembers: a token that was sent, or may have been, as well. */
export function spentBefore(...records: readonly (AccountRecord | undefined)[]): readonly string[] {
  const all = records.flatMap((record) =>
    record === undefined ? [] : [...(isInUse(record) ? [record.lineage] : []), ...(record.spent ?? [])],
  )
  return [...new Set(all)].slice(0, mostSpent)
}

function isInUse(record: AccountRecord): record is Exclude<AccountRecord, { state: 'signed-out' }> {
  if (record.state === 'signed-in') return record.intent !== undefined
  // Another owner's token is not spent: it was kept as it came.
  return record.state === 'reauthentication-required' && record.reason !== 'other_owner'
}

/** What `save` answers where `stored` knows that this refresh token was spent, or that it was refused. */
export function reasonAgainst(
  stored: AccountRecord | undefined,
  account: string,
  refreshToken: string,
): ReauthenticationRequiredError | undefined {
  if (stored === undefined) return undefined
  const lineage = lineageOf(account, refreshToken)
  const options = { step: 'token-manager', requestSent: false } as const
  if (stored.spent?.includes(lineage)) return new ReauthenticationRequiredError('refresh_token_spent', options)
  if (stored.state !== 'reauthentication-required' || stored.lineage !== lineage) return undefined
  if (stored.reason === 'other_owner') return new OtherOwnerError(options)
  return new ReauthenticationRequiredError(stored.reason, options, stored.description)
}
