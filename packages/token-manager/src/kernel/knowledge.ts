/**
 * What this process knows of one account: one immutable value, which each step of the protocol replaces by the next
 * (`machine.ts`), and what it says of the account now.
 */
import type { SsoError, StoreError } from '../errors.ts'
import type { AccountRecord, Intent, SignedIn } from '../store/token-record.ts'
import { type Ages, agesOf, type Freshness, freshnessAt } from './freshness.ts'
import type { Holder, Liveness } from '../support/holder.ts'
import { descends, type RefreshResult, sessionOf, type VersionedRecord, type Write } from '../store/lineage.ts'
import { elapsed, type Instant } from '../support/runtime.ts'

export interface Knowledge {
  readonly account: string
  /** The newest record seen, and which write it was; 0 and none before the first. */
  readonly version: number
  readonly writeId: string | undefined
  readonly record: AccountRecord | undefined
  /** First sight of the record's tokens, how many milliseconds old they were then, and the ages at which their freshness changes. */
  readonly seen: Instant
  readonly ageWhenSeen: number
  readonly ages: Ages
  /** They were seen to take the place of others: this process knew those. */
  readonly sawReplaced: boolean
  /** The moment before the last look at the store that ended in this record, or in one before it. */
  readonly lookedAt: Instant | undefined
  /** First sight of the record's intent. `knewBefore`: this process had seen the record without it. */
  readonly intentSeen: { readonly id: string; readonly at: Instant; readonly knewBefore: boolean } | undefined
  /** This process's intents, for the case that the store did not tell, or could not be told, how they ended. */
  readonly ownIntents: readonly OwnIntent[]
  /** The intent under which this process sent a request whose answer it lost, and when. */
  readonly lostAnswer: { readonly id: string; readonly sentAt: Instant } | undefined
  /** The access token that the owner API refused, and whether it did so before it can have accepted it. */
  readonly invalidated: { readonly accessToken: string; readonly unused: boolean } | undefined
  /** The access token of a refresh that the owner API accepted, before the record says so. */
  readonly acceptedToken: string | undefined
  /** The access token that `refresh()` is to replace; empty where there was none. */
  readonly toReplace: string | undefined
  readonly backOff: BackOff | undefined
  readonly backgroundRest: Rest | undefined
  /** The result that this process alone holds, until the store takes it. */
  readonly unsaved: Unsaved | undefined
  /** The tokens of which it was told that nobody refreshes them. */
  readonly toldOverdue: string | undefined
  readonly isRefreshing: boolean
  readonly callers: number
}

/**
 * An intent of this process whose end the store may not have told: a swap that was applied although it failed here, or one
 * that could not be taken back. Without these a process would wait for itself.
 */
export interface OwnIntent {
  readonly id: string
  /** The refresh token may have been spent under it. */
  readonly spent: boolean
  /** What counts in its place if it was not: the intent of an earlier request whose answer was lost, if there is one. */
  readonly before: Intent | undefined
}

export interface Rest {
  readonly since: Instant
  /** Milliseconds. */
  readonly wait: number
}

export interface BackOff extends Rest {
  readonly failures: number
  readonly error: SsoError
}

export interface Unsaved {
  readonly result: RefreshResult
  /** Why the store did not take it; nothing while it is being written. */
  readonly error: StoreError | undefined
}

/** The present as a process perceives it, and by what options it goes. */
export interface Moment extends Instant {
  readonly settings: Settings
  readonly holder: Holder
  readonly livenessOf: (holder: Holder) => Liveness
  readonly uniqueId: () => string
  /** Somebody waits for everything in this process to end. */
  readonly isEnding: boolean
}

export interface Settings {
  /** Fraction of a life. */
  readonly refreshAfter: number
  /** Milliseconds. */
  readonly minRefreshInterval: number
  /** Milliseconds; 0 where the service repeats no answer. */
  readonly rotationGrace: number
  /** Refreshes may go on after the call that began them. */
  readonly outlivesCalls: boolean
  readonly refreshesElsewhere: boolean
}

const noAges: Ages = { ageing: 0, expiring: 0, expired: 0 }
const never: Instant = { wall: 0, monotonic: 0 }

