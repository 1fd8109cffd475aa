/** The smallest token store, for the tests of the packages beneath the real ones: a Map, JSON text and a version. */
import type { TokenRecord, TokenStore, Versioned } from '@owner-sso/token-manager'

export interface MapStore extends TokenStore {
  accounts(): AsyncIterable<string>
  /** Makes the store forget, as one does that has no disk. */
  clear(): void
  /** Puts an older record back, as a failover to a replica does that lagged behind. */
  put(account: string, stored: Versioned): void
}

interface Entry {
  readonly version: number
  readonly record: string
  readonly writeId: string
}

const parsed = (text: string): TokenRecord => JSON.parse(text)

export function mapStore(): MapStore {
  const entries = new Map<string, Entry>()
  const versioned = ({ record, ...write }: Entry): Versioned => ({ ...write, record: parsed(record) })
  return {
    async read(account) {
      const entry = entries.get(account)
      return entry && versioned(entry)
    },
    async swap(account, expected, next, writeId, { expectedWriteId = entries.get(account)?.writeId } = {}) {
      const entry = entries.get(account)
      if (entry?.writeId === writeId) return versioned(entry)
      if ((entry?.version ?? 0) !== expected || entry?.writeId !== expectedWriteId) return { conflict: true }
      entries.set(account, { version: expected + 1, record: JSON.stringify(next), writeId })
      return { version: expected + 1, writeId, record: next }
    },
    clear: () => entries.clear(),
    put(account, { version, writeId = 'put back', record }) {
      entries.set(account, { version, record: JSON.stringify(record), writeId })
    },
    async *accounts() {
      yield* entries.keys()
    },
  }
}
