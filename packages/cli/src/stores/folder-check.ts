/**
 * Whether a store's folder can be written, and whether others could get at it.
 */
import { access, constants, stat } from 'node:fs/promises'
import { StoreError } from '@owner-sso/core'
import { exitCodes } from '../command-error.ts'
import { type Finding, good, problem } from '../doctor/finding.ts'

export async function checkFolder(path: string): Promise<Finding> {
  const writable = await access(path, constants.W_OK).then(
    () => true,
    () => false,
  )
  if (!writable) {
    return problem('store', `${path} can’t be written.`, `Run chown or chmod u+w on it.`, exitCodes.store)
  }
  const mode = (await stat(path)).mode & 0o777
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    return problem('store', `Other users can look into ${path}.`, `Run chmod 700 ${path}`, exitCodes.store)
  }
  return good('file modes', `${mode.toString(8).padStart(4, '0')}: only you can look into it`)
}

/** @throws StoreError `write-failed` */
export async function requireWritableFolder(path: string): Promise<void> {
  try {
    await access(path, constants.W_OK)
  } catch (error) {
    throw new StoreError('write-failed', `The folder ${path} can’t be written.`, { cause: error })
  }
}
