/**
 * What this process knows of its accounts: the newest record seen of each, when it saw it, and the access token for the hot path.
 */
import { LRUCache } from 'lru-cache'
import type { SsoError, StoreError } from '../errors.ts'
import type { AccountRecord } from '../tokens/token-record.ts'
import { type Ages, agesOf, type Freshness, freshnessAt } from './freshness.ts'
import type { VersionedRecord, RefreshResult, Write } from './lineage.ts'
import type { Place } from '../budget/waiting-line.ts'
import type { OwnIntent } from './own-intents.ts'
import { elapsed, type Instant, instantOf, type Runtime } from './runtime.ts'

/**
 * An access token that is returned without another check. These are small objects apart from all else that is known of an
 * account, and none of their fields is a fraction: with a million accounts, each additional memory access is slow.
 */
export interface Served {
  accessToken: string
  /** Seconds of the wall clock between which it is returned. */
  readonly from: number
  until: number
}

/** One account, as this process knows it. Mutable, and changed by the protocol alone. */
export interface AccountCache {
  readonly account: string
  /** The newest record seen, and which write it was; 0 and none before the first. */
  version: number
  writeId: string | undefined
  record: AccountRecord | undefined
  /** First sight of the record's tokens, and the ages at which they change their freshness. */
  seen: Instant
  /** Milliseconds: how old they were then. */
  ageWhenSeen: number
  /** They were seen to take the place of others: this process knew those. */
  sawReplaced: boolean
  /** The moment before the last look at the store that ended in this record, or in one before it. */
  lookedAt: Instant | undefined
  ages: Ages
  /** First sight of the record's intent. `knewBefore`: this process had seen the record without it. */
  intentSeen: { readonly id: string; readonly at: Instant; readonly knewBefore: boolean } | undefined
  /** This process's intents, for the case that the store did not tell, or could not be told, how they ended. */
  ownIntents: readonly OwnIntent[]
  /** The intent under which this process sent a request whose response it lost, and when. */
  lostResponse: { readonly id: string; readonly sentAt: Instant } | undefined
  /** The access token that the owner API refused, and whether it did so before it can have accepted it. */
  rejected: { readonly accessToken: string; readonly unused: boolean } | undefined
  /** The access token that `refresh()` wants replaced; empty where there was none. */
  unwanted: string | undefined
  /** A request failed without spending the token: the next one waits. */
  backOff: BackOff | undefined
  /** When a background refresh that led to nothing is tried again. */
  backgroundBackOff: { readonly since: Instant; readonly wait: number } | undefined
  /** The result that this process alone holds, until the store takes it. */
  unsaved: Unsaved | undefined
  inFlight: InFlightRefresh | undefined
  /** Its place in the budget for refreshes, taken and not used yet. */
  turn: Turn | undefined
  /** What became of its places before, until it has new tokens. */
  turns: { readonly refused: boolean; readonly missed: boolean }
  /** How many wait for its refresh. */
  callers: number
  /** What the hot path returns, since it was opened for the first time. */
  served: Served | undefined
}

/** A place in the budget of a host. */
export interface Turn {
  readonly authUrl: string
  readonly place: Place
}

export interface Unsaved {
  readonly result: RefreshResult
  error: StoreError | undefined
  /** Resolves when the death of this process would not lose it any more; there once the store has refused it. */
  safe: Promise<void> | undefined
}

export interface BackOff {
  readonly since: Instant
  /** Milliseconds. */
  readonly wait: number
  readonly failures: number
  readonly error: SsoError
}

/** A refresh under way, one per account and process. */
export interface InFlightRefresh {
  /** The record was read once: what is stored may be enough already. */
  readonly synced: Promise<void>
  readonly done: Promise<void>
}

export interface AccountMemory {
  /** For the hot path: a look-up that does not count as a use. */
  served(account: string): Served | undefined
  /** What the hot path returns from now on. */
  serve(cache: AccountCache, served: Served): void
  /** What is known, created if necessary, and counted as a use. */
  of(account: string): AccountCache
  all(): Iterable<AccountCache>
  /** To be called when a refresh or a commit has ended. */
  release(cache: AccountCache): void
}

/** @param size - accounts that are remembered; one with a refresh under way or unsaved tokens is never forgotten */
export function createAccountMemory(size: number): AccountMemory {
  const all = new Map<string, AccountCache>()
  const served = new Map<string, Served>()
  const forget = (account: string): void => {
    all.delete(account)
    served.delete(account)
  }
  // Apart from it, so that the hot path writes nothing: an account counts as used when its window is opened anew.
  const used = new LRUCache<string, AccountCache>({
    max: size,
    dispose: (cache, account, reason) => {
      if (reason === 'evict' && !isBusy(cache)) forget(account)
    },
  })
  return {
    served: (account) => served.get(account),
    serve(cache, next) {
      cache.served = next
      served.set(cache.account, next)
    },
    of(account) {
      const cache = all.get(account) ?? unknown(account)
      all.set(account, cache)
      used.set(account, cache)
      return cache
    },
    all: () => all.values(),
    release(cache) {
      // Another may have taken its place since a call began with it.
      if (!isBusy(cache) && !used.has(cache.account) && all.get(cache.account) === cache) forget(cache.account)
    },
  }
}

const isBusy = (cache: AccountCache): boolean => cache.inFlight !== undefined || cache.unsaved !== undefined

