/**
 * The broker's options: what they are, and whether they make sense.
 */
import { checkOptions, kinds, type OptionRow, type OptionRows, type TokenManager } from '@owner-sso/core'
import type { OwnerApiProxyOptions, ProblemListener } from '@owner-sso/express'
import type { BrokerAlerts } from './http/account-tokens.ts'
import type { AuditEntry } from './http/audit.ts'
import { namesOf } from './http/guard.ts'
import type { BrokerClients } from './clients/broker-clients.ts'
import { isCallsPerMinute } from './clients/client-list.ts'
import { hostsRow } from './given/given.ts'

/** What a broker needs of a token manager. */
export type BrokerTokens = Pick<
  TokenManager,
  'accepted' | 'accounts' | 'getAccessToken' | 'getTokens' | 'invalidate' | 'on' | 'status'
>

/** What a broker works with, whom it lets in, and who is told. */
export interface TokenBrokerOptions {
  readonly tokens: BrokerTokens
  readonly clients: BrokerClients
  /** The owner API as well, below `/api/1/`, for clients with the scope `proxy`: options of `ownerApiProxy`. Default: not. */
  readonly proxy?: Omit<OwnerApiProxyOptions, 'tokens' | 'account' | 'authorize' | 'onProblem'> | undefined
  /** Names that the broker goes by, beside `localhost` and IP addresses: a request for any other is rejected (DNS rebinding). */
  readonly hosts?: readonly string[] | undefined
  readonly limits?: BrokerLimits | undefined
  /** Is told of each token that is handed out, and of each rejection. */
  readonly audit?: ((entry: AuditEntry) => void) | undefined
  readonly alerts?: BrokerAlerts | undefined
  /** Is told of every answer that an error is behind, for a log. */
  readonly onProblem?: ProblemListener | undefined
}

/** How often somebody may call, in each process. */
export interface BrokerLimits {
  /** Of each client that has no limit of its own. Default 600. */
  readonly callsPerMinute?: number | undefined
  /** Of each address. Default 20. A right key is served all the same. */
  readonly wrongKeysPerMinute?: number | undefined
  /** Calls that wait for the next token at the same time. Default 1,024. */
  readonly waiting?: number | undefined
}

/** The options, read once. */
export interface BrokerSettings extends Omit<TokenBrokerOptions, 'hosts' | 'limits'> {
  readonly hosts: ReadonlySet<string>
  readonly limits: Readonly<typeof usualLimits>
}

const callsRow: OptionRow = { must: 'a whole number above 0', fits: isCallsPerMinute }

const usualLimits = { callsPerMinute: 600, wrongKeysPerMinute: 20, waiting: 1024 }

const limitRows: OptionRows<BrokerLimits> = {
  callsPerMinute: callsRow,
  wrongKeysPerMinute: callsRow,
  waiting: callsRow,
}

const rows: OptionRows<TokenBrokerOptions> = {
  tokens: kinds.required(
    kinds.having('what createTokenManager() returns', 'accounts', 'getAccessToken', 'getTokens', 'on'),
  ),
  clients: kinds.required(kinds.having('what brokerClients() returns', 'close', 'find', 'noteUse')),
  proxy: kinds.having('an object with options of ownerApiProxy'),
  hosts: hostsRow,
  limits: kinds.any,
  audit: kinds.function,
  alerts: kinds.having('what accountAlerts() returns', 'signInNeeded', 'works'),
  onProblem: kinds.function,
}

/** @throws TypeError that names the option, and says what came */
export function parseBrokerOptions(options: TokenBrokerOptions): BrokerSettings {
  checkOptions('tokenBroker', options, rows)
  const { hosts = [], limits = {} } = options
  checkOptions('limits', limits, limitRows, 'limits.')
  const given = Object.entries(limits).filter(([, each]) => each !== undefined)
  return { ...options, hosts: namesOf(hosts), limits: { ...usualLimits, ...Object.fromEntries(given) } }
}
