/**
 * What can be completed: the words of the command table. Names of accounts are no part of a script; it asks for them.
 */
import { commandTable, globalOptions } from '../command-table.ts'

export const commands: readonly string[] = commandTable.map(({ name }) => name)

/** The option in `--store <address>`. */
export const flagOf = (flags: string): string => flags.split(' ')[0] ?? ''

/** All options of a command; of no command, those that stand before one. */
export const flagsOf = (command: string): readonly string[] => [
  ...(commandTable.find(({ name }) => name === command)?.options ?? []).map(([flags]) => flagOf(flags)),
  ...globalOptions.map(([flags]) => flagOf(flags)),
  '--help',
  ...(command === '' ? ['--version'] : []),
]

/** Options whose value is the path of a file. */
export const fileFlags: readonly string[] = [...commandTable.flatMap(({ options = [] }) => options), ...globalOptions]
  .filter(([flags]) => flags.endsWith('<path>'))
  .map(([flags]) => flagOf(flags))

/** In single quotes, for any of the shells. */
export const quoted = (text: string): string => `'${text.replaceAll("'", '’')}'`
