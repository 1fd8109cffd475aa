/**
 * A change of the config file: whole or not at all, for its owner alone, with the former one beside it.
 */
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { systemError } from '../failure/command-error.ts'
import { type ConfigFile, readConfigFile } from './config-file.ts'
import { configFile } from '../machine/folders.ts'

/**
 * @returns where the former file is, if there was one
 * @throws CommandError where it can't be written
 */
export function changeConfigFile(change: (former: ConfigFile) => ConfigFile): string | undefined {
  const config = change(readConfigFile())
  const [temporary, former] = [`${configFile}.new`, `${configFile}.old`]
  try {
    mkdirSync(dirname(configFile), { recursive: true, mode: 0o700 })
    rmSync(temporary, { force: true })
    writeFileSync(temporary, `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true })
    const replaces = existsSync(configFile)
    if (replaces) copyFileSync(configFile, former)
    renameSync(temporary, configFile)
    return replaces ? former : undefined
  } catch (error) {
    const next = 'It is as it was. Look at the owner and mode of its folder.'
    throw systemError(`${configFile} could not be written`, error, next)
  }
}
