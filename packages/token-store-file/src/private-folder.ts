/**
 * What the store does not touch: a folder or file that is not this user's own, or that others could change.
 *
 * The folder's own mode is what keeps others out. So once a folder below it was looked at, nobody but this user can have
 * put another in its place.
 */
import { readFileSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'
import { StoreError } from '@owner-sso/token-manager'
import type { Disk } from './disk.ts'

const permissions = (message: string): StoreError => new StoreError('permissions', `${message} Nothing was written.`)

/**
 * The store's own folder, and all those in which it lies: who may write to one of them could put another in its place. Where
 * everybody may, it is rejected; where another user may, or a group with other members, a warning says so. `/tmp` is sticky:
 * there one can only remove what is one's own.
 */
export async function checkRoot(disk: Disk, path: string): Promise<void> {
  await checkFolder(disk, path)
  if (!isPosix()) return
  const parent = dirname(path)
  // As it is written, and as it is once its links are followed: either can be led elsewhere.
  const above = new Set([...upwards(parent), ...upwards(await disk.realpath(parent))])
  const looks = [...above].map(async (folder) => checkAbove(folder, await disk.lstat(folder)))
  await Promise.all(looks)
}

function checkAbove(folder: string, stats: Stats): void {
  const { mode, uid, gid } = stats
  const [groupWrites, othersWrite, sticky] = [0o020, 0o002, 0o1000]
  if (!isOwn(stats) && uid !== 0 && uid !== unknownUser) {
    tell(
      `User ${uid} owns ${folder}, on the way to the token store, and could replace it. Run chown on it, or choose another path.`,
    )
  }
  // A link has no mode of its own: the folder in which it lies decides.
  if (stats.isSymbolicLink() || (mode & sticky) !== 0) return
  if ((mode & othersWrite) !== 0) {
    throw permissions(`Every user can write to ${folder}: use a private folder, or run chmod o-w on this one.`)
  }
  if ((mode & groupWrites) === 0 || isOwnGroup(gid)) return
  tell(
    `Members of group ${gid} can write to ${folder}, which contains the token store, and could replace it. Run chmod g-w on it, or choose another path.`,
  )
}

/** What a container without root shows in place of each user outside it, the real root among them. */
const unknownUser = 65_534

function tell(message: string): void {
  process.emitWarning(message, { type: 'SecurityWarning', code: 'OWNER_SSO_SHARED_FOLDER' })
}

/** A folder and all above it. */
function upwards(folder: string): string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...upwards(parent)]
}

/** @throws StoreError `permissions`; the system's own error where there is no such folder. */
export async function checkFolder(disk: Disk, path: string): Promise<void> {
  const stats = await disk.lstat(path)
  if (stats.isSymbolicLink()) throw permissions(`${path} is a symbolic link: give the path that it leads to.`)
  if (!stats.isDirectory()) throw permissions(`${path} is not a folder: move it away, or choose another path.`)
  if (!isPosix()) return
  if (!isOwn(stats)) throw permissions(`${path} belongs to user ${stats.uid}: run chown, or choose another path.`)
  if ((stats.mode & 0o022) !== 0) throw permissions(`Other users can write to ${path}: run chmod go-w on it.`)
}

/**
 * Whether an open file may be read: an ordinary file of this user. Its mode is repaired.
 *
 * @param isTemporary - whether the file's second link is the temporary file of a write under way
 */
export async function checkFile(
  disk: Disk,
  fd: number,
  path: string,
  isTemporary: (stats: Stats) => Promise<boolean>,
): Promise<Stats> {
  const stats = await disk.fstat(fd)
  if (!stats.isFile()) throw permissions(`${path} is not an ordinary file: somebody put it there; remove it.`)
  if (!isPosix()) return stats
  if (!isOwn(stats)) throw permissions(`${path} belongs to user ${stats.uid}: somebody put it there; remove it.`)
  // The second look is for a temporary name that went away in between.
  if (stats.nlink > 1 && !(await isTemporary(stats)) && (await disk.fstat(fd)).nlink > 1) {
    throw permissions(`${path} has a second name (a hard link) elsewhere: remove one of the two.`)
  }
  if ((stats.mode & 0o077) !== 0) await disk.fchmod(fd, 0o600)
  return stats
}

/** A symbolic link in place of a version file, met by opening it. */
export function refuseLink(path: string): StoreError {
  return permissions(`${path} is a symbolic link: somebody put it there; remove it.`)
}

const isPosix = (): boolean => process.getuid !== undefined
const isOwn = (stats: Stats): boolean => stats.uid === process.getuid?.()

/**
 * Whether a group has nobody in it but this user and root: many systems give such a one to each user, and a umask of 002 with it.
 * As far as /etc/passwd and /etc/group tell; elsewhere, `false`.
 */
function isOwnGroup(gid: number): boolean {
  // Other systems have their users elsewhere.
  if (process.platform !== 'linux') return false
  try {
    const users = linesOf('/etc/passwd').map(([name = '', , uid, group]) => ({
      name,
      uid: Number(uid),
      group: Number(group),
    }))
    const trusted = users.filter(({ uid }) => uid === 0 || uid === process.getuid?.()).map(({ name }) => name)
    const groups = linesOf('/etc/group').filter(([, , id]) => Number(id) === gid)
    const listed = groups.flatMap(([, , , members = '']) => members.split(',').filter(Boolean))
    const primary = users.filter(({ group }) => group === gid).map(({ name }) => name)
    return groups.length > 0 && [...listed, ...primary].every((name) => trusted.includes(name))
  } catch {
    return false
  }
}

function linesOf(path: string): string[][] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(':'))
}
