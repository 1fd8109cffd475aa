/**
 * The script for fish.
 */
import { commandTable, globalOptions } from '../command-table.ts'
import { fileFlags, flagOf, quoted } from './words.ts'

/** What a command substitution prints is data to fish, a line a name, and is quoted where it is put into the command line. */
const accounts = `-x -a '(owner-sso accounts 2>/dev/null)'`

export function fish(): string {
  const described = commandTable.map(
    ({ name, summary }) => `complete -c owner-sso -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
  )
  const own = commandTable.flatMap(({ name, options = [] }) =>
    options.map((option) => `complete -c owner-sso -n '__fish_seen_subcommand_from ${name}' ${completionOf(option)}`),
  )
  const shared = globalOptions.map((option) => `complete -c owner-sso ${completionOf(option)}`)
  return [
    '# fish completion of owner-sso',
    'complete -c owner-sso -f',
    ...described,
    "complete -c owner-sso -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'",
    ...own,
    ...shared,
    "complete -c owner-sso -l help -d 'show this help'",
    "complete -c owner-sso -n __fish_use_subcommand -l version -d 'print the version'",
  ].join('\n')
}

function completionOf([flags, description]: readonly [string, string]): string {
  const flag = flagOf(flags)
  return `-l ${flag.replace(/^--/u, '')} ${valueOf(flag, flags)}-d ${quoted(description)}`
}

function valueOf(flag: string, flags: string): string {
  if (!flags.includes('<')) return ''
  if (flag === '--account') return `${accounts} `
  return fileFlags.includes(flag) ? '-r -F ' : '-x '
}
