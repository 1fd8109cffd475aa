/**
 * The note in a store's folder that its records are sealed with a key in the keyring, and in which entry. It tells a folder
 * whose key is missing from a plain one. There is no secret in it.
 */
import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemCode } from '@owner-sso/core'
import { CommandError, exitCodes } from '../failure/command-error.ts'

const about = 'The records in this folder are encrypted with a key in the keyring of this user (service owner-sso).'

const pathOf = (folder: string): string => join(folder, 'keyring.json')

/**
 * The entry that holds the key of a folder.
 *
 * @returns undefined where the folder has no such note
 * @throws CommandError where it has one that can't be read
 */
export function entryOf(folder: string): string | undefined {
  try {
    const { schema, entry }: { schema?: unknown; entry?: unknown } = JSON.parse(readFileSync(pathOf(folder), 'utf8'))
    if (schema === 1 && typeof entry === 'string' && entry !== '') return entry
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    // Nothing is wrong with the note, as far as anybody knows: the folder is another user's, say.
    const look = 'Look at the owner and mode of it and its folder, or choose another store with --store.'
    if (code !== undefined) throw unusable(`${pathOf(folder)} can’t be read (${code})`, look)
  }
  const restore = 'Restore it from a backup, or move the folder away and sign in again with: owner-sso login'
  throw unusable(`${pathOf(folder)} is damaged: it tells which key of the keyring opens this folder`, restore)
}

const unusable = (problem: string, next: string): CommandError =>
  new CommandError(exitCodes.store, `${problem}. Nothing was changed.`, next, 'ERR_SSO_STORE')

/**
 * Leaves the note, whole and durable, unless another process was faster.
 *
 * @returns the entry that counts from now on
 * @throws the system's error where it can't be written
 */
export function noteEntry(folder: string, entry: string): string {
  const note = { schema: 1, about, entry }
  const temporary = `${pathOf(folder)}.${randomUUID()}`
  try {
    writeFileSync(temporary, `${JSON.stringify(note, undefined, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true })
    linkSync(temporary, pathOf(folder))
    syncFolder(folder)
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error
  } finally {
    rmSync(temporary, { force: true })
  }
  return entryOf(folder) ?? entry
}

/** Waits until the names in a folder are on the disk. Windows needs no such call, and has none. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
