/**
 * One look at an account's record, and what this process makes of it: taken as the newest, or, where the store went back
 * in time, put right again.
 */
import { checkedRecord } from '../record-check.ts'
import type { AccountRecord } from '../token-record.ts'
import { tokenSet } from '../token-set.ts'
import type { Versioned } from '../token-store.ts'
import type { Known } from './account-memory.ts'
import { adopt } from './account-memory.ts'
import type { Context } from './context.ts'
import { isBehind } from './lineage.ts'
import type { Placed } from './lineage.ts'

/** @throws StoreError where the store can't be read, or holds what is no record of an account */
export async function readRecord(account: string, { store }: Context): Promise<Placed | undefined> {
  const stored = placed(await store.read(account))
  return stored && { version: stored.version, record: withoutShownTokens(stored.record) }
}

/**
 * What a store answered, as the record of an account.
 *
 * @throws StoreError `wrong-key` for one that was sealed, `corrupt` for what is none: neither is nobody
 */
export function placed(stored: Versioned | undefined): Placed | undefined {
  if (stored === undefined) return undefined
  return checkedRecord(stored, 'signed-in', 'reauthentication-required', 'signed-out')
}

/** A stored record has lost the rule that hides its tokens when it is printed. */
function withoutShownTokens(record: AccountRecord): AccountRecord {
  return record.state === 'signed-out' ? record : { ...record, tokens: tokenSet(record.tokens) }
}

/**
 * Reads the record and takes it over. Where it stands behind what this process knows, the known one is written back: its
 * refresh token is the newer, and the older must not be spent.
 *
 * @returns whether there is a record at all
 */
export async function look(known: Known, context: Context): Promise<boolean> {
  for (;;) {
    const stored = await readWhileKnown(known, context)
    if (stored === undefined) return false
    // What only this process holds is written by its commit, not from here.
    if (known.unsaved !== undefined) return true
    if (known.record === undefined || !isBehind(stored, { version: known.version, record: known.record })) {
      adopt(known, stored, context.runtime, context.refreshAfter)
      return true
    }
    const { record } = known
    const answer = await context.store.swap(known.account, stored.version, record, context.runtime.uniqueId())
    if (!('conflict' in answer)) {
      adopt(known, { version: answer.version, record }, context.runtime, context.refreshAfter)
      return true
    }
  }
}

async function readWhileKnown(known: Known, context: Context): Promise<Placed | undefined> {
  try {
    return await readRecord(known.account, context)
  } catch (error) {
    // The holder of an intent could not store its result either: its life begins anew when the store is back.
    known.intentSeen = undefined
    throw error
  }
}
