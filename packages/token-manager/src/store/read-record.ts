/**
 * Reading an account's record.
 */
import { checkedRecord } from './record-check.ts'
import type { AccountRecord } from './token-record.ts'
import { tokenSet } from '../issuer/token-set.ts'
import type { Versioned } from './token-store.ts'
import type { GuardedStore } from './guarded-store.ts'
import type { VersionedRecord } from './lineage.ts'

/** @throws StoreError where the store can't be read, or holds something that is not a record of an account */
export async function readRecord(
  account: string,
  { store }: { readonly store: Pick<GuardedStore, 'read'> },
): Promise<VersionedRecord | undefined> {
  const stored = accountRecord(await store.read(account))
  return stored && { ...stored, record: withoutShownTokens(stored.record) }
}

/**
 * What a store returned, as the record of an account.
 *
 * @throws StoreError `wrong-key` for one that was sealed, `corrupt` for what is not one: neither means that there is no account
 */
export function accountRecord(stored: Versioned | undefined): VersionedRecord | undefined {
  if (stored === undefined) return undefined
  return checkedRecord(stored, 'signed-in', 'reauthentication-required', 'signed-out')
}

/** A stored record has lost the rule that hides its tokens when it is printed. */
function withoutShownTokens(record: AccountRecord): AccountRecord {
  return record.state === 'signed-out' ? record : { ...record, tokens: tokenSet(record.tokens) }
}
