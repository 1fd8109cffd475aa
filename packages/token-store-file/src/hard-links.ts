/**
 * Hard links, without which no write here is exclusive: a file system that has none is rejected when the store is opened.
 *
 * There a version file would have to be written under its own name, torn until it is whole. Whether its writer still lives
 * is known of processes of the same PID namespace only: another container would pass it over, and one version would be
 * acknowledged twice.
 */
import { join } from 'node:path'
import { StoreError } from '@owner-sso/token-manager'
import { closeQuietly, codeOf, createFlags, type Disk, unless } from './disk.ts'
import { shardName, temporaryFolder } from './layout.ts'
import { thisProcess } from './process-name.ts'

/** How file systems without hard links answer: FAT and exFAT, some network and user-space ones. */
export const noHardLinks: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV'])

export function missingHardLinks(root: string): StoreError {
  const message = `The file system of ${root} has no hard links (like FAT and exFAT), so two processes could overwrite each other. Choose a path on another file system, or use Redis. Nothing was written.`
  return new StoreError('permissions', message)
}

/**
 * Makes a hard link in the folder for temporary files, and removes it, in a store that is still empty: otherwise somebody would
 * sign in for tokens that can't be kept. In a store with records, the next save finds out before it is acknowledged.
 *
 * @throws StoreError `permissions` where the file system has no hard links
 */
export async function probeHardLinks(disk: Disk, root: string): Promise<void> {
  if ((await disk.readdir(root)).some((name) => shardName.test(name))) return
  const [path, link] = [join(temporaryFolder(root), probeName(0)), join(temporaryFolder(root), probeName(1))]
  await unless(disk.mkdir(temporaryFolder(root), 0o700), 'EEXIST')
  // What is there already was left by a probe of this process that failed.
  const fd = await unless(disk.open(path, createFlags, 0o600), 'EEXIST')
  if (fd !== undefined) closeQuietly(disk, fd)
  try {
    await unless(disk.link(path, link), 'EEXIST', 'ENOENT')
  } catch (error) {
    throw noHardLinks.has(codeOf(error) ?? '') ? missingHardLinks(root) : error
  } finally {
    for (const each of [link, path]) await unless(disk.unlink(each), 'ENOENT')
  }
}

/** As a temporary file's, so that it is swept like one. */
function probeName(slot: number): string {
  const { pid, started } = thisProcess()
  return `${'0'.repeat(64)}.${slot}.${pid}.${started}.${'0'.repeat(16)}`
}
