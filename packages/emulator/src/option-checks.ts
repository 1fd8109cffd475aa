/** The check of each option: a caller's mistake becomes a TypeError that names the option and what it takes. */
import type { AccountOptions } from './account-options.ts'
import {
  base32,
  boolean,
  checkEach,
  isArrayOf,
  isRecord,
  isScalar,
  isUrl,
  milliseconds,
  oneOf,
  orFalse,
  orNull,
  port,
  positive,
  seconds,
  shape,
  strings,
  text,
  type Check,
  type Checks,
} from './checks.ts'
import type { EmulatorOptions, GivenOptions } from './options.ts'

/** RFC 6265 section 4.1.1. */
const COOKIE_NAME = /^[\w!#$%&'*+.^`|~-]+$/u

/** What each option of `startEmulator` may be. */
export const OPTION_CHECKS: Checks<EmulatorOptions> = {
  port: port(),
  ownerApiPort: port(),
  host: { expected: 'a host name or address', accepts: (value) => typeof value === 'string' && value !== '' },
  allowRemote: boolean(),
  regionalAt: oneOf('host-name', 'port'),
  tls: boolean(),
  tlsMinVersion: oneOf('TLSv1.2', 'TLSv1.3'),
  tlsMaxVersion: oneOf('TLSv1.2', 'TLSv1.3'),
  http2: boolean(),
  accounts: { expected: 'an array of accounts', accepts: Array.isArray },
  mfaAt: oneOf('token-exchange', 'form-submission'),
  codeChallengeEncoding: oneOf('either', 'hex-digest', 'raw-digest'),
  rotation: oneOf('single-use', 'same', 'omit'),
  reuse: oneOf('refuse', 'revoke-family', 'grace', 'grace-stale'),
  graceSeconds: seconds(),
  sessionLifetime: seconds(),
  codeLifetime: seconds(),
  passcodeLifetime: seconds(),
  refreshTokenLifetime: orNull(seconds()),
  expiresIn: { expected: 'a number, a string or null', accepts: (value) => value === null || isScalar(value) },
  accessTokenLifetime: seconds(),
  accessTokenFormat: oneOf('jwt', 'opaque'),
  mintedBy: orNull(shape({ tls: oneOf('TLSv1.2', 'TLSv1.3'), http: oneOf('1.1', '2') })),
  hiddenInputs: shape({ rename: renames(), extra: strings(), inTemplate: boolean() }),
  passcodePage: shape({
    csrf: oneOf('input', 'script', 'none'),
    inTemplate: boolean(),
    duplicates: boolean(),
  }),
  identityFirst: boolean(),
  captchaKind: oneOf('picture', 'recaptcha', 'hcaptcha', 'turnstile'),
  factorList: oneOf('data', 'factors', 'bare'),
  formAfterPasscode: oneOf('whole', 'transaction-id'),
  redirectUris: { expected: 'an array of absolute URLs', accepts: (value) => isArrayOf(value, isUrl) },
  redirectParameters: strings(),
  wrongCredentials: oneOf(200, 401),
  errorTexts: oneOf('page', 'script'),
  strictness: oneOf('document', 'lenient'),
  firewall: orFalse(shape({ maxRequests: orNull(positive()), windowSeconds: positive(), blockSeconds: positive() })),
  firewallCookies: {
    expected: 'an array of cookie names',
    accepts: (value) => isArrayOf(value, (name) => typeof name === 'string' && COOKIE_NAME.test(name)),
  },
  latency: milliseconds(),
  allowBrowsers: {
    expected: 'true, false or a RegExp',
    accepts: (value) => typeof value === 'boolean' || value instanceof RegExp,
  },
  inspector: boolean(),
}

/** What each field of an account may be. */
export const ACCOUNT_CHECKS: Checks<AccountOptions> = {
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
  checkEach('option', '', options, OPTION_CHECKS)
  checkTlsVersions(options)
  const identities = new Set<string>()
  for (const [index, account] of (options.accounts ?? []).entries()) {
    const name = `accounts[${index}]`
    checkEach('option', `${name}.`, account, ACCOUNT_CHECKS)
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

function renames(): Check {
  const known = ['_csrf', '_phase', '_process', 'transaction_id', 'cancel']
  return {
    expected: `an object of new names for ${known.join(', ')}`,
    accepts: (value) => strings().accepts(value) && Object.keys(Object(value)).every((name) => known.includes(name)),
  }
}

function isFactor(value: unknown): boolean {
  return (
    isRecord(value) &&
    text().accepts(value['name']) &&
    base32().accepts(value['totpSecret']) &&
    (value['id'] === undefined || text().accepts(value['id']))
  )
}
