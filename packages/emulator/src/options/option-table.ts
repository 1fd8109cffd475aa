/**
 * The options of the emulator, one row each. Types, README, command line, control API and inspector come from this table: a new
 * option is a row here, the code that acts on it, and its test (`WRITE_README=1` puts it into the README's table).
 */
import { demoAccounts, type AccountOptions } from './account-options.ts'
import {
  arrayOf,
  boolean,
  isUrl,
  oneOf,
  orFalse,
  orNull,
  port,
  positive,
  scalar,
  seconds,
  shape,
  strings,
  text,
  type Check,
} from './checks.ts'

export interface OptionRow<Value = unknown, Default = Value | undefined> {
  /** The sentence that help, README and inspector show. */
  readonly about: string
  /** More for the README. Left out: the values that the option may have, where they are few. */
  readonly details?: string
  readonly default: Default
  readonly check: Check<Value>
  /** What its flag `--no-…` does, where that is not plain from `about`. */
  readonly without?: string
}

function option<Value, const Default extends Value | undefined>(
  row: OptionRow<Value, Default>,
): OptionRow<Value, Default> {
  return row
}

/** Settled once and for all when the emulator starts. In the order in which help, control API and inspector show them, as below. */
export const startOptions = {
  port: option({
    about: 'Port of the SSO service (0: any free one)',
    default: 0,
    check: port(),
  }),
  ownerApiPort: option({
    about: 'Port of the owner API (0: any free one)',
    default: 0,
    check: port(),
  }),
  tokenEndpointAt: option({
    about: 'The token endpoint is at the address of the login page, or at another port and nowhere else',
    details: 'at `authUrl`, or at a `port` of its own (`tokenUrl`); 404 at the other address. Each region has one',
    default: 'auth-url',
    check: oneOf('auth-url', 'port'),
  }),
  inspector: option({
    about: 'The inspector and the control API under /_emulator',
    default: true,
    check: boolean(),
    without: 'No inspector and no control API under /_emulator',
  }),
  tls: option({
    about: 'Serve TLS, with a certificate generated at the start',
    default: false,
    check: boolean(),
  }),
  http2: option({
    about: 'Speak HTTP/2 with clients that offer it',
    details: 'by ALPN, with `tls`; HTTP/1.1 with all others',
    default: false,
    check: boolean(),
  }),
  accounts: option({
    about: 'The accounts',
    details:
      "`{ identity, credential, totpSecret?, factors?, backupCodes?, region?, locked?, captcha? }` each; `captcha: true` shows with the `login_hint` already, `'after-submission'` only then",
    default: demoAccounts,
    // check-options.ts checks each account: its message names the path to the wrong field.
    check: arrayOf<AccountOptions>('accounts', () => true),
  }),
}

