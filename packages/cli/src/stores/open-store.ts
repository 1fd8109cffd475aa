/**
 * Opens the store of an address.
 */
import { usageError } from '../command-line/command-error.ts'
import { encryptionKeys } from '../settings/encryption-key.ts'
import { tokensFolder } from '../settings/folders.ts'
import type { KeyringUse } from '../keyring/keyring-folder.ts'
import type { Given } from '../settings/settings.ts'
import type { OpenedStore } from './store-kind.ts'
import { storeAt } from './store-kinds.ts'

export interface OpenStore extends Required<OpenedStore> {
  /** For people: without a password. */
  readonly shown: string
  /** Whether processes of many machines may share it. */
  readonly isOfNetwork: boolean
}

export interface StoreOptions {
  /** Path of a PEM file, for a store that is spoken to over TLS. */
  readonly ca: string | undefined
  /** The records are plain, whatever `OWNER_SSO_ENCRYPTION_KEY` and the keyring say. */
  readonly plain?: boolean | undefined
  /** Of several keys the first alone opens: what it can't open is sealed with an older one. */
  readonly newestKeyAlone?: boolean | undefined
  /** Whether a folder may have its key in the keyring; by default, a folder that has one does. */
  readonly keyring?: Given<boolean> | undefined
  /** Somebody signs in: the default folder, or any where the keyring is turned on, gets a key. */
  readonly signsIn?: boolean | undefined
}

/** @throws CommandError for a wrong address or key; StoreError where it can't be reached */
export async function openStore(address: string, options: StoreOptions): Promise<OpenStore> {
  const { ca, plain = false, newestKeyAlone = false } = options
  const { kind, place } = storeAt(address)
  const keys = plain ? undefined : encryptionKeys()
  const encryptionKey = newestKeyAlone ? keys?.slice(0, 1) : keys
  const keyring = plain || encryptionKey !== undefined ? undefined : keyringUse(place, options)
  const opened = await kind.open(place, { ca, encryptionKey, keyring })
  return {
    shown: kind.shown(place),
    isOfNetwork: kind.isOfNetwork === true,
    exists: () => true,
    requireWritable: async () => undefined,
    check: async () => [],
    close: async () => undefined,
    keyIn: 'OWNER_SSO_ENCRYPTION_KEY',
    ...opened,
  }
}

/** Some stores make their place at the first use: a mistyped address would be an empty store. @throws CommandError */
export function requireExistence({ exists, shown }: OpenStore): void {
  if (exists()) return
  throw usageError(`There is no store at ${shown}.`, 'owner-sso stores shows which one is in use.')
}

/** Other folders than the default one are often shared with programs that know no keyring. */
function keyringUse(place: string, { keyring, signsIn = false }: StoreOptions): KeyringUse {
  if (keyring?.value === false) return 'never'
  return signsIn && (keyring?.value ?? place === tokensFolder) ? 'make' : 'read'
}
