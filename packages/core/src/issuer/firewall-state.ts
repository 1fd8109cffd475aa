/**
 * Blocks that processes tell each other of: a sign-in asks before its first request to an instance of the service, and tells
 * what came. Whoever holds the store they share, the token manager, answers.
 */
import type { FirewallChallengeError } from '../errors.ts'

/** What the processes that share a token store know of the firewall. `authUrl` names an instance of the service. */
export interface FirewallState {
  /** Returns if this process may send now. @throws FirewallChallengeError while another's challenge is waited out */
  enter(authUrl: string): Promise<void>
  /** A challenge page came. */
  challenged(authUrl: string, error: FirewallChallengeError): Promise<unknown>
  /** The service itself answered. */
  passed(authUrl: string): Promise<void>
}

/**
 * What the processes that share a token store know of the firewall.
 *
 * @deprecated The former name of {@link FirewallState}.
 */
export type SharedBlocks = FirewallState
