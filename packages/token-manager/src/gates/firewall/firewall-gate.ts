/**
 * Who is kept from a host whose firewall blocks us, refreshes and sign-ins: what one process met, all leave alone.
 */
import { FirewallChallengeError, RefreshElsewhereError } from '../../errors.ts'
import type { FirewallState } from '../../issuer/token-issuer.ts'
import type { Work } from '../../kernel/context.ts'
import type { Gate } from '../../kernel/gate.ts'
import { answeredInTime } from '../../support/time-limit.ts'
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

/** Milliseconds that a sign-in waits for the store. */
const storeTimeout = 2000

/**
 * For sign-ins: it reads the store itself, and a store in trouble fails no sign-in. One that is down is passed over, and one that does
 * not answer is given up. What is given up goes on, and counts as under way until it ends: a claim or a block may still be written.
 */
export function firewallStateForSignIns(firewall: SharedFirewall, { track, settings }: Work): FirewallState {
  async function inTime<Value>(call: Promise<Value>): Promise<Value | undefined> {
    try {
      return await answeredInTime(
        storeTimeout,
        () => track(call),
        () => new Error('late'),
      )
    } catch (error) {
      if (error instanceof FirewallChallengeError) throw error
      return undefined
    }
  }

  return {
    admit() {
      if (settings.refreshesElsewhere) throw new RefreshElsewhereError()
    },
    async enter(authUrl) {
      const probe = await inTime(firewall.sync(authUrl).then(() => firewall.enter(authUrl)))
      return probe && { giveBack: () => inTime(probe.giveBack()) }
    },
    challenged: (authUrl, error) => inTime(firewall.challenged(authUrl, error)),
    passed: (authUrl) => inTime(firewall.passed(authUrl)),
  }
}
