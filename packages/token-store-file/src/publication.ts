/**
 * Writing: a whole new version file appears under its name in one instant, or not at all.
 *
 * `link` makes a name for a file only where none is: that is the compare-and-swap. Two races remain, and the temporary file's
 * name settles both. A slot whose file was removed could be taken again by a writer that was held up since it looked. So a
 * writer looks once more *after* its temporary file is there, and whoever removes old versions removes first the temporary
 * files that are meant for slots already taken: the `link` of the writer that was held up then fails. And a writer that dies
 * leaves a temporary file that tells whose it was.
 *
 * Where the store is emptied and filled again, slots begin at 1 again, and the slot of a writer that was held up may be the
 * next free one. So a writer checks, again after its temporary file is there, that the file which its record follows is the
 * very one that it read; and whoever writes the first slot of an account first removes what was meant for higher ones.
 */
import { join } from 'node:path'
import { codeOf, sync, unless, writeNewFile } from './disk.ts'
import { missingHardLinks, noHardLinks } from './hard-links.ts'
import { accountFolder, type AccountFiles, temporaryFolder, temporaryName, versionFile } from './layout.ts'
import { type Found, listSlots } from './newest-record.ts'
import { kept, removeTemporary, removeVersions } from './older-versions.ts'

/**
 * Puts content into a slot that was free and above all others.
 *
 * @param base - the record that this one follows, and its file; it is kept
 * @returns whether it is there, durably; `false` where the slot was taken meanwhile
 */
export async function publish(files: AccountFiles, slot: number, base: Found, content: Uint8Array): Promise<boolean> {
  const tidying: Promise<unknown>[] = []
  try {
    const taken = await putInPlace(files, slot, base, content, tidying)
    if (taken === undefined) return false
    const old = taken.filter((other) => other < Math.min(base.newest?.slot ?? slot, slot - kept + 1))
    if (old.length > 0) tidying.push(removeVersions(files, slot, old).catch(() => undefined))
    await sync(files.disk, accountFolder(files))
    return true
  } finally {
    // What can't be removed now, the next writer prunes, or the next opening sweeps.
    await Promise.all(tidying)
  }
}

/** Returns the slots that were taken before, or `undefined` where this one was among them. */
async function putInPlace(
  files: AccountFiles,
  slot: number,
  base: Found,
  content: Uint8Array,
  tidying: Promise<unknown>[],
): Promise<number[] | undefined> {
  const temporary = join(temporaryFolder(files.root), temporaryName(files.key, slot))
  try {
    await writeTemporary(files, temporary, content)
    const taken = await listSlots(files)
    if (taken.some((other) => other >= slot) || !(await isStillThere(files, base))) return undefined
    if (taken.length === 0) await removeTemporary(files, (other) => other > slot)
    return (await linkInto(files, temporary, versionFile(files, slot))) ? taken : undefined
  } finally {
    tidying.push(files.disk.unlink(temporary).catch(() => undefined))
  }
}

/** An inode that was freed is given to the next file: the time of the last write tells two of them apart. */
async function isStillThere(files: AccountFiles, { newest, file }: Found): Promise<boolean> {
  if (newest === undefined || file === undefined) return true
  const now = await unless(files.disk.lstat(versionFile(files, newest.slot)), 'ENOENT')
  return now?.ino === file.ino && now.mtimeMs === file.mtimeMs && now.size === file.size
}

async function writeTemporary({ disk, root }: AccountFiles, path: string, content: Uint8Array): Promise<void> {
  try {
    await writeNewFile(disk, path, content)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    await unless(disk.mkdir(temporaryFolder(root), 0o700), 'EEXIST')
    await writeNewFile(disk, path, content)
  }
}

/** `false` where the slot is taken, or the temporary file was removed because it came too late. */
async function linkInto({ disk, root }: AccountFiles, temporary: string, path: string): Promise<boolean> {
  try {
    await disk.link(temporary, path)
    return true
  } catch (error) {
    const code = codeOf(error) ?? ''
    if (code === 'EEXIST' || code === 'ENOENT') return false
    throw noHardLinks.has(code) ? missingHardLinks(root) : error
  }
}
