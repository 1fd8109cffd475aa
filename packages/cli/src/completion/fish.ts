/**
 * The script for fish.
 */
import { type Option, dashed } from '../options/option.ts'
import { sharedOptions } from '../options/shared-options.ts'
import { type Commands, quoted, shellNames } from './words.ts'

/** What a command substitution prints is data to fish, a line a name, and is quoted where it is put into the command line. */
const accounts = `-x -a '(owner-sso accounts 2>/dev/null)'`

export function fish(commands: Commands): string {
  const described = commands.map(
    ({ name, summary }) => `complete -c owner-sso -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
  )
  const own = commands.flatMap(({ name, options }) =>
    Object.entries(options).map(
      (option) => `complete -c owner-sso -n '__fish_seen_subcommand_from ${name}' ${completionOf(option)}`,
    ),
  )
  const shared = Object.entries(sharedOptions).map((option) => `complete -c owner-sso ${completionOf(option)}`)
  return [
    '# fish completion of owner-sso',
    'complete -c owner-sso -f',
    ...described,
    `complete -c owner-sso -n '__fish_seen_subcommand_from completion' -a '${shellNames.join(' ')}'`,
    ...own,
    ...shared,
    "complete -c owner-sso -l help -d 'show this help'",
    "complete -c owner-sso -n __fish_use_subcommand -l version -d 'print the version'",
  ].join('\n')
}

function completionOf([name, option]: readonly [string, Option]): string {
  return `-l ${dashed(name, option).replace(/^--/u, '')} ${valueOf(name, option)}-d ${quoted(option.help)}`
}

function valueOf(name: string, { placeholder }: Option): string {
  if (placeholder === undefined) return ''
  if (name === 'account') return `${accounts} `
  return placeholder === '<path>' ? '-r -F ' : '-x '
}
