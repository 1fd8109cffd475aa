/**
 * The settings of one call: each from its option, else its environment variable, else the config file, else its default.
 */
import { refreshFromText, settingFromText } from '@owner-sso/core'
import { usageError } from '../failure/command-error.ts'
import { dashed } from '../options/option.ts'
import type { SharedOptions } from '../options/shared-options.ts'
import { type ConfigFile, hasPassword, openToOthers, readConfigFile } from './config-file.ts'
import { configFile, tokensFolder } from '../machine/folders.ts'
import { orTell } from './secret-text.ts'
import { defaultStore } from '../stores/store-kinds.ts'

/** A setting's value and where it was found. */
export interface Given<Value> {
  readonly value: Value
  readonly from: string
}

export interface Settings {
  readonly authUrl: Given<string> | undefined
  /** `document` or `current`, as it was given. */
  readonly service: Given<string> | undefined
  readonly regionalAuthUrls: Given<readonly string[]>
  /** Text as it was given, or an object of the config file. */
  readonly tokenUrl: Given<string | Readonly<Record<string, string>>> | undefined
  readonly apiUrl: Given<string> | undefined
  readonly store: Given<string>
  readonly account: Given<string> | undefined
  /** Path of a PEM file. */
  readonly ca: Given<string> | undefined
  readonly redirectUri: Given<string> | undefined
  readonly codeChallengeEncoding: Given<string> | undefined
  /** The outbound proxy's address, maybe with a password in it. */
  readonly proxy: Given<string> | undefined
  /** Text as it was given, or an object of the config file. */
  readonly transport: Given<string | object> | undefined
  /** Whether folders have their keys in the keyring: all of them, or none; undefined for the default folder alone. */
  readonly keyring: Given<boolean> | undefined
  /** Text, or an object of the config file. */
  readonly requestBudget: Given<string | object> | undefined
  readonly refresh: Given<'here' | 'elsewhere'>
  readonly json: boolean
  /** Whether a person may be asked. */
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
  if (options.store !== undefined) refusePassword(options.store, '--store')
  if (options.proxy !== undefined) refusePassword(options.proxy, '--proxy', 'OWNER_SSO_PROXY')
  /** By the same name wherever it is given: `--auth-url`, `OWNER_SSO_AUTH_URL`, `authUrl`. */
  const given = <Value extends string | object>(
    name: string,
    option: string | undefined,
    configured: Value | undefined,
  ): Given<Value | string> | undefined => {
    const variable = `OWNER_SSO_${dashed(name).slice(2).replaceAll('-', '_').toUpperCase()}`
    return firstGiven<Value | string>(
      [checkedText(option, dashed(name)), dashed(name)],
      [checkedText(env[variable], variable), variable],
      [typeof configured === 'string' ? checkedText(configured, name) : configured, configFile],
    )
  }
  return {
    authUrl: given('authUrl', options.authUrl, config.authUrl),
    service: given('service', options.service, config.service),
    regionalAuthUrls: firstGiven<readonly string[]>(
      [options.regionalAuthUrl, '--regional-auth-url'],
      [
        listed(checkedText(env['OWNER_SSO_REGIONAL_AUTH_URLS'], 'OWNER_SSO_REGIONAL_AUTH_URLS') ?? ''),
        'OWNER_SSO_REGIONAL_AUTH_URLS',
      ],
      [config.regionalAuthUrls, configFile],
    ) ?? { value: [], from: 'default' },
    tokenUrl: given('tokenUrl', undefined, config.tokenUrl),
    apiUrl: given('apiUrl', options.apiUrl, config.apiUrl),
    store: given('store', options.store, config.store) ?? { value: defaultStore(tokensFolder), from: 'default' },
    account: given('account', options.account, config.account),
    ca: given('ca', options.ca, config.ca),
    redirectUri: given('redirectUri', options.redirectUri, config.redirectUri),
    codeChallengeEncoding: given('codeChallengeEncoding', undefined, config.codeChallengeEncoding),
    proxy: given('proxy', options.proxy, config.proxy),
    transport: given('transport', options.transport, config.transport),
    keyring: keyringSetting(options, env, config),
    requestBudget: given('requestBudget', undefined, config.requestBudget),
    refresh: refreshSetting(given('refresh', undefined, config.refresh) ?? { value: 'here', from: 'default' }),
    json: options.json ?? false,
    input: options.input ?? true,
  }
}

/** @throws CommandError for what is neither here nor elsewhere */
function refreshSetting({ value, from }: Given<string>): Settings['refresh'] {
  return { value: orTell(`Correct ${from}.`, () => refreshFromText(value, 'refresh')), from }
}

/** @throws CommandError for a variable that is neither on nor off */
function keyringSetting(
  { keyring }: SharedOptions,
  env: NodeJS.ProcessEnv,
  config: ConfigFile,
): Given<boolean> | undefined {
  if (keyring === false) return { value: false, from: '--no-keyring' }
  const variable = checkedText(env['OWNER_SSO_KEYRING'], 'OWNER_SSO_KEYRING') ?? ''
  if (variable === 'on' || variable === 'off') return { value: variable === 'on', from: 'OWNER_SSO_KEYRING' }
  if (variable !== '')
    throw usageError('OWNER_SSO_KEYRING is neither on nor off.', 'Set it to one of them, or unset it.')
  return config.keyring === undefined ? undefined : { value: config.keyring, from: configFile }
}

/** @throws CommandError for text that can be no setting */
function checkedText(text: string | undefined, where: string): string | undefined {
  return text === undefined ? undefined : orTell(`Correct ${where}.`, () => settingFromText(text, where))
}

function firstGiven<Value extends string | object>(
  ...candidates: readonly (readonly [Value | undefined, string])[]
): Given<Value> | undefined {
  for (const [value, from] of candidates) {
    if (value !== undefined && !isEmpty(value)) return { value, from }
  }
  return undefined
}

/** An empty variable is an unset one. */
function isEmpty(value: string | object): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0)
}

/** Several addresses are separated by commas or spaces. */
export function listed(text: string): string[] {
  return text.split(/[\s,]+/u).filter(Boolean)
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
