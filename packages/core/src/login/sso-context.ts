/**
 * The SSO service as this client knows it: its settings, and what was learned about it since the start.
 */
import { createHostBreaker } from '../firewall/host-breaker.ts'
import type { HostBreaker } from '../firewall/host-breaker.ts'
import type { FirewallState } from '../firewall/firewall-state.ts'
import type { TlsMemory } from '../http/tls-sessions.ts'
import { createSecretMemory } from './secret-memory.ts'
import type { SecretMemory } from './secret-memory.ts'
import type { SsoSettings } from './options.ts'

/** What every step of the flow is handed. One per `createSso`; nothing in it belongs to an account. */
export interface SsoContext extends SsoSettings {
  /** Seconds since the epoch. */
  readonly now: () => number
  /** What connections share below HTTP. */
  readonly tlsMemory: TlsMemory
  /** Which hosts have shown a firewall challenge. */
  readonly hostBreaker: HostBreaker
  /** What other processes know of it. */
  readonly sharedFirewallStates: Set<FirewallState>
  /** Pairs of identity and credential that the service did not accept: not posted again (a repeat can lock the account). */
  readonly rejectedCredentials: SecretMemory
  /** `state` of logins that were completed here: each is used once. */
  readonly completedLogins: SecretMemory
}

const aDay = 24 * 60 * 60
const anHour = 60 * 60

/** @param now - the clock, in seconds since the epoch; another one than the system's is for tests */
export function createSsoContext(settings: SsoSettings, now: () => number = () => Date.now() / 1000): SsoContext {
  return {
    ...settings,
    now,
    tlsMemory: { sessions: new Map() },
    hostBreaker: createHostBreaker(settings.firewallCooldown, now),
    sharedFirewallStates: new Set(),
    rejectedCredentials: createSecretMemory(10_000, aDay),
    completedLogins: createSecretMemory(10_000, anHour),
  }
}
