/**
 * A folder on a network file system: right for one machine, wrong for several, and nobody can tell which from here.
 */
import type { Disk } from './disk.ts'

/** Numbers that statfs(2) gives to NFS, SMB and CIFS, and AFS. */
const networkFileSystems = new Set([0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x5346414f])

/** Warns, once for each store that is opened there. */
export async function warnOfNetworkFolder(disk: Disk, path: string): Promise<void> {
  const type = await disk.statfs(path).then(
    (fileSystem) => fileSystem.type,
    () => 0,
  )
  // As an unsigned number: some systems give it with a sign.
  if (!networkFileSystems.has(type >>> 0)) return
  const message = `The token store in ${path} is on a network file system. Processes on several machines must not share it: use Redis for that.`
  process.emitWarning(message, { type: 'SecurityWarning', code: 'OWNER_SSO_NETWORK_FOLDER' })
}
