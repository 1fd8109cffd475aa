/**
 * The config file: JSON with settings that would else be options or environment variables. It holds no secrets but the
 * passwords in the addresses of a store and an outbound proxy.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { nearestName, systemCode, textFromUtf8 } from '@owner-sso/core'
import { systemError, usageError } from '../failure/command-error.ts'
import { configFile } from '../machine/folders.ts'
import { isObject, type SettingName, settingRows, type SettingValue } from './setting-table.ts'

export type ConfigFile = { readonly [Name in SettingName]?: SettingValue<Name> | undefined }

const kinds = new Map<string, (typeof settingRows)[number][1]['kind']>(
  settingRows.map(([name, { kind }]) => [name, kind]),
)

/** @throws CommandError where the file is there but can't be used */
export function readConfigFile(): ConfigFile {
  const content = contentOf(configFile)
  if (content === undefined) return {}
  const config = parsed(content)
  for (const [name, value] of Object.entries(config)) {
    const kind = kinds.get(name)
    if (kind === undefined) throw wrong(`has no setting ${JSON.stringify(name)}`, settingsNear(name))
    if (!kind.fits(value)) throw wrong(`has a wrong ${name}`, `It must be ${kind.words}.`)
  }
  return config
}

function settingsNear(name: string): string {
  const names = [...kinds.keys()]
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

function wrong(problem: string, next: string): Error {
  return usageError(`The config file ${configFile} ${problem}.`, next)
}

/**
 * Changes it: whole or not at all, for its owner alone, with the former one beside it.
 *
 * @returns where the former file is, if there was one
 * @throws CommandError where it can't be written
 */
export function changeConfigFile(change: (former: ConfigFile) => ConfigFile): string | undefined {
  const config = change(readConfigFile())
  const [temporary, former] = [`${configFile}.new`, `${configFile}.old`]
  try {
    mkdirSync(dirname(configFile), { recursive: true, mode: 0o700 })
    rmSync(temporary, { force: true })
    writeFileSync(temporary, `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true })
    const replaces = existsSync(configFile)
    if (replaces) copyFileSync(configFile, former)
    renameSync(temporary, configFile)
    return replaces ? former : undefined
  } catch (error) {
    const next = 'It is as it was. Look at the owner and mode of its folder.'
    throw systemError(`${configFile} could not be written`, error, next)
  }
}

/**
 * The line, from 1, of the first mistake in text that is no JSON. Node tells the place of some mistakes alone, and shows the text around
 * others, which may be a secret.
 */
export function brokenLine(text: string): number {
  const problem = problemOf(text)
  const place = / at position (\d+)/u.exec(problem)?.[1]
  const end = place === undefined ? lengthToMistake(text, problem) : Number(place)
  return text.slice(0, end).split('\n').length
}

/** Of a mistake that Node names without its place: what is cut off before it is only incomplete. */
function lengthToMistake(text: string, problem: string): number {
  if (!problem.startsWith('Unexpected token')) return text.trimEnd().length
  let [whole, broken] = [0, text.length]
  while (broken - whole > 1) {
    const middle = Math.floor((whole + broken) / 2)
    if (problemOf(text.slice(0, middle)).startsWith('Unexpected token')) broken = middle
    else whole = middle
  }
  return whole
}

function problemOf(text: string): string {
  try {
    JSON.parse(text)
    return ''
  } catch (error) {
    return String(error instanceof Error ? error.message : error)
  }
}
