/**
 * Everything the endpoints share: one object, made once at start.
 */
import { createAccessTokens } from './access-tokens.ts'
import { createAccountDirectory } from './accounts.ts'
import { createClock } from './clock.ts'
import { createCodes } from './codes.ts'
import { createCounters } from './counters.ts'
import { createFirewall } from './firewall.ts'
import type { Instances } from '../http/instances.ts'
import { createRefreshTokens } from './refresh-tokens.ts'
import { createSessions } from './sessions.ts'
import { currentCallback, isRedirectUri, registeredCallback } from './strictness.ts'
import type { EmulatorSettings } from '../options/check-options.ts'

export type ServiceState = ReturnType<typeof createServiceState>

/** `ownerApiUrl` is the only audience that the owner API takes of a registered application's tokens. */
export function createServiceState(settings: EmulatorSettings, instances: Instances, ownerApiUrl: string) {
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
    redirectUris,
    isRedirectUri: (uri: string): boolean => isRedirectUri(settings, redirectUris(), uri),
    clock,
    counters,
    accounts: createAccountDirectory(settings.accounts, clock),
    sessions: createSessions(clock, settings),
    codes: createCodes(clock),
    accessTokens,
    refreshTokens: createRefreshTokens({ clock, settings, counters, accessTokens }),
    firewall: createFirewall(clock, settings),
  }
}
