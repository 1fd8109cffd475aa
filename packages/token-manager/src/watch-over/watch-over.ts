/**
 * Watching over a store that may lose what it acknowledged. The roll call is one record for all accounts, which changes whenever
 * a process finds that the store lost one of them, and is gone with all the others where the store was emptied. Each living
 * process looks at it, and answers with a look at all accounts that it holds, also those that nobody asks it for.
 */
import { StoreError } from '../errors.ts'
import type { Account, AccountMemory } from '../kernel/account-memory.ts'
import type { GuardedStore } from '../store/guarded-store.ts'
import { readOwnRecord, rollCallName } from '../store/own-record.ts'
import { isDamaged, isOfOneRecord, mayBeOfOneRecord } from '../store/read-record.ts'
import type { RollCallRecord } from '../store/token-record.ts'
import { elapsed, type Instant, instantOf, type Runtime } from '../support/runtime.ts'

/** Milliseconds between two looks at the roll call: several in the time in which nothing restored is sent. */
const interval = 15_000
/** Milliseconds in which a process calls once: a store that lost everything is found out account by account. */
const callingInterval = 30_000
const together = 16

export interface Watch {
  readonly store: Pick<GuardedStore, 'read' | 'swap'>
  readonly runtime: Runtime
  readonly memory: AccountMemory
  /** Looks at an account's record, and puts back what the store has lost of it. */
  readonly look: (account: Account) => Promise<void>
  /** Whether an account has to be looked at although nobody calls. */
  readonly isWorthALook: (account: Account) => boolean
}

export interface WatchOver {
  /**
   * Calls all processes, this one included, because an account was found lost. Where the store fails, the next loss calls.
   *
   * @param isNews - a call right before this one does not do
   */
  call(isNews?: boolean): Promise<void>
  /** Answers the last call, unless this process has. */
  answer(): Promise<void>
}

export function watchOver({ store, runtime, memory, look, isWorthALook }: Watch): WatchOver {
  let answered: string | undefined
  let lastCalled: Instant | undefined
  const newCall = (): RollCallRecord => ({ schema: 1, state: 'roll-call', call: runtime.uniqueId() })

  /**
   * The current call, made if the store has none (it is new, or was emptied), or one that can't be read: nothing in it is worth
   * keeping. Where that can't be replaced either there is one every 30 seconds, for as long as that lasts.
   */
  async function currentCall(): Promise<string> {
    for (const isLast of [false, true]) {
      const record = newCall()
      try {
        const stored = await readOwnRecord(rollCallName, record, { store, runtime })
        if (stored !== undefined) return stored.record.call
      } catch (error) {
        if (!isDamaged(error)) throw error
        return `unknown ${Math.floor(runtime.monotonicClock() / callingInterval)}`
      }
      if (isLast) break
      // A conflict is another's call, made at the same time.
      if (!('conflict' in (await store.swap(rollCallName, undefined, record, record.call)))) return record.call
    }
    throw new StoreError('busy', 'The token store has a record that it does not return.')
  }

  /** One record that can't be read or written keeps no other from being put back. `again`: another look may find more. */
  async function lookAt(account: Account): Promise<'done' | 'again' | 'refused'> {
    try {
      await look(account)
      return 'done'
    } catch (error) {
      if (!mayBeOfOneRecord(error)) throw error
      if (isDamaged(error)) return 'done'
      return isOfOneRecord(error) ? 'again' : 'refused'
    }
  }

  return {
    async call(isNews = false) {
      const now = instantOf(runtime)
      if (!isNews && lastCalled !== undefined && elapsed(lastCalled, now) < callingInterval) return
      lastCalled = now
      try {
        const record = newCall()
        const stored = await readOwnRecord(rollCallName, record, { store, runtime })
        // A conflict is another's call, which does as well.
        await store.swap(rollCallName, stored, record, record.call)
      } catch {
        lastCalled = undefined
      }
    },
    async answer() {
      const held = [...memory.all()].filter(({ knowledge }) => knowledge.record !== undefined)
      if (held.length === 0) return
      const call = await currentCall()
      const due = call === answered ? held.filter(isWorthALook) : held
      let isAll = true
      for (let from = 0; from < due.length; from += together) {
        const looks = await Promise.all(due.slice(from, from + together).map(lookAt))
        isAll &&= looks.every((outcome) => outcome === 'done')
        // The store takes nothing: the others would be asked of it in vain.
        if (looks.every((outcome) => outcome === 'refused')) return
      }
      if (isAll) answered = call
    },
  }
}

/** For as long as anybody holds the manager: a forgotten one, of one request or one test, is not kept alive by its timer. */
export function answerNowAndThen(watching: WatchOver, { every }: Runtime): void {
  const held = new WeakRef(watching)
  let isAnswering = false
  const end = every?.(interval, () => {
    const living = held.deref()
    if (living === undefined) end?.()
    if (living === undefined || isAnswering) return
    isAnswering = true
    // Where the store is down, it is looked at again in 15 seconds; whoever needs it hears of it.
    void living
      .answer()
      .catch(() => undefined)
      .finally(() => (isAnswering = false))
  })
}
