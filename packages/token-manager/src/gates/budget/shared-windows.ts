/**
 * The windows of one host's budget as the processes share them: a record of its own in the store, and when this process first
 * saw its current window, and the last claim.
 */
import type { RefreshBudgetRecord } from '../../store/token-record.ts'
import type { GuardedStore } from '../../store/guarded-store.ts'
import type { Write } from '../../store/lineage.ts'
import { readOwnRecord } from '../../store/own-record.ts'
import { type Instant, instantOf, type Runtime } from '../../support/runtime.ts'
import { together, untouched } from './places.ts'

/** What a look showed. */
export interface Look {
  readonly record: RefreshBudgetRecord
  /** The moment before the look: at that moment or after it, this was the record. */
  readonly from: Instant
}

export interface SharedWindows {
  /** @throws StoreError */
  read(): Promise<Look>
  /** Writes over what was read. Nothing where another process was faster. @throws StoreError */
  write(next: RefreshBudgetRecord): Promise<Look | undefined>
  /** What was seen last. */
  known(): RefreshBudgetRecord
  /** Milliseconds for which this process has seen the current window, by the clock that never runs ahead. */
  age(): number
  /** The same, since it has seen a place being claimed. */
  rest(): number
}

/** Milliseconds that places are taken ahead at the most: callers wait for half a minute, in windows of any length. */
const longestAhead = 60 * 60_000

/** Nobody takes places of windows that are hours away, and no number of a window is so high that it can't be counted on from. */
function isBelievable({ window, free: [reached] }: RefreshBudgetRecord, length: number): boolean {
  return (reached - window) * length <= longestAhead && window <= Number.MAX_SAFE_INTEGER / 2
}

/** @param length - of a window, in milliseconds */
export function shareWindows(
  name: string,
  store: Pick<GuardedStore, 'read' | 'swap'>,
  runtime: Runtime,
  length: number,
): SharedWindows {
  let known: RefreshBudgetRecord = untouched
  let write: Write | undefined
  let seen: number | undefined
  let claimSeen: number | undefined

  function accept(record: RefreshBudgetRecord, from: Instant): Look {
    const now = runtime.monotonicClock()
    const isNew = seen === undefined || record.window !== known.window
    // Windows may have come and gone meanwhile, and places of them with them.
    if (isNew || record.used !== known.used) claimSeen = now
    if (isNew) seen = now
    known = record
    return { record, from }
  }

  return {
    async read() {
      const from = instantOf(runtime)
      const stored = await readOwnRecord(name, known, { store, runtime }, (record) => isBelievable(record, length))
      write = stored
      return accept(stored === undefined ? known : together(stored.record, known), from)
    },
    async write(next) {
      const from = instantOf(runtime)
      const swapped = await store.swap(name, write, next, runtime.uniqueId())
      if ('conflict' in swapped) return undefined
      write = swapped
      return accept(next, from)
    },
    known: () => known,
    age: () => (seen === undefined ? 0 : runtime.monotonicClock() - seen),
    rest: () => (claimSeen === undefined ? 0 : runtime.monotonicClock() - claimSeen),
  }
}

/** The same two operations over this process's own memory, for a budget that nobody else shares. */
export function ownMemory(): Pick<GuardedStore, 'read' | 'swap'> {
  const records = new Map<string, Awaited<ReturnType<GuardedStore['read']>>>()
  return {
    read: async (name) => records.get(name),
    async swap(name, over, record, writeId) {
      const written = { version: (over?.version ?? 0) + 1, writeId, record }
      records.set(name, written)
      return written
    },
  }
}
