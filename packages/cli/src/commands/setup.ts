/**
 * `owner-sso setup`: asks for what a first use needs, tries each answer, and writes the config file.
 */
import type { Call } from '../call.ts'
import { exitCodes, usageError } from '../command-error.ts'
import { configFile } from '../folders.ts'
import { printNote } from '../output.ts'
import { canAsk } from '../prompts.ts'
import { writeConfigFile } from '../setup/config-writer.ts'
import { askForSettings } from '../setup/questions.ts'

export async function run({ settings }: Call): Promise<number> {
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
  return exitCodes.ok
}
