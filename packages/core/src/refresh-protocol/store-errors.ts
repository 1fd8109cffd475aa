/**
 * The store as the protocol uses it: whatever it throws, callers get a `StoreError` without anything of a record in it.
 */
import { SsoError, StoreError } from '../errors.ts'
import type { TokenStore } from '../token-store.ts'

export function withStoreErrors(store: TokenStore): Pick<TokenStore, 'read' | 'swap' | 'watch'> {
  return {
    read: (account) => typed('unavailable', () => store.read(account)),
    swap: (...write) => typed('write-failed', () => store.swap(...write)),
    ...(store.watch && { watch: store.watch.bind(store) }),
  }
}

async function typed<Value>(reason: 'unavailable' | 'write-failed', operation: () => Promise<Value>): Promise<Value> {
  try {
    return await operation()
  } catch (error) {
    if (error instanceof SsoError) throw error
    throw new StoreError(reason, 'The token store failed.', { cause: error })
  }
}
