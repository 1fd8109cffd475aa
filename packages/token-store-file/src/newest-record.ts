/**
 * Reading: the highest version file whose content verifies, else the next lower.
 */
import type { Stats } from 'node:fs'
import { join } from 'node:path'
import { StoreError } from '@owner-sso/token-manager'
import { closeQuietly, type Disk, readFlags, unless } from './disk.ts'
import {
  accountFolder,
  type AccountFiles,
  parseTemporaryName,
  slotsIn,
  temporaryFolder,
  type TemporaryName,
  versionFile,
} from './layout.ts'
import { checkFile, refuseLink } from './private-folder.ts'
import { decode, type Envelope, sizeLimit } from './record-file.ts'

/** A whole record, and the file that it was read from; `undefined` where nothing was ever stored, or no file is whole. */
export interface Found {
  readonly newest: Envelope | undefined
  readonly file: Stats | undefined
}

/** What is in an account's folder. */
export interface FolderState extends Found {
  /** The highest slot that is taken, by a damaged file too; 0 where none is. */
  readonly highestSlot: number
  /** 0 where none is taken. */
  readonly lowestSlot: number
}

/** Bytes: more than most records have. */
const firstRead = 16 * 1024

/** After so many lists that changed while they were read, something writes without an end. */
const listings = 100

/** @throws StoreError `permissions` for a file that is not ours */
export async function newestRecord(files: AccountFiles): Promise<FolderState> {
  let settled = ''
  for (let listing = 0; listing < listings; listing += 1) {
    const slots = await listSlots(files)
    const found = await firstWhole(files, slots)
    if (found === 'outdated') continue
    // Damaged is only what is not whole at a second look.
    if (found.newest !== undefined || slots.join() === settled) {
      const [highestSlot = 0] = slots
      return { ...found, highestSlot, lowestSlot: slots.at(-1) ?? highestSlot }
    }
    settled = slots.join()
  }
  throw new StoreError('busy', 'The record changes faster than it can be read. Try again.')
}

export async function listSlots(files: AccountFiles): Promise<number[]> {
  return slotsIn((await unless(files.disk.readdir(accountFolder(files)), 'ENOENT')) ?? [])
}

/** The temporary files of one account. */
export async function listTemporary({ disk, root, key }: AccountFiles): Promise<TemporaryName[]> {
  const names = (await unless(disk.readdir(temporaryFolder(root)), 'ENOENT')) ?? []
  return names.flatMap((name) => parseTemporaryName(name) ?? []).filter((temporary) => temporary.key === key)
}

async function firstWhole(files: AccountFiles, slots: readonly number[]): Promise<Found | 'outdated'> {
  for (const slot of slots) {
    const read = await readVersion(files, versionFile(files, slot))
    // Three newer ones were written since the folder was listed.
    if (read === undefined) return 'outdated'
    const newest = decode(read.content, files.key, slot)
    if (newest) return { newest, file: read.stats }
  }
  return { newest: undefined, file: undefined }
}

/**
 * The newest record, which has to be whole where there are version files.
 *
 * @throws StoreError `corrupt`: which write it was nobody can tell, but no version of it was higher than its slot
 */
export function wholeRecord({ newest, highestSlot }: FolderState, files: AccountFiles): Envelope | undefined {
  if (newest !== undefined || highestSlot === 0) return newest
  const message = `No record in ${accountFolder(files)} is intact. It was left as it is: move that folder away and sign in again.`
  throw new StoreError('corrupt', message, { unread: { version: highestSlot } })
}

/** A version file: its bytes, none where it is too large, and what it is; `undefined` where it is gone. */
async function readVersion(
  files: AccountFiles,
  path: string,
): Promise<{ readonly content: Uint8Array; readonly stats: Stats } | undefined> {
  const { disk } = files
  const fd = await openVersion(disk, path)
  if (fd === undefined) return undefined
  try {
    // Read while it is looked at: mostly it is ours, and this is all of it.
    const start = Buffer.allocUnsafe(firstRead)
    const reading = disk.read(fd, start, 0)
    reading.catch(() => undefined)
    const stats = await checkFile(disk, fd, path, (each) => isTemporary(files, each))
    const length = await reading
    const { size } = stats
    if (size > sizeLimit) return { content: new Uint8Array(), stats }
    if (size <= length) return { content: start.subarray(0, length), stats }
    return { content: await readRest(disk, fd, start.subarray(0, length), size), stats }
  } finally {
    closeQuietly(disk, fd)
  }
}

async function readRest(disk: Disk, fd: number, start: Uint8Array, size: number): Promise<Uint8Array> {
  const content = Buffer.allocUnsafe(size)
  content.set(start)
  let length = start.byteLength
  while (length < size) {
    const bytes = await disk.read(fd, content, length)
    if (bytes === 0) break
    length += bytes
  }
  return content.subarray(0, length)
}

/** Whether a file's second link is the temporary file of a write under way. */
async function isTemporary(files: AccountFiles, { ino }: Stats): Promise<boolean> {
  const { disk, root } = files
  const names = await listTemporary(files)
  const stats = await Promise.all(
    names.map(({ name }) => unless(disk.lstat(join(temporaryFolder(root), name)), 'ENOENT')),
  )
  return stats.some((temporary) => temporary?.ino === ino)
}

async function openVersion(disk: Disk, path: string): Promise<number | undefined> {
  try {
    return await unless(disk.open(path, readFlags), 'ENOENT')
  } catch (error) {
    // FreeBSD says EMLINK where others say ELOOP. A socket can't be opened at all.
    const refused = await disk.lstat(path).then(
      (stats) => stats.isSymbolicLink(),
      () => false,
    )
    throw refused ? refuseLink(path) : error
  }
}
