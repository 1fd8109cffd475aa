/**
 * The SSO service as this client knows it: its settings, and what was learned about it since the start.
 */
import { createFirewallBreaker } from './http/firewall-breaker.ts'
import type { FirewallBreaker } from './http/firewall-breaker.ts'
import type { SharedBlocks } from './http/shared-blocks.ts'
import type { TlsMemory } from './http/tls-sessions.ts'
import { createSecretMemory } from './secret-memory.ts'
import type { SecretMemory } from './secret-memory.ts'
import type { SsoSettings } from './sso-settings.ts'

/** What every step of the flow is handed. One per `createSso`; nothing in it belongs to an account. */
export interface Service extends SsoSettings {
  /** Seconds since the epoch. */
  readonly now: () => number
  /** What connections share below HTTP. */
  readonly tlsMemory: TlsMemory
  /** Which hosts have shown a firewall challenge. */
  readonly firewall: FirewallBreaker
  /** What other processes know of it. */
  readonly sharedBlocks: Set<SharedBlocks>
  /** Pairs of identity and credential that the service did not accept: not posted again (a repeat can lock the account). */
  readonly rejectedCredentials: SecretMemory
  /** `state` of logins that were completed here: each is used once. */
  readonly completedLogins: SecretMemory
}

const aDay = 24 * 60 * 60
const anHour = 60 * 60

/** @param now - the clock, in seconds since the epoch; another one than the system's is for tests */
export function createService(settings: SsoSettings, now: () => number = () => Date.now() / 1000): Service {
  return {
    ...settings,
    now,
    tlsMemory: { sessions: new Map() },
    firewall: createFirewallBreaker(settings.firewallCooldown, now),
    sharedBlocks: new Set(),
    rejectedCredentials: createSecretMemory(10_000, aDay),
    completedLogins: createSecretMemory(10_000, anHour),
  }
}
