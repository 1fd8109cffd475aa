/**
 * Opens the store of an address. Its client is loaded only now, and only that one.
 */
import type { TokenStore } from '@owner-sso/core'
import { encryptionKeys } from './encryption-key.ts'
import { type StoreAddress, parseStoreAddress, shownAddress } from './store-address.ts'

export interface OpenStore {
  readonly store: TokenStore
  readonly address: StoreAddress
  /** For people: without a password. */
  readonly shown: string
  /** Whether records are encrypted. */
  readonly sealed: boolean
  /** What about the store's own settings can cost a token set, where that can be asked. */
  readonly check?: () => Promise<readonly { readonly message: string }[]>
  readonly close: () => Promise<void>
}

export interface StoreOptions {
  /** Path of a PEM file, for `rediss:`. */
  readonly ca: string | undefined
  /** The records are plain, whatever `OWNER_SSO_ENCRYPTION_KEY` says. */
  readonly plain?: boolean | undefined
}

/** @throws CommandError for a wrong address or key; StoreError where it can't be reached */
export async function openStore(text: string, { ca, plain = false }: StoreOptions): Promise<OpenStore> {
  const address = parseStoreAddress(text)
  const keys = plain ? undefined : encryptionKeys()
  const { store, ...rest } = await storeAt(address, keys === undefined ? {} : { encryptionKey: keys }, ca)
  return {
    address,
    shown: shownAddress(address),
    sealed: keys !== undefined && address.kind !== 'memory',
    store,
    close: async () => undefined,
    ...rest,
  }
}

async function storeAt(
  address: StoreAddress,
  sealing: { readonly encryptionKey?: readonly Uint8Array[] },
  ca: string | undefined,
): Promise<Pick<OpenStore, 'store'> & Partial<Pick<OpenStore, 'check' | 'close'>>> {
  if (address.kind === 'file') {
    const { fileTokenStore } = await import('@owner-sso/token-store-file')
    return { store: fileTokenStore({ path: address.path, ...sealing }) }
  }
  if (address.kind === 'redis') {
    const { openRedis } = await import('./redis-connection.ts')
    return openRedis(address.url, ca, sealing)
  }
  const { memoryTokenStore } = await import('@owner-sso/token-store-memory')
  return { store: memoryTokenStore() }
}
