/**
 * The gate before a host whose firewall blocks us: what one process met, all leave alone.
 */
import type { Gate } from '../../kernel/gate.ts'
import type { SharedFirewall } from './shared-firewall.ts'

/** @param hostOf - the base address that tokens of an instance are refreshed at: its block counts */
export function firewallGate(firewall: SharedFirewall, hostOf: (authUrl: string) => string): Gate {
  return {
    ahead: (authUrl) => firewall.sync(hostOf(authUrl)),
    isShut: (authUrl) => firewall.isBlocked(hostOf(authUrl)),
    async enter({ authUrl }) {
      const host = hostOf(authUrl)
      const probe = await firewall.enter(host)
      return {
        passed: () => firewall.passed(host),
        challenged: (error) => firewall.challenged(host, error),
        ...(probe && { giveBack: () => probe.giveBack() }),
      }
    },
  }
}
