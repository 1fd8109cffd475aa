/**
 * The options of the emulator, one row each: what it belongs to, what it settles, its default, and what it may be. Journal, command
 * line, control API and inspector read this table, and a test holds README and doc comments against it. A new option is a row here
 * and a member of `StartOptions` or `ChangeableOptions`, and nothing else.
 */
import { demoAccounts } from './account-options.ts'
import {
  boolean,
  isArrayOf,
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
  type Check,
} from './checks.ts'
import type { ChangeableOptions, EmulatorOptions, FirewallOptions, Settings, StartOptions } from './options.ts'

/** What an option belongs to. */
export type OptionGroup = 'Where it listens' | 'TLS' | 'Logins' | 'Tokens' | 'Firewall and network'

export type OptionName = keyof EmulatorOptions

/** All that is to be known of an option. */
export interface OptionRow<Value = unknown> {
  readonly group: OptionGroup
  /** What it settles, in one sentence. */
  readonly about: string
  readonly default: Value
  readonly check: Check
  /** It can change while the emulator runs. */
  readonly changeable: boolean
  /** Former names of its values, and the names of today: taken for one minor version. */
  readonly formerly?: Readonly<Record<string, Value>>
  /** What its flag `--no-…` does, where that is not plain from `about`. */
  readonly without?: string
}

type Fixed<Value> = OptionRow<Value> & { readonly changeable: false }
type Changeable<Value> = OptionRow<Value> & { readonly changeable: true }

type OptionTable = { readonly [Name in keyof StartOptions]-?: Fixed<Settings[Name]> } & {
  readonly [Name in keyof ChangeableOptions]-?: Changeable<Settings[Name]>
}

/** What the firewall does unless told otherwise. */
export const defaultFirewall: Required<FirewallOptions> = { maxRequests: 600, windowSeconds: 60, blockSeconds: 900 }

