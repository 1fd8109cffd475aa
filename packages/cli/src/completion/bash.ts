/**
 * The script for bash, 4 and later.
 */
import { type Commands, fileFlags, flagsOf, namesOf, shellNames } from './words.ts'

/**
 * A name is read as a line and quoted with `%q`: `compgen -W` would expand it, and bash puts what it is given into the
 * command line as it is. The word is cut out of the line because to bash it ends at `@`, `:` and `=`: what stands before
 * the last of them stays on the line, and must not be in the answer (an `@` must).
 */
export function bash(commands: Commands): string {
  const cases = commands.map((each) => `    ${each.name}) flags="${flagsOf(each).join(' ')}" ;;`)
  return String.raw`# bash completion of owner-sso
_owner_sso() {
  local line="${'$'}{COMP_LINE:0:COMP_POINT}" command="" flags="" part name kept=""
  local word="${'$'}{line##*[[:space:]]}"
  local -a words
  read -ra words <<< "${'$'}{line%"$word"}"
  local before="${'$'}{words[@]: -1}"
  COMPREPLY=()
  for part in "${'$'}{words[@]:1}"; do
    case " ${namesOf(commands).join(' ')} " in *" $part "*) command="$part"; break ;; esac
  done
  case "$before" in
    --account)
      local breaks="${'$'}{COMP_WORDBREAKS//[^@:=]/}"
      [[ -n "$breaks" && "$word" == *[$breaks]* ]] && kept="${'$'}{word%"${'$'}{word##*[$breaks]}"}" && kept="${'$'}{kept%@}"
      while IFS= read -r name; do
        name="$(printf %q "$name")"
        [[ "$name" == "$word"* ]] && COMPREPLY+=("${'$'}{name#"$kept"}")
      done < <(owner-sso accounts 2>/dev/null)
      return ;;
    ${fileFlags(commands).join(' | ')}) compopt -o default; return ;;
    completion) COMPREPLY=($(compgen -W "${shellNames.join(' ')}" -- "$word")); return ;;
  esac
  case "$command" in
    "") flags="${[...namesOf(commands), ...flagsOf()].join(' ')}" ;;
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$flags" -- "$word"))
}
complete -F _owner_sso owner-sso`
}