const noIntents: readonly OwnIntent[] = []
const noTurns: AccountCache['turns'] = { refused: false, missed: false }
const noAges: Ages = {
  ageing: 0,
  expiring: 0,
  expired: 0,
}

function unknown(account: string): AccountCache {
  return {
    account,
    version: 0,
    writeId: undefined,
    record: undefined,
    seen: {
      wall: 0,
      monotonic: 0,
    },
    ageWhenSeen: 0,
    sawReplaced: false,
    lookedAt: undefined,
    ages: noAges,
    intentSeen: undefined,
    ownIntents: noIntents,
    lostResponse: undefined,
    rejected: undefined,
    unwanted: undefined,
    backOff: undefined,
    backgroundBackOff: undefined,
    unsaved: undefined,
    inFlight: undefined,
    turn: undefined,
    turns: noTurns,
    callers: 0,
    served: undefined,
  }
}

/**
 * Accepts a record as the newest. Tokens that were known already keep the time of their first sight, unless they were saved
 * again: then they may have another end.
 */
export function acceptRecord(
  cache: AccountCache,
  { version, writeId, record }: VersionedRecord,
  runtime: Runtime,
  refreshAfter: number,
): void {
  const before = cache.record
  cache.version = version
  cache.writeId = writeId
  cache.record = record
  const knewBefore = before !== undefined
  const askedSince = cache.intentSeen?.at ?? cache.lookedAt
  const { intent } = record.state === 'signed-in' ? record : {}
  if (intent === undefined) cache.intentSeen = undefined
  else if (intent.id !== cache.intentSeen?.id) cache.intentSeen = { id: intent.id, at: instantOf(runtime), knewBefore }
  if (isSameLife(before, record)) return
  cache.seen = instantOf(runtime)
  cache.ageWhenSeen = ageAtSight(record, cache.seen, askedSince)
  cache.sawReplaced = accessTokenOf(before) !== undefined
  cache.ages = agesOf(record, refreshAfter)
  cache.backgroundBackOff = undefined
  cache.turns = noTurns
  closeWindow(cache)
}

/** Whether both hold the same access token, from the same time and for as long. */
function isSameLife(before: AccountRecord | undefined, record: AccountRecord): boolean {
  const accessToken = accessTokenOf(record)
  if (accessToken === undefined || accessToken !== accessTokenOf(before)) return false
  if (before === undefined || before.state === 'signed-out' || record.state === 'signed-out') return false
  return before.obtained_at === record.obtained_at && before.lifetime === record.lifetime
}

/** Which write the newest record seen was. */
export const writeOf = ({ version, writeId }: AccountCache): Write => ({ version, writeId })

export function accessTokenOf(record: AccountRecord | undefined): string | undefined {
  // An empty one is none.
  return record === undefined || record.state === 'signed-out' ? undefined : record.tokens.access_token || undefined
}

/** Whether `refresh()` waits for tokens in place of these. */
export function isAsked({ record, unwanted }: AccountCache): boolean {
  return unwanted !== undefined && unwanted === (accessTokenOf(record) ?? '')
}

/**
 * By the clocks' difference, and not more than the time since they can have been asked for: a clock that is far from the
 * writer's must not make a token old that this process saw arrive. What was put back may be of any age.
 *
 * @param askedSince - when the intent was first seen that they came of, or when the store was last looked at without one
 */
function ageAtSight(record: AccountRecord, seen: Instant, askedSince: Instant | undefined): number {
  if (record.state === 'signed-out') return 0
  const told = Math.max(0, seen.wall - record.obtained_at * 1000)
  const isPutBack = record.state === 'signed-in' && record.intent?.restored === true
  return askedSince === undefined || isPutBack ? told : Math.min(told, elapsed(askedSince, seen))
}

/** Milliseconds since the tokens were obtained: as old as they were at first sight, then by the faster clock. */
export function ageOf(cache: AccountCache, now: Instant): number {
  if (cache.record === undefined || cache.record.state === 'signed-out') return Number.POSITIVE_INFINITY
  return cache.ageWhenSeen + elapsed(cache.seen, now)
}

export function freshnessOf(cache: AccountCache, now: Instant): Freshness {
  return freshnessAt(ageOf(cache, now), cache.ages)
}

/** Whether the access token in memory still works, as far as anybody knows. */
export function isUsable(cache: AccountCache, now: Instant): boolean {
  const accessToken = accessTokenOf(cache.record)
  return (
    accessToken !== undefined && accessToken !== cache.rejected?.accessToken && freshnessOf(cache, now) !== 'expired'
  )
}

/** Milliseconds after which the hot path asks both clocks again, so that a jump of the wall clock is noticed. */
const longestWindow = 60_000

/** Lets the hot path serve the token after one reading of the wall clock: for so many milliseconds, a minute at most. */
export function openWindow(cache: AccountCache, now: Instant, milliseconds: number, memory: AccountMemory): void {
  memory.serve(cache, {
    accessToken: accessTokenOf(cache.record) ?? '',
    from: Math.floor(now.wall / 1000),
    // Not beyond: a last second that is not whole is asked about.
    until: Math.floor((now.wall + Math.min(milliseconds, longestWindow)) / 1000),
  })
}

/** What was served is not kept: after a sign-out, no token of the account stays in memory. */
export function closeWindow({ served }: AccountCache): void {
  if (served !== undefined) Object.assign(served, { accessToken: '', until: 0 })
}
