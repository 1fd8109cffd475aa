/** The check of each option: a caller's mistake becomes a TypeError that names the option and what it takes. */
import { Secret } from 'otpauth'
import type { AccountOptions } from './accounts.ts'
import type { EmulatorOptions } from './options.ts'

interface Check {
  readonly expected: string
  accepts(value: unknown): boolean
}

const CHECKS: Readonly<Record<keyof EmulatorOptions, Check>> = {
  port: port(),
  ownerApiPort: port(),
  host: { expected: 'a host name or address', accepts: (value) => typeof value === 'string' && value !== '' },
  allowRemote: boolean(),
  regionalAt: oneOf('host-name', 'port'),
  tls: boolean(),
  tlsMaxVersion: oneOf('TLSv1.2', 'TLSv1.3'),
  accounts: { expected: 'an array of accounts', accepts: Array.isArray },
  mfaAt: oneOf('token-exchange', 'form-submission'),
  codeChallengeEncoding: oneOf('either', 'hex-digest', 'raw-digest'),
  rotation: oneOf('single-use', 'same', 'omit'),
  reuse: oneOf('refuse', 'revoke-family', 'grace', 'grace-stale'),
  graceSeconds: seconds(),
  expiresIn: { expected: 'a number, a string or null', accepts: (value) => value === null || isScalar(value) },
  accessTokenLifetime: seconds(),
  accessTokenFormat: oneOf('jwt', 'opaque'),
  hiddenInputs: shape({ rename: renames(), extra: strings(), inTemplate: boolean() }),
  passcodePage: shape({ inTemplate: boolean(), duplicates: boolean() }),
  redirectUris: { expected: 'an array of absolute URLs', accepts: (value) => isArrayOf(value, isUrl) },
  redirectParameters: strings(),
  wrongCredentials: oneOf(200, 401),
  errorTexts: oneOf('page', 'script'),
  firewall: orFalse(shape({ maxRequests: positive(), windowSeconds: positive(), blockSeconds: positive() })),
  allowBrowsers: {
    expected: 'true, false or a RegExp',
    accepts: (value) => typeof value === 'boolean' || value instanceof RegExp,
  },
  inspector: boolean(),
}

const ACCOUNT_CHECKS: Readonly<Record<keyof AccountOptions, Check>> = {
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
export function checkOptions(options: EmulatorOptions): void {
  checkEach('', options, CHECKS)
  const identities = new Set<string>()
  for (const [index, account] of (options.accounts ?? []).entries()) {
    const name = `accounts[${index}]`
    checkEach(`${name}.`, account, ACCOUNT_CHECKS)
    for (const required of ['identity', 'credential'] as const) {
      if (account[required] === undefined) throw new TypeError(`Option ${name}.${required} is missing`)
    }
    const identity = account.identity.trim().toLowerCase()
    if (identities.has(identity)) throw new TypeError(`Option ${name}.identity is another account's already`)
    identities.add(identity)
  }
}

function checkEach(prefix: string, values: unknown, checks: Readonly<Record<string, Check>>): void {
  if (!isRecord(values))
    throw new TypeError(
      prefix === '' ? 'The options must be an object' : `Option ${prefix.slice(0, -1)} must be an object`,
    )
  for (const [name, value] of Object.entries(values)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined
    if (!check) throw new TypeError(`Unknown option ${prefix}${name}`)
    if (value !== undefined && !check.accepts(value)) {
      throw new TypeError(`Option ${prefix}${name} must be ${check.expected}`)
    }
  }
}

function oneOf(...values: readonly unknown[]): Check {
  const names = values.map((value) => (typeof value === 'string' ? `'${value}'` : String(value)))
  return { expected: names.join(' or '), accepts: (value) => values.includes(value) }
}

function boolean(): Check {
  return oneOf(true, false)
}

function port(): Check {
  return {
    expected: 'a port number (0 for any free one)',
    accepts: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535,
  }
}

function seconds(): Check {
  return {
    expected: 'a number of seconds',
    accepts: (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
  }
}

function positive(): Check {
  return { expected: 'a positive number', accepts: (value) => typeof value === 'number' && value > 0 }
}

function text(): Check {
  return { expected: 'a string', accepts: (value) => typeof value === 'string' && value !== '' }
}

function base32(): Check {
  return { expected: 'a base32 secret', accepts: isBase32 }
}

function strings(): Check {
  return {
    expected: 'an object of strings',
    accepts: (value) => isRecord(value) && Object.values(value).every((item) => typeof item === 'string'),
  }
}

function renames(): Check {
  const known = ['_csrf', '_phase', '_process', 'transaction_id', 'cancel']
  return {
    expected: `an object of new names for ${known.join(', ')}`,
    accepts: (value) => strings().accepts(value) && Object.keys(Object(value)).every((name) => known.includes(name)),
  }
}

function shape(checks: Readonly<Record<string, Check>>): Check {
  const known = Object.entries(checks).map(([name, { expected }]) => `${name}: ${expected}`)
  return {
    expected: `an object of { ${known.join(', ')} }`,
    accepts: (value) =>
      isRecord(value) &&
      Object.entries(value).every(
        ([name, item]) => Object.hasOwn(checks, name) && (item === undefined || checks[name]?.accepts(item)),
      ),
  }
}

function orFalse(check: Check): Check {
  return { expected: `false or ${check.expected}`, accepts: (value) => value === false || check.accepts(value) }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isArrayOf(value: unknown, accepts: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(accepts)
}

function isScalar(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'string'
}

function isUrl(value: unknown): boolean {
  return typeof value === 'string' && URL.canParse(value)
}

function isFactor(value: unknown): boolean {
  return (
    isRecord(value) &&
    text().accepts(value['name']) &&
    isBase32(value['totpSecret']) &&
    (value['id'] === undefined || text().accepts(value['id']))
  )
}

function isBase32(value: unknown): boolean {
  if (typeof value !== 'string' || value === '') return false
  try {
    return Secret.fromBase32(value).bytes.length > 0
  } catch {
    return false
  }
}
