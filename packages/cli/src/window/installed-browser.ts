/**
 * Finds an installed browser of the Chromium family: the one that the person names, else Chrome, Chromium, Edge or Brave.
 */
import { accessSync, constants, statSync } from 'node:fs'
import { homedir } from 'node:os'
import ownPath, { type PlatformPath, posix, win32 } from 'node:path'
import { usageError } from '../failure/command-error.ts'
import { expandHome } from '../machine/folders.ts'

const programs = [
  'google-chrome',
  'google-chrome-stable',
  'chromium',
  'chromium-browser',
  'microsoft-edge',
  'microsoft-edge-stable',
  'brave-browser',
  'brave-browser-stable',
  'brave',
]

/** Where Linux has programs, should PATH not say so. */
const programFolders = ['/usr/local/bin', '/usr/bin', '/bin', '/snap/bin']

const macApplications = ['Google Chrome', 'Chromium', 'Microsoft Edge', 'Brave Browser']

const windowsPrograms = [
  ['Google', 'Chrome', 'Application', 'chrome.exe'],
  ['Chromium', 'Application', 'chrome.exe'],
  ['Microsoft', 'Edge', 'Application', 'msedge.exe'],
  ['BraveSoftware', 'Brave-Browser', 'Application', 'brave.exe'],
] as const

/**
 * The path of the browser to start; undefined where none is installed.
 *
 * @throws CommandError where `OWNER_SSO_BROWSER` names none
 */
export function installedBrowser(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const named = env['OWNER_SSO_BROWSER'] ?? ''
  if (named === '') return usualPlaces(process.platform, env, homedir()).find(isProgram)
  const found = placesOf(expandHome(named), env).find(isProgram)
  if (found !== undefined) return found
  throw usageError(
    'The browser that OWNER_SSO_BROWSER names is not there.',
    'Set it to the path of Chrome, Chromium, Edge or Brave, or run owner-sso login --paste.',
  )
}

/** A path stands for itself, a name for a program of PATH. */
function placesOf(named: string, env: NodeJS.ProcessEnv): string[] {
  return /[\\/]/u.test(named) ? [named] : pathFolders(env, ownPath).map((folder) => ownPath.join(folder, named))
}

/** Where these browsers lie on a platform, the one to take first first. */
export function usualPlaces(platform: NodeJS.Platform, env: NodeJS.ProcessEnv, home: string): string[] {
  if (platform === 'darwin') {
    const folders = ['/Applications', posix.join(home, 'Applications')]
    return macApplications.flatMap((name) => folders.map((folder) => `${folder}/${name}.app/Contents/MacOS/${name}`))
  }
  if (platform === 'win32') {
    const folders = [env['PROGRAMFILES'], env['PROGRAMFILES(X86)'], env['LOCALAPPDATA']].filter(isGiven)
    return windowsPrograms.flatMap((parts) => folders.map((folder) => win32.join(folder, ...parts)))
  }
  const folders = [...new Set([...pathFolders(env, posix), ...programFolders])]
  return programs.flatMap((name) => folders.map((folder) => posix.join(folder, name)))
}

/** A relative one would run whatever lies where the command was called. */
function pathFolders({ PATH = '' }: NodeJS.ProcessEnv, rules: PlatformPath): string[] {
  return PATH.split(rules.delimiter).filter((folder) => rules.isAbsolute(folder))
}

function isGiven(folder: string | undefined): folder is string {
  return folder !== undefined && folder !== ''
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
