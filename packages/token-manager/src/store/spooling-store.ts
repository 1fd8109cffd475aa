/**
 * The spool: a second place for new tokens, where they outlive the process that received them while the store refuses them.
 *
 * Whichever process finds them next carries them over into the store, by the lineage rule.
 */
import { StoreError } from '../errors.ts'
import { withoutShownTokens } from './read-record.ts'
import { checkedRecord } from './record-check.ts'
import type { SpooledRecord, SpooledResult } from './token-record.ts'
import type { Spooled } from '../kernel/steps.ts'
import type { Runtime } from '../support/runtime.ts'
import type { GuardedStore } from './guarded-store.ts'
import { untilSwapped } from './contention.ts'
import { isDamaged } from './record-failure.ts'
import type { RefreshResult, Write } from './lineage.ts'

export interface Spool {
  /**
   * Keeps new tokens, in place of earlier ones of the account. Returns the write that they stand as there.
   *
   * @param version - of the record that held this process's intent
   * @throws StoreError where they could not be kept
   */
  keep(account: string, result: RefreshResult, version: number): Promise<Write>
  /** What waits to be carried over. @throws StoreError where the spool can't be read */
  find(account: string): Promise<Spooled | undefined>
  /** Takes them out, unless others stand there by now. Returns whether it did. @throws StoreError */
  clear(account: string, at: Write): Promise<boolean>
  /** The accounts that tokens were ever kept of; none where the spool can't list them. */
  accounts(): AsyncIterable<string>
}

/** @param store - another one than the token manager's own */
export function spoolOn(store: GuardedStore, runtime: Runtime): Spool {
  const read = async (account: string): Promise<{ at: Write | undefined; result: SpooledResult | undefined }> => {
    const stored = await store.read(account)
    if (stored === undefined) return { at: undefined, result: undefined }
    return { at: stored, result: checkedRecord(stored, 'spooled').record.result ?? undefined }
  }
  /** Which write stands there, one that can't be read as well: newer tokens take its place. */
  const standing = async (account: string): Promise<Write | undefined> => {
    try {
      return (await read(account)).at
    } catch (error) {
      if (isDamaged(error) && error.unread !== undefined) return error.unread
      throw error
    }
  }
  const write = async (
    account: string,
    over: Write | undefined,
    result?: SpooledResult,
  ): Promise<Write | undefined> => {
    const record: SpooledRecord = { schema: 1, state: 'spooled', ...(result && { result }) }
    // What stood there before is spent, carried over or superseded.
    const swapped = await store.swap(account, over, record, runtime.uniqueId(), { forgetOlder: true })
    return 'conflict' in swapped ? undefined : swapped
  }
  return {
    async keep(account, { derivedFrom, next }, version) {
      if (next.state !== 'signed-in') throw new StoreError('write-failed', 'Only new tokens are kept in the spool.')
      return untilSwapped(runtime, async () => write(account, await standing(account), { version, derivedFrom, next }))
    },
    async find(account) {
      const { at, result } = await read(account)
      if (at === undefined || result === undefined) return undefined
      const { derivedFrom, next } = result
      return { ...result, derivedFrom: withoutShownTokens(derivedFrom), next: withoutShownTokens(next), at }
    },
    clear: async (account, at) => (await write(account, at)) !== undefined,
    async *accounts() {
      if (store.accounts !== undefined) yield* store.accounts()
    },
  }
}

/** Warns of a spool that fails, once: without it the manager works as if there were none. */
export function spoolReporter(): (error: unknown) => void {
  let warned = false
  return (error) => {
    if (warned) return
    warned = true
    const reason = error instanceof StoreError ? error.reason : 'unavailable'
    const message = `The token manager's spool failed (${reason}): what the store refuses is in memory alone.`
    process.emitWarning(message, { type: 'OwnerSsoWarning', code: 'OWNER_SSO_SPOOL' })
  }
}
