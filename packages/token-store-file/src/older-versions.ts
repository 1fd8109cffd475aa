/**
 * Removes version files: all but three, or all before a version with `forgetOlder`.
 *
 * Three are there to fall back to should the disk have damaged the newest. After a sign-in or sign-out they go too: they hold
 * tokens that nobody uses any more.
 */
import { join } from 'node:path'
import { sync, unless } from './disk.ts'
import { accountFolder, type AccountFiles, temporaryFolder, versionFile } from './layout.ts'
import { listSlots, listTemporary } from './newest-record.ts'
import type { Envelope } from './record-file.ts'

/** So many version files are kept: the newest, and two to fall back to. */
export const kept = 3

/**
 * Removes what stands below a slot that is taken. First the temporary files that are too late for their slot, then the version
 * files: in the other order, a writer that was held up could still link its file into a free slot.
 */
export async function removeVersions(files: AccountFiles, slot: number, old: readonly number[]): Promise<void> {
  await removeTemporary(files, (other) => other <= slot)
  for (const each of old) await unless(files.disk.unlink(versionFile(files, each)), 'ENOENT')
}

/** Removes an account's temporary files that are meant for such slots: their writers look again. */
export async function removeTemporary(files: AccountFiles, isMeantFor: (slot: number) => boolean): Promise<void> {
  const late = (await listTemporary(files)).filter(({ slot }) => isMeantFor(slot))
  for (const { name } of late) await unless(files.disk.unlink(join(temporaryFolder(files.root), name)), 'ENOENT')
}

/**
 * Removes all that stands below the newest record, where that has `forgetOlder`. First it is synced: its writer may have died
 * before it did so. What can't be removed now, the next reader removes.
 */
export async function forgetOlder(
  files: AccountFiles,
  newest: Envelope | undefined,
  lowestSlot: number,
): Promise<void> {
  if (newest?.forgetOlder !== true || lowestSlot >= newest.slot) return
  const { disk } = files
  const folder = accountFolder(files)
  try {
    await sync(disk, versionFile(files, newest.slot))
    await sync(disk, folder)
    const old = (await listSlots(files)).filter((slot) => slot < newest.slot)
    await removeVersions(files, newest.slot, old)
    await sync(disk, folder)
  } catch {
    // The record itself is stored, and is the newest, whatever other files there are.
  }
}
