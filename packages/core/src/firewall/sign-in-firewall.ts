/**
 * One sign-in and the firewall: it asks what other processes know, once for each instance of the service, and tells them what
 * it met.
 */
import { FirewallChallengeError, type FirewallState, type Probe, type SsoStep } from '@owner-sso/token-manager'

/** A {@link FirewallState} for one sign-in, over any number of them. */
export interface SignInFirewall {
  /**
   * Asks once for each instance; again after a probe that was given back.
   *
   * @throws FirewallChallengeError; nothing was sent
   */
  enter(origin: string, step: SsoStep): Promise<Probe | undefined>
  /** Returns what to throw: whoever met it waits as long as all others. */
  challenged(origin: string, error: FirewallChallengeError): Promise<FirewallChallengeError>
  passed(origin: string): Promise<void>
}

export function signInFirewall(sharing: Iterable<FirewallState>): SignInFirewall {
  const shared = [...sharing]
  const entered = new Set<string>()
  return {
    async enter(origin, step) {
      if (entered.has(origin)) return undefined
      const probes: (Probe | undefined)[] = []
      const giveBack = async (): Promise<void> => {
        for (const probe of probes) await probe?.giveBack()
        entered.delete(origin)
      }
      try {
        for (const blocks of shared) probes.push(await blocks.enter(origin))
      } catch (error) {
        await giveBack()
        if (!(error instanceof FirewallChallengeError)) throw error
        throw new FirewallChallengeError(error.nextAttemptAt, { step, requestSent: false })
      }
      entered.add(origin)
      return { giveBack }
    },
    async challenged(origin, error) {
      let { nextAttemptAt } = error
      for (const blocks of shared) {
        const told = await blocks.challenged(origin, error)
        if (typeof told === 'number') nextAttemptAt = Math.max(nextAttemptAt, told)
      }
      const { step, status } = error
      return new FirewallChallengeError(nextAttemptAt, { step, status })
    },
    async passed(origin) {
      for (const blocks of shared) await blocks.passed(origin)
    },
  }
}
