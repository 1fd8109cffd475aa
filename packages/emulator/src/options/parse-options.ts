/**
 * The options with their defaults.
 */
import { checkOptions } from './check-options.ts'
import { defaultFirewall, optionNames, optionTable } from './option-table.ts'
import type { GivenOptions, Settings } from './options.ts'

/** @throws {TypeError} An option is unknown or wrong; the message names it. */
export function parseEmulatorOptions(options: GivenOptions = {}): Settings {
  checkOptions(options)
  const { firewall = {} } = options
  const defaults = Object.fromEntries(optionNames.map((name) => [name, optionTable[name].default]))
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table has a row of the right type for each option
  return {
    ...defaults,
    ...Object.fromEntries(given),
    firewall: firewall && { ...defaultFirewall, ...firewall },
  } as unknown as Settings
}
