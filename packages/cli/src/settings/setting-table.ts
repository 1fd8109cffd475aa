/**
 * The settings, one row each: the options of every command, their variables, the config file and the help come from this table. A new
 * setting is a row here, what acts on it, and its row in the README.
 */
import { nearestName } from '@owner-sso/core'
import { addressForms } from '../stores/store-kinds.ts'
import { flag, off, dashed, type Option, type OptionsOf, value, values } from '../options/option.ts'

interface Kind<Value> {
  /** Completes "It must be …", of the config file. */
  readonly words: string
  readonly fits: (value: unknown) => value is Value
  /** Of a variable. Left out: its text. */
  readonly read?: (text: string) => Value | undefined
}

interface SettingRow<Value = unknown> {
  readonly kind: Kind<Value>
  readonly option?: Option
  /** The option's name, where that is another than the setting's. */
  readonly optionName?: string
  /** What the help says of its variable; left out: that it is as the option. */
  readonly variable?: string
}

const text: Kind<string> = { words: 'text', fits: isText }
const list: Kind<readonly string[]> = { words: 'a list of addresses', fits: isTexts, read: listed }
const onOff: Kind<boolean> = {
  words: 'true or false',
  fits: (given) => typeof given === 'boolean',
  read: (given) => (given === 'on' ? true : given === 'off' ? false : undefined),
}

/** Text, or an object of the config file that `fits`. */
function textOr<Value extends object>(words: string, fits: (given: object) => given is Value): Kind<string | Value> {
  return { words, fits: (given) => isText(given) || (isObject(given) && fits(given)) }
}

function row<Value>(kind: Kind<Value>, more: Omit<SettingRow, 'kind'>): SettingRow<Value> {
  return { kind, ...more }
}

export const settingTable = {
  account: row(text, {
    option: value('<e-mail>', 'whose tokens (default: the only account there)'),
    variable: 'as --account, and the e-mail to sign in with',
  }),
  authUrl: row(text, { option: value('<url>', 'base address of the SSO service') }),
  service: row(text, { option: value('<name>', 'document (default), current or registered') }),
  clientId: row(text, { variable: 'of a registered application: its id' }),
  clientSecretFile: row(text, { variable: 'the file with its secret, if that is not in the keyring' }),
  audience: row(text, { variable: 'the owner API that its tokens are for' }),
  scope: row(text, { variable: 'what it asks the owner for' }),
  regionalAuthUrls: row(list, {
    option: values('<url>', 'a regional instance to allow; can be repeated'),
    optionName: 'regionalAuthUrl',
    variable: 'as --regional-auth-url, separated by commas or spaces',
  }),
  tokenUrl: row(
    textOr(
      'an address, or an object from the address of an instance to that of its token endpoint',
      (given): given is Readonly<Record<string, string>> => isTexts(Object.values(given)),
    ),
    { variable: 'the token endpoint’s host, if it is another; JSON with regions' },
  ),
  apiUrl: row(text, { option: value('<url>', 'base address of the owner API') }),
  store: row(text, {
    option: value('<address>', addressForms()),
    variable: 'as --store; may hold a password, which --store may not',
  }),
  ca: row(text, { option: value('<path>', 'PEM file of a private CA to trust') }),
  proxy: row(text, {
    option: value('<url>', 'an outbound proxy (http or https) to go through'),
    variable: 'as --proxy; may hold a password, which --proxy may not',
  }),
  transport: row(textOr('a name, or an object with tls, http2 and userAgent', isObject), {
    option: value('<name>', 'document, modern, tls13-http1, tls12-http2, or JSON'),
  }),
  redirectUri: row(text, { option: value('<uri>', 'the redirect address that the service knows') }),
  codeChallengeEncoding: row(text, { variable: 'hex-digest (the document) or raw-digest' }),
  requestBudget: row(textOr('text such as "300", or an object with perMinute and burst', isObject), {
    variable: 'refreshes a minute, of all processes that share the store',
  }),
  refresh: row(text, { variable: 'here (default); elsewhere: this machine asks no token endpoint' }),
  keyring: row(onOff, {
    option: off('leave the keyring of this machine alone'),
    variable: 'on or off: whether a folder has its key in the keyring',
  }),
}