/** What can change while the emulator runs. */
export const changeableOptions = {
  service: option({
    about: "Which service this is: the interface document's, the one that people met up to 2026, or the official kind",
    details:
      '`registered`: knows the application of `clientId` alone, takes forms alone at its token endpoint, which is always at a port of its own, wants an `audience`, and its owner API takes only tokens for `ownerApiUrl`; `current`: takes RFC 7636’s code challenge alone and redirects to `owner://auth/callback` alone, does not mind TLS 1.3, refuses tokens that were minted over TLS 1.2 and HTTP/1.1, and lists vehicles at `/api/1/products` alone',
    default: 'document',
    check: oneOf('document', 'current', 'registered'),
  }),
  clientId: option({
    about: 'The id of the registered application',
    details: 'of `service: registered` alone, as the next',
    default: 'emulated-application',
    check: text(),
  }),
  clientSecret: option({
    about: 'Its secret',
    default: 'emulated-secret',
    check: text(),
  }),
  strictness: option({
    about: 'Keep to the interface document, or answer as recorded and accept what legacy clients do',
    default: 'document',
    check: oneOf('document', 'lenient'),
  }),
  mfaAt: option({
    about: 'When the passcode page comes',
    details: 'at the `code-exchange` (the document), or at the `form-submission` (recordings)',
    default: 'code-exchange',
    check: oneOf('code-exchange', 'form-submission'),
  }),
  passcodePage: option({
    about: 'What the passcode page looks like in its source',
    details:
      "`csrf`: its `_csrf` stands in an `input`, in a `script`, or nowhere (`none`: the login page's is taken then); `inTemplate`: its inputs stand in a script template (default: with `strictness: 'lenient'`); `duplicates`: hidden ones come twice",
    default: {},
    check: shape({ csrf: oneOf('input', 'script', 'none'), inTemplate: boolean(), duplicates: boolean() }),
  }),
  identityFirst: option({
    about: 'Ask for the e-mail first, and for the password on a second page',
    default: false,
    check: boolean(),
  }),
  formAfterPasscode: option({
    about: 'What has to be posted for the code after the passcode',
    details: 'the `whole` form, or the `transaction-id` alone, as recorded',
    default: 'whole',
    check: oneOf('whole', 'transaction-id'),
  }),
  hiddenInputs: option({
    about: 'Hidden inputs of the login page',
    details: '`rename` them, add `extra` ones, put them `inTemplate`: in a script template',
    default: {},
    check: shape({
      rename: strings(['_csrf', '_phase', '_process', 'transaction_id', 'cancel']),
      extra: strings(),
      inTemplate: boolean(),
    }),
  }),
  codeChallengeEncoding: option({
    about: 'Which code challenge is accepted',
    details: '`hex-digest` (the document), `raw-digest` (RFC 7636), or `either`, which lenient means',
    default: undefined,
    check: oneOf('either', 'hex-digest', 'raw-digest'),
  }),
  redirectUris: option({
    about: 'Redirect URIs that are accepted',
    details:
      '`/void/callback` of both instances (`service: current`: `owner://auth/callback`; `registered`: `https://app.example.com/callback`), when lenient also `/void/callback` of any host and `…://auth/callback` of any scheme',
    default: undefined,
    check: arrayOf<string>('absolute URLs', isUrl),
  }),
  rotation: option({
    about: 'What a refresh does with the refresh token',
    details: 'a new one and the old one dies (`single-use`), the `same` again, or none in the answer (`omit`)',
    default: 'single-use',
    check: oneOf('single-use', 'same', 'omit'),
  }),
  reuse: option({
    about: 'What a spent refresh token gets',
    details: '`refuse`, `revoke-family`, `grace` (the same answer again), `grace-stale` (the spent one back)',
    default: 'refuse',
    check: oneOf('refuse', 'revoke-family', 'grace', 'grace-stale'),
  }),
  refreshTokenLifetime: option({
    about: 'Seconds for which a refresh token is valid (null: until it is spent)',
    default: null,
    check: orNull(seconds()),
  }),
  accessTokenLifetime: option({
    about: 'Seconds for which access and id tokens are valid',
    default: 28_800,
    check: seconds(),
  }),
  accessTokenFormat: option({
    about: 'What access tokens are',
    default: 'jwt',
    check: oneOf('jwt', 'opaque'),
  }),
  refreshedTokens: option({
    about: 'How the owner API refuses access tokens that come of a refresh (null: it takes them)',
    details: '`{ status: 401 | 403, after: seconds }`: with this status, from so many seconds after their issue',
    default: null,
    check: orNull(shape({ status: oneOf(401, 403), after: seconds() })),
    without: 'The owner API takes them',
  }),
  oldAccessToken: option({
    about: 'What a refresh does to the access tokens that its sign-in has',
    default: 'lives',
    check: oneOf('lives', 'ends'),
  }),
  mintedBy: option({
    about: 'TLS and HTTP version that a token must have been minted over; the owner API answers 403 to others',
    details:
      "`{ tls: 'TLSv1.2' | 'TLSv1.3', http: '1.1' | '2' }`, at a sign-in or refresh (null: any; left out with `service: current`: any but TLS 1.2 with HTTP/1.1)",
    default: undefined,
    check: orNull(shape({ tls: oneOf('TLSv1.2', 'TLSv1.3'), http: oneOf('1.1', '2') })),
  }),
  expiresIn: option({
    about: 'The field expires_in of token responses (null: left out)',
    details: 'any number or string',
    default: 300,
    check: orNull(scalar()),
  }),
  firewall: option({
    about: 'When a client is blocked, and for how long (false: never)',
    details: 'a client is its address, User-Agent and TLS version',
    default: { maxRequests: 600, windowSeconds: 60, blockSeconds: 900 },
    check: orFalse(shape({ maxRequests: orNull(positive()), windowSeconds: positive(), blockSeconds: positive() })),
    without: 'Challenge nobody',
  }),
  allowBrowsers: option({
    about: 'Let real browsers in',
    default: false,
    check: boolean(),
  }),
  latency: option({
    about: 'Milliseconds that every answer waits',
    details: 'of the service and of the owner API',
    default: 0,
    check: seconds('a number of milliseconds'),
  }),
}

type OptionTable = typeof startOptions & typeof changeableOptions
export type OptionName = keyof OptionTable

export const optionTable: Readonly<Record<OptionName, OptionRow>> = { ...startOptions, ...changeableOptions }

export const optionNames: readonly OptionName[] = Object.keys(optionTable).filter(isOptionName)

export function isOptionName(name: string): name is OptionName {
  return Object.hasOwn(optionTable, name)
}

export function isChangeable(name: OptionName): boolean {
  return Object.hasOwn(changeableOptions, name)
}

type ValueOf<Row> = Row extends OptionRow<infer Value, unknown> ? Value : never
type DefaultOf<Row> = Row extends OptionRow<unknown, infer Default> ? Default : never

/** Options as somebody gives them; one that is undefined counts as left out. */
export type Given<Table> = { readonly [Name in keyof Table]?: ValueOf<Table[Name]> | undefined }

export type Complete = {
  readonly [Name in OptionName]: ValueOf<OptionTable[Name]> | Extract<DefaultOf<OptionTable[Name]>, undefined>
}
