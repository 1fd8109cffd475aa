/** The options with their defaults. */
import { DEMO_ACCOUNTS } from './account-options.ts'
import { checkOptions } from './option-checks.ts'
import type { EmulatorOptions, FirewallOptions, GivenOptions } from './options.ts'

/** What the firewall does unless told otherwise. */
export const DEFAULT_FIREWALL: Required<FirewallOptions> = { maxRequests: 600, windowSeconds: 60, blockSeconds: 900 }

/**
 * The options with their defaults, as they are now: `emulator.change` sets them while requests are served, so whoever reads one
 * reads it at the time of the request. `redirectUris` is completed once the addresses are known.
 */
export interface Settings extends Required<
  Omit<EmulatorOptions, 'codeChallengeEncoding' | 'redirectUris' | 'firewall'>
> {
  /** Undefined: as `strictness` has it. */
  readonly codeChallengeEncoding: EmulatorOptions['codeChallengeEncoding']
  readonly redirectUris: readonly string[] | undefined
  readonly firewall: Required<FirewallOptions> | false
}

/** @throws {TypeError} An option is unknown or wrong; the message names it. */
export function readOptions(options: GivenOptions = {}): Settings {
  checkOptions(options)
  const { firewall = {}, redirectUris, host = '127.0.0.1' } = options
  return {
    port: 0,
    ownerApiPort: 0,
    allowRemote: false,
    regionalAt: 'host-name',
    tls: false,
    tlsMinVersion: 'TLSv1.2',
    tlsMaxVersion: 'TLSv1.3',
    http2: false,
    accounts: DEMO_ACCOUNTS,
    mfaAt: 'token-exchange',
    codeChallengeEncoding: undefined,
    rotation: 'single-use',
    reuse: 'refuse',
    graceSeconds: 60,
    sessionLifetime: 900,
    codeLifetime: 300,
    passcodeLifetime: 300,
    refreshTokenLifetime: null,
    expiresIn: 300,
    accessTokenLifetime: 28_800,
    accessTokenFormat: 'jwt',
    mintedBy: null,
    hiddenInputs: {},
    passcodePage: {},
    identityFirst: false,
    captchaKind: 'picture',
    factorList: 'data',
    formAfterPasscode: 'whole',
    redirectParameters: {},
    wrongCredentials: 401,
    errorTexts: 'page',
    firewallCookies: ['ak_bmsc', 'bm_sz', '_abck'],
    latency: 0,
    strictness: 'document',
    allowBrowsers: false,
    inspector: true,
    ...withoutUndefined(options),
    host,
    redirectUris,
    firewall: firewall && { ...DEFAULT_FIREWALL, ...firewall },
  }
}

function withoutUndefined(options: GivenOptions): EmulatorOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}
