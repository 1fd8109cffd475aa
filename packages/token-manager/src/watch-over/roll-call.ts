/**
 * The roll call: one record for all accounts, which changes whenever a process finds that the store lost one of them, and is
 * gone with all the others where the store was emptied. Each living process looks at it, and answers.
 */
import { StoreError } from '../errors.ts'
import type { RollCallRecord } from '../store/token-record.ts'
import type { GuardedStore } from '../store/guarded-store.ts'
import { readOwnRecord } from '../store/own-record.ts'
import { isDamaged } from '../store/record-failure.ts'
import { rollCallName } from '../store/record-names.ts'
import { elapsed, type Instant, instantOf, type Runtime } from '../support/runtime.ts'

/** Milliseconds in which a process calls once: a store that lost everything is found out account by account. */
const callingInterval = 30_000

export interface RollCall {
  /** The last call that this process has answered. */
  answered: string | undefined
  lastCalled: Instant | undefined
}

/** With what a process calls, and hears calls. */
interface Surroundings {
  readonly rollCall: RollCall
  readonly runtime: Runtime
  readonly store: Pick<GuardedStore, 'read' | 'swap'>
}

export function createRollCall(): RollCall {
  return { answered: undefined, lastCalled: undefined }
}

/**
 * The current call, made if the store has none (it is new, or was emptied), or one that can't be read: nothing in it is worth
 * keeping. Where that can't be replaced either there is one every 30 seconds, for as long as that lasts.
 *
 * @throws StoreError where it can't be read or written
 */
export async function currentCall({ runtime, store }: Surroundings): Promise<string> {
  for (const isLast of [false, true]) {
    const call = runtime.uniqueId()
    try {
      const stored = await readOwnRecord(rollCallName, recordOf(call), { store, runtime })
      if (stored !== undefined) return stored.record.call
    } catch (error) {
      if (!isDamaged(error)) throw error
      return `unknown ${Math.floor(runtime.monotonicClock() / callingInterval)}`
    }
    if (isLast) break
    // A conflict is another's call, made at the same time.
    if (!('conflict' in (await store.swap(rollCallName, undefined, recordOf(call), call)))) return call
  }
  throw new StoreError('busy', 'The token store has a record that it does not return.')
}

/** Calls all processes, this one included, because an account was found lost. Where the store fails, the next loss calls. */
export async function callRoll({ rollCall, runtime, store }: Surroundings): Promise<void> {
  const now = instantOf(runtime)
  if (rollCall.lastCalled !== undefined && elapsed(rollCall.lastCalled, now) < callingInterval) return
  rollCall.lastCalled = now
  try {
    const call = runtime.uniqueId()
    const stored = await readOwnRecord(rollCallName, recordOf(call), { store, runtime })
    // A conflict is another's call, which does as well.
    await store.swap(rollCallName, stored, recordOf(call), call)
  } catch {
    rollCall.lastCalled = undefined
  }
}

const recordOf = (call: string): RollCallRecord => ({ schema: 1, state: 'roll-call', call })
