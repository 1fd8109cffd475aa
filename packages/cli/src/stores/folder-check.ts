/**
 * Whether a store's folder can be written, and whether others could get at it.
 */
import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { access, constants, link as hardLink, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StoreError, systemCode } from '@owner-sso/core'
import { exitCodes } from '../failure/command-error.ts'
import { type Finding, good, problem } from '../terminal/finding.ts'

export async function checkFolder(path: string): Promise<Finding[]> {
  try {
    await access(path, constants.W_OK)
  } catch {
    return [problem('store', `${path} can’t be written.`, `Run chown or chmod u+w on it.`, exitCodes.store)]
  }
  const modes = checkMode(path, '700')
  return modes.level === 'good' ? [modes, await checkHardLinks(path)] : [modes]
}

/** @param right - what it should be, for chmod */
export function checkMode(path: string, right: string): Finding {
  const mode = statSync(path).mode & 0o777
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    return problem('store', `Other users can read ${path}.`, `Run chmod ${right} ${path}`, exitCodes.store)
  }
  return good('file modes', `${mode.toString(8).padStart(4, '0')}: only you can read it`)
}

/** Without them, two processes could overwrite each other's tokens. */
async function checkHardLinks(path: string): Promise<Finding> {
  const [file, link] = [join(path, `doctor.${randomUUID()}`), join(path, `doctor.${randomUUID()}`)]
  try {
    await writeFile(file, '', { mode: 0o600 })
    await hardLink(file, link)
    return good('hard links', 'the file system has them')
  } catch (error) {
    const code = systemCode(error) ?? 'unknown'
    return problem(
      'hard links',
      `The file system of ${path} has no hard links (${code}): two processes could overwrite each other.`,
      'Choose a folder on another file system with --store file:PATH, or another kind of store.',
      exitCodes.store,
    )
  } finally {
    for (const each of [file, link]) await rm(each, { force: true })
  }
}

export async function requireWritableFolder(path: string): Promise<void> {
  try {
    await access(path, constants.W_OK)
  } catch (error) {
    throw new StoreError('write-failed', `The folder ${path} can’t be written.`, { cause: error })
  }
}
