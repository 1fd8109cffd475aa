/**
 * The system calls that the store makes, as one parameter: tests fail each of them, and record them.
 */
import * as fs from 'node:fs'
import { promisify } from 'node:util'

/** Paths and file descriptors, as in `node:fs`; every call rejects with the system's own error. */
export interface Disk {
  readonly open: (path: string, flags: number, mode?: number) => Promise<number>
  readonly read: (fd: number, buffer: Uint8Array, offset: number) => Promise<number>
  readonly write: (fd: number, buffer: Uint8Array, offset: number) => Promise<number>
  readonly fsync: (fd: number) => Promise<void>
  readonly close: (fd: number) => Promise<void>
  readonly fstat: (fd: number) => Promise<fs.Stats>
  readonly fchmod: (fd: number, mode: number) => Promise<void>
  readonly lstat: (path: string) => Promise<fs.Stats>
  readonly mkdir: (path: string, mode: number) => Promise<void>
  readonly readdir: (path: string) => Promise<string[]>
  readonly link: (existing: string, path: string) => Promise<void>
  readonly unlink: (path: string) => Promise<void>
  readonly realpath: (path: string) => Promise<string>
  readonly statfs: (path: string) => Promise<{ readonly type: number }>
}

const read = promisify(fs.read)
const write = promisify(fs.write)

/** The real one. */
export const systemDisk: Disk = {
  open: promisify(fs.open),
  read: async (fd, buffer, offset) => (await read(fd, buffer, offset, buffer.byteLength - offset, offset)).bytesRead,
  write: async (fd, buffer, offset) =>
    (await write(fd, buffer, offset, buffer.byteLength - offset, offset)).bytesWritten,
  fsync: promisify(fs.fsync),
  close: promisify(fs.close),
  fstat: promisify(fs.fstat),
  fchmod: promisify(fs.fchmod),
  lstat: promisify(fs.lstat),
  mkdir: promisify(fs.mkdir),
  readdir: promisify(fs.readdir),
  link: promisify(fs.link),
  unlink: promisify(fs.unlink),
  realpath: promisify(fs.realpath),
  statfs: (path) => promisify(fs.statfs)(path),
}

/** How an existing file is opened: a link is not followed, and a FIFO doesn't block. Windows knows neither: there they are undefined, which adds nothing. */
export const readFlags: number = fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK

/** How a new file is made: only where there is nothing, not even a dangling link. */
export const createFlags: number =
  fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_EXCL | fs.constants.O_NOFOLLOW

/** The `code` of a system error, such as `ENOENT`; `undefined` where it is no system error. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  return 'syscall' in error && 'code' in error ? String(error.code) : undefined
}

/** Awaits a call; `undefined` where it fails with one of these codes. */
export async function unless<Value>(call: Promise<Value>, ...codes: string[]): Promise<Value | undefined> {
  try {
    return await call
  } catch (error) {
    if (codes.includes(codeOf(error) ?? '')) return undefined
    throw error
  }
}

/** Writes a new file, 0600 from its first instant, and waits until its content is on the disk. */
export async function writeNewFile(disk: Disk, path: string, content: Uint8Array): Promise<void> {
  const fd = await disk.open(path, createFlags, 0o600)
  try {
    for (let written = 0; written < content.byteLength;) written += await disk.write(fd, content, written)
    await disk.fsync(fd)
  } finally {
    // Some file systems report a failed write only here.
    await disk.close(fd)
  }
}

/** Waits until a file, or the names in a folder, are on the disk. Windows can't sync a folder, and needs no such call. */
export async function sync(disk: Disk, path: string): Promise<void> {
  const refused = process.platform === 'win32' ? ['EPERM', 'EISDIR', 'EACCES'] : []
  const fd = await unless(disk.open(path, readFlags), ...refused)
  if (fd === undefined) return
  try {
    await unless(disk.fsync(fd), ...refused)
  } finally {
    closeQuietly(disk, fd)
  }
}

/** Closes what was only read: nobody has to wait for it, and nothing can be lost with it. */
export function closeQuietly(disk: Disk, fd: number): void {
  disk.close(fd).catch(() => undefined)
}
