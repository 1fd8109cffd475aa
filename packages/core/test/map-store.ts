/** The smallest token store, for the tests of core alone: a Map, JSON text and a version. */
import type { TokenRecord } from '../src/token-record.ts'
import type { TokenStore, Versioned } from '../src/token-store.ts'

export interface MapStore extends TokenStore {
  accounts(): AsyncIterable<string>
  /** Makes the store forget, as one does that has no disk. */
  clear(): void
  /** Puts an older record back, as a failover to a replica does that lagged behind. */
  put(account: string, stored: Versioned): void
}

export function mapStore(): MapStore {
  const entries = new Map<string, { version: number; record: string; writeId: string }>()
  const parsed = (text: string): TokenRecord => JSON.parse(text)
  return {
    async read(account) {
      const entry = entries.get(account)
      return entry && { version: entry.version, record: parsed(entry.record) }
    },
    async swap(account, expected, next, writeId) {
      const entry = entries.get(account)
      if (entry?.writeId === writeId) return { version: entry.version, record: parsed(entry.record) }
      if ((entry?.version ?? 0) !== expected) return { conflict: true }
      entries.set(account, { version: expected + 1, record: JSON.stringify(next), writeId })
      return { version: expected + 1, record: next }
    },
    clear: () => entries.clear(),
    put(account, { version, record }) {
      entries.set(account, { version, record: JSON.stringify(record), writeId: 'put back' })
    },
    async *accounts() {
      yield* entries.keys()
    },
  }
}
