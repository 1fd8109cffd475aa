/**
 * The options with their defaults.
 */
import { checkOptions } from './check-options.ts'
import { isRecord } from './checks.ts'
import { optionNames, optionTable } from './option-table.ts'
import type { EmulatorOptions, EmulatorSettings } from './options.ts'

/** @throws {TypeError} An option is unknown or wrong; the message names it. */
export function parseEmulatorOptions(options: EmulatorOptions = {}): EmulatorSettings {
  checkOptions(options)
  const settings: unknown = Object.fromEntries(
    optionNames.map((name) => [name, completed(options[name], optionTable[name].default)]),
  )
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table has a row of the right type for each option
  return settings as EmulatorSettings
}

/** The value, with the default for what is left out: for each field, where it has several. */
function completed(given: unknown, preset: unknown): unknown {
  if (given === undefined) return preset
  return isRecord(given) && isRecord(preset) ? { ...preset, ...given } : given
}
