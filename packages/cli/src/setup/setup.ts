/**
 * `owner-sso setup`: asks for what a first use needs, tries each answer, and writes the config file.
 */
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Call } from '../command-line/command.ts'
import type { setup } from '../command-line/manual.ts'
import { systemError, usageError } from '../command-line/command-error.ts'
import { type ConfigFile, readConfigFile } from '../settings/config-file.ts'
import { configFile } from '../settings/folders.ts'
import { printNote } from '../terminal/output.ts'
import { canAsk } from '../terminal/prompts.ts'
import { type Answers, askForSettings } from './questions.ts'

export async function run({ settings }: Call<typeof setup>): Promise<void> {
  if (!canAsk(settings) || settings.json) {
    throw usageError(
      'setup asks questions, and there is nobody to answer them.',
      `Run it in a terminal, or write {"authUrl": "https://…"} into ${configFile}.`,
    )
  }
  printNote('Each answer is tried at once. Ctrl-C stops, and nothing is written before the last one.')
  const former = writeConfigFile(await askForSettings(settings))
  printNote(`Your settings are in ${configFile}.`)
  if (former !== undefined) printNote(`The former ones are in ${former}.`)
  printNote('Next, sign in: owner-sso login')
}

/** The settings that `setup` asks for: one that was left empty is no longer set. All others stay. */
const asked = new Set(['proxy', 'authUrl', 'service', 'regionalAuthUrls', 'apiUrl', 'store', 'account'])

/**
 * Whole or not at all, for its owner alone.
 *
 * @returns where the former file is, if there was one
 * @throws CommandError where it can't be written
 */
function writeConfigFile(answers: Answers): string | undefined {
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
    const next = 'It is as it was. Look at the owner and mode of its folder.'
    throw systemError(`${configFile} could not be written`, error, next)
  }
}
