/**
 * Blocks that processes tell each other of: a sign-in asks before its first request to an instance of the service, and tells
 * what came. Whoever holds the store they share, the token manager, answers.
 */
import { FirewallChallengeError } from '../errors.ts'
import type { SsoStep } from '../errors.ts'

/** What the processes that share a token store know of the firewall. `authUrl` names an instance of the service. */
export interface FirewallState {
  /** Returns if this process may send now. @throws FirewallChallengeError while another's challenge is waited out */
  enter(authUrl: string): Promise<void>
  /** A challenge page came. */
  challenged(authUrl: string, error: FirewallChallengeError): Promise<unknown>
  /** The service itself answered. */
  passed(authUrl: string): Promise<void>
}

/** @deprecated The former name of {@link FirewallState}. */
export type SharedBlocks = FirewallState

/** The same for one sign-in, however many share with it. */
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
