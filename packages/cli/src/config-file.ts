/**
 * The config file: JSON with settings that would else be options or environment variables. It holds no secrets but the
 * password in the address of a store.
 */
import { readFileSync, type Stats, statSync } from 'node:fs'
import { nearestName } from '@owner-sso/core'
import { usageError } from './command-error.ts'
import { configFile } from './folders.ts'
import { systemCode } from './system-code.ts'

export interface ConfigFile {
  readonly authUrl?: string
  readonly apiUrl?: string
  readonly regionalAuthUrls?: readonly string[]
  readonly store?: string
  readonly account?: string
  readonly ca?: string
  readonly redirectUri?: string
  /** A name, or what it is made of. */
  readonly transport?: string | object
  /** Whether folders have their keys in the keyring. */
  readonly keyring?: boolean
  /** Requests a minute as text, or `perMinute` and `burst`. */
  readonly requestBudget?: string | object
}

const names = [
  'authUrl',
  'apiUrl',
  'regionalAuthUrls',
  'store',
  'account',
  'ca',
  'redirectUri',
  'transport',
  'keyring',
  'requestBudget',
] satisfies (keyof ConfigFile)[]

/** @throws CommandError where the file is there but can't be used */
export function readConfigFile(): ConfigFile {
  const text = textOf(configFile)
  if (text === undefined) return {}
  const config = parsed(text)
  for (const [name, value] of Object.entries(config)) {
    const known = (names as readonly string[]).includes(name)
    if (!known) throw wrong(`has no setting ${JSON.stringify(name)}`, settingsNear(name))
    const [fits, kind] = expected(name, value)
    if (!fits) throw wrong(`has a wrong ${name}`, `It must be ${kind}.`)
  }
  return config
}

function settingsNear(name: string): string {
  const meant = nearestName(name, names)
  return `${meant === undefined ? '' : `Did you mean ${meant}? `}Settings are ${names.join(', ')}.`
}

/** Whether a setting's value is of its kind, and which that is. */
function expected(name: string, value: unknown): readonly [fits: boolean, kind: string] {
  const isText = typeof value === 'string' && value !== ''
  if (name === 'regionalAuthUrls') return [isStrings(value), 'a list of addresses']
  if (name === 'transport') return [isText || isObject(value), 'a name, or an object with tls, http2 and userAgent']
  if (name === 'keyring') return [typeof value === 'boolean', 'true or false']
  if (name === 'requestBudget')
    return [isText || isObject(value), 'text such as "300", or an object with perMinute and burst']
  return [isText, 'text']
}

/**
 * What is wrong with who may read or change it, where that is known. Who can change it can send the next password to an
 * address of their own.
 */
export function openToOthers({
  store = '',
}: ConfigFile): { readonly problem: string; readonly fix: string } | undefined {
  const stats = process.getuid === undefined ? undefined : statsOf(configFile)
  if (stats === undefined) return undefined
  const fix = `Run chmod 600 ${configFile}`
  const { mode, uid } = stats
  if (uid !== 0 && uid !== process.getuid?.())
    return { problem: `${configFile} belongs to user ${uid}.`, fix: 'Run chown.' }
  if ((mode & 0o022) !== 0) return { problem: `Other users can change ${configFile}.`, fix }
  const hasPassword = URL.canParse(store) && new URL(store).password !== ''
  if (!hasPassword || (mode & 0o044) === 0) return undefined
  return {
    problem: `Other users can read ${configFile}, and the password in it.`,
    fix: `${fix}, and change the password.`,
  }
}

/** `undefined` where there is no such file: in a home that is no folder, for example. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = systemCode(error) ?? 'unknown'
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw wrong(`can’t be read (${code})`, 'Look at its owner and mode.')
  }
}

function parsed(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch {
    // Said below.
  }
  throw wrong('is not a JSON object', 'Write something like {"authUrl": "https://auth.example.com"}.')
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function wrong(problem: string, next: string): Error {
  return usageError(`The config file ${configFile} ${problem}.`, next)
}
