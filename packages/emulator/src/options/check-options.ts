/**
 * The check of all options together: a caller's mistake becomes a TypeError that names the option and what it takes.
 */
import type { AccountOptions } from './account-options.ts'
import { base32, boolean, checkEach, isArrayOf, isRecord, oneOf, text, type Check, type Checks } from './checks.ts'
import { optionNames, optionTable, type OptionRow } from './option-table.ts'
import type { GivenOptions } from './options.ts'

const optionChecks = Object.fromEntries(optionNames.map((name) => [name, checkOf(optionTable[name])]))

/** What each field of an account may be. */
export const accountChecks: Checks<AccountOptions> = {
  identity: text(),
  credential: text(),
  totpSecret: base32(),
  factors: {
    expected: 'an array of { id?, name, totpSecret }',
    accepts: (value) => isArrayOf(value, (factor) => isFactor(factor)),
  },
  backupCodes: {
    expected: 'an array of strings of nine characters',
    accepts: (value) => isArrayOf(value, (code) => typeof code === 'string' && code.length === 9),
  },
  region: oneOf('home', 'regional'),
  locked: boolean(),
  captcha: oneOf(true, false, 'after-submission'),
}

/** @throws {TypeError} */
export function checkOptions(options: GivenOptions): void {
  checkEach('option', '', options, optionChecks)
  checkTlsVersions(options)
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

function checkTlsVersions({ tlsMinVersion = 'TLSv1.2', tlsMaxVersion = 'TLSv1.3' }: GivenOptions): void {
  if (tlsMinVersion > tlsMaxVersion) throw new TypeError('Option tlsMinVersion must not be above tlsMaxVersion')
}

/** Former names of values are taken, and not told. */
function checkOf({ check, formerly = {} }: OptionRow): Check {
  const isFormer = (value: unknown): boolean => typeof value === 'string' && Object.hasOwn(formerly, value)
  return { ...check, accepts: (value) => isFormer(value) || check.accepts(value) }
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
