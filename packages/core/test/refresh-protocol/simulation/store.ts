/**
 * The simulated store: one record, and operations that happen when the world says so, or fail.
 */
import { StoreError } from '../../../src/errors.ts'
import type { AccountRecord } from '../../../src/token-record.ts'
import type { TokenStore } from '../../../src/token-store.ts'
import type { Judge } from './judge.ts'
import type { Process } from './process.ts'
import { offer } from './process.ts'
import { account } from './scenario.ts'

export interface SimulatedStore {
  readonly version: () => number
  readonly record: () => AccountRecord
  readonly state: () => string
  /** The store as one process reaches it. */
  readonly clientOf: (process: Process, now: () => number) => TokenStore
}

/** How a store operation can end otherwise than well: before it was applied, or after. */
export const failures = { read: ['failed'], swap: ['failed', 'unacknowledged'] }

export function createStore(seeded: AccountRecord, judge: Judge): SimulatedStore {
  let stored = { version: 1, record: seeded, writeId: '' }

  const failed = (): StoreError => new StoreError('unavailable', 'simulated')

  function swap(expected: number, next: AccountRecord, writeId: string): typeof stored | { conflict: true } {
    if (stored.writeId === writeId) return stored
    if (stored.version !== expected) return { conflict: true }
    judge.written(stored.record, next)
    stored = { version: expected + 1, record: next, writeId }
    return stored
  }

  return {
    version: () => stored.version,
    record: () => stored.record,
    state: () => JSON.stringify(stored),
    clientOf: (process, now) => ({
      async read(name) {
        // Nobody meets the firewall in this world.
        if (name !== account) return undefined
        return new Promise((resolve, reject) => {
          offer(process, 'read', (how) => {
            if (how === 'failed') {
              reject(failed())
              return how
            }
            process.lastRead = `${stored.version}@${now()}`
            resolve(stored)
            return String(stored.version)
          })
        })
      },
      async swap(_, expected, next, writeId) {
        return new Promise((resolve, reject) => {
          offer(process, 'swap', (how) => {
            const answer = how === 'failed' ? undefined : swap(expected, next as AccountRecord, writeId)
            if (answer === undefined || how === 'unacknowledged') {
              reject(failed())
              return how
            }
            resolve(answer)
            return 'conflict' in answer ? 'conflict' : String(answer.version)
          })
        })
      },
    }),
  }
}
