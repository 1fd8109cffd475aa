/**
 * One look at an account's record, and what this process makes of it: taken as the newest, or, where the store went back
 * in time, put right again.
 */
import { checkedRecord } from '../tokens/record-check.ts'
import type { AccountRecord } from '../tokens/token-record.ts'
import { tokenSet } from '../tokens/token-set.ts'
import type { Versioned } from '../tokens/token-store.ts'
import type { Known } from './account-memory.ts'
import { adopt } from './account-memory.ts'
import { untilSwapped } from './contention.ts'
import type { Context } from './context.ts'
import type { Placed } from './lineage.ts'
import { restorationOf } from './restoration.ts'
import { callRoll } from './roll-call.ts'

/** @throws StoreError where the store can't be read, or holds what is no record of an account */
export async function readRecord(account: string, { store }: Context): Promise<Placed | undefined> {
  const stored = placed(await store.read(account))
  return stored && { ...stored, record: withoutShownTokens(stored.record) }
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
 * Reads the record and takes it over. Where the store has lost it, or stands behind what this process knows, the known one
 * is put back: its refresh token is the newer, and the older must not be spent.
 *
 * @returns whether there is a record at all
 * @throws StoreError; `busy` where the store never takes what it says is missing, as one that is read from a lagging replica
 */
export async function look(known: Known, context: Context): Promise<boolean> {
  const { runtime, refreshAfter, store, underWay } = context
  return untilSwapped(runtime, async () => {
    const stored = await readWhileKnown(known, context)
    // What only this process holds is written by its commit, not from here.
    if (known.unsaved !== undefined) return true
    const before = known.record
    const record = restorationOf(known, stored, context)
    if (record === undefined) {
      if (stored === undefined) return false
      adopt(known, stored, runtime, refreshAfter)
      return true
    }
    const forgetOlder = record.state === 'signed-out'
    const answer = await store.swap(known.account, stored, record, runtime.uniqueId(), { forgetOlder })
    if ('conflict' in answer) return undefined
    // A call of this process may have come in between.
    if (known.record === before) adopt(known, { ...answer, record }, runtime, refreshAfter)
    context.emit('restored', { account: known.account })
    void underWay.track(callRoll(context))
    return true
  })
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