export function nothingKnown(account: string): Knowledge {
  return {
    account,
    version: 0,
    writeId: undefined,
    record: undefined,
    seen: never,
    ageWhenSeen: 0,
    ages: noAges,
    sawReplaced: false,
    lookedAt: undefined,
    intentSeen: undefined,
    ownIntents: [],
    lostAnswer: undefined,
    invalidated: undefined,
    acceptedToken: undefined,
    toReplace: undefined,
    backOff: undefined,
    backgroundRest: undefined,
    unsaved: undefined,
    toldOverdue: undefined,
    isRefreshing: false,
    callers: 0,
  }
}

/**
 * A record is accepted as the newest. Tokens that were known already keep the time of their first sight, unless they were saved
 * again: then they may have another end.
 */
export function accepted(
  known: Knowledge,
  { version, writeId, record: stored }: VersionedRecord,
  now: Moment,
): Knowledge {
  const record = asKnown(stored, known)
  const intentSeen = sightOfIntent(known, record, now)
  // Of the same tokens as well: once their successor was refused they are refreshed later.
  const ages = agesOf(record, now.settings.refreshAfter)
  const next = { ...known, version, writeId, record, intentSeen, ages }
  if (isSameLife(known.record, record)) return next
  return {
    ...next,
    seen: instant(now),
    ageWhenSeen: ageAtSight(
      record,
      now,
      isNewer(record, known.record) ? (known.intentSeen?.at ?? known.lookedAt) : undefined,
    ),
    sawReplaced: accessTokenOf(known.record) !== undefined,
    backgroundRest: undefined,
    // The wait for somebody else's refresh is over.
    ...(now.settings.refreshesElsewhere && { backOff: undefined }),
  }
}

/** What the owner API has said meanwhile of a record's access token, or of the one before it, goes before what is stored. */
export function asKnown(
  record: AccountRecord,
  { acceptedToken, invalidated }: Pick<Knowledge, 'acceptedToken' | 'invalidated'>,
): AccountRecord {
  if (record.state === 'signed-out') return record
  const { predecessor, refusals, ...rest } = record
  if (acceptedToken === record.tokens.access_token) return isRefreshed(record) ? rest : record
  const isRefused = predecessor !== undefined && predecessor.tokens.access_token === invalidated?.accessToken
  if (!isRefused) return record
  return refusals === undefined ? rest : { ...rest, refusals }
}

/**
 * By the clocks' difference, and not more than the time since they can have been asked for: a clock that is far from the
 * writer's must not make a token old that this process saw arrive. What was put back, or is current again, may be of any age.
 *
 * @param askedSince - when the intent was first seen that they came of, or when the store was last looked at without one
 */
function ageAtSight(record: AccountRecord, seen: Instant, askedSince: Instant | undefined): number {
  if (record.state === 'signed-out') return 0
  const told = Math.max(0, seen.wall - record.obtained_at * 1000)
  const isOlder = intentOf(record)?.restored === true || hasFallenBack(record)
  return askedSince === undefined || isOlder ? told : Math.min(told, elapsed(askedSince, seen))
}

/** Whether its tokens came after those that were known: a store that went back shows others, which this process did not see arrive. */
function isNewer(record: AccountRecord, before: AccountRecord | undefined): boolean {
  if (before === undefined || before.state === 'signed-out' || record.state === 'signed-out') return true
  return sessionOf(record) === sessionOf(before) ? record.refreshes > before.refreshes : descends(record, before)
}

function sightOfIntent(known: Knowledge, record: AccountRecord, now: Instant): Knowledge['intentSeen'] {
  const id = intentOf(record)?.id
  if (id === undefined) return undefined
  if (id === known.intentSeen?.id) return known.intentSeen
  return { id, at: instant(now), knewBefore: known.record !== undefined }
}

/** Whether both hold the same access token, from the same time and for as long. */
function isSameLife(before: AccountRecord | undefined, record: AccountRecord): boolean {
  const accessToken = accessTokenOf(record)
  if (accessToken === undefined || accessToken !== accessTokenOf(before)) return false
  if (before === undefined || before.state === 'signed-out' || record.state === 'signed-out') return false
  return before.obtained_at === record.obtained_at && before.lifetime === record.lifetime
}

const remembered = 16

export function withOwnIntent(known: Knowledge, added: OwnIntent): Knowledge {
  const others = known.ownIntents.filter(({ id }) => id !== added.id)
  const standing = others.slice(0, -remembered).filter(({ id }) => id === intentOf(known.record)?.id)
  return { ...known, ownIntents: [...standing, ...others.slice(-remembered), added] }
}

