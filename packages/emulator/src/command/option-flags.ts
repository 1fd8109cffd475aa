/**
 * The options of `startEmulator` as flags: their names with dashes. What a value may be, the options check themselves.
 */
import type { ParseArgsConfig } from 'node:util'
import type { EmulatorOptions } from '../options/options.ts'
import { parseEmulatorOptions } from '../options/check-options.ts'
import { optionNames, optionTable, type OptionGroup, type OptionName } from '../options/option-table.ts'

/** One flag, for the help. */
export interface Flag {
  readonly name: string
  readonly group: OptionGroup
  readonly about: string
  /** Stands for the value; undefined where there is none. */
  readonly placeholder?: string
  /** The values that it may have, the default among them. */
  readonly values?: string
}

const defaults = parseEmulatorOptions()

/** Those that take no value: `--tls`. */
const plainFlags = optionNames.filter((name) => optionTable[name].check.accepts(true) && defaults[name] === false)
/** Those that can be left out by name: `--no-firewall`. */
const negatedFlags = optionNames.filter((name) => optionTable[name].check.accepts(false) && defaults[name] !== false)
/** Those that take a value, as JSON or as plain text. */
const valuedFlags = optionNames.filter((name) => !optionTable[name].check.accepts(true))

/** For `parseArgs`. */
export const optionFlags: NonNullable<ParseArgsConfig['options']> = Object.fromEntries([
  ...plainFlags.map((name) => [dashed(name), { type: 'boolean' }] as const),
  ...negatedFlags.map((name) => [`no-${dashed(name)}`, { type: 'boolean' }] as const),
  ...valuedFlags.map((name) => [dashed(name), { type: 'string' }] as const),
])

export const optionFlagHelp: readonly Flag[] = optionNames.flatMap((name) => {
  const { group, about, without = about } = optionTable[name]
  const flags: Flag[] = []
  if (plainFlags.includes(name)) flags.push({ name: dashed(name), group, about })
  if (valuedFlags.includes(name)) flags.push({ name: dashed(name), group, about, ...valuesOf(name) })
  if (negatedFlags.includes(name)) flags.push({ name: `no-${dashed(name)}`, group, about: without })
  return flags
})

/** The options that the flags stand for. */
export function optionsOf(flags: Readonly<Record<string, unknown>>): EmulatorOptions {
  return Object.fromEntries([
    ...[...plainFlags, ...valuedFlags].map((name) => [name, parsed(flags[dashed(name)])] as const),
    ...negatedFlags.filter((name) => flags[`no-${dashed(name)}`] === true).map((name) => [name, false] as const),
  ])
}

/** An option's name in a message, as the flag that the reader typed. */
export function flagOf(option: string): string {
  return `--${dashed(option)}`
}

/** JSON where it is JSON (numbers and null are), else the text itself. */
export function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function dashed(name: string): string {
  return name.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)
}

function valuesOf(name: OptionName): Pick<Flag, 'placeholder' | 'values'> {
  const { choices } = optionTable[name].check
  const preset = defaults[name]
  if (choices) {
    const values = choices.map((choice) => (choice === preset ? `${String(choice)} (default)` : String(choice)))
    return { placeholder: 'value', values: values.join(', ') }
  }
  const isJson = typeof preset === 'object' || preset === undefined
  if (name === 'accounts' || (isJson && preset !== null)) return { placeholder: 'json' }
  return { placeholder: typeof preset === 'string' ? 'name' : 'n', values: `${String(preset)} (default)` }
}
