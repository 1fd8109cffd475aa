/** What each option settles, in one sentence: for the command's help, the control API and the inspector. */
import type { EmulatorOptions } from '../options.ts'

/** In the order in which help and inspector show them. */
export const OPTION_DESCRIPTIONS: Readonly<Record<keyof EmulatorOptions, string>> = {
  port: 'Port of the SSO service (0: any free one)',
  ownerApiPort: 'Port of the owner API (0: any free one)',
  host: 'Loopback address to listen on',
  allowRemote: 'Allow a host that other machines reach',
  regionalAt: 'The regional instance is another host name, or another port',
  tls: 'Serve TLS, with a certificate made on the spot',
  tlsMinVersion: 'Lowest TLS version of new connections',
  tlsMaxVersion: 'Highest TLS version of new connections',
  accounts: 'The accounts',
  strictness: 'Take the interface document alone, or what legacy clients do as well',
  mfaAt: 'Where the passcode page comes',
  passcodePage: 'What the passcode page looks like in its source',
  hiddenInputs: 'Hidden inputs of the login page: rename them, add some, put them in a script template',
  codeChallengeEncoding: 'Which derivation of the code challenge is accepted',
  redirectUris: 'Redirect URIs that are accepted',
  redirectParameters: 'Further query parameters of the redirect, after code, state, issuer',
  wrongCredentials: 'Status of the login page that a wrong credential gets',
  errorTexts: 'Where the login page says what is wrong',
  rotation: 'What a refresh does with the refresh token',
  reuse: 'What a spent refresh token gets that comes again',
  graceSeconds: 'Seconds in which a spent refresh token is forgiven',
  expiresIn: 'The field expires_in of token responses (null: left out)',
  accessTokenLifetime: 'Seconds that access and id tokens live',
  accessTokenFormat: 'What access tokens are',
  refreshTokenLifetime: 'Seconds that a refresh token lives (null: until it is spent)',
  sessionLifetime: 'Seconds from the login page to the end of its session',
  codeLifetime: 'Seconds that an authorization code lives',
  passcodeLifetime: 'Seconds from the passcode page to the last accepted passcode',
  firewall: 'When a client is blocked, and for how long (false: never)',
  firewallCookies: "Cookies that every authorize answer sets beside the session's",
  allowBrowsers: 'Let real browsers in',
  latency: 'Milliseconds that every answer waits',
  inspector: 'The inspector and the control API under /_emulator',
}

/** Settled once and for all when the emulator starts. */
export type StartOption =
  'port' | 'ownerApiPort' | 'host' | 'allowRemote' | 'regionalAt' | 'tls' | 'accounts' | 'inspector'

const START_OPTIONS: ReadonlySet<string> = new Set<StartOption>([
  'port',
  'ownerApiPort',
  'host',
  'allowRemote',
  'regionalAt',
  'tls',
  'accounts',
  'inspector',
])

/** The options that can change while the emulator runs. */
export type SwitchableOptions = Omit<EmulatorOptions, StartOption>

export function isSwitchable(option: string): boolean {
  return !START_OPTIONS.has(option)
}
