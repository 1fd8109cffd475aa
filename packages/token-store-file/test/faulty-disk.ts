/** The real disk with something wrong, or with somebody looking on. */
import { existsSync } from 'node:fs'
import { type Disk, systemDisk } from '../src/disk.ts'

/** One system call of the store. */
export interface Call {
  readonly name: keyof Disk
  readonly arguments: readonly unknown[]
}

/** A system error as `node:fs` makes it. */
export function systemError(code: string, syscall: string): Error {
  return Object.assign(new Error(`${code}: injected, ${syscall}`), { code, syscall, errno: -1 })
}

/** Every call of a disk goes through `around`, which makes it by calling `proceed`, or doesn't. */
export function watched(
  around: (call: Call, proceed: () => Promise<unknown>) => Promise<unknown>,
  disk: Disk = systemDisk,
): Disk {
  return new Proxy(disk, {
    get:
      (target, name: keyof Disk) =>
      (...args: unknown[]) =>
        around({ name, arguments: args }, () => Reflect.apply(target[name], undefined, args)),
  })
}

/** As exFAT is; other file systems answer with other codes. A name that is there already is what the system looks at first. */
export const withoutHardLinks = (code = 'EPERM'): Disk => ({
  ...systemDisk,
  link: (_existing, path) => Promise.reject(systemError(existsSync(path) ? 'EEXIST' : code, 'link')),
})
