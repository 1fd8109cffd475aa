/**
 * The script for zsh.
 */
import { type Commands, fileFlags, flagsOf, namesOf, quoted, shellNames } from './words.ts'

/** `compadd` takes each line for a name, and quotes what it puts into the command line. */
export function zsh(commands: Commands): string {
  const described = commands.map(({ name, summary }) => `      ${quoted(`${name}:${summary}`)}`)
  const cases = commands.map((each) => `    ${each.name}) compadd -- ${flagsOf(each).join(' ')} ;;`)
  return String.raw`# zsh completion of owner-sso
_owner_sso() {
  local command="" part
  local -a names described
  for part in "${'$'}{(@)words[2,CURRENT-1]}"; do
    case " ${namesOf(commands).join(' ')} " in *" $part "*) command="$part"; break ;; esac
  done
  case "${'$'}{words[CURRENT-1]}" in
    --account)
      names=("${'$'}{(@f)$(owner-sso accounts 2>/dev/null)}")
      compadd -- "${'$'}{(@)names:#}"
      return ;;
    ${fileFlags(commands).join(' | ')}) _files; return ;;
    completion) compadd -- ${shellNames.join(' ')}; return ;;
  esac
  case "$command" in
    "")
      described=(
${described.join('\n')}
      )
      _describe command described
      compadd -- ${flagsOf().join(' ')} ;;
${cases.join('\n')}
  esac
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _owner_sso owner-sso`
}
