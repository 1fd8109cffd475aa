/**
 * Reading an account's record, and what follows: it is accepted as the newest or, if the store went back in time, the
 * newer one is put back.
 */
import { checkedRecord } from '../tokens/record-check.ts'
import type { AccountRecord } from '../tokens/token-record.ts'
import { tokenSet } from '../issuer/token-set.ts'
import type { Versioned } from '../tokens/token-store.ts'
import { acceptRecord, type AccountCache } from './account-memory.ts'
import { untilSwapped } from './contention.ts'
import type { Context } from './context.ts'
import type { VersionedRecord } from './lineage.ts'
import { restorationOf } from './restoration.ts'
import { instantOf } from './runtime.ts'
import { callRoll } from './roll-call.ts'

/** @throws StoreError where the store can't be read, or holds something that is not a record of an account */
export async function readRecord(account: string, { store }: Context): Promise<VersionedRecord | undefined> {
  const stored = accountRecord(await store.read(account))
  return stored && { ...stored, record: withoutShownTokens(stored.record) }
}

/**
 * What a store returned, as the record of an account.
 *
 * @throws StoreError `wrong-key` for one that was sealed, `newer-release` for another form, `corrupt` for what is not one: none means that there is no account
 */
export function accountRecord(stored: Versioned | undefined): VersionedRecord | undefined {
  if (stored === undefined) return undefined
  return checkedRecord(stored, 'signed-in', 'reauthentication-required', 'signed-out')
}

/** A stored record has lost the rule that hides its tokens when it is printed. */
function withoutShownTokens(record: AccountRecord): AccountRecord {
  return record.state === 'signed-out' ? record : { ...record, tokens: tokenSet(record.tokens) }
}

/**
 * Reads the record and accepts it. Where the store has lost it, or stands behind what this process knows, the known one
 * is put back: its refresh token is the newer, and the older must not be spent.
 *
 * @returns whether there is a record at all
 * @throws StoreError; `busy` where the store never takes what it says is missing, as one that is read from a lagging replica
 */
export async function syncFromStore(cache: AccountCache, context: Context): Promise<boolean> {
  const { runtime, refreshAfter, store, underWay, background } = context
  return untilSwapped(runtime, async () => {
    const beganAt = instantOf(runtime)
    const stored = await readWatchingIntents(cache, context)
    // What only this process holds is written by its commit, not from here.
    if (cache.unsaved !== undefined) return true
    const before = cache.record
    const record = restorationOf(cache, stored, context)
    if (record === undefined) {
      if (stored === undefined) return false
      acceptRecord(cache, stored, runtime, refreshAfter)
      cache.lookedAt = beganAt
      return true
    }
    const forgetOlder = record.state === 'signed-out'
    const swapped = await store.swap(cache.account, stored, record, runtime.uniqueId(), { forgetOlder })
    if ('conflict' in swapped) return undefined
    // A call of this process may have come in between.
    if (cache.record === before) acceptRecord(cache, { ...swapped, record }, runtime, refreshAfter)
    context.emit('restored', { account: cache.account })
    if (background.outlivesCalls) void underWay.track(callRoll(context))
    else await callRoll(context)
    return true
  })
}

async function readWatchingIntents(cache: AccountCache, context: Context): Promise<VersionedRecord | undefined> {
  try {
    return await readRecord(cache.account, context)
  } catch (error) {
    // The holder of an intent could not store its result either: its life begins anew when the store is back.
    cache.intentSeen = undefined
    throw error
  }
}
