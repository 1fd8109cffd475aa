/**
 * The broker's options: what they are, and whether they make sense.
 */
import { checkOptionNames, type OptionNames, type TokenManager } from '@owner-sso/core'
import type { OwnerApiProxyOptions, ProblemListener } from '@owner-sso/express'
import type { BrokerAlerts } from './http/account-tokens.ts'
import type { AuditEntry } from './http/audit.ts'
import { namesOf } from './http/guard.ts'
import type { BrokerClients } from './clients/broker-clients.ts'
import { isCallsPerMinute } from './clients/client-list.ts'
import { longestGrace } from './clients/rotation.ts'
import {
  isObject,
  requireFunction,
  requireFunctions,
  requireHosts,
  requireNumber,
  requireOption,
} from './given/given.ts'

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
  /** What a client that refreshes gets: the `same` refresh token again (default), or at each use another one. */
  readonly rotation?: 'same' | 'rotate' | undefined
  /** Seconds that a client's former refresh tokens work on once it has used the new one. Default 60. */
  readonly rotationGrace?: number | undefined
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
export interface BrokerSettings extends Omit<TokenBrokerOptions, 'hosts' | 'limits' | 'rotation' | 'rotationGrace'> {
  readonly rotation: { readonly rotates: boolean; readonly grace: number }
  readonly hosts: ReadonlySet<string>
  readonly limits: { readonly [name in keyof BrokerLimits]-?: number }
}

const optionNames: OptionNames<TokenBrokerOptions> = {
  tokens: true,
  clients: true,
  proxy: true,
  rotation: true,
  rotationGrace: true,
  hosts: true,
  limits: true,
  audit: true,
  alerts: true,
  onProblem: true,
}

const tokenFunctions = ['accepted', 'accounts', 'getAccessToken', 'getTokens', 'invalidate', 'on', 'status'] as const
const clientFunctions = ['close', 'find', 'noteUse', 'replaceSecret'] as const

/** @throws TypeError that names the option, and says what came */
export function parseBrokerOptions(options: TokenBrokerOptions): BrokerSettings {
  checkOptionNames('tokenBroker', options, optionNames)
  const { tokens, clients, rotation = 'same', rotationGrace = 60, hosts = [], limits = {}, audit, onProblem } = options
  checkOptionNames('limits', limits, { callsPerMinute: true, wrongKeysPerMinute: true, waiting: true })
  requireFunctions('tokens must be what createTokenManager() returns', tokens, tokenFunctions)
  requireFunctions('clients must be what brokerClients() returns', clients, clientFunctions)
  const { proxy, alerts } = options
  requireOption(proxy === undefined || isObject(proxy), 'proxy must be an object with options of ownerApiProxy', proxy)
  requireOption(rotation === 'same' || rotation === 'rotate', 'rotation must be same or rotate', rotation)
  requireNumber('rotationGrace', rotationGrace, 'seconds', 0, longestGrace)
  requireHosts(hosts)
  if (alerts !== undefined) {
    requireFunctions('alerts must be what accountAlerts() returns', alerts, ['signInNeeded', 'works'])
  }
  for (const [name, listener] of Object.entries({ audit, onProblem })) requireFunction(name, listener)
  return {
    ...options,
    rotation: { rotates: rotation === 'rotate', grace: rotationGrace },
    hosts: namesOf(hosts),
    limits: {
      callsPerMinute: limitOf('callsPerMinute', limits.callsPerMinute, 600),
      wrongKeysPerMinute: limitOf('wrongKeysPerMinute', limits.wrongKeysPerMinute, 20),
      waiting: limitOf('waiting', limits.waiting, 1024),
    },
  }
}

function limitOf(name: string, given: unknown, usual: number): number {
  const value = given === undefined ? usual : given
  requireOption(isCallsPerMinute(value), `limits.${name} must be a whole number above 0`, value)
  return value
}
