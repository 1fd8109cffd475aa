/**
 * The roll call: one record for all accounts, which changes whenever a process finds that the store lost one of them, and is
 * gone with all the others where the store was emptied. Each living process looks at it, and answers.
 */
import { StoreError } from '../errors.ts'
import { checkedRecord } from '../store/record-check.ts'
import type { RollCallRecord } from '../store/token-record.ts'
import type { Versioned } from '../store/token-store.ts'
import type { GuardedStore } from '../store/guarded-store.ts'
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
 * The current call, made if the store has none (it is new, or was emptied), or one that is damaged: nothing in it is worth
 * keeping. Where it can't even be opened, or is of a newer release, there is one every 30 seconds, for as long as that lasts.
 *
 * @throws StoreError where it can't be read or written
 */
export async function currentCall({ runtime, store }: Surroundings): Promise<string> {
  for (const isLast of [false, true]) {
    let stored: Versioned | undefined
    try {
      stored = await store.read(rollCallName)
      if (stored !== undefined) return checkedRecord(stored, 'roll-call').record.call
    } catch (error) {
      if (!(error instanceof StoreError) || !['corrupt', 'newer-release'].includes(error.reason)) throw error
      if (stored === undefined || error.reason === 'newer-release')
        return `unknown ${Math.floor(runtime.monotonicClock() / callingInterval)}`
    }
    if (isLast) break
    const call = runtime.uniqueId()
    // A conflict is another's call, made at the same time.
    if (!('conflict' in (await store.swap(rollCallName, stored, recordOf(call), call)))) return call
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
    const stored = await store.read(rollCallName)
    // A conflict is another's call, which does as well.
    await store.swap(rollCallName, stored, recordOf(call), call)
  } catch {
    rollCall.lastCalled = undefined
  }
}

const recordOf = (call: string): RollCallRecord => ({ schema: 1, state: 'roll-call', call })
