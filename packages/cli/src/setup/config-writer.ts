/**
 * Writes the config file: whole or not at all, for its owner alone, and what was in it is kept beside it.
 */
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { systemCode } from '@owner-sso/core'
import { CommandError, exitCodes } from '../command-line/command-error.ts'
import { type ConfigFile, readConfigFile } from '../settings/config-file.ts'
import { configFile } from '../settings/folders.ts'
import type { Answers } from './questions.ts'

/** The settings that `setup` asks for: one that was left empty is no longer set. All others stay. */
const asked = new Set(['authUrl', 'regionalAuthUrls', 'apiUrl', 'store', 'account'])

/**
 * @returns where the former file is, if there was one
 * @throws CommandError where it can't be written
 */
export function writeConfigFile(answers: Answers): string | undefined {
  const others = Object.entries(readConfigFile()).filter(([name]) => !asked.has(name))
  const config: ConfigFile = { ...answers, ...Object.fromEntries(others) }
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
    const code = systemCode(error) ?? 'unknown'
    throw new CommandError(
      exitCodes.usage,
      `${configFile} could not be written (${code}). It is as it was.`,
      'Look at the owner and mode of its folder.',
    )
  }
}
