/**
 * Everything the endpoints share: one object, made once at start.
 */
import { createAccessTokens, type AccessTokens } from './access-tokens.ts'
import { createAccountDirectory, type AccountDirectory } from './accounts.ts'
import { createClock, type Clock } from './clock.ts'
import { createCodes, type Codes } from './codes.ts'
import { createCounters, type Counters } from './counters.ts'
import { createFirewall, type Firewall } from './firewall.ts'
import type { Instances } from '../http/instances.ts'
import { createRefreshTokens, type RefreshTokens } from './refresh-tokens.ts'
import { createSessions, type Sessions } from './sessions.ts'
import { currentCallback, isRedirectUri, registeredCallback } from './strictness.ts'
import type { EmulatorSettings } from '../options/check-options.ts'

export interface ServiceState {
  readonly settings: EmulatorSettings
  readonly instances: Instances
  /** The only audience that the owner API takes of a registered application's tokens. */
  readonly ownerApiUrl: string
  readonly redirectUris: readonly string[]
  readonly isRedirectUri: (uri: string) => boolean
  readonly clock: Clock
  readonly counters: Counters
  readonly accounts: AccountDirectory
  readonly sessions: Sessions
  readonly codes: Codes
  readonly accessTokens: AccessTokens
  readonly refreshTokens: RefreshTokens
  readonly firewall: Firewall
}

export function createServiceState(
  settings: EmulatorSettings,
  instances: Instances,
  ownerApiUrl: string,
): ServiceState {
  // The redirect URI stays on the first host, so that both instances take both.
  const callbacks = [instances.home, instances.regional].map(({ url }) => `${url}/void/callback`)
  const known = { document: callbacks, current: [currentCallback], registered: [registeredCallback] } as const
  const redirectUris = (): readonly string[] => settings.redirectUris ?? known[settings.service]
  const clock = createClock()
  const counters = createCounters()
  const accessTokens = createAccessTokens(clock, settings)
  return {
    settings,
    instances,
    ownerApiUrl,
    get redirectUris() {
      return redirectUris()
    },
    isRedirectUri: (uri) => isRedirectUri(settings, redirectUris(), uri),
    clock,
    counters,
    accounts: createAccountDirectory(settings.accounts),
    sessions: createSessions(clock, settings),
    codes: createCodes(clock),
    accessTokens,
    refreshTokens: createRefreshTokens({ clock, settings, counters, accessTokens }),
    firewall: createFirewall(clock, settings),
  }
}
