/**
 * The beginning and the end of an account's session: a sign-in replaces whatever was there, a sign-out leaves a tombstone.
 */
import { tokenSet } from '../token-set.ts'
import type { TokenSet } from '../token-set.ts'
import type { AccountRecord } from '../token-record.ts'
import { adopt } from './account-memory.ts'
import type { Context } from './context.ts'
import { believedLifetime } from './lifetime.ts'
import { isBehind, lineageOf } from './lineage.ts'
import type { Placed } from './lineage.ts'
import { readRecord } from './read-record.ts'

/** @throws StoreError where it could not be stored */
export async function signIn(account: string, tokens: TokenSet, context: Context): Promise<void> {
  const now = Math.floor(context.runtime.wallClock() / 1000)
  await replace(account, context, (generation) => ({
    schema: 1,
    state: 'signed-in',
    generation,
    refreshes: 0,
    lineage: lineageOf(account, tokens.refresh_token),
    tokens: tokenSet(tokens),
    obtained_at: now,
    lifetime: believedLifetime(tokens, now, false),
  }))
}

/** @throws StoreError where it could not be stored: the account is still signed in */
export async function signOut(account: string, context: Context): Promise<void> {
  const unknown = context.memory.of(account).record === undefined
  if (unknown && (await readRecord(account, context)) === undefined) return
  await replace(account, context, (generation) => ({ schema: 1, state: 'signed-out', generation }))
}

/** Swaps until it is there: unlike a refresh, a sign-in or sign-out gives way to nobody. */
async function replace(
  account: string,
  context: Context,
  recordOf: (generation: number) => AccountRecord,
): Promise<void> {
  const { memory, runtime, store, refreshAfter } = context
  const known = memory.of(account)
  const writeId = runtime.uniqueId()
  for (;;) {
    const stored = await readRecord(account, context)
    // By the clock, where it is ahead: in a store that was emptied a new sign-in is still newer than all that was there.
    const last = Math.max(stored?.record.generation ?? 0, known.record?.generation ?? 0)
    const record = recordOf(Math.max(last + 1, runtime.wallClock()))
    const answer = await store.swap(account, stored?.version ?? 0, record, writeId, { forgetOlder: true })
    if ('conflict' in answer) continue
    const placed: Placed = { version: answer.version, record }
    const overtaken = known.record !== undefined && isBehind(placed, { version: known.version, record: known.record })
    if (overtaken) return
    adopt(known, placed, runtime, refreshAfter)
    // What a refresh before it brought, and why one failed, is of no account any more.
    known.unsaved = undefined
    known.rest = undefined
    memory.release(known)
    return
  }
}
