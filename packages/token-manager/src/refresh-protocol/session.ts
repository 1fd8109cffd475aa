/**
 * The beginning and the end of an account's session: a sign-in replaces whatever was there, a sign-out leaves a tombstone.
 */
import { tokenSet, type TokenSet } from '../issuer/token-set.ts'
import type { AccountRecord, Ancestry, SignedIn, SpentRefreshTokens } from '../tokens/token-record.ts'
import { acceptRecord, writeOf } from './account-memory.ts'
import { ancestryOver } from './ancestry.ts'
import { mayTakeThePlaceOf } from './bare-refresh-token.ts'
import { syncFromStoreAndSpool } from './carry-over.ts'
import { untilSwapped } from './contention.ts'
import type { Context } from './context.ts'
import { assumedLifetime } from './freshness.ts'
import { isBehind, lineageOf } from './lineage.ts'
import { readRecord } from './read-record.ts'
import { claimRefreshToken } from './refresh-token-index.ts'
import { refuseSpent, spentBefore } from './spent-refresh-tokens.ts'

/**
 * @param replaces - whether it ends a session that is there; otherwise it gives way to it (`mayTakeThePlaceOf`)
 * @returns whether it was stored
 * @throws StoreError where it could not be stored; DuplicateTokenSetError where another account holds the refresh token;
 *   what `refuseSpent` and `mayTakeThePlaceOf` throw
 */
export async function signIn(account: string, tokens: TokenSet, replaces: boolean, context: Context): Promise<boolean> {
  const isWelcome = (stored: AccountRecord | undefined): boolean => {
    refuseSpent(stored, account, tokens.refresh_token)
    return replaces || mayTakeThePlaceOf(stored, account, tokens)
  }
  if (!replaces) {
    // What memory and spool know counts as well. Before the index, which then still names the session that is there.
    const cache = context.memory.of(account)
    await syncFromStoreAndSpool(cache, context)
    if (!isWelcome(cache.record)) return false
  }
  const session = context.runtime.uniqueId()
  await claimRefreshToken(account, tokens.refresh_token, session, context)
  const now = Math.floor(context.runtime.wallClock() / 1000)
  const lineage = lineageOf(account, tokens.refresh_token)
  return replace(account, session, context, (before, stored) => {
    if (!isWelcome(stored)) return undefined
    const record: SignedIn = {
      ...before,
      state: 'signed-in',
      refreshes: 0,
      lineage,
      tokens: tokenSet(tokens),
      obtained_at: now,
      lifetime: assumedLifetime(tokens, now, false),
    }
    // The same refresh token is as doubtful as it was.
    const isSame = stored?.state === 'signed-in' && stored.lineage === lineage
    return isSame && stored.intent ? { ...record, intent: stored.intent } : record
  })
}

/** @throws StoreError where it could not be stored: the account is still signed in */
export async function signOut(account: string, context: Context): Promise<void> {
  const unknown = context.memory.of(account).record === undefined
  if (unknown && (await readRecord(account, context)) === undefined) return
  const signed_out_at = Math.floor(context.runtime.wallClock() / 1000)
  const session = context.runtime.uniqueId()
  await replace(account, session, context, (before) => ({ ...before, state: 'signed-out', signed_out_at }))
}

/**
 * Swaps until it is there: unlike a refresh, a sign-in or sign-out gives way to nobody.
 *
 * @param recordOf - what to store in place of `stored`; `undefined` to leave that as it is
 * @returns whether something was stored
 * @throws StoreError `busy` where every swap meets a conflict
 */
async function replace(
  account: string,
  session: string,
  context: Context,
  recordOf: (before: Ancestry & SpentRefreshTokens, stored: AccountRecord | undefined) => AccountRecord | undefined,
): Promise<boolean> {
  const { memory, runtime, store, refreshAfter } = context
  const cache = memory.of(account)
  const writeId = runtime.uniqueId()
  const written = await untilSwapped(runtime, async () => {
    const stored = await readRecord(account, context)
    // Over what this process remembers as well: the store may have lost it, and another process may put it back.
    const ancestry = ancestryOver(session, stored?.record, cache.record)
    const spent = spentBefore(stored?.record, cache.record)
    const record = recordOf({ ...ancestry, spent }, stored?.record)
    if (record === undefined) return 'left as it is'
    const swapped = await store.swap(account, stored, record, writeId, { forgetOlder: true })
    return 'conflict' in swapped ? undefined : { ...swapped, record }
  })
  if (written === 'left as it is') return false
  const overtaken = cache.record !== undefined && isBehind(written, { ...writeOf(cache), record: cache.record })
  if (overtaken) return true
  acceptRecord(cache, written, runtime, refreshAfter)
  // What a refresh before it brought, and why one failed, is of no account any more.
  cache.unsaved = undefined
  cache.backOff = undefined
  memory.release(cache)
  return true
}
