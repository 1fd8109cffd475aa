/** A correct store over a Map that can be shared, and that tests break in one place each. */
import type { TokenRecord, TokenStore, Versioned } from '@owner-sso/token-manager'

export interface Row {
  readonly version: number
  /** The record as text: nobody can reach into it. */
  readonly text: string
  readonly writeId: string
}

/** What a broken store does otherwise. */
export interface Faults {
  /** The key of an account. */
  readonly key?: (account: string) => string
  readonly encode?: (record: TokenRecord) => string
  readonly decode?: (text: string) => TokenRecord
  /** Whether a swap is taken for a repeat of the row's write. */
  readonly isRepeat?: (row: Row | undefined, writeId: string, expected: number) => boolean
  /** Whether a swap may write. */
  readonly mayWrite?: (row: Row | undefined, expected: number) => boolean
  /** Whether the row is of the write that a swap expects. */
  readonly isExpected?: (row: Row | undefined, expectedWriteId: string | undefined) => boolean
  readonly nextVersion?: (row: Row | undefined, expected: number) => number
  /** Between looking and writing; a correct store has no such place. */
  readonly pause?: () => Promise<void>
  /** Told about each swap that met a conflict. */
  readonly onConflict?: (rows: Map<string, Row>, account: string, writeId: string) => void
}

export interface SharedData {
  readonly rows: Map<string, Row>
  readonly names: Map<string, string>
  readonly watchers: Map<string, Set<() => void>>
}

export const sharedData = (): SharedData => ({ rows: new Map(), names: new Map(), watchers: new Map() })

export function plainObjectStore(data: SharedData = sharedData(), faults: Faults = {}): TokenStore {
  const { rows, names, watchers } = data
  const key = faults.key ?? ((account: string): string => account)
  const encode = faults.encode ?? ((record: TokenRecord): string => JSON.stringify(record))
  const decode = faults.decode ?? ((text: string): TokenRecord => JSON.parse(text))
  const versioned = (row: Row): Versioned => ({
    version: row.version,
    writeId: row.writeId,
    record: decode(row.text),
  })

  return {
    async read(account) {
      await turn()
      const row = rows.get(key(account))
      return row && versioned(row)
    },
    async swap(account, expected, next, writeId, options) {
      await turn()
      const row = rows.get(key(account))
      if ((faults.isRepeat ?? isRepeat)(row, writeId, expected) && row) return versioned(row)
      const isExpected = (faults.isExpected ?? isExpectedWrite)(row, options?.expectedWriteId)
      if (!isExpected || !(faults.mayWrite ?? mayWrite)(row, expected)) {
        faults.onConflict?.(rows, key(account), writeId)
        return { conflict: true }
      }
      if (faults.pause) await faults.pause()
      const written = { version: faults.nextVersion?.(row, expected) ?? expected + 1, text: encode(next), writeId }
      rows.set(key(account), written)
      names.set(key(account), account)
      for (const watcher of watchers.get(key(account)) ?? []) watcher()
      await turn()
      return versioned(written)
    },
    async *accounts() {
      await turn()
      yield* names.values()
    },
    watch(account, onChange) {
      const watching = watchers.get(key(account)) ?? new Set()
      watchers.set(key(account), watching.add(onChange))
      return () => void watching.delete(onChange)
    },
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const isRepeat = (row: Row | undefined, writeId: string): boolean => row?.writeId === writeId
const isExpectedWrite = (row: Row | undefined, id: string | undefined): boolean =>
  id === undefined || row?.writeId === id
const mayWrite = (row: Row | undefined, expected: number): boolean => (row?.version ?? 0) === expected
