/**
 * The spool: a second place for new tokens, where they outlive the process that received them while the store refuses them.
 *
 * Whichever process finds them next carries them over into the store, by the lineage rule.
 */
import { StoreError } from '../errors.ts'
import { checkedRecord } from '../record-check.ts'
import type { SpooledRecord, SpooledResult } from '../token-record.ts'
import { tokenSet } from '../token-set.ts'
import type { TokenStore } from '../token-store.ts'
import type { RefreshResult } from './lineage.ts'

export interface Spool {
  /**
   * Keeps new tokens, in place of earlier ones of the account. Returns the version at which they stand there.
   *
   * @param version - of the record that held this process's intent
   * @throws StoreError where they could not be kept
   */
  keep(account: string, result: RefreshResult, version: number): Promise<number>
  /** What waits to be carried over. @throws StoreError where the spool can't be read */
  find(account: string): Promise<Spooled | undefined>
  /** Takes them out, unless others stand there by now. Returns whether it did. @throws StoreError */
  clear(account: string, at: number): Promise<boolean>
  /** The accounts that tokens were ever kept of; none where the spool can't list them. */
  accounts(): AsyncIterable<string>
}

export interface Spooled extends SpooledResult {
  /** The version at which it stands in the spool. */
  readonly at: number
}

/** @param store - another one than the token manager's own */
export function spoolOn(store: TokenStore, uniqueId: () => string): Spool {
  const read = async (account: string): Promise<{ at: number; result: SpooledResult | undefined }> => {
    const stored = await store.read(account)
    if (stored === undefined) return { at: 0, result: undefined }
    const { version, record } = checkedRecord(stored, 'spooled')
    return { at: version, result: record.result ?? undefined }
  }
  const write = async (account: string, expected: number, result?: SpooledResult): Promise<number | undefined> => {
    const record: SpooledRecord = { schema: 1, state: 'spooled', ...(result && { result }) }
    // What stood there before is spent, carried over or superseded.
    const answer = await store.swap(account, expected, record, uniqueId(), { forgetOlder: true })
    return 'conflict' in answer ? undefined : answer.version
  }
  return {
    async keep(account, { derivedFrom, next }, version) {
      if (next.state !== 'signed-in') throw new StoreError('write-failed', 'Only new tokens are kept in the spool.')
      for (;;) {
        const kept = await write(account, (await read(account)).at, { version, derivedFrom, next })
        if (kept !== undefined) return kept
      }
    },
    async find(account) {
      const { at, result } = await read(account)
      if (result === undefined) return undefined
      const { derivedFrom, next } = result
      const shown = { derivedFrom: { ...derivedFrom, tokens: tokenSet(derivedFrom.tokens) }, at }
      return { ...result, ...shown, next: { ...next, tokens: tokenSet(next.tokens) } }
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
