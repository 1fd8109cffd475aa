/**
 * A running emulator, as tests and demos hold it.
 */
import type { JSONWebKeySet } from 'jose'
import type { EmulatorAccount } from './accounts.ts'
import type { Clock } from './clock.ts'
import type { Counters } from './counters.ts'
import type { Bend, BendFailure } from './faults/bent-answer.ts'
import type { Endpoint, Fault } from './faults/fault.ts'
import type { Firewall } from './firewall.ts'
import type { LoggedRequest } from './journal/request-log.ts'
import type { SignInTokens } from './refresh-tokens.ts'
import type { SwitchableOptions } from './options/options.ts'
import type { ScenarioName } from './switches/scenarios.ts'

/** The service and the owner API, running: where they are, what they were asked, and how to bend them. */
export interface Emulator extends AsyncDisposable {
  /** Base addresses, without a trailing slash. */
  readonly authUrl: string
  readonly regionalAuthUrl: string
  readonly ownerApiUrl: string
  /** PEM of the certificate authority; undefined without TLS. */
  readonly ca: string | undefined
  readonly accounts: readonly EmulatorAccount[]
  /** What arrived, oldest first, secrets masked; the last 10,000. */
  readonly requests: readonly LoggedRequest[]
  readonly counters: Readonly<Counters>
  readonly clock: Clock
  /** The public keys that access and id tokens verify with. */
  readonly jwks: JSONWebKeySet
  /** The account with this e-mail address. @throws {TypeError} There is none. */
  account(identity: string): EmulatorAccount
  /** The firewall by hand: `block(seconds?)`, `lift()`, `blockedUntil`, `clients()`. */
  readonly firewall: Omit<Firewall, 'blocks'>
  /**
   * Changes options while the emulator runs, from the next request on; one that is undefined goes back to its default. What has
   * begun (a session with its hidden inputs, a code, a token) goes on as it began.
   *
   * @throws {TypeError} An option is unknown or wrong or can't change any more; the message names it, and nothing has changed.
   */
  change(options: SwitchableOptions): void
  /** Sets the switches of a scenario, on top of what is set. @throws {TypeError} There is no such scenario. */
  play(scenario: ScenarioName): void
  /**
   * The next request to the endpoint meets the fault; several wait in line. A function bends the answer that the service would
   * have given: see `failures` for one that throws.
   */
  once<Body = unknown>(endpoint: Endpoint, fault: Fault | Bend<Body>): void
  /** Every request to the endpoint meets the fault, until it is undefined. */
  always<Body = unknown>(endpoint: Endpoint, fault: Fault | Bend<Body> | undefined): void
  /** Functions of `once` and `always` that failed: their client got a 500, and `close()` throws what they threw. Empty it to forgive. */
  readonly failures: BendFailure[]
  /** Tokens of a sign-in that needed no login. @throws {TypeError} Unknown identity. */
  issueTokens(identity: string): Promise<SignInTokens>
  /** The owner API answers the account's access tokens with 401 from now on. Says how many were alive. */
  revokeAccessTokens(identity: string): number
  /** The account's refresh tokens get `login_required` from now on. Says how many were alive. */
  expireRefreshTokens(identity: string): number
  /**
   * As at the start, at the same addresses: options and accounts are as they were given, no fault waits or stands, the firewall and
   * the factors remember nobody, the clock is the machine's, the log is empty, every counter is zero. Sessions, codes and
   * tokens live on.
   */
  reset(): void
  /** Ends every connection; can be repeated. @throws {Error} A function of `once` or `always` failed: see `failures`. */
  close(): Promise<void>
}
