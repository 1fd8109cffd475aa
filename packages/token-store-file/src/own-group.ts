/**
 * The group of one user that many systems give to each (and a umask of 002 with it): that such a group may write harms nobody.
 */
import { readFileSync } from 'node:fs'

/** Whether a group has nobody in it but this user and root, as far as /etc/passwd and /etc/group tell; elsewhere, `false`. */
export function isOwnGroup(gid: number): boolean {
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
