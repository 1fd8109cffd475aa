/**
 * The windows of one host's budget as the processes share them: a record of its own in the store, and when this process first
 * saw its current window.
 */
import { checkedRecord } from '../store/record-check.ts'
import type { RefreshBudgetRecord } from '../store/token-record.ts'
import type { GuardedStore } from '../store/guarded-store.ts'
import type { Write } from '../store/lineage.ts'
import { type Instant, instantOf, type Runtime } from '../support/runtime.ts'
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
}

export function shareWindows(
  name: string,
  store: Pick<GuardedStore, 'read' | 'swap'>,
  runtime: Runtime,
): SharedWindows {
  let known: RefreshBudgetRecord = untouched
  let write: Write | undefined
  let seen: number | undefined

  function accept(record: RefreshBudgetRecord, from: Instant): Look {
    if (seen === undefined || record.window !== known.window) seen = runtime.monotonicClock()
    known = record
    return { record, from }
  }

  return {
    async read() {
      const from = instantOf(runtime)
      const stored = await store.read(name)
      write = stored
      return accept(
        stored === undefined ? known : together(checkedRecord(stored, 'refresh-budget').record, known),
        from,
      )
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
