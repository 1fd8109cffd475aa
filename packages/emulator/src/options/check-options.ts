/**
 * All options together, checked and with their defaults: a caller's mistake becomes a TypeError that names the option and what it
 * takes.
 */
import type { AccountOptions, AccountSwitches } from './account-options.ts'
import { arrayOf, base32, boolean, checkEach, isRecord, oneOf, text, type Checks } from './checks.ts'
import {
  optionNames,
  optionTable,
  type changeableOptions,
  type Complete,
  type Given,
  type startOptions,
} from './option-table.ts'

const optionChecks = Object.fromEntries(optionNames.map((name) => [name, optionTable[name].check]))

export const accountChecks: Checks<AccountOptions> = {
  identity: text(),
  credential: text(),
  totpSecret: base32(),
  factors: arrayOf('{ id?, name, totpSecret }', isFactor),
  backupCodes: arrayOf('strings of nine characters', (code) => typeof code === 'string' && code.length === 9),
  region: oneOf('home', 'regional'),
  locked: boolean(),
  captcha: oneOf(true, false, 'after-submission'),
}

type Switchable = { -readonly [Name in keyof AccountSwitches]-?: NonNullable<AccountSwitches[Name]> }

const { locked, captcha, region } = accountChecks
const switchChecks: Checks<AccountSwitches> = { locked, captcha, region }

export function switchAccount(account: Switchable, switches: AccountSwitches): void {
  checkEach('account switch', '', switches, switchChecks)
  account.locked = switches.locked ?? account.locked
  account.captcha = switches.captcha ?? account.captcha
  account.region = switches.region ?? account.region
}

export function parseEmulatorOptions(options: EmulatorOptions = {}): EmulatorSettings {
  checkOptions(options)
  const settings: unknown = Object.fromEntries(
    optionNames.map((name) => [name, completed(options[name], optionTable[name].default)]),
  )
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the table has a row of the right type for each option
  return settings as EmulatorSettings
}

/** The value, with the default for what is left out: for each field, where it has several. */
function completed(given: unknown, preset: unknown): unknown {
  if (given === undefined) return preset
  return isRecord(given) && isRecord(preset) ? { ...preset, ...given } : given
}

export function checkOptions(options: EmulatorOptions): void {
  checkEach('option', '', options, optionChecks)
  const identities = new Set<string>()
  for (const [index, account] of (options.accounts ?? []).entries()) {
    const name = `accounts[${index}]`
    checkEach('option', `${name}.`, account, accountChecks)
    for (const required of ['identity', 'credential'] as const) {
      if (account[required] === undefined) throw new TypeError(`Option ${name}.${required} is missing`)
    }
    const identity = account.identity.trim().toLowerCase()
    if (identities.has(identity)) throw new TypeError(`Option ${name}.identity is another account's already`)
    identities.add(identity)
  }
}

function isFactor(value: unknown): boolean {
  return (
    isRecord(value) &&
    Object.keys(value).every((name) => ['id', 'name', 'totpSecret'].includes(name)) &&
    text().accepts(value['name']) &&
    base32().accepts(value['totpSecret']) &&
    (value['id'] === undefined || text().accepts(value['id']))
  )
}

/** Options that are settled once and for all when the emulator starts. */
export interface StartOptions extends Given<typeof startOptions> {}

/**
 * Options that `emulator.change`, the control API and the inspector can change while the emulator runs. One that is undefined is at
 * its default.
 */
export interface ChangeableOptions extends Given<typeof changeableOptions> {}

/** How the service behaves. All of it has defaults: the README's table has a row for each. */
export interface EmulatorOptions extends StartOptions, ChangeableOptions {}

/** Whom the firewall challenges, and for how long, in seconds. `maxRequests: null` (or `Infinity`) leaves the other rules alone. */
export type FirewallOptions = Exclude<NonNullable<EmulatorOptions['firewall']>, false>

/** The interface document to the letter; or as recorded, with what legacy clients do as well. */
export type Strictness = EmulatorSettings['strictness']

/**
 * The options with their defaults, as they are now: `emulator.change` sets them while requests are served, so whoever reads one
 * reads it at the time of the request.
 */
export interface EmulatorSettings extends Omit<Complete, 'firewall'> {
  readonly firewall: Required<FirewallOptions> | false
}
