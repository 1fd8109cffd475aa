/**
 * The simulated store: one record, and how an operation on it can end.
 */
import type { AccountRecord } from '../../../src/token-record.ts'

export interface Stored {
  readonly version: number
  readonly record: AccountRecord
  readonly writeId: string
  /** Of no other record. */
  readonly name: string
}

/** How a store operation can end otherwise than well: before it was applied, or after. */
export const failures = { read: ['failed'], swap: ['failed', 'unacknowledged'] }

/** What stands after a swap; nothing for a conflict. */
export function swapped(stored: Stored, expected: number, next: AccountRecord, writeId: string): Stored | undefined {
  if (stored.writeId === writeId) return stored
  return stored.version === expected ? storedAs(expected + 1, next, writeId) : undefined
}

export function storedAs(version: number, record: AccountRecord, writeId: string): Stored {
  return { version, record, writeId, name: `${version}#${nameOf(record)}` }
}

const names = new Map<string, number>()
const named = new WeakMap<AccountRecord, number>()

/** A number for each different record: what it says would be long to compare. */
function nameOf(record: AccountRecord): number {
  const known = named.get(record)
  if (known !== undefined) return known
  const text = JSON.stringify(record)
  const name = names.get(text) ?? names.size
  names.set(text, name)
  named.set(record, name)
  return name
}
