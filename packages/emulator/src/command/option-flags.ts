/**
 * The options of `startEmulator` as flags: their names with dashes; and the help. What a value may be, the options check themselves.
 */
import type { ParseArgsConfig } from 'node:util'
import { parseEmulatorOptions, type EmulatorOptions } from '../options/check-options.ts'
import { optionNames, optionTable, type OptionName } from '../options/option-table.ts'
import { scenarios } from '../switches/scenarios.ts'

const defaults = parseEmulatorOptions()

/** Those that take no value: `--tls`. */
const plainFlags = optionNames.filter((name) => optionTable[name].check.accepts(true) && defaults[name] === false)
/** Those that can be left out by name: `--no-firewall`. */
const negatedFlags = optionNames.filter((name) => optionTable[name].check.accepts(false) && defaults[name] !== false)
/** Those that take a value, as JSON or as plain text. */
const valuedFlags = optionNames.filter((name) => !optionTable[name].check.accepts(true))

export const optionFlags: NonNullable<ParseArgsConfig['options']> = Object.fromEntries([
  ...plainFlags.map((name) => [dashed(name), { type: 'boolean' }] as const),
  ...negatedFlags.map((name) => [`no-${dashed(name)}`, { type: 'boolean' }] as const),
  ...valuedFlags.map((name) => [dashed(name), { type: 'string' }] as const),
])

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
function parsed(text: unknown): unknown {
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

export function helpText(): string {
  return `npx @owner-sso/emulator: the SSO service and a small owner API, on loopback
npx @owner-sso/emulator record: writes a login at a real service down, without a secret (record --help)
npx @owner-sso/emulator replay: answers from a recorded login (replay --help)

Options
${optionNames.flatMap(helpLines).join('\n')}
${line('--scenario <name>', 'A scenario of the list below; repeat it for several')}
${line('--ca-file <file>', 'Write the certificate authority there (PEM)')}
${line('--client-secret-file <file>', 'Write the secret of the registered application there (--service registered)')}
${line('--help, --version', '')}

Scenarios
${Object.entries(scenarios)
  .map(([name, { about }]) => line(name, about))
  .join('\n')}

Most of this can be changed while it runs as well: the README has the control API.

Examples:
  npx @owner-sso/emulator --port 9000 --allow-browsers
  npx @owner-sso/emulator --tls --ca-file ca.pem --mfa-at form-submission
  npx @owner-sso/emulator --scenario rotation-lost --latency 200
`
}

function helpLines(name: OptionName): string[] {
  const { about, without = about } = optionTable[name]
  const flag = `--${dashed(name)}`
  return [
    ...(plainFlags.includes(name) ? [line(flag, about)] : []),
    ...(valuedFlags.includes(name) ? [valuedLine(name, flag)] : []),
    ...(negatedFlags.includes(name) ? [line(`--no-${dashed(name)}`, without)] : []),
  ]
}

function valuedLine(name: OptionName, flag: string): string {
  const { about, check } = optionTable[name]
  const preset = defaults[name]
  const values = check.choices?.map((choice) => (choice === preset ? `${String(choice)} (default)` : String(choice)))
  if (values) return line(`${flag} <value>`, `${about}: ${values.join(', ')}`)
  if (preset === undefined || (typeof preset === 'object' && preset !== null)) return line(`${flag} <json>`, about)
  return line(`${flag} <${typeof preset === 'string' ? 'name' : 'n'}>`, `${about}: ${String(preset)} (default)`)
}

/** Two columns, the right one wrapped between words. */
function line(left: string, right: string): string {
  const rows = right.match(/.{1,70}(?= |$)/gu) ?? ['']
  return rows.map((row, index) => `  ${(index === 0 ? left : '').padEnd(38)} ${row.trimStart()}`.trimEnd()).join('\n')
}
