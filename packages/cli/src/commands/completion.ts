/**
 * `owner-sso completion`: a script that completes commands, options and account names.
 */
import type { Call } from '../call.ts'
import { commandTable, globalOptions } from '../command-table.ts'
import { exitCodes, usageError } from '../command-error.ts'
import { printData } from '../output.ts'

const shells: Readonly<Record<string, () => string>> = { bash, zsh, fish }

export async function run({ args }: Call): Promise<number> {
  const [shell = ''] = args
  const script = Object.hasOwn(shells, shell) ? shells[shell] : undefined
  if (script === undefined) {
    throw usageError(`There is no completion for ${JSON.stringify(shell)}.`, 'There is one for bash, zsh and fish.')
  }
  await printData(script())
  return exitCodes.ok
}

const names = commandTable.map(({ name }) => name)
const flagOf = (flags: string): string => flags.split(' ')[0] ?? ''
const flagsOf = (name: string): string[] => [
  ...(commandTable.find((entry) => entry.name === name)?.options ?? []).map(([flags]) => flagOf(flags)),
  ...globalOptions.map(([flags]) => flagOf(flags)),
  '--help',
]

function bash(): string {
  const cases = names.map((name) => `    ${name}) flags="${flagsOf(name).join(' ')}" ;;`)
  return `# bash completion of owner-sso
_owner_sso() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD - 1]}" command="" flags="" part
  COMPREPLY=()
  for part in "\${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do
    case " ${names.join(' ')} " in *" $part "*) command="$part"; break ;; esac
  done
  case "$before" in
    --account) COMPREPLY=($(compgen -W "$(owner-sso accounts 2>/dev/null)" -- "$word")); return ;;
    --credential-file | --totp-secret-file | --ca) COMPREPLY=($(compgen -f -- "$word")); return ;;
    completion) COMPREPLY=($(compgen -W "bash zsh fish" -- "$word")); return ;;
  esac
  case "$command" in
    "") COMPREPLY=($(compgen -W "${names.join(' ')} ${flagsOf('').join(' ')} --version" -- "$word")); return ;;
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$flags" -- "$word"))
}
complete -F _owner_sso owner-sso`
}

function zsh(): string {
  return `# zsh completion of owner-sso, by way of bash's
autoload -Uz bashcompinit && bashcompinit
${bash()}`
}

function fish(): string {
  const described = commandTable.map(
    ({ name, summary }) => `complete -c owner-sso -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
  )
  const own = commandTable.flatMap(({ name, options = [] }) =>
    options.map((option) => `complete -c owner-sso -n "__fish_seen_subcommand_from ${name}" ${fishOption(option)}`),
  )
  const shared = globalOptions.map((option) => `complete -c owner-sso ${fishOption(option)}`)
  return [
    '# fish completion of owner-sso',
    'complete -c owner-sso -f',
    ...described,
    'complete -c owner-sso -n "__fish_seen_subcommand_from completion" -a "bash zsh fish"',
    ...own,
    ...shared,
  ].join('\n')
}

function fishOption([flags, description]: readonly [string, string]): string {
  const flag = flagOf(flags).replace(/^--/u, '')
  const value = !flags.includes('<') ? '' : flag === 'account' ? ' -x -a "(owner-sso accounts 2>/dev/null)"' : ' -r -F'
  return `-l ${flag}${value} -d ${quoted(description)}`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", '’')}'`
}
