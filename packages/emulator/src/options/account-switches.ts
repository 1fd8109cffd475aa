/**
 * The switches of an account: locked, captcha, region. Where one is changed, it is checked first.
 */
import type { AccountOptions, AccountSwitches } from './account-options.ts'
import { checkEach, type Checks } from './checks.ts'
import { accountChecks } from './check-options.ts'

/** What is switched: a part of an account. */
type Switchable = { -readonly [Name in keyof AccountSwitches]-?: NonNullable<AccountSwitches[Name]> }

const { locked, captcha, region } = accountChecks
const fieldChecks: Checks<AccountSwitches> = { locked, captcha, region }

/** @throws {TypeError} A switch is unknown or wrong; the message names it. */
export function switchAccount(account: Switchable, switches: AccountSwitches): void {
  checkEach('account switch', '', switches, fieldChecks)
  account.locked = switches.locked ?? account.locked
  account.captcha = switches.captcha ?? account.captcha
  account.region = switches.region ?? account.region
}

/** All of them, as the account's options have them. */
export function initialSwitches(options: Partial<AccountOptions>): Required<AccountSwitches> {
  return { locked: options.locked ?? false, captcha: options.captcha ?? false, region: options.region ?? 'home' }
}