export const instant = ({ wall, monotonic }: Instant): Instant => ({ wall, monotonic })

export const writeOf = ({ version, writeId }: Write): Write => ({ version, writeId })

export function accessTokenOf(record: AccountRecord | undefined): string | undefined {
  // An empty one is none.
  return record === undefined || record.state === 'signed-out' ? undefined : record.tokens.access_token || undefined
}

export const intentOf = (record: AccountRecord | undefined): Intent | undefined =>
  record?.state === 'signed-in' ? record.intent : undefined

/** The intent that counts: where it is this process's own and nothing was spent under it, what was there before. */
export function openIntent({ record, ownIntents }: Knowledge): Intent | undefined {
  const intent = intentOf(record)
  const own = ownIntents.find(({ id }) => id === intent?.id)
  return own === undefined || own.spent ? intent : own.before
}

export function hostOf({ record }: Pick<Knowledge, 'record'>): string | undefined {
  return record?.state === 'signed-in' ? record.tokens.auth_url : undefined
}

export function isReplacementAsked({ record, toReplace }: Knowledge): boolean {
  return toReplace !== undefined && toReplace === (accessTokenOf(record) ?? '')
}

export function isUnwanted({ record, toReplace, invalidated }: Knowledge): boolean {
  const accessToken = accessTokenOf(record)
  return accessToken !== undefined && (accessToken === toReplace || accessToken === invalidated?.accessToken)
}

/** Whether the access token is that of before the last refresh, in the place of one that was refused. */
export function hasFallenBack(record: AccountRecord): boolean {
  return record.state !== 'signed-out' && record.refusals?.fellBack === true
}

/** Whether the access token is the newest that a refresh brought. */
export function isRefreshed(record: AccountRecord): boolean {
  return record.state !== 'signed-out' && record.refreshes > 0 && !hasFallenBack(record)
}

/** Whether the owner API refused the current access token, as far as this process or the record knows. */
export function isRefusedNow({ record, invalidated }: Pick<Knowledge, 'record' | 'invalidated'>): boolean {
  const isNoted = record?.state === 'signed-in' && record.refusals?.thisOne === true
  return isNoted || (invalidated !== undefined && invalidated.accessToken === accessTokenOf(record))
}

/** Milliseconds since the tokens were obtained: as old as they were at first sight, then by the faster clock. */
export function ageOf({ record, seen, ageWhenSeen }: Knowledge, now: Instant): number {
  if (record === undefined || record.state === 'signed-out') return Number.POSITIVE_INFINITY
  return ageWhenSeen + elapsed(seen, now)
}

export function freshnessOf(known: Knowledge, now: Instant): Freshness {
  return freshnessAt(ageOf(known, now), known.ages)
}

export function isUsable(known: Knowledge, now: Instant): boolean {
  const accessToken = accessTokenOf(known.record)
  if (accessToken === undefined || accessToken === known.invalidated?.accessToken) return false
  return freshnessOf(known, now) !== 'expired'
}

/** Why a refresh is made: a call of `refresh()`, an access token that the owner API refused, one that has ended or was never there, or one that ends soon. */
export type RefreshNeed = 'asked' | 'refused' | 'expired' | 'due'

export function refreshNeed(known: Knowledge, now: Instant): RefreshNeed {
  if (isReplacementAsked(known)) return 'asked'
  if (isRefusedNow(known)) return 'refused'
  return isUsable(known, now) ? 'due' : 'expired'
}

/** Milliseconds. Not every program tells that a token was accepted; one that is refused later than this is taken for it. */
const useTime = 60_000

/** Whether the access token came of a refresh just now, so that the owner API can't have accepted it yet. */
export function isUnused(known: Knowledge, now: Instant): boolean {
  const { record, acceptedToken } = known
  if (record?.state !== 'signed-in' || !isRefreshed(record)) return false
  if (acceptedToken === record.tokens.access_token) return false
  return ageOf(known, now) < useTime
}

export function withoutIntent(record: SignedIn): SignedIn {
  const copy: { -readonly [Field in keyof SignedIn]: SignedIn[Field] } = { ...record }
  delete copy.intent
  return copy
}
