/**
 * What this process knows of its accounts: the newest record seen of each, when it saw it, and the answer for the hot path.
 */
import { LRUCache } from 'lru-cache'
import type { SsoError, StoreError } from '../errors.ts'
import type { AccountRecord } from '../tokens/token-record.ts'
import { agesOf, standingAt } from './lifetime.ts'
import type { Ages, Standing } from './lifetime.ts'
import type { Placed, RefreshResult, Write } from './lineage.ts'
import type { OwnIntent } from './own-intents.ts'
import { elapsed, instantOf } from './runtime.ts'
import type { Instant, Runtime } from './runtime.ts'

/** One account, as this process knows it. Mutable, and changed by the protocol alone. */
export interface Known {
  /** The access token; empty where there is none. */
  answer: string
  /**
   * Seconds of the wall clock between which `answer` is given without any further question. These three stand first, and are
   * no promise and no fractions: among a million accounts each place in memory that has to be looked up takes long.
   */
  answerFrom: number
  answerUntil: number
  readonly account: string
  /** The newest record seen, and which write it was; 0 and none before the first. */
  version: number
  writeId: string | undefined
  record: AccountRecord | undefined
  /** First sight of the record's tokens, and the ages at which they change their standing. */
  seen: Instant
  /** They were seen to take the place of others: this process knew those. */
  sawReplaced: boolean
  ages: Ages
  /** First sight of the record's intent. `sawPlaced`: this process knew the record as it was without it. */
  intentSeen: { readonly id: string; readonly at: Instant; readonly sawPlaced: boolean } | undefined
  /** This process's intents, for the case that the store did not tell, or could not be told, how they ended. */
  ownIntents: readonly OwnIntent[]
  /** The intent under which this process sent a request whose answer it lost, and when. */
  lostAnswer: { readonly id: string; readonly sentAt: Instant } | undefined
  /** The access token that the owner API refused, and whether it did so before it can have accepted it. */
  rejected: { readonly accessToken: string; readonly unused: boolean } | undefined
  /** The access token that `refresh()` wants replaced. */
  unwanted: string | undefined
  /** A request failed without spending the token: the next one waits. */
  rest: Rest | undefined
  /** When a background refresh that led to nothing is tried again. */
  nextLook: { readonly since: Instant; readonly wait: number } | undefined
  /** The result that this process alone holds, until the store takes it. */
  unsaved: Unsaved | undefined
  flight: Flight | undefined
  /** How many wait for its refresh. */
  callers: number
}

export interface Unsaved {
  readonly result: RefreshResult
  error: StoreError | undefined
  /** Resolves when the death of this process would not lose it any more; there once the store has refused it. */
  safe: Promise<void> | undefined
}

export interface Rest {
  readonly since: Instant
  /** Milliseconds. */
  readonly wait: number
  readonly failures: number
  readonly error: SsoError
}

/** A refresh under way, one per account and process. */
export interface Flight {
  /** The record was read once: what is stored may answer already. */
  readonly looked: Promise<void>
  readonly done: Promise<void>
}

export interface AccountMemory {
  /** What is known, for the hot path: a look, which is not counted as a use. */
  get(account: string): Known | undefined
  /** The same, made if need be, and counted as a use. */
  of(account: string): Known
  all(): Iterable<Known>
  /** To be called when a flight or a commit has ended. */
  release(known: Known): void
}

/** @param size - accounts that are remembered; one with a refresh under way or unsaved tokens is never forgotten */
export function createAccountMemory(size: number): AccountMemory {
  const all = new Map<string, Known>()
  // Apart from it, so that the hot path writes nothing: an account counts as used when its window is opened anew.
  const used = new LRUCache<string, Known>({
    max: size,
    dispose: (known, account, reason) => {
      if (reason === 'evict' && !isBusy(known)) all.delete(account)
    },
  })
  return {
    get: (account) => all.get(account),
    of(account) {
      const known = all.get(account) ?? unknown(account)
      all.set(account, known)
      used.set(account, known)
      return known
    },
    all: () => all.values(),
    release(known) {
      if (!isBusy(known) && !used.has(known.account)) all.delete(known.account)
    },
  }
}

const isBusy = (known: Known): boolean => known.flight !== undefined || known.unsaved !== undefined

const noIntents: readonly OwnIntent[] = []
const noAges: Ages = { ageing: 0, expiring: 0, expired: 0 }

function unknown(account: string): Known {
  return {
    answer: '',
    answerFrom: 0,
    answerUntil: 0,
    account,
    version: 0,
    writeId: undefined,
    record: undefined,
    seen: { wall: 0, monotonic: 0 },
    sawReplaced: false,
    ages: noAges,
    intentSeen: undefined,
    ownIntents: noIntents,
    lostAnswer: undefined,
    rejected: undefined,
    unwanted: undefined,
    rest: undefined,
    nextLook: undefined,
    unsaved: undefined,
    flight: undefined,
    callers: 0,
  }
}

/** Takes a record as the newest. Tokens that were known already keep the time of their first sight. */
export function adopt(
  known: Known,
  { version, writeId, record }: Placed,
  runtime: Runtime,
  refreshAfter: number,
): void {
  const before = accessTokenOf(known.record)
  const sawPlaced = known.record !== undefined
  known.version = version
  known.writeId = writeId
  known.record = record
  const { intent } = record.state === 'signed-in' ? record : {}
  if (intent === undefined) known.intentSeen = undefined
  else if (intent.id !== known.intentSeen?.id) known.intentSeen = { id: intent.id, at: instantOf(runtime), sawPlaced }
  const accessToken = accessTokenOf(record)
  if (accessToken === before && before !== undefined) return
  known.seen = instantOf(runtime)
  known.sawReplaced = before !== undefined
  known.ages = agesOf(record, refreshAfter)
  known.answer = accessToken ?? ''
  known.nextLook = undefined
  closeWindow(known)
}

/** Which write the newest record seen was. */
export const writeOf = ({ version, writeId }: Known): Write => ({ version, writeId })

export function accessTokenOf(record: AccountRecord | undefined): string | undefined {
  return record === undefined || record.state === 'signed-out' ? undefined : record.tokens.access_token
}

/** Milliseconds since the tokens were obtained: by the clocks' difference at first sight, then by the faster clock. */
export function ageOf(known: Known, now: Instant): number {
  if (known.record === undefined || known.record.state === 'signed-out') return Number.POSITIVE_INFINITY
  return Math.max(0, known.seen.wall - known.record.obtained_at * 1000) + elapsed(known.seen, now)
}

export function standingOf(known: Known, now: Instant): Standing {
  return standingAt(ageOf(known, now), known.ages)
}

/** Whether the access token in memory still works, as far as anybody knows. */
export function isUsable(known: Known, now: Instant): boolean {
  const accessToken = accessTokenOf(known.record)
  return (
    accessToken !== undefined && accessToken !== known.rejected?.accessToken && standingOf(known, now) !== 'expired'
  )
}

/** Milliseconds after which the hot path asks both clocks again, so that a jump of the wall clock is noticed. */
const longestWindow = 60_000

/** Lets the hot path answer by a glance at the wall clock: for so many milliseconds, a minute at most. */
export function openWindow(known: Known, now: Instant, milliseconds: number): void {
  known.answerFrom = Math.floor(now.wall / 1000)
  // Not beyond: a last second that is not whole is asked about.
  known.answerUntil = Math.floor((now.wall + Math.min(milliseconds, longestWindow)) / 1000)
}

export function closeWindow(known: Known): void {
  known.answerUntil = 0
}
