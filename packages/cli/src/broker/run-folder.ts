/**
 * The folder with what the program of one run trusts. A program may outlive this process, and goes on trusting that path: so
 * nobody else may ever be able to make it, as they could in the shared temporary folder once it is gone.
 */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CommandError, systemError, usageError } from '../failure/command-error.ts'
import { configFolder } from '../machine/folders.ts'

/** @throws CommandError where there is no place for it */
export function newRunFolder(): string {
  const place = join(configFolder, 'run')
  try {
    mkdirSync(place, { recursive: true, mode: 0o700 })
    chmodSync(place, 0o700)
    requireOwn(realpathSync(place))
    return mkdtempSync(join(place, 'run-'))
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw systemError(`No folder can be made in ${place}`, error, where)
  }
}

const where = 'Let XDG_CONFIG_HOME name a folder of yours.'

/** Who owns a folder above it, or may write to one, could put another in its place. @throws CommandError */
function requireOwn(folder: string): void {
  if (process.getuid === undefined) return
  const { uid, mode } = statSync(folder)
  const [othersWrite, sticky] = [0o002, 0o1000]
  if (uid !== 0 && uid !== process.getuid()) throw usageError(`${folder} belongs to user ${uid}.`, where)
  if ((mode & othersWrite) !== 0 && (mode & sticky) === 0) throw usageError(`Every user can write to ${folder}.`, where)
  if (dirname(folder) !== folder) requireOwn(dirname(folder))
}
