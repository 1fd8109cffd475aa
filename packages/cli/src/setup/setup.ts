/**
 * `owner-sso setup`: asks for what a first use needs, tries each answer, and writes the config file.
 */
import type { Call } from '../manual/command.ts'
import type { setup } from '../manual/manual.ts'
import { usageError } from '../failure/command-error.ts'
import { changeConfigFile } from '../settings/config-file-change.ts'
import { configFile } from '../machine/folders.ts'
import { printNote } from '../terminal/output.ts'
import { canAsk } from '../terminal/prompts.ts'
import { askForSettings } from './questions.ts'

export async function run({ settings }: Call<typeof setup>): Promise<void> {
  if (!canAsk(settings) || settings.json) {
    throw usageError(
      'setup asks questions, and there is nobody to answer them.',
      `Run it in a terminal, or write {"authUrl": "https://…"} into ${configFile}.`,
    )
  }
  printNote('Each answer is tried at once. Ctrl-C stops, and nothing is written before the last one.')
  const answers = await askForSettings(settings)
  const former = changeConfigFile((config) => ({
    ...answers,
    ...Object.fromEntries(Object.entries(config).filter(([name]) => !asked.has(name))),
  }))
  printNote(`Your settings are in ${configFile}.`)
  if (former !== undefined) printNote(`The former ones are in ${former}.`)
  printNote('Next, sign in: owner-sso login')
}

/** The settings that `setup` asks for: one that was left empty is no longer set. All others stay. */
const asked = new Set(['proxy', 'authUrl', 'service', 'regionalAuthUrls', 'apiUrl', 'store', 'account'])
