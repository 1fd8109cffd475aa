/**
 * A token store in the memory of one process: a Map and a version. It ends with the process.
 */
import type { TokenRecord, TokenStore, Versioned } from '@owner-sso/token-manager'

interface Entry {
  readonly version: number
  /** As text, so that nobody shares an object with the store. */
  readonly record: string
  readonly writeId: string
}

/** A new, empty store. Managers of one process may share it; nothing outside the process can. */
export function memoryTokenStore(none?: undefined): Required<TokenStore> {
  if (none !== undefined) {
    throw new TypeError('memoryTokenStore takes no options: what it holds ends with the process, and is not encrypted')
  }
  const entries = new Map<string, Entry>()
  const watchers = new Map<string, Set<() => void>>()

  return {
    async read(account) {
      const entry = entries.get(account)
      return entry && versioned(entry)
    },

    async swap(account, expected, next, writeId, options) {
      const entry = entries.get(account)
      if (entry?.writeId === writeId) return versioned(entry)
      const isExpected = (entry?.version ?? 0) === expected
      if (!isExpected || entry?.writeId !== (options?.expectedWriteId ?? entry?.writeId)) return { conflict: true }
      const written = { version: expected + 1, record: JSON.stringify(next), writeId }
      entries.set(account, written)
      for (const onChange of watchers.get(account) ?? []) queueMicrotask(onChange)
      return versioned(written)
    },

    async *accounts() {
      yield* entries.keys()
    },

    watch(account, onChange) {
      const watching = watchers.get(account) ?? new Set()
      // A function of its own, so that watching twice with the same one makes two watches.
      const watcher = (): void => onChange()
      watchers.set(account, watching.add(watcher))
      return () => {
        if (watching.delete(watcher) && watching.size === 0) watchers.delete(account)
      }
    },
  }
}

function versioned({ version, writeId, record }: Entry): Versioned {
  const copy: TokenRecord = JSON.parse(record)
  return { version, writeId, record: copy }
}
