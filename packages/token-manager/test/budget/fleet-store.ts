/** The store of a simulated fleet: a Map of what it was given. It copies nothing, since a million records are read all the time. */
import type { TokenStore, Versioned } from '../../src/index.ts'

export interface FleetStore extends TokenStore {
  accounts(): AsyncIterable<string>
}

export function fleetStore(): FleetStore {
  const entries = new Map<string, Versioned>()
  return {
    read: (account) => Promise.resolve(entries.get(account)),
    async swap(account, expected, record, writeId, { expectedWriteId } = {}) {
      const entry = entries.get(account)
      if (entry?.writeId === writeId) return entry
      const isAnother = expectedWriteId !== undefined && expectedWriteId !== entry?.writeId
      if ((entry?.version ?? 0) !== expected || isAnother) return { conflict: true }
      const written = { version: expected + 1, writeId, record }
      entries.set(account, written)
      return written
    },
    accounts: () => ({
      [Symbol.asyncIterator]() {
        const names = entries.keys()
        return { next: () => Promise.resolve(names.next()) }
      },
    }),
  }
}
