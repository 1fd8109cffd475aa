/**
 * The firewall during one sign-in: asks the shared state before the first request to each instance of the service, and reports
 * challenge pages and passed requests to it.
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
  /** Reports a challenge page. Returns the error to throw: its wait is the longest that anybody was given. */
  challenged(origin: string, error: FirewallChallengeError): Promise<FirewallChallengeError>
  passed(origin: string): Promise<void>
}

export function signInFirewall(shared: Iterable<FirewallState>): SignInFirewall {
  const states = [...shared]
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
        for (const state of states) probes.push(await state.enter(origin))
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
      for (const state of states) {
        const sharedWait = await state.challenged(origin, error)
        if (typeof sharedWait === 'number') nextAttemptAt = Math.max(nextAttemptAt, sharedWait)
      }
      const { step, status } = error
      return new FirewallChallengeError(nextAttemptAt, { step, status })
    },
    async passed(origin) {
      for (const state of states) await state.passed(origin)
    },
  }
}
