/**
 * A store's folder and the keyring: sealed from the first sign-in on, with a key that the keyring keeps.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { StoreError, type TokenStore, withEncryption } from '@owner-sso/core'
import { CommandError, exitCodes } from '../failure/command-error.ts'
import { printNote } from '../terminal/output.ts'
import { counted } from '../terminal/wording.ts'
import { entryOf, noteEntry } from './key-note.ts'
import { KeyringError, keyringName, mayHaveKeyring, readKey, storeKey } from './keyring.ts'
import { namesIn, sealInPlace } from './seal-in-place.ts'

/** What a call may do with the keyring: read a key that is there, make one where there is none, or leave it alone. */
export type KeyringUse = 'read' | 'make' | 'never'

/**
 * @param folder - the store at `path` without encryption
 * @throws CommandError where the folder has a key and the keyring does not give it; StoreError
 */
export async function openKeyringFolder(path: string, folder: TokenStore, use: KeyringUse) {
  let key = await keyOf(path, use)
  const told: string[] = []
  if (use === 'make') {
    // Opens the folder, or makes it, before anything is put into it.
    await folder.read('owner-sso')
    key ??= await newKey(path, folder, told)
    const newest = key && withEncryption(folder, [key])
    const { records = 0, waiting = 0 } = newest === undefined ? {} : await sealInPlace(folder, newest)
    if (records > 0)
      printNote(`${counted(records, 'record')} in ${path} ${records === 1 ? 'was' : 'were'} encrypted in place.`)
    if (waiting > 0)
      printNote(`${counted(waiting, 'record')} will be encrypted at the end of a refresh that is under way.`)
  }
  const store = sealingStore(folder, async () => key ?? keyOf(path, use))
  return key === undefined ? { store, sealed: false, advice: told } : { store, sealed: true, keyIn: keyringName }
}

/** The key of a folder; undefined where the folder has none. @throws CommandError where the keyring does not give it */
async function keyOf(path: string, use: KeyringUse): Promise<Uint8Array | undefined> {
  const entry = entryOf(path)
  if (entry === undefined) return undefined
  if (use === 'never') throw keyNeeded(path, 'the keyring is turned off', turnedOff)
  try {
    const key = await readKey(entry)
    if (key?.byteLength === 32) return key
  } catch (error) {
    if (!(error instanceof KeyringError)) throw error
    throw keyNeeded(path, error.message, error.next)
  }
  throw keyNeeded(path, 'the keyring no longer has it', lost(path))
}

function keyNeeded(path: string, why: string, next: string): CommandError {
  const message = `The tokens in ${path} are encrypted with a key in the keyring, and ${why}. Nothing was changed.`
  return new CommandError(exitCodes.store, message, next, 'ERR_SSO_STORE')
}

const turnedOff = 'Omit --no-keyring, set OWNER_SSO_KEYRING=on, or choose another folder with --store.'
const lost = (path: string): string =>
  `Restore the keyring from a backup. If there is none, these tokens are lost: run mv ${path} ${path}.old, then owner-sso login.`

/** A key for a folder that has none. Where the keyring can't keep one, advice, and the folder stays plain. */
async function newKey(path: string, folder: TokenStore, told: string[]): Promise<Uint8Array | undefined> {
  // To look through a folder takes longer than the rest of a sign-in: not where there is no keyring.
  if (mayHaveKeyring(process.env) && (await hasSealedRecord(folder))) return undefined
  const [key, entry] = [randomBytes(32), `tokens ${randomUUID()}`]
  try {
    await storeKey(entry, key)
  } catch (error) {
    if (!(error instanceof KeyringError)) throw error
    told.push(
      `The tokens in ${path} are not encrypted, since ${error.message}: your user and root can read them.`,
      'OWNER_SSO_ENCRYPTION_KEY encrypts them without a keyring; --no-keyring leaves out this warning.',
    )
    return undefined
  }
  // Noted only once the keyring has the key: what is sealed with a key that it does not have is lost.
  if (noteEntry(path, entry) !== entry) return keyOf(path, 'read')
  printNote(`The tokens in ${path} are encrypted from now on, with a key in this machine’s keyring.`)
  return key
}

/** Whether a record is sealed: with a key of `OWNER_SSO_ENCRYPTION_KEY`, which is not set in this call. */
async function hasSealedRecord(folder: TokenStore): Promise<boolean> {
  for (const name of await namesIn(folder)) {
    if ((await folder.read(name))?.record.state === 'sealed') return true
  }
  return false
}

/**
 * A folder whose records may be sealed while it is in use: plain and sealed ones are read, and whatever is written is sealed from the
 * moment that the folder has a key.
 *
 * @param folder - the store without encryption
 * @param findKey - the folder's key, undefined while it has none. It is asked until it has told one
 */
function sealingStore(folder: TokenStore, findKey: () => Promise<Uint8Array | undefined>): TokenStore {
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
