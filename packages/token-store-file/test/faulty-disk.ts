/** The real disk with one thing wrong. */
import { type Disk, systemDisk } from '../src/disk.ts'

/** A system error as `node:fs` makes it. */
export function systemError(code: string, syscall: string): Error {
  return Object.assign(new Error(`${code}: injected, ${syscall}`), { code, syscall, errno: -1 })
}

/** As exFAT is. */
export const withoutHardLinks: Disk = {
  ...systemDisk,
  link: () => Promise.reject(systemError('EPERM', 'link')),
}
