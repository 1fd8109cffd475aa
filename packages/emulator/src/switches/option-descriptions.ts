/** What each option settles, in one sentence: for the command's help, the control API and the inspector. */
import type { EmulatorOptions } from '../options.ts'

/** What an option belongs to. */
export type OptionGroup = 'Where it listens' | 'TLS' | 'Logins' | 'Tokens' | 'Firewall and network'

/** Group and sentence of each option, in the order in which help, control API and inspector show them. */
export const OPTION_DESCRIPTIONS: Readonly<Record<keyof EmulatorOptions, readonly [OptionGroup, string]>> = {
  port: ['Where it listens', 'Port of the SSO service (0: any free one)'],
  ownerApiPort: ['Where it listens', 'Port of the owner API (0: any free one)'],
  host: ['Where it listens', 'Loopback address to listen on'],
  allowRemote: ['Where it listens', 'Allow a host that other machines reach'],
  regionalAt: ['Where it listens', 'The regional instance is another host name, or another port'],
  inspector: ['Where it listens', 'The inspector and the control API under /_emulator'],
  tls: ['TLS', 'Serve TLS, with a certificate made on the spot'],
  tlsMinVersion: ['TLS', 'Lowest TLS version of new connections'],
  tlsMaxVersion: ['TLS', 'Highest TLS version of new connections'],
  http2: ['TLS', 'Speak HTTP/2 with clients that offer it'],
  accounts: ['Logins', 'The accounts'],
  strictness: [
    'Logins',
    'Keep to the interface document, or answer as recorded and take what legacy clients do as well',
  ],
  mfaAt: ['Logins', 'Where the passcode page comes'],
  passcodePage: ['Logins', 'What the passcode page looks like in its source'],
  identityFirst: ['Logins', 'Ask for the e-mail first, and for the password on a second page'],
  captchaKind: ['Logins', 'What a page shows where a captcha is due: letters, or a widget that nobody can solve here'],
  factorList: ['Logins', 'How the list of factors is wrapped'],
  formAfterPasscode: ['Logins', 'What gives the code once a passcode was verified'],
  hiddenInputs: ['Logins', 'Hidden inputs of the login page: rename them, add some, put them in a script template'],
  codeChallengeEncoding: [
    'Logins',
    'Which derivation of the code challenge is accepted, if strictness should not decide',
  ],
  redirectUris: ['Logins', 'Redirect URIs that are accepted, if strictness should not decide'],
  redirectParameters: ['Logins', 'Further query parameters of the redirect, after code, state, issuer'],
  wrongCredentials: ['Logins', 'Status of the login page that a wrong credential gets'],
  errorTexts: ['Logins', 'Where the login page says what is wrong'],
  sessionLifetime: ['Logins', 'Seconds from the login page to the end of its session'],
  codeLifetime: ['Logins', 'Seconds that an authorization code lives'],
  passcodeLifetime: ['Logins', 'Seconds from the passcode page to the last accepted passcode'],
  rotation: ['Tokens', 'What a refresh does with the refresh token'],
  reuse: ['Tokens', 'What a spent refresh token gets that comes again'],
  graceSeconds: ['Tokens', 'Seconds in which a spent refresh token is forgiven'],
  refreshTokenLifetime: ['Tokens', 'Seconds that a refresh token lives (null: until it is spent)'],
  accessTokenLifetime: ['Tokens', 'Seconds that access and id tokens live'],
  accessTokenFormat: ['Tokens', 'What access tokens are'],
  mintedBy: [
    'Tokens',
    'TLS and HTTP version that a token must have been minted over; the owner API answers 403 to others',
  ],
  expiresIn: ['Tokens', 'The field expires_in of token responses (null: left out)'],
  firewall: ['Firewall and network', 'When a client is blocked, and for how long (false: never)'],
  firewallCookies: ['Firewall and network', "Cookies that every authorize answer sets beside the session's"],
  allowBrowsers: ['Firewall and network', 'Let real browsers in'],
  latency: ['Firewall and network', 'Milliseconds that every answer waits'],
}

export type OptionName = keyof EmulatorOptions

export const OPTION_NAMES: readonly OptionName[] = Object.keys(OPTION_DESCRIPTIONS).filter(isOptionName)

/** Settled once and for all when the emulator starts. */
export type StartOption =
  'port' | 'ownerApiPort' | 'host' | 'allowRemote' | 'regionalAt' | 'tls' | 'http2' | 'accounts' | 'inspector'

const START_OPTIONS: ReadonlySet<string> = new Set<StartOption>([
  'port',
  'ownerApiPort',
  'host',
  'allowRemote',
  'regionalAt',
  'tls',
  'http2',
  'accounts',
  'inspector',
])

/** The options that can change while the emulator runs. */
export type SwitchableOptions = {
  readonly [Name in Exclude<OptionName, StartOption>]?: EmulatorOptions[Name] | undefined
}

export function isSwitchable(option: string): boolean {
  return !START_OPTIONS.has(option)
}

function isOptionName(name: string): name is OptionName {
  return Object.hasOwn(OPTION_DESCRIPTIONS, name)
}