export type SettingName = keyof typeof settingTable
type Table = typeof settingTable
export type SettingValue<Name extends SettingName> = Table[Name] extends SettingRow<infer Value> ? Value : never

export const settingRows: readonly (readonly [SettingName, SettingRow])[] = Object.entries(settingTable).map(
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- these are its keys
  ([name, each]) => [name as SettingName, each],
)

/** `OWNER_SSO_AUTH_URL` of `authUrl`. */
export function variableOf(name: string): string {
  return `OWNER_SSO_${name.replaceAll(/[A-Z]/gu, (letter) => `_${letter}`).toUpperCase()}`
}

const switches = {
  json: flag('print JSON; notes and a failure are lines of JSON'),
  input: off('never ask; fail if something is missing'),
  force: flag('run even if NODE_DEBUG would print secrets'),
}

export const sharedOptions: Readonly<Record<string, Option>> = {
  ...Object.fromEntries(
    settingRows.flatMap(([name, { option, optionName = name }]) => (option ? [[optionName, option] as const] : [])),
  ),
  ...switches,
}

/** What a call was given of them: those of settings by the option's name. */
export type SharedOptions = OptionsOf<typeof switches> & Readonly<Record<string, unknown>>

export function listed(given: string): string[] {
  return given.split(/[\s,]+/u).filter(Boolean)
}

export function isObject(given: unknown): given is object {
  return typeof given === 'object' && given !== null && !Array.isArray(given)
}

function isText(given: unknown): given is string {
  return typeof given === 'string' && given !== ''
}

function isTexts(given: unknown): given is readonly string[] {
  return Array.isArray(given) && given.every((item) => typeof item === 'string')
}

/** Secrets, and what is no setting of every command. */
const others = {
  OWNER_SSO_CREDENTIAL: 'the password to sign in with',
  OWNER_SSO_TOTP_SECRET: 'the secret to make passcodes from',
  OWNER_SSO_ENCRYPTION_KEY: '32 bytes in base64: what is stored is encrypted',
  OWNER_SSO_BROWSER: 'the Chrome, Chromium, Edge or Brave that login --browser starts',
  OWNER_SSO_ALERT_SECRET: 'what broker --alert-webhook signs with',
  OWNER_SSO_ALERT_MQTT_USERNAME: 'for broker --alert-mqtt',
  OWNER_SSO_ALERT_MQTT_PASSWORD: 'for broker --alert-mqtt',
}

/** Those that the command reads, with what its help says of each. */
export const ownVariables: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    settingRows.map(([name, { variable, optionName = name }]) => [
      variableOf(name),
      variable ?? `as ${dashed(optionName)}`,
    ]),
  ),
  ...others,
}

/** Those of the applications, of tests/broker-conformance and of the guides' programs, which may be set in the same place. */
export const otherVariables: readonly string[] = [
  'OWNER_SSO_BEHIND_HTTPS_PROXY',
  'OWNER_SSO_BROKER_KEY',
  'OWNER_SSO_BROKER_REVOKED_KEY',
  'OWNER_SSO_FACTOR',
  'OWNER_SSO_GRACE_SECONDS',
  'OWNER_SSO_SESSION_SECRET',
  'OWNER_SSO_SPOOL',
]

export interface UnknownVariable {
  readonly problem: string
  readonly fix: string
}

/** Those that have our prefix, or nearly the name of one that has. */
export function unknownVariables(env: NodeJS.ProcessEnv): UnknownVariable[] {
  const known = [...Object.keys(ownVariables), ...otherVariables]
  return Object.entries(env).flatMap(([name, given]) => {
    // To Windows, letters of either case are the same.
    const isRead = known.includes(name.toUpperCase()) && env[name.toUpperCase()] === given
    if (!given || isRead || !/owner|sso/iu.test(name)) return []
    const meant = nearestName(name, known)
    if (meant === undefined && !/^OWNER_SSO_/iu.test(name)) return []
    const fix = meant === undefined ? 'owner-sso --help lists the variables.' : `Did you mean ${meant}?`
    return [{ problem: `${name} is set, but nothing reads it.`, fix }]
  })
}
