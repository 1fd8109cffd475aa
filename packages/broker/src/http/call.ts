/**
 * What every call needs, whichever way it is answered: the clients, their tokens, and who is told of it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { CurrentTokens, TokenManager } from '@owner-sso/core'
import type { Answer } from '@owner-sso/express/support'
import type { LRUCache } from 'lru-cache'
import type { Audit } from './audit.ts'
import type { BrokerClients } from '../clients/broker-clients.ts'
import type { KeptClient } from '../clients/client.ts'
import type { Door } from './door.ts'
import { bearerKey } from './caller.ts'
import type { CallLimits } from './limits.ts'
import { RejectedCall, unknownKey } from './rejection.ts'

export interface Call {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly door: Door
  readonly query: URLSearchParams
  /** What is known of the caller so far, for the audit log. */
  readonly told: { client?: string; account?: string }
}

export interface BrokerParts {
  readonly tokens: Pick<TokenManager, 'accounts'>
  readonly clients: BrokerClients
  readonly tokensOf: (account: string) => Promise<CurrentTokens>
  readonly limits: CallLimits
  /**
   * The key of whoever got an access token at the token endpoint, by the token's hash. A program that is pointed at the broker for
   * the owner API as well sends the token that it refreshed, as it would there: it stands for its key, and lets nobody do more
   * than the token itself does.
   */
  readonly handedOut: LRUCache<string, string>
  readonly audit: Audit
  readonly answerTo: (error: unknown, request: IncomingMessage) => Answer
}

/**
 * The client whose secret this is, counted and within its limits; a wrong one is counted too.
 *
 * @param secret - default: the call's bearer key
 * @throws RejectedCall where it has none, or nobody's; ClientsError, StoreError
 */
export async function clientWithKey(
  { request, door, told }: Call,
  { clients, limits }: BrokerParts,
  secret: string | undefined = bearerKey(request),
): Promise<KeptClient> {
  if (secret === undefined) throw new RejectedCall('ERR_BROKER_UNKNOWN_KEY')
  const address = door.addressOf(request)
  const client = await clients.find(secret)
  if (client === undefined) {
    await limits.countWrongKey(address)
    throw new RejectedCall('ERR_BROKER_UNKNOWN_KEY', {}, unknownKey)
  }
  told.client = client.name
  await limits.countCall(client)
  clients.noteUse(client.name, address)
  return client
}
