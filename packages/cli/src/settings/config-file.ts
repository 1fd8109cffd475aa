/**
 * The config file: JSON with settings that would else be options or environment variables. It holds no secrets but the
 * passwords in the addresses of a store and an outbound proxy.
 */
import { readFileSync, type Stats, statSync } from 'node:fs'
import { nearestName, systemCode, textFromUtf8 } from '@owner-sso/core'
import { systemError, usageError } from '../failure/command-error.ts'
import { brokenLine } from './broken-json.ts'
import { configFile } from '../machine/folders.ts'

export interface ConfigFile {
  readonly authUrl?: string
  /** `document` or `current`. */
  readonly service?: string
  readonly apiUrl?: string
  readonly regionalAuthUrls?: readonly string[]
  /** An address, or one for each instance. */
  readonly tokenUrl?: string | Readonly<Record<string, string>>
  readonly store?: string
  readonly account?: string
  readonly ca?: string
  readonly redirectUri?: string
  readonly codeChallengeEncoding?: string
  /** The outbound proxy's address. */
  readonly proxy?: string
  /** A name, or what it is made of. */
  readonly transport?: string | object
  /** Whether folders have their keys in the keyring. */
  readonly keyring?: boolean
  /** Requests a minute as text, or `perMinute` and `burst`. */
  readonly requestBudget?: string | object
  /** `here` or `elsewhere`. */
  readonly refresh?: string
}

interface Kind {
  readonly fits: (value: unknown) => boolean
  readonly words: string
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== ''
const isTextOrObject = (value: unknown): boolean => isText(value) || isObject(value)
const text: Kind = { fits: isText, words: 'text' }

const kinds: Readonly<Record<keyof ConfigFile, Kind>> = {
  authUrl: text,
  service: text,
  apiUrl: text,
  regionalAuthUrls: { fits: isStrings, words: 'a list of addresses' },
  tokenUrl: {
    fits: (value) => isText(value) || (isObject(value) && isStrings(Object.values(value))),
    words: 'an address, or an object from the address of an instance to that of its token endpoint',
  },
  store: text,
  account: text,
  ca: text,
  redirectUri: text,
  codeChallengeEncoding: text,
  proxy: text,
  transport: { fits: isTextOrObject, words: 'a name, or an object with tls, http2 and userAgent' },
  keyring: { fits: (value) => typeof value === 'boolean', words: 'true or false' },
  requestBudget: { fits: isTextOrObject, words: 'text such as "300", or an object with perMinute and burst' },
  refresh: text,
}

/** @throws CommandError where the file is there but can't be used */
export function readConfigFile(): ConfigFile {
  const content = contentOf(configFile)
  if (content === undefined) return {}
  const config = parsed(content)
  for (const [name, value] of Object.entries(config)) {
    const kind = new Map(Object.entries(kinds)).get(name)
    if (kind === undefined) throw wrong(`has no setting ${JSON.stringify(name)}`, settingsNear(name))
    if (!kind.fits(value)) throw wrong(`has a wrong ${name}`, `It must be ${kind.words}.`)
  }
  return config
}

function settingsNear(name: string): string {
  const names = Object.keys(kinds)
  const meant = nearestName(name, names)
  return `${meant === undefined ? '' : `Did you mean ${meant}? `}Settings are ${names.join(', ')}.`
}

/**
 * What is wrong with who may read or change it, where that is known. Who can change it can send the next password to an
 * address of their own.
 */
export function openToOthers({
  store = '',
  proxy = '',
}: ConfigFile): { readonly problem: string; readonly fix: string } | undefined {
  const stats = process.getuid === undefined ? undefined : statsOf(configFile)
  if (stats === undefined) return undefined
  const fix = `Run chmod 600 ${configFile}`
  const { mode, uid } = stats
  if (uid !== 0 && uid !== process.getuid?.())
    return { problem: `${configFile} belongs to user ${uid}.`, fix: 'Run chown.' }
  if ((mode & 0o022) !== 0) return { problem: `Other users can change ${configFile}.`, fix }
  if ((!hasPassword(store) && !hasPassword(proxy)) || (mode & 0o044) === 0) return undefined
  return {
    problem: `Other users can read ${configFile}, and the password in it.`,
    fix: `${fix}, and change the password.`,
  }
}

export function hasPassword(address: string): boolean {
  return URL.canParse(address) && new URL(address).password !== ''
}

/** `undefined` where there is no such file: in a home that is no folder, for example. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

function contentOf(path: string): string | undefined {
  try {
    return textFromUtf8(readFileSync(path), `The config file ${path}`)
  } catch (error) {
    if (error instanceof TypeError) throw usageError(`${error.message}.`, 'Write it anew.')
    const code = systemCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw systemError(`The config file ${path} can’t be read`, error, 'Look at its owner and mode.')
  }
}

function parsed(content: string): object {
  try {
    const value: unknown = JSON.parse(content)
    if (isObject(value)) return value
  } catch {
    throw wrong(`is broken JSON, from line ${brokenLine(content)} on`, 'Correct it there: a comma or a quotation mark?')
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
