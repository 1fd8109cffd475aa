/**
 * Where the command keeps its things: one private folder of this user.
 */
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import envPaths from 'env-paths'
import { usageError } from '../command-line/command-error.ts'

const { config } = envPaths('owner-sso', { suffix: '' })

/**
 * `$XDG_CONFIG_HOME/owner-sso`, else `~/.config/owner-sso` (and what macOS and Windows have instead). A relative path is
 * none (XDG Base Directory Specification): there would be tokens wherever the command happened to run.
 */
export const configFolder: string = isAbsolute(config) ? config : join(homedir(), '.config', 'owner-sso')

/** Settings, no secrets. */
export const configFile: string = join(configFolder, 'config.json')

/** The default store. */
export const tokensFolder: string = join(configFolder, 'tokens')

/**
 * The place that a store's address names.
 *
 * @throws CommandError for what only a shell replaces, and only at the start of a word: it would be a folder of that name
 */
export function storePath(path: string): string {
  const expanded = expandHome(path)
  if (!/^[~$%]/u.test(expanded)) return resolve(expanded)
  const [first = ''] = expanded.split(/[/\\]/u)
  throw usageError(
    `The store would be in a folder named ${first}.`,
    `Write ~/…, or the whole path; ./${first} if that is its name.`,
  )
}

/** `~/…` in a setting means this user's folder; a shell has seen to it only where it stood at the start of a word. */
export function expandHome(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path
}
