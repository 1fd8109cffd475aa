/**
 * One sign-in and the firewall: it asks what other processes know, once for each instance of the service, and tells them what
 * it met.
 */
import { FirewallChallengeError, type SsoStep } from '../errors.ts'
import type { FirewallState } from '../issuer/firewall-state.ts'

/** A {@link FirewallState} for one sign-in, over any number of them. */
export interface SignInFirewall {
  /** Asks once for each instance. @throws FirewallChallengeError; nothing was sent */
  enter(origin: string, step: SsoStep): Promise<void>
  challenged(origin: string, error: FirewallChallengeError): Promise<void>
  passed(origin: string): Promise<void>
}

export function signInFirewall(sharing: Iterable<FirewallState>): SignInFirewall {
  const shared = [...sharing]
  const entered = new Set<string>()
  return {
    async enter(origin, step) {
      if (entered.has(origin)) return
      try {
        for (const blocks of shared) await blocks.enter(origin)
      } catch (error) {
        if (!(error instanceof FirewallChallengeError)) throw error
        throw new FirewallChallengeError(error.nextAttemptAt, { step, requestSent: false })
      }
      entered.add(origin)
    },
    async challenged(origin, error) {
      for (const blocks of shared) await blocks.challenged(origin, error)
    },
    async passed(origin) {
      for (const blocks of shared) await blocks.passed(origin)
    },
  }
}