/** RFC 6265 section 4.1.1. */
const cookieName = /^[\w!#$%&'*+.^`|~-]+$/u

/** In the order in which help, control API and inspector show them. */
export const optionTable: OptionTable = {
  port: {
    group: 'Where it listens',
    about: 'Port of the SSO service (0: any free one)',
    default: 0,
    check: port(),
    changeable: false,
  },
  ownerApiPort: {
    group: 'Where it listens',
    about: 'Port of the owner API (0: any free one)',
    default: 0,
    check: port(),
    changeable: false,
  },
  host: {
    group: 'Where it listens',
    about: 'Loopback address to listen on',
    default: '127.0.0.1',
    check: { expected: 'a host name or address', accepts: (value) => typeof value === 'string' && value !== '' },
    changeable: false,
  },
  allowRemote: {
    group: 'Where it listens',
    about: 'Allow a host that other machines can reach',
    default: false,
    check: boolean(),
    changeable: false,
  },
  regionalAt: {
    group: 'Where it listens',
    about: 'The regional instance is another host name, or another port',
    default: 'host-name',
    check: oneOf('host-name', 'port'),
    changeable: false,
  },
  inspector: {
    group: 'Where it listens',
    about: 'The inspector and the control API under /_emulator',
    default: true,
    check: boolean(),
    changeable: false,
    without: 'No inspector and no control API under /_emulator',
  },
  tls: {
    group: 'TLS',
    about: 'Serve TLS, with a certificate generated at the start',
    default: false,
    check: boolean(),
    changeable: false,
  },
  tlsMinVersion: {
    group: 'TLS',
    about: 'Lowest TLS version of new connections',
    default: 'TLSv1.2',
    check: oneOf('TLSv1.2', 'TLSv1.3'),
    changeable: true,
  },
  tlsMaxVersion: {
    group: 'TLS',
    about: 'Highest TLS version of new connections',
    default: 'TLSv1.3',
    check: oneOf('TLSv1.2', 'TLSv1.3'),
    changeable: true,
  },
  http2: {
    group: 'TLS',
    about: 'Speak HTTP/2 with clients that offer it',
    default: false,
    check: boolean(),
    changeable: false,
  },
  accounts: {
    group: 'Logins',
    about: 'The accounts',
    default: demoAccounts,
    check: { expected: 'an array of accounts', accepts: Array.isArray },
    changeable: false,
  },
  strictness: {
    group: 'Logins',
    about: 'Keep to the interface document, or answer as recorded and accept what legacy clients do as well',
    default: 'document',
    check: oneOf('document', 'lenient'),
    changeable: true,
  },
  mfaAt: {
    group: 'Logins',
    about: 'When the passcode page comes',
    default: 'code-exchange',
    check: oneOf('code-exchange', 'form-submission'),
    formerly: { 'token-exchange': 'code-exchange' },
    changeable: true,
  },
  passcodePage: {
    group: 'Logins',
    about: 'What the passcode page looks like in its source',
    default: {},
    check: shape({ csrf: oneOf('input', 'script', 'none'), inTemplate: boolean(), duplicates: boolean() }),
    changeable: true,
  },
  identityFirst: {
    group: 'Logins',
    about: 'Ask for the e-mail first, and for the password on a second page',
    default: false,
    check: boolean(),
    changeable: true,
  },
  captchaKind: {
    group: 'Logins',
    about: 'What a page shows when a captcha is due: letters, or a widget that nobody can solve here',
    default: 'picture',
    check: oneOf('picture', 'recaptcha', 'hcaptcha', 'turnstile'),
    changeable: true,
  },
  factorList: {
    group: 'Logins',
    about: 'How the list of factors is wrapped',
    default: 'data',
    check: oneOf('data', 'factors', 'bare'),
    changeable: true,
  },
  formAfterPasscode: {
    group: 'Logins',
    about: 'What has to be posted for the code after the passcode',
    default: 'whole',
    check: oneOf('whole', 'transaction-id'),
    changeable: true,
  },
  hiddenInputs: {
    group: 'Logins',
    about: 'Hidden inputs of the login page: rename them, add some, put them in a script template',
    default: {},
    check: shape({ rename: renames(), extra: strings(), inTemplate: boolean() }),
    changeable: true,
  },
  codeChallengeEncoding: {
    group: 'Logins',
    about: 'Which derivation of the code challenge is accepted, if strictness should not decide',
    default: undefined,
    check: oneOf('either', 'hex-digest', 'raw-digest'),
    changeable: true,
  },
  redirectUris: {
    group: 'Logins',
    about: 'Redirect URIs that are accepted, if strictness should not decide',
    default: undefined,
    check: { expected: 'an array of absolute URLs', accepts: (value) => isArrayOf(value, isUrl) },
    changeable: true,
  },
  redirectParameters: {
    group: 'Logins',
    about: 'Further query parameters of the redirect, after code, state, issuer',
    default: {},
    check: strings(),
    changeable: true,
  },
  wrongCredentials: {
    group: 'Logins',
    about: 'Status of the login page that a wrong credential gets',
    default: 401,
    check: oneOf(200, 401),
    changeable: true,
  },
  errorTexts: {
    group: 'Logins',
    about: 'Where the login page says what is wrong',
    default: 'page',
    check: oneOf('page', 'script'),
    changeable: true,
  },
  sessionLifetime: {
    group: 'Logins',
    about: 'Seconds from the login page to the end of its session',
    default: 900,
    check: seconds(),
    changeable: true,
  },
  codeLifetime: {
    group: 'Logins',
    about: 'Seconds for which an authorization code is valid',
    default: 300,
    check: seconds(),
    changeable: true,
  },
  passcodeLifetime: {
    group: 'Logins',
    about: 'Seconds from the passcode page to the last accepted passcode',
    default: 300,
    check: seconds(),
    changeable: true,
  },
  rotation: {
    group: 'Tokens',
    about: 'What a refresh does with the refresh token',
    default: 'single-use',
    check: oneOf('single-use', 'same', 'omit'),
    changeable: true,
  },
  reuse: {
    group: 'Tokens',
    about: 'What a spent refresh token gets',
    default: 'refuse',
    check: oneOf('refuse', 'revoke-family', 'grace', 'grace-stale'),
    changeable: true,
  },
  graceSeconds: {
    group: 'Tokens',
    about: 'Seconds in which a spent refresh token is forgiven',
    default: 60,
    check: seconds(),
    changeable: true,
  },
  refreshTokenLifetime: {
    group: 'Tokens',
    about: 'Seconds for which a refresh token is valid (null: until it is spent)',
    default: null,
    check: orNull(seconds()),
    changeable: true,
  },
  accessTokenLifetime: {
    group: 'Tokens',
    about: 'Seconds for which access and id tokens are valid',
    default: 28_800,
    check: seconds(),
    changeable: true,
  },
  accessTokenFormat: {
    group: 'Tokens',
    about: 'What access tokens are',
    default: 'jwt',
    check: oneOf('jwt', 'opaque'),
    changeable: true,
  },
  mintedBy: {
    group: 'Tokens',
    about: 'TLS and HTTP version that a token must have been minted over; the owner API answers 403 to others',
    default: null,
    check: orNull(shape({ tls: oneOf('TLSv1.2', 'TLSv1.3'), http: oneOf('1.1', '2') })),
    changeable: true,
  },
  expiresIn: {
    group: 'Tokens',
    about: 'The field expires_in of token responses (null: left out)',
    default: 300,
    check: { expected: 'a number, a string or null', accepts: (value) => value === null || isScalar(value) },
    changeable: true,
  },
  firewall: {
    group: 'Firewall and network',
    about: 'When a client is blocked, and for how long (false: never)',
    default: defaultFirewall,
    check: orFalse(shape({ maxRequests: orNull(positive()), windowSeconds: positive(), blockSeconds: positive() })),
    changeable: true,
    without: 'Challenge nobody',
  },
  firewallCookies: {
    group: 'Firewall and network',
    about: "Cookies that every authorize answer sets in addition to the session's",
    default: ['ak_bmsc', 'bm_sz', '_abck'],
    check: {
      expected: 'an array of cookie names',
      accepts: (value) => isArrayOf(value, (name) => typeof name === 'string' && cookieName.test(name)),
    },
    changeable: true,
  },
  allowBrowsers: {
    group: 'Firewall and network',
    about: 'Let real browsers in',
    default: false,
    check: {
      expected: 'true, false or a RegExp',
      accepts: (value) => typeof value === 'boolean' || value instanceof RegExp,
    },
    changeable: true,
  },
  latency: {
    group: 'Firewall and network',
    about: 'Milliseconds that every answer waits',
    default: 0,
    check: milliseconds(),
    changeable: true,
  },
}

export const optionNames: readonly OptionName[] = Object.keys(optionTable).filter(isOptionName)

export function isOptionName(name: string): name is OptionName {
  return Object.hasOwn(optionTable, name)
}

function renames(): Check {
  const known = ['_csrf', '_phase', '_process', 'transaction_id', 'cancel']
  return {
    expected: `an object of new names for ${known.join(', ')}`,
    accepts: (value) => strings().accepts(value) && Object.keys(Object(value)).every((name) => known.includes(name)),
  }
}
