/**
 * A store's folder and the keyring: sealed from the first sign-in on, with a key that the keyring keeps.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { withEncryption, type TokenStore } from '@owner-sso/core'
import { CommandError, exitCodes } from '../failure/command-error.ts'
import { printNote } from '../terminal/output.ts'
import { counted } from '../terminal/wording.ts'
import { entryOf, noteEntry } from './key-note.ts'
import { KeyringError, keyringName, type KeyringProblem, mayHaveKeyring, readKey, storeKey } from './keyring.ts'
import { namesIn, sealInPlace, type SealedInPlace } from './seal-in-place.ts'
import { sealingStore } from './sealing-store.ts'

/** What a call may do with the keyring: read a key that is there, make one where there is none, or leave it alone. */
export type KeyringUse = 'read' | 'make' | 'never'

export interface KeyringFolder {
  readonly store: TokenStore
  readonly sealed: boolean
  /** The name of the keyring, where the folder has a key in it. */
  readonly keyIn?: string
  /** What the person is told of it once the command has done its work. */
  readonly advice?: readonly string[]
}

/**
 * @param folder - the store at `path` without encryption
 * @throws CommandError where the folder has a key and the keyring does not give it; StoreError
 */
export async function openKeyringFolder(path: string, folder: TokenStore, use: KeyringUse): Promise<KeyringFolder> {
  let key = await keyOf(path, use)
  const told: string[] = []
  if (use === 'make') {
    // Opens the folder, or makes it, before anything is put into it.
    await folder.read('owner-sso')
    key ??= await newKey(path, folder, told)
    if (key !== undefined) tellOf(path, await sealInPlace(folder, withEncryption(folder, [key])))
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
    throw keyNeeded(path, error.message, advice[error.problem])
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
const unlock = 'Unlock it (sign in to the desktop, or open its password manager), then run this again.'
const advice: Readonly<Record<KeyringProblem, string>> = {
  none: 'Run this in a desktop session. Where there is none, use a folder without a keyring: owner-sso login --no-keyring --store file:PATH',
  locked: unlock,
  late: `It may be waiting for its password. ${unlock}`,
  failed: 'Look at the keyring with the desktop’s password manager, then run this again.',
}

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

function tellOf(path: string, { records, waiting }: SealedInPlace): void {
  if (records > 0)
    printNote(`${counted(records, 'record')} in ${path} ${records === 1 ? 'was' : 'were'} encrypted in place.`)
  if (waiting > 0)
    printNote(`${counted(waiting, 'record')} will be encrypted at the end of a refresh that is under way.`)
}
