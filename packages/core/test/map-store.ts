/** The smallest token store, for the tests of core alone: a Map, JSON text and a version. */
import type { TokenRecord } from '../src/token-record.ts'
import type { TokenStore } from '../src/token-store.ts'

export function mapStore(): TokenStore & { accounts: NonNullable<TokenStore['accounts']> } {
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
    async *accounts() {
      yield* entries.keys()
    },
  }
}
