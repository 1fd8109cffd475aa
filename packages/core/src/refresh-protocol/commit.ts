/**
 * The commit: the result of a refresh goes into the store by the lineage rule, again and again until it is there, with the
 * same write id, for as long as the process lives.
 */
import { StoreError } from '../errors.ts'
import type { AccountRecord } from '../tokens/token-record.ts'
import type { Known, Unsaved } from './account-memory.ts'
import { accessTokenOf, adopt, writeOf } from './account-memory.ts'
import { untilSwapped } from './contention.ts'
import type { Context } from './context.ts'
import { holdsResult, isBehind, successorOf } from './lineage.ts'
import type { Placed, RefreshResult, Write } from './lineage.ts'
import { readRecord } from './read-record.ts'
import { inDoubtAgain } from './restoration.ts'

/** `unsaved`: the store did not take it yet; the commit goes on in the background. */
export type Committed = 'saved' | 'superseded' | 'unsaved'

/** How a result is put into the store. */
interface Placing {
  readonly writeId: string
  /** The record as it is known; it is read where it is not. */
  readonly first?: Placed
  /** Of a result out of the spool: the version of the record while the refresh was under way. */
  readonly spooledAt?: number
}

/** @param stored - the record as this process last knew it: its own intent */
export async function commit(
  known: Known,
  result: RefreshResult,
  stored: Placed,
  context: Context,
): Promise<Committed> {
  const unsaved: Unsaved = { result, error: undefined, safe: undefined }
  // In memory at once: from here on the new tokens are served, whatever becomes of the store.
  if (known.record === undefined || context.rules.mayReplace(known.record, result)) {
    known.unsaved = unsaved
    adopt(known, { ...stored, record: result.next }, context.runtime, context.refreshAfter)
  }
  const writeId = context.runtime.uniqueId()
  try {
    return await place(known, result, { writeId, first: stored }, context)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    unsaved.error = error
    const kept = await keepInSpool(known.account, result, stored, context)
    let isSafe: (() => void) | undefined
    const safe = new Promise<void>((resolve) => {
      isSafe = resolve
    })
    unsaved.safe = context.underWay.track(safe)
    void placeInTheEnd(known, { result, held: stored, writeId }, kept, () => isSafe?.(), context)
    context.emit('unsaved', { account: known.account, error, spooled: kept !== undefined })
    return 'unsaved'
  }
}

/**
 * Puts a result where the lineage rule lets it.
 *
 * @throws StoreError where the store can't be read or written
 */
export async function place(
  known: Known,
  result: RefreshResult,
  { writeId, first, spooledAt }: Placing,
  context: Context,
): Promise<Committed> {
  const { account } = known
  let isFirst = true
  return untilSwapped(context.runtime, async () => {
    const stored = (isFirst ? first : undefined) ?? (await readRecord(account, context))
    isFirst = false
    if (stored !== undefined && holdsResult(stored.record, result))
      return settle(known, result, stored, 'saved', context)
    const isNext = stored !== undefined && context.rules.mayReplace(stored.record, result)
    const version = Math.max(spooledAt ?? 0, known.version)
    // The store went back to a time before this refresh.
    const isLost = stored === undefined || isBehind(stored, { version, record: result.derivedFrom })
    if (!isNext && !isLost) return settle(known, result, stored, 'superseded', context)
    // A store that lost the record takes a fresh result, which exists nowhere else, without a doubt. One that was in the spool
    // may have been in the store before, and been spent since.
    const isDoubtful = spooledAt !== undefined && !isNext
    const record = isDoubtful ? inDoubtAgain(next(stored, result), known, context) : next(stored, result)
    const answer = await context.store.swap(account, stored, record, writeId)
    return 'conflict' in answer ? undefined : settle(known, result, { ...answer, record }, 'saved', context)
  })
}

function next(stored: Placed | undefined, result: RefreshResult): AccountRecord {
  if (stored === undefined || stored.record.state === 'signed-out') return result.next
  return stored.record.lineage === result.derivedFrom.lineage ? successorOf(stored.record, result) : result.next
}

function settle(known: Known, result: RefreshResult, stored: Placed, ending: Committed, context: Context): Committed {
  if (known.unsaved?.result === result) known.unsaved = undefined
  // A sign-in or sign-out of this process may have come in between; what is known may only grow.
  if (
    known.record === undefined ||
    holdsSameTokens(known, result) ||
    !isBehind(stored, { ...writeOf(known), record: known.record })
  ) {
    adopt(known, stored, context.runtime, context.refreshAfter)
  }
  if (ending === 'superseded') context.emit('superseded', { account: known.account })
  context.memory.release(known)
  return ending
}

function holdsSameTokens(known: Known, result: RefreshResult): boolean {
  return accessTokenOf(known.record) === result.next.tokens.access_token
}

interface Commit {
  readonly result: RefreshResult
  /** The record with this process's intent. */
  readonly held: Placed
  readonly writeId: string
}

/**
 * Goes on in the background: after 250 ms, then after twice as long each time, up to 15 s, a third of an intent's life.
 *
 * @param kept - where the result stands in the spool, if it does
 * @param isSafe - called once the result would outlive this process
 */
async function placeInTheEnd(
  known: Known,
  { result, held, writeId }: Commit,
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
      await place(known, result, { writeId }, context)
      break
    } catch {
      // The event `unsaved` told of it.
      at ??= await keepInSpool(known.account, result, held, context)
    }
  }
  isSafe()
  if (at !== undefined) await context.spool?.clear(known.account, at).catch(context.reportSpool)
}

/** Where new tokens stand in the spool. Undefined where there is none, or it refused them too. */
async function keepInSpool(
  account: string,
  result: RefreshResult,
  { version }: Placed,
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
