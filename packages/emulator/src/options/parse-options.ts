/**
 * The options with their defaults.
 */
import { checkOptions } from './check-options.ts'
import { defaultFirewall, isOptionName, optionNames, optionTable, type OptionRow } from './option-table.ts'
import type { GivenOptions, Settings } from './options.ts'

/** @throws {TypeError} An option is unknown or wrong; the message names it. */
export function parseEmulatorOptions(options: GivenOptions = {}): Settings {
  checkOptions(options)
  const { firewall = {} } = options
  const defaults = Object.fromEntries(optionNames.map((name) => [name, optionTable[name].default]))
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  const today = given.map(([name, value]) => [
    name,
    isOptionName(name) ? valueOfToday(optionTable[name], value) : value,
  ])
  const settings: unknown = {
    ...defaults,
    ...Object.fromEntries(today),
    firewall: firewall && { ...defaultFirewall, ...firewall },
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table has a row of the right type for each option
  return settings as Settings
}

/** The value, by the name that it has today. */
function valueOfToday({ formerly = {} }: OptionRow, value: unknown): unknown {
  return typeof value === 'string' && Object.hasOwn(formerly, value) ? formerly[value] : value
}
