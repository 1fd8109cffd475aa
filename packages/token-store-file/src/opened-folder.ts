/**
 * Opening the store's folder: it is made where it is missing, looked at, and cleared of what dead processes left.
 */
import { dirname, join } from 'node:path'
import { type Disk, sync, unless } from './disk.ts'
import { probeHardLinks } from './hard-links.ts'
import { accountFolder, parseTemporaryName, shardFolder, temporaryFolder } from './layout.ts'
import { checkFolder, checkRoot } from './private-folder.ts'
import { isAlive } from './process-name.ts'

/** So many accounts' folders are remembered as looked at: about 100 bytes each. */
const remembered = 250_000

export interface OpenedFolder {
  /** Opens the folder once; the next call tries again where it failed. */
  readonly open: () => Promise<void>
  /** Checks an account's folder once; `false` where there is none. */
  readonly hasAccount: (key: string) => Promise<boolean>
  /** Makes an account's folder, durably. @throws the system's ENOENT where the store's own folder is gone */
  readonly addAccount: (key: string) => Promise<void>
  /** The folder was removed: all that is known of it goes, and the next call opens it anew. */
  readonly forget: () => void
}

export function openedFolder(disk: Disk, root: string): OpenedFolder {
  let opening: Promise<void> | undefined
  const accounts = new Set<string>()
  const shards = new Set<string>()

  const check = async (name: string, folder: string, checked: Set<string>): Promise<boolean> => {
    if (checked.has(name)) return true
    const found = await unless(
      checkFolder(disk, folder).then(() => true),
      'ENOENT',
    )
    if (checked.size >= remembered) checked.clear()
    if (found) checked.add(name)
    return found ?? false
  }
  const checkShard = (folder: string): Promise<boolean> => check(folder, folder, shards)
  const checkAccount = (key: string): Promise<boolean> => check(key, accountFolder({ root, key }), accounts)

  return {
    open: () =>
      (opening ??= openRoot(disk, root).catch((error: unknown) => {
        opening = undefined
        throw error
      })),
    forget: () => {
      opening = undefined
      accounts.clear()
      shards.clear()
    },
    hasAccount: async (key) => accounts.has(key) || ((await checkShard(shardFolder(root, key))) && checkAccount(key)),
    addAccount: async (key) => {
      // It may have been removed since it was opened, and what is there now be somebody else's.
      await checkFolder(disk, root)
      const [shard, folder] = [shardFolder(root, key), accountFolder({ root, key })]
      await unless(disk.mkdir(shard, 0o700), 'EEXIST')
      await checkShard(shard)
      await unless(disk.mkdir(folder, 0o700), 'EEXIST')
      await checkAccount(key)
      // Even where another process made them: it may have died before this.
      await sync(disk, root)
      await sync(disk, shard)
    },
  }
}

/**
 * Makes a folder and those above it, durably. Not by Node's own recursive mkdir, which tries for ever where a parent stands
 * and can't hold folders, as `/proc` does.
 */
async function makeFolder(disk: Disk, path: string): Promise<void> {
  const isMade = await unless(make(disk, path), 'ENOENT')
  if (isMade === undefined) {
    if (dirname(path) !== path) await makeFolder(disk, dirname(path))
    await make(disk, path)
  }
  // A link is followed here, which it is not where a folder of ours is synced.
  await sync(disk, await disk.realpath(dirname(path)))
}

/** Where another process is faster, its folder will do. */
async function make(disk: Disk, path: string): Promise<true> {
  await unless(disk.mkdir(path, 0o700), 'EEXIST')
  return true
}

async function openRoot(disk: Disk, root: string): Promise<void> {
  if (!(await unless(disk.lstat(root), 'ENOENT'))) await makeFolder(disk, root)
  await checkRoot(disk, root)
  await warnOfNetworkFolder(disk, root)
  const folder = temporaryFolder(root)
  const names = (await unless(disk.readdir(folder), 'ENOENT')) ?? []
  if (names.length > 0) await checkFolder(disk, folder)
  const leftOver = names.filter((name) => {
    const temporary = parseTemporaryName(name)
    return temporary !== undefined && !isAlive(temporary.writer)
  })
  // On a file system that is read-only now, reading still works.
  await Promise.all(leftOver.map((name) => unless(disk.unlink(join(folder, name)), 'ENOENT', 'EROFS')))
  await probeHardLinks(disk, root)
}

/** Numbers that statfs(2) gives to NFS, SMB and CIFS, and AFS. */
const networkFileSystems = new Set([0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x5346414f])

/** Right for one machine, wrong for several, and nobody can tell which from here: warns, once for each store. */
async function warnOfNetworkFolder(disk: Disk, path: string): Promise<void> {
  const type = await disk.statfs(path).then(
    (fileSystem) => fileSystem.type,
    () => 0,
  )
  // As an unsigned number: some systems give it with a sign.
  if (!networkFileSystems.has(type >>> 0)) return
  const message = `The token store in ${path} is on a network file system. Processes on several machines must not share it: use Redis for that.`
  process.emitWarning(message, { type: 'SecurityWarning', code: 'OWNER_SSO_NETWORK_FOLDER' })
}
