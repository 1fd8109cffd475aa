/**
 * Where the command keeps its things: one private folder of this user.
 */
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import envPaths from 'env-paths'
import { usageError } from '../failure/command-error.ts'

const { config } = envPaths('owner-sso', { suffix: '' })

/**
 * `$XDG_CONFIG_HOME/owner-sso`, else `~/.config/owner-sso` (and what macOS and Windows have instead). A relative path is
 * none (XDG Base Directory Specification): there would be tokens wherever the command happened to run.
 */
export const configFolder: string = isAbsolute(config) ? config : join(homedir(), '.config', 'owner-sso')

/** Settings, no secrets. */
export const configFile: string = join(configFolder, 'config.json')

export const tokensFolder: string = join(configFolder, 'tokens')

/**
 * The place that a store's address names.
 *
 * @throws CommandError as `expandHome` does
 */
export function storePath(path: string): string {
  return resolve(expandHome(path))
}

/**
 * `~/…` in a setting means this user's folder; a shell has seen to it only where it stood at the start of a word.
 *
 * @throws CommandError for what only a shell would replace: it would be a folder of that name, wherever the command happened to run
 */
export function expandHome(path: string): string {
  if (/^~(?![^/\\])/u.test(path)) return join(homedir(), path.slice(1))
  if (!/^(?:~|\$\{?\w|%\w+%)/u.test(path)) return path
  const next = `Write the whole path, or ~/… for one below your home. If it is called so: ./${path}`
  throw usageError(`The path ${path} begins with what only a shell replaces.`, next)
}
