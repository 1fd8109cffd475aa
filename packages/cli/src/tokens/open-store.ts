/**
 * Opens the store of an address.
 */
import { StoreError, type TokenStore } from '@owner-sso/core'
import { CommandError, exitCodes, usageError } from '../failure/command-error.ts'
import { encryptionKeys } from '../settings/secrets.ts'
import { certificateAuthority } from '../settings/configured-service.ts'
import { expandHome, tokensFolder } from '../machine/folders.ts'
import type { KeyringUse } from '../keyring/keyring-folder.ts'
import type { Settings } from '../settings/settings.ts'
import { printNote } from '../terminal/output.ts'
import { memoryStore } from '../stores/memory.ts'
import type { OpenedStore } from '../stores/store-kind.ts'
import { storeAt } from '../stores/store-kinds.ts'

export interface OpenStore extends Required<OpenedStore> {
  readonly shown: string
}

export interface StoreOptions {
  /** The records are plain, whatever `OWNER_SSO_ENCRYPTION_KEY` and the keyring say. */
  readonly plain?: boolean | undefined
  /** A key is set for another purpose: the store is also read as it would be without. */
  readonly alsoWithoutKey?: boolean | undefined
  /**
   * Where nothing is at the address, of which some kinds make a store at the first use: a mistyped address would be an empty
   * store. `refuse` (default): CommandError; `empty`: nothing is made, and nobody is signed in; `make`.
   */
  readonly ifMissing?: 'refuse' | 'empty' | 'make'
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
  settings: Pick<Settings, 'ca' | 'keyring' | 'store'>,
  options: StoreOptions,
  use: (store: OpenStore) => Promise<Result>,
): Promise<Result> {
  const store = await opened(address, settings, options)
  try {
    const result = await use(store)
    printNote(...store.advice)
    return result
  } catch (error) {
    throw notSealed(error, store, settings)
  } finally {
    await store.close()
  }
}

async function opened(
  address: string,
  { ca, keyring }: Pick<Settings, 'ca' | 'keyring'>,
  { plain = false, alsoWithoutKey = false, signsIn = false, ifMissing = 'refuse' }: StoreOptions,
): Promise<OpenStore> {
  const { kind, place } = storeAt(address)
  const isMissing = ifMissing !== 'make' && !isThere(address)
  if (isMissing && ifMissing === 'refuse') {
    const next = 'owner-sso doctor says where its address is from. If that is right, owner-sso login makes it.'
    throw usageError(`There is no store at ${kind.shown(place)}.`, next)
  }
  const encryptionKey = plain ? undefined : encryptionKeys()
  const use = plain || encryptionKey !== undefined ? undefined : keyringUse(place, keyring?.value, signsIn)
  if (ca !== undefined && kind.isOfNetwork) certificateAuthority(ca.value)
  const access = { ca: ca && expandHome(ca.value), encryptionKey, keyring: use }
  const given = isMissing ? await memoryStore.open('', access) : await kind.open(place, access)
  const store =
    alsoWithoutKey && encryptionKey !== undefined && !isMissing
      ? eitherOf(
          given,
          await kind.open(place, {
            ...access,
            encryptionKey: undefined,
            keyring: keyringUse(place, keyring?.value, false),
          }),
        )
      : given
  return {
    shown: kind.shown(place),
    requireWritable: async () => undefined,
    check: async () => [],
    close: async () => undefined,
    advice: [],
    keyIn: 'OWNER_SSO_ENCRYPTION_KEY',
    ...store,
  }
}

/** To read from: what the first can't open for its key, the second reads. */
function eitherOf(first: OpenedStore, second: OpenedStore): OpenedStore {
  const read: TokenStore['read'] = (account) =>
    first.store.read(account).catch((error: unknown) => {
      const isOfKey = error instanceof StoreError && (error.reason === 'not-sealed' || error.reason === 'wrong-key')
      if (isOfKey) return second.store.read(account)
      throw error
    })
  const close = async (): Promise<void> => void (await Promise.all([first.close?.(), second.close?.()]))
  return { ...first, store: { ...first.store, read }, close }
}

/** Plain records under a key: nothing is damaged, and one command makes it right. Any other error as it is. */
export function notSealed(
  error: unknown,
  { shown }: Pick<OpenStore, 'shown'>,
  { store }: Pick<Settings, 'store'>,
): unknown {
  if (!(error instanceof StoreError) || error.reason !== 'not-sealed') return error
  const message = `The records of ${shown} are plain: they were stored before OWNER_SSO_ENCRYPTION_KEY was set.`
  const at = store.from === '--store' ? ` --store ${shown}` : ''
  return new CommandError(exitCodes.store, message, `Seal them where they are with: owner-sso rekey${at}`, error.code)
}

/** Nothing sealed is put among plain records: whoever has no key could not read it. One record tells. @throws StoreError */
export async function requireSealed(store: TokenStore): Promise<void> {
  try {
    for await (const name of store.accounts?.() ?? []) {
      await store.read(name)
      return
    }
  } catch (error) {
    if (error instanceof StoreError && error.reason === 'not-sealed') throw error
  }
}

/** Whether there is a store, as far as its kind can tell without opening it. */
export function isThere(address: string): boolean {
  const { kind, place } = storeAt(address)
  return kind.exists?.(place) ?? true
}

/** Other folders than the default one are often shared with programs that know no keyring. */
function keyringUse(place: string, isOn: boolean | undefined, signsIn: boolean): KeyringUse {
  if (isOn === false) return 'never'
  return signsIn && (isOn ?? place === tokensFolder) ? 'make' : 'read'
}
