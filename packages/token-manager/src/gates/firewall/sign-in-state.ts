/**
 * The shared breaker as a {@link FirewallState} for sign-ins: it reads the store itself, and a store in trouble fails no
 * sign-in. One that is down is passed over, and one that does not answer is given up.
 */
import { FirewallChallengeError, RefreshElsewhereError } from '../../errors.ts'
import type { FirewallState } from '../../issuer/token-issuer.ts'
import { startTimeLimit } from '../../support/time-limit.ts'
import type { Work } from '../../kernel/context.ts'
import type { SharedFirewall } from './shared-firewall.ts'

/** Milliseconds that a sign-in waits for the store. */
const storeTimeout = 2000

/** What is given up goes on, and counts as under way until it ends: a claim or a block may still be written. */
export function firewallStateForSignIns(firewall: SharedFirewall, { track, settings }: Work): FirewallState {
  async function inTime<Value>(call: Promise<Value>): Promise<Value | undefined> {
    let end: (() => void) | undefined
    const late = new Promise<undefined>((resolve) => {
      end = startTimeLimit(storeTimeout, () => resolve(undefined))
    })
    try {
      return await Promise.race([track(call), late])
    } catch (error) {
      if (error instanceof FirewallChallengeError) throw error
      return undefined
    } finally {
      end?.()
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
