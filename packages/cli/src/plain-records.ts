/**
 * A store that is opened without a key: an encrypted record in it is an error, not nobody.
 */
import { StoreError, type TokenStore } from '@owner-sso/core'

/** Its `read` throws StoreError `wrong-key` for a sealed record. */
export function plainRecords(store: TokenStore): TokenStore {
  return {
    ...store,
    read: async (account) => {
      const stored = await store.read(account)
      if (stored?.record.state !== 'sealed') return stored
      throw new StoreError('wrong-key', 'The records of this store are encrypted, and no key was given.')
    },
  }
}
