import { StoreError } from '../errors.ts'
import { checkedRecord } from './record-check.ts'
import type { AccountRecord } from './token-record.ts'
import { tokenSet } from '../issuer/token-set.ts'
import type { Versioned } from './token-store.ts'
import type { Brought, GuardedStore } from './guarded-store.ts'
import type { VersionedRecord } from './lineage.ts'

/** @throws StoreError where the store can't be read, or holds something that is not a record of an account */
export async function readRecord(
  account: string,
  { store }: { readonly store: Pick<GuardedStore, 'read'> },
  options?: Brought,
): Promise<VersionedRecord | undefined> {
  const stored = accountRecord(await store.read(account, options))
  return stored && { ...stored, record: withoutShownTokens(stored.record) }
}

/** @throws StoreError `wrong-key` for one that was sealed, `corrupt` for what is not one: neither means that there is no account */
export function accountRecord(stored: Versioned | undefined): VersionedRecord | undefined {
  if (stored === undefined) return undefined
  return checkedRecord(stored, 'signed-in', 'reauthentication-required', 'signed-out')
}

/** A stored record has lost the rule that hides its tokens when it is printed. */
export function withoutShownTokens<Kind extends AccountRecord>(record: Kind): Kind {
  if (record.state === 'signed-out') return record
  const { tokens, predecessor } = record
  const hidden = { ...record, tokens: tokenSet(tokens) }
  if (!predecessor) return hidden
  return { ...hidden, predecessor: { ...predecessor, tokens: tokenSet(predecessor.tokens) } }
}

/** The record is at fault, not the store: the others may be well. */
export function isOfOneRecord(error: unknown): boolean {
  return isDamaged(error) || (error instanceof StoreError && error.reason === 'read-failed')
}

/** The same, or a write failed, which does not tell whose fault it is: only the next one does. */
export function mayBeOfOneRecord(error: unknown): boolean {
  return isOfOneRecord(error) || (error instanceof StoreError && error.reason === 'write-failed')
}

/** The record, or the key, stays as it is until somebody mends it: another look finds the same. */
export function isDamaged(error: unknown): error is StoreError {
  const reasons = ['corrupt', 'wrong-key', 'not-sealed', 'newer-release']
  return error instanceof StoreError && reasons.includes(error.reason)
}
