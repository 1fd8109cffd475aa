/**
 * Opens the store of an address. Its client is loaded only now, and only that one.
 */
import type { TokenStore } from '@owner-sso/core'
import { usageError } from './command-error.ts'
import { type StoreAddress, parseStoreAddress, shownAddress } from './store-address.ts'

export interface OpenStore {
  readonly store: TokenStore
  readonly address: StoreAddress
  /** For people: without a password. */
  readonly shown: string
  /** What about the store's own settings can cost a token set, where that can be asked. */
  readonly check?: () => Promise<readonly { readonly message: string }[]>
  readonly close: () => Promise<void>
}

/** @throws CommandError for a wrong address; StoreError where it can't be reached */
export async function openStore(text: string, ca: string | undefined): Promise<OpenStore> {
  refuseEncryptionKey()
  const address = parseStoreAddress(text)
  const opened = { address, shown: shownAddress(address), close: async () => undefined }
  if (address.kind === 'file') {
    const { fileTokenStore } = await import('@owner-sso/token-store-file')
    return { ...opened, store: fileTokenStore({ path: address.path }) }
  }
  if (address.kind === 'redis') {
    const { openRedis } = await import('./redis-connection.ts')
    return { ...opened, ...(await openRedis(address.url, ca)) }
  }
  const { memoryTokenStore } = await import('@owner-sso/token-store-memory')
  return { ...opened, store: memoryTokenStore() }
}

/** Better no store than one that is less private than was asked for. */
function refuseEncryptionKey(): void {
  if ((process.env['OWNER_SSO_ENCRYPTION_KEY'] ?? '') === '') return
  throw usageError(
    'OWNER_SSO_ENCRYPTION_KEY is set, but this version can’t encrypt what it stores.',
    'Unset it to store token sets in files or keys that only you can read.',
  )
}
