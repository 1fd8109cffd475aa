/**
 * Whether an instance can do all it is there for: the store answers, and no firewall keeps it from refreshing tokens.
 */
import { firewallRecordName, type TokenStore } from '@owner-sso/core'

export interface Readiness {
  readonly ready: boolean
  readonly store: 'up' | 'down'
  /** `unknown` while the store, which holds it for all instances, is down. */
  readonly firewall: 'clear' | 'blocked' | 'unknown'
  /** When the service may be asked again, in seconds since the epoch; there while it is blocked. */
  readonly nextAttemptAt?: number
}

/**
 * One read for each host that tokens are refreshed at says both: that the store answers, and what all gateways know of its firewall.
 * Takes no longer than the store's own deadline of two seconds.
 */
export async function readinessOf(store: TokenStore, hosts: readonly string[]): Promise<Readiness> {
  try {
    const blocks = await Promise.all(hosts.map((host) => blockedUntil(store, host)))
    const nextAttemptAt = Math.max(...blocks)
    const isBlocked = nextAttemptAt > Date.now() / 1000
    return isBlocked
      ? { ready: false, store: 'up', firewall: 'blocked', nextAttemptAt }
      : { ready: true, store: 'up', firewall: 'clear' }
  } catch {
    return { ready: false, store: 'down', firewall: 'unknown' }
  }
}

/** Seconds since the epoch; 0 where nothing is blocked. */
async function blockedUntil(store: TokenStore, host: string): Promise<number> {
  const stored = await store.read(firewallRecordName(host))
  if (stored?.record.state !== 'firewall' || stored.record.challenges === 0) return 0
  return stored.record.noted_at + stored.record.wait
}
