/**
 * A running emulator, as tests and demos hold it.
 */
import type { JSONWebKeySet } from 'jose'
import type { EmulatorAccount } from '../state/accounts.ts'
import type { Clock } from '../state/clock.ts'
import type { Counters } from '../state/counters.ts'
import type { Transform, TransformFailure } from '../faults/transform.ts'
import type { Endpoint, Fault } from '../faults/fault.ts'
import type { Firewall } from '../state/firewall.ts'
import type { LoggedRequest } from '../journal/exchange.ts'
import type { SignInTokens } from '../state/refresh-tokens.ts'
import type { SignInByHandOptions } from '../service/sign-in-by-hand.ts'
import type { ScenarioName } from './scenarios.ts'
import type { ChangeableOptions } from '../options/check-options.ts'

/** Base addresses, without a trailing slash. */
export interface Addresses {
  readonly authUrl: string
  readonly regionalAuthUrl: string
  readonly ownerApiUrl: string
  /** Of the token endpoints: `authUrl` and `regionalAuthUrl`, unless the option `tokenEndpointAt` moves them. */
  readonly tokenUrl: string
  readonly regionalTokenUrl: string
}

/** The service and the owner API, running: where they are, what they were asked, and how to change what they do. */
export interface Emulator extends Addresses, AsyncDisposable {
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
  /** The firewall by hand: `block(seconds?)`, `lift()`, `blockedUntil`. */
  readonly firewall: Omit<Firewall, 'blocks'>
  /**
   * Changes options while the emulator runs, from the next request on; one that is undefined goes back to its default. What has
   * begun (a session with its hidden inputs, a code, a token) goes on as it began.
   *
   * @throws {TypeError} An option is unknown or wrong or can't change any more; the message names it, and nothing has changed.
   */
  change(options: ChangeableOptions): void
  /** Sets the switches of a scenario, on top of what is set. @throws {TypeError} There is no such scenario. */
  applyScenario(scenario: ScenarioName): void
  /**
   * The next request to the endpoint meets the fault; several wait in line. A function transforms the response that the service
   * would have sent: see `failures` for one that throws.
   */
  once<Body = unknown>(endpoint: Endpoint, fault: Fault | Transform<Body>): void
  /** Every request to the endpoint meets the fault, until it is undefined. */
  always<Body = unknown>(endpoint: Endpoint, fault: Fault | Transform<Body> | undefined): void
  /** Functions of `once` and `always` that failed: their client got a 500, and `close()` throws what they threw. Empty it to forgive. */
  readonly failures: TransformFailure[]
  /**
   * What a person does in a browser: opens this address (an authorize URL of the emulator), fills in the form, types the passcode
   * where a page asks for one, and stops at the redirect to the application. The account is that of the `login_hint`, else the first.
   *
   * @returns The address that the browser ends on, with `code` and `state`.
   * @throws {TypeError} The address is not one of this emulator's, or there is no such account.
   * @throws {Error} It ended on a page: a wrong credential or passcode, a captcha, a locked account.
   */
  signInByHand(url: string | URL, options?: SignInByHandOptions): Promise<string>
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
