/**
 * The commit: the result of a refresh goes into the store by the lineage rule, again and again until it is there, with the
 * same write id, for as long as the process lives.
 */
import { StoreError } from '../errors.ts'
import type { AccountRecord } from '../tokens/token-record.ts'
import { acceptRecord, type AccountCache, type Unsaved, writeOf } from './account-memory.ts'
import { untilSwapped } from './contention.ts'
import type { Context } from './context.ts'
import {
  holdsResult,
  holdsTokensOf,
  isBehind,
  type RefreshResult,
  successorOf,
  type VersionedRecord,
  type Write,
} from './lineage.ts'
import { readRecord } from './read-record.ts'
import { inDoubtAgain } from './restoration.ts'

/** `unsaved`: the store did not take it yet; the commit goes on in the background. */
export type CommitOutcome = 'saved' | 'superseded' | 'unsaved'

/** How a result is put into the store. */
interface CommitOptions {
  readonly writeId: string
  /** The record as it is known; it is read where it is not. */
  readonly first?: VersionedRecord
  /** Of a result out of the spool: the version of the record while the refresh was under way. */
  readonly spooledAt?: number
}

/** @param stored - the record as this process last knew it: its own intent */
export async function commit(
  cache: AccountCache,
  result: RefreshResult,
  stored: VersionedRecord,
  context: Context,
): Promise<CommitOutcome> {
  const unsaved: Unsaved = { result, error: undefined, safe: undefined }
  // In memory at once: from here on the new tokens are served, whatever becomes of the store.
  if (cache.record === undefined || context.rules.mayReplace(cache.record, result)) {
    cache.unsaved = unsaved
    acceptRecord(cache, { ...stored, record: result.next }, context.runtime, context.refreshAfter)
  }
  const writeId = context.runtime.uniqueId()
  try {
    return await commitRecord(cache, result, { writeId, first: stored }, context)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    unsaved.error = error
    const kept = await keepInSpool(cache.account, result, stored, context)
    let isSafe: (() => void) | undefined
    const safe = new Promise<void>((resolve) => {
      isSafe = resolve
    })
    unsaved.safe = context.underWay.track(safe)
    void commitEventually(cache, { result, held: stored, writeId }, kept, () => isSafe?.(), context)
    context.emit('unsaved', { account: cache.account, error, spooled: kept !== undefined })
    return 'unsaved'
  }
}

/**
 * Puts a result where the lineage rule lets it.
 *
 * @throws StoreError where the store can't be read or written
 */
export async function commitRecord(
  cache: AccountCache,
  result: RefreshResult,
  { writeId, first, spooledAt }: CommitOptions,
  context: Context,
): Promise<CommitOutcome> {
  const { account } = cache
  let isFirst = true
  return untilSwapped(context.runtime, async () => {
    const stored = (isFirst ? first : undefined) ?? (await readRecord(account, context))
    isFirst = false
    if (stored !== undefined && holdsResult(stored.record, result))
      return settle(cache, result, stored, 'saved', context)
    const isNext = stored !== undefined && context.rules.mayReplace(stored.record, result)
    const version = Math.max(spooledAt ?? 0, cache.version)
    // The store went back to a time before this refresh.
    const isLost = stored === undefined || isBehind(stored, { version, record: result.derivedFrom })
    if (!isNext && !isLost) return settle(cache, result, stored, 'superseded', context)
    // A store that lost the record takes a fresh result, which exists nowhere else, without a doubt. One that was in the spool
    // may have been in the store before, and been spent since.
    const isDoubtful = spooledAt !== undefined && !isNext
    const record = isDoubtful ? inDoubtAgain(nextRecord(stored, result), cache, context) : nextRecord(stored, result)
    const swapped = await context.store.swap(account, stored, record, writeId)
    return 'conflict' in swapped ? undefined : settle(cache, result, { ...swapped, record }, 'saved', context)
  })
}

function nextRecord(stored: VersionedRecord | undefined, result: RefreshResult): AccountRecord {
  if (stored === undefined || stored.record.state === 'signed-out') return result.next
  return stored.record.lineage === result.derivedFrom.lineage ? successorOf(stored.record, result) : result.next
}

function settle(
  cache: AccountCache,
  result: RefreshResult,
  stored: VersionedRecord,
  ending: CommitOutcome,
  context: Context,
): CommitOutcome {
  if (cache.unsaved?.result === result) cache.unsaved = undefined
  // A sign-in or sign-out of this process may have come in between; what is known may only grow.
  if (
    cache.record === undefined ||
    holdsTokensOf(cache.record, result.next) ||
    !isBehind(stored, { ...writeOf(cache), record: cache.record })
  ) {
    acceptRecord(cache, stored, context.runtime, context.refreshAfter)
  }
  if (ending === 'superseded') context.emit('superseded', { account: cache.account })
  context.memory.release(cache)
  return ending
}

interface PendingCommit {
  readonly result: RefreshResult
  /** The record with this process's intent. */
  readonly held: VersionedRecord
  readonly writeId: string
}

/**
 * Goes on in the background: after 250 ms, then after twice as long each time, up to 15 s, a third of an intent's life.
 *
 * @param kept - where the result stands in the spool, if it does
 * @param isSafe - called once the result would outlive this process
 */
async function commitEventually(
  cache: AccountCache,
  { result, held, writeId }: PendingCommit,
  kept: Write | undefined,
  isSafe: () => void,
  context: Context,
): Promise<void> {
  const { after, random } = context.runtime
  let at = kept
  for (let pause = 250; ; pause = Math.min(pause * 2, 15_000)) {
    if (at !== undefined) isSafe()
    await new Promise<void>((resolve) => after(pause * (0.75 + 0.5 * random()), resolve))
    try {
      await commitRecord(cache, result, { writeId }, context)
      break
    } catch {
      // The event `unsaved` told of it.
      at ??= await keepInSpool(cache.account, result, held, context)
    }
  }
  isSafe()
  if (at !== undefined) await context.spool?.clear(cache.account, at).catch(context.reportSpool)
}

/** The write under which new tokens are in the spool. Undefined if there is no spool, or it refused them too. */
async function keepInSpool(
  account: string,
  result: RefreshResult,
  { version }: VersionedRecord,
  { spool, reportSpool }: Context,
): Promise<Write | undefined> {
  if (result.next.state !== 'signed-in') return undefined
  try {
    return await spool?.keep(account, result, version)
  } catch (error) {
    reportSpool(error)
    return undefined
  }
}
