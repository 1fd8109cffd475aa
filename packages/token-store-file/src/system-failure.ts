/**
 * What a failed system call means to the person who runs this, as a StoreError.
 */
import { StoreError } from '@owner-sso/token-manager'
import { codeOf } from './disk.ts'

const advice: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full: make room.',
  EDQUOT: 'The disk quota is used up: make room, or ask for more.',
  EFBIG: 'A limit on the size of files is too low.',
  EROFS: 'The file system is read-only: mount it writable, or choose another path.',
  EACCES: 'This user lacks permission: run chown or chmod, or choose another path.',
  EPERM: 'This user lacks permission: run chown or chmod, or choose another path.',
  ENOENT: 'The folder can’t be created, or it is gone: choose another path.',
  ENOTDIR: 'A part of the path is not a folder: choose another path.',
  EIO: 'The disk has an error: look at the system’s log.',
  EMFILE: 'This process has too many files open: raise its limit.',
  ENFILE: 'The system has too many files open: raise its limit.',
  ENAMETOOLONG: 'The path is too long: choose a shorter one.',
}

/** Under Node's own permission model (`--permission`): it has no system's error. */
function forbiddenBy(error: unknown): string | undefined {
  const isForbidden =
    typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_ACCESS_DENIED'
  if (!isForbidden) return undefined
  // Of a call that it forbids altogether it names none.
  if ('permission' in error && Boolean(error.permission)) {
    return 'Node’s permission model forbids access to the token store: allow its folder with --allow-fs-read and --allow-fs-write.'
  }
  return 'Node’s permission model forbids fsync, without which a power loss loses token sets: use a store in a database, or run without --permission.'
}

/** Runs one operation of the store; a system error in it becomes a StoreError with this reason. */
export async function reporting<Answer>(
  reason: 'read-failed' | 'write-failed',
  root: string,
  operation: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await operation()
  } catch (error) {
    const forbidden = forbiddenBy(error)
    if (forbidden !== undefined) throw new StoreError('permissions', `${forbidden} (${root})`, { cause: error })
    const code = codeOf(error)
    if (code === undefined) throw error
    const what = reason === 'read-failed' ? 'read' : 'written'
    throw new StoreError(
      reason,
      `The token store in ${root} could not be ${what} (${code}). ${advice[code] ?? ''}`.trim(),
      {
        cause: error,
      },
    )
  }
}
