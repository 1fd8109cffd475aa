/**
 * Opens the store of an address.
 */
import { usageError } from '../command-line/command-error.ts'
import { encryptionKeys } from '../settings/encryption-key.ts'
import { tokensFolder } from '../settings/folders.ts'
import type { KeyringUse } from '../keyring/keyring-folder.ts'
import type { Settings } from '../settings/settings.ts'
import type { OpenedStore } from './store-kind.ts'
import { storeAt } from './store-kinds.ts'

export interface OpenStore extends Required<OpenedStore> {
  /** For people: without a password. */
  readonly shown: string
  /** Whether processes of many machines may share it. */
  readonly isOfNetwork: boolean
}

export interface StoreOptions {
  /** The records are plain, whatever `OWNER_SSO_ENCRYPTION_KEY` and the keyring say. */
  readonly plain?: boolean | undefined
  /** Of several keys the first alone opens: what it can't open is sealed with an older one. */
  readonly newestKeyAlone?: boolean | undefined
  /** Somebody signs in: the default folder, or any where the keyring is turned on, gets a key. */
  readonly signsIn?: boolean | undefined
}

/**
 * Opens a store, and closes it when it was used.
 *
 * @param settings - whom TLS trusts, and whether folders have their keys in the keyring
 * @throws whatever `use` throws; CommandError for a wrong address or key; StoreError where it can't be reached
 */
export async function withStore<Result>(
  address: string,
  settings: Pick<Settings, 'ca' | 'keyring'>,
  options: StoreOptions,
  use: (store: OpenStore) => Promise<Result>,
): Promise<Result> {
  const store = await opened(address, settings, options)
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

async function opened(
  address: string,
  { ca, keyring }: Pick<Settings, 'ca' | 'keyring'>,
  { plain = false, newestKeyAlone = false, signsIn = false }: StoreOptions,
): Promise<OpenStore> {
  const { kind, place } = storeAt(address)
  const keys = plain ? undefined : encryptionKeys()
  const encryptionKey = newestKeyAlone ? keys?.slice(0, 1) : keys
  const use = plain || encryptionKey !== undefined ? undefined : keyringUse(place, keyring?.value, signsIn)
  const store = await kind.open(place, { ca: ca?.value, encryptionKey, keyring: use })
  return {
    shown: kind.shown(place),
    isOfNetwork: kind.isOfNetwork === true,
    exists: () => true,
    requireWritable: async () => undefined,
    check: async () => [],
    close: async () => undefined,
    keyIn: 'OWNER_SSO_ENCRYPTION_KEY',
    ...store,
  }
}

/** Some stores make their place at the first use: a mistyped address would be an empty store. @throws CommandError */
export function requireExistence({ exists, shown }: OpenStore): void {
  if (exists()) return
  throw usageError(`There is no store at ${shown}.`, 'owner-sso stores shows which one is in use.')
}

/** Other folders than the default one are often shared with programs that know no keyring. */
function keyringUse(place: string, isOn: boolean | undefined, signsIn: boolean): KeyringUse {
  if (isOn === false) return 'never'
  return signsIn && (isOn ?? place === tokensFolder) ? 'make' : 'read'
}
