/**
 * The settings of one call: each from its option, else its environment variable, else the config file, else its default.
 */
import { refreshFromText, settingFromText } from '@owner-sso/core'
import { usageError } from '../failure/command-error.ts'
import { dashed } from '../options/option.ts'
import { type ConfigFile, hasPassword, openToOthers, readConfigFile } from './config-file.ts'
import { configFile, tokensFolder } from '../machine/folders.ts'
import { orTell } from './secrets.ts'
import {
  type SettingName,
  settingRows,
  settingTable,
  type SettingValue,
  type SharedOptions,
  variableOf,
} from './setting-table.ts'

export interface Given<Value> {
  readonly value: Value
  readonly from: string
}

type Found = { readonly [Name in SettingName]: Given<SettingValue<Name>> | undefined }

export interface Settings extends Omit<Found, 'store' | 'regionalAuthUrls' | 'refresh'> {
  readonly store: Given<string>
  readonly regionalAuthUrls: Given<readonly string[]>
  readonly refresh: Given<'here' | 'elsewhere'>
  readonly json: boolean
  readonly input: boolean
}

/**
 * @param examined - the command says itself who else may read or change the config file
 * @throws CommandError for a config file that can't be used, or is others' to read or change; a password in an option
 */
export function readSettings(options: SharedOptions, examined = false, env: NodeJS.ProcessEnv = process.env): Settings {
  const config = readConfigFile()
  const open = examined ? undefined : openToOthers(config)
  if (open !== undefined) throw usageError(open.problem, open.fix)
  for (const name of ['store', 'proxy'] as const) {
    const given = options[name]
    if (typeof given === 'string') refusePassword(given, dashed(name), variableOf(name))
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each is of the kind that its row says
  const found = Object.fromEntries(settingRows.map(([name]) => [name, givenOf(name, options, env, config)])) as Found
  const refresh = found.refresh ?? { value: 'here', from: 'default' }
  return {
    ...found,
    regionalAuthUrls: found.regionalAuthUrls ?? { value: [], from: 'default' },
    store: found.store ?? { value: `file:${tokensFolder}`, from: 'default' },
    refresh: {
      value: orTell(`Correct ${refresh.from}.`, () => refreshFromText(refresh.value, 'refresh')),
      from: refresh.from,
    },
    json: options.json ?? false,
    input: options.input ?? true,
  }
}

function givenOf(
  name: SettingName,
  options: SharedOptions,
  env: NodeJS.ProcessEnv,
  config: ConfigFile,
): Given<unknown> | undefined {
  const { option, optionName = name, kind }: (typeof settingRows)[number][1] = settingTable[name]
  const [flag, variable] = [dashed(optionName, option), variableOf(name)]
  const onLine = checked(options[optionName], flag)
  // commander says true of every `--no-…` that was not given.
  if (onLine !== true && isGiven(onLine)) return { value: onLine, from: flag }
  const text = checked(env[variable] ?? '', variable)
  if (text !== '') {
    const value = kind.read === undefined ? text : kind.read(String(text))
    if (value !== undefined) return { value, from: variable }
    throw usageError(`${variable} is neither on nor off.`, 'Set it to one of them, or unset it.')
  }
  const configured = checked(config[name], name)
  return isGiven(configured) ? { value: configured, from: configFile } : undefined
}

/** An empty text or list is none. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0)
}

function checked(value: unknown, where: string): unknown {
  return typeof value === 'string' ? orTell(`Correct ${where}.`, () => settingFromText(value, where)) : value
}

/**
 * Arguments are no place for a password.
 *
 * @param where - what the address was given as
 * @param variable - may have it
 * @throws CommandError for an address with a password in it
 */
export function refusePassword(address: string, where: string, variable = 'OWNER_SSO_STORE'): void {
  if (!hasPassword(address)) return
  throw usageError(
    `${where} has a password in it, which everybody on this machine can read in the list of processes.`,
    `Put the address into the environment variable ${variable}, or into the config file.`,
  )
}
