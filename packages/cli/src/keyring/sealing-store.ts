/**
 * A folder whose records may be sealed while it is in use: plain and sealed ones are read, and whatever is written is sealed
 * from the moment that the folder has a key.
 */
import { withEncryption, StoreError, type TokenStore } from '@owner-sso/core'
import { CommandError } from '../failure/command-error.ts'

/**
 * @param folder - the store without encryption
 * @param findKey - the folder's key, undefined while it has none. It is asked until it has told one
 */
export function sealingStore(folder: TokenStore, findKey: () => Promise<Uint8Array | undefined>): TokenStore {
  let keys: readonly Uint8Array[] | undefined
  const sealedOver = async (store: TokenStore): Promise<TokenStore> => {
    keys ??= await found(findKey)
    return keys === undefined ? store : withEncryption(store, keys)
  }
  return {
    async read(account) {
      const stored = await folder.read(account)
      if (stored?.record.state !== 'sealed') return stored
      return (await sealedOver({ ...folder, read: async () => stored })).read(account)
    },
    swap: async (...args) => (await sealedOver(folder)).swap(...args),
    ...(folder.accounts && { accounts: folder.accounts.bind(folder) }),
    ...(folder.watch && { watch: folder.watch.bind(folder) }),
  }
}

async function found(findKey: () => Promise<Uint8Array | undefined>): Promise<readonly Uint8Array[] | undefined> {
  try {
    const key = await findKey()
    return key && [key]
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    throw new StoreError('read-failed', `${error.message} ${error.next}`, { cause: error })
  }
}
