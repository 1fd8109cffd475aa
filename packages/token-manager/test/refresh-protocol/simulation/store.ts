/**
 * The simulated store: the account's record and the firewall's, and how an operation on it can end.
 */
import type { AccountRecord, TokenRecord } from '../../../src/store/token-record.ts'

/** Which record an operation is about. */
export type Shelf = 'account' | 'firewall'

export interface Stored {
  readonly version: number
  readonly record: TokenRecord
  readonly writeId: string
  /** Of no other record. */
  readonly name: string
}

export interface Write {
  readonly expected: number
  readonly expectedWriteId?: string | undefined
  readonly next: TokenRecord
  readonly writeId: string
}

/** What stands where; nothing where nothing was ever stored, or all was lost. */
export type Stock = Readonly<Record<Shelf, Stored | undefined>>

/** How a store operation can end otherwise than well: before it was applied, or after. */
export const failures = { read: ['failed'], swap: ['failed', 'unacknowledged'] }

/** What stands after a swap; nothing for a conflict. */
export function swapped(
  stored: Stored | undefined,
  { expected, expectedWriteId = stored?.writeId, next, writeId }: Write,
): Stored | undefined {
  if (stored?.writeId === writeId) return stored
  const isExpected = (stored?.version ?? 0) === expected && stored?.writeId === expectedWriteId
  return isExpected ? storedAs(expected + 1, next, writeId) : undefined
}

export function storedAs(version: number, record: TokenRecord, writeId: string): Stored {
  return { version, record, writeId, name: `${version}#${nameOf(record)}` }
}

/** The record of the account. */
export function accountRecordOf({ account }: Stock): AccountRecord | undefined {
  return account?.record as AccountRecord | undefined
}

const names = new Map<string, number>()
const named = new WeakMap<TokenRecord, number>()

/** A number for each different record: what it says would be long to compare. */
export function nameOf(record: TokenRecord): number {
  const known = named.get(record)
  if (known !== undefined) return known
  const text = JSON.stringify(record)
  const name = names.get(text) ?? names.size
  names.set(text, name)
  named.set(record, name)
  return name
}
