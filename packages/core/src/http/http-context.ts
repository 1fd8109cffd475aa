/**
 * What all requests to one service share: how they are made, and what connections and hosts have shown so far. One for each
 * `createSso`; nothing in it belongs to an account.
 */
import type { FirewallState, IssuerRefreshOptions } from '@owner-sso/token-manager'
import { createHostBlocks, type HostBlocks } from '../firewall/host-blocks.ts'
import type { AgreedTransport, TlsMemory } from '@owner-sso/token-manager/http'
import type { Transport } from '@owner-sso/token-manager/support'

/** How requests are made. */
export interface HttpSettings {
  readonly transport: Transport
  /** Milliseconds for one request. */
  readonly timeout: number
  readonly proxy: string | undefined
  /** Seconds that a host is left alone after a challenge page. */
  readonly firewallCooldown: number
}

export interface HttpContext extends HttpSettings {
  /** Seconds since the epoch. */
  readonly now: () => number
  /** What connections share below HTTP. */
  readonly tlsMemory: TlsMemory
  /** Hosts that are left alone because they have shown a challenge page. */
  readonly hostBlocks: HostBlocks
  /** What other processes know of such blocks. */
  readonly sharedFirewallStates: Set<FirewallState>
}

/** @param now - seconds since the epoch */
export function createHttpContext<Settings extends HttpSettings>(
  settings: Settings,
  now: () => number,
): Settings & HttpContext {
  return {
    ...settings,
    now,
    tlsMemory: { sessions: new Map() },
    hostBlocks: createHostBlocks(settings.firewallCooldown, {
      wallClock: () => now() * 1000,
      monotonicClock: () => performance.now(),
    }),
    sharedFirewallStates: new Set(),
  }
}

/** What the requests of one session take in addition. */
export interface RequestOptions extends IssuerRefreshOptions {
  /** Is told what the connection agreed on, right before `beforeSend`. */
  readonly onConnected?: ((agreed: AgreedTransport) => void) | undefined
}
