/**
 * What can be completed. Names of accounts are no part of a script; it asks for them.
 */
import type { Command } from '../manual/command.ts'
import { type OptionTable, dashed } from '../options/option.ts'
import { sharedOptions } from '../options/shared-options.ts'

/** There is a script for each. */
export const shellNames = ['bash', 'zsh', 'fish', 'powershell'] as const
export type ShellName = (typeof shellNames)[number]

export type Commands = readonly Command[]

export const namesOf = (commands: Commands): readonly string[] => commands.map(({ name }) => name)

const optionsIn = (table: OptionTable): readonly string[] =>
  Object.entries(table).map(([name, option]) => dashed(name, option))

/** The options that stand before a command, or behind one. */
export const flagsOf = (command?: Command): readonly string[] => [
  ...optionsIn(command?.options ?? {}),
  ...optionsIn(sharedOptions),
  '--help',
  ...(command === undefined ? ['--version'] : []),
]

/** Options whose value is the path of a file. */
export function fileFlags(commands: Commands): readonly string[] {
  const all = [...commands.map(({ options }) => options), sharedOptions].flatMap((table) => Object.entries(table))
  return all.filter(([, { placeholder }]) => placeholder === '<path>').map(([name, option]) => dashed(name, option))
}

/** In single quotes, for bash, zsh and fish. */
export const quoted = (text: string): string => `'${text.replaceAll("'", '’')}'`
