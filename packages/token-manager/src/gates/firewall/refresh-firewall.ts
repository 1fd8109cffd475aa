/**
 * The shared breaker as refreshes see it: callers name the instance that issued the tokens, and the block that counts is that of
 * the host which is asked for new ones.
 */
import type { SharedFirewall } from './shared-firewall.ts'

/** @param hostOf - the base address that tokens of an instance are refreshed at */
export function refreshFirewall(firewall: SharedFirewall, hostOf: (authUrl: string) => string): SharedFirewall {
  return {
    sync: (authUrl) => firewall.sync(hostOf(authUrl)),
    isBlocked: (authUrl) => firewall.isBlocked(hostOf(authUrl)),
    enter: (authUrl) => firewall.enter(hostOf(authUrl)),
    challenged: (authUrl, error) => firewall.challenged(hostOf(authUrl), error),
    passed: (authUrl) => firewall.passed(hostOf(authUrl)),
  }
}
