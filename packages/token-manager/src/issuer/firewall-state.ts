/**
 * Blocks that processes tell each other of: a sign-in asks before its first request to an instance of the service, and tells
 * what came. Whoever holds the store they share, the token manager, answers.
 */
import type { ClientRejectedError, FirewallChallengeError } from '../errors.ts'

/** The permission to send one request after a block, to see whether it is over. It ends after a minute. */
export interface Probe {
  /** Nothing was sent by it: whoever comes next may probe. Never rejects. */
  giveBack(): Promise<void>
}

/** What the processes that share a token store know of the firewall. `authUrl` names an instance of the service. */
export interface FirewallState {
  /**
   * Returns if this process may send now; with a `Probe`, where the others wait for what comes of it.
   *
   * @throws FirewallChallengeError while another's challenge is waited out
   */
  enter(authUrl: string): Promise<Probe | undefined>
  /** A challenge page came, or the client was rejected. Returns when the next request may go, in seconds since the epoch, where that is known. */
  challenged(authUrl: string, error: FirewallChallengeError | ClientRejectedError): Promise<number | undefined>
  /** Optional: asked before every call of the service. @throws RefreshElsewhereError where this process makes none */
  admit?(): void
  /** The service itself answered. */
  passed(authUrl: string): Promise<void>
}
