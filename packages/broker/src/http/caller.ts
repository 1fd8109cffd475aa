/**
 * Which client calls with which key, and for which account.
 */
import type { IncomingMessage } from 'node:http'
import { checkOption, kinds } from '@owner-sso/core'
import type { BrokerClients } from '../clients/broker-clients.ts'
import type { ClientScope, KeptClient } from '../clients/client.ts'
import { accountNamed, scopes } from '../clients/client-list.ts'
import { type BrokerRejectionCode, RejectedCall } from './rejection.ts'

/**
 * The key of a call, as a bearer token (RFC 6750 section 2.1); `undefined` where there is none. A byte order mark, which a file
 * may have before its text, is no part of it.
 */
export function bearerKey({ headers }: IncomingMessage): string | undefined {
  return /^Bearer +(?:\u{EF}\u{BB}\u{BF})?([\w.~+/-]+=*)$/iu.exec(headers.authorization ?? '')?.[1]
}

/**
 * The account that a call names in `X-Owner-Account`. Node reads headers as Latin-1; names are UTF-8. A header that came
 * twice is joined by commas and so is nobody's name.
 */
export function accountInHeader({ headers }: IncomingMessage): string | undefined {
  const header = headers['x-owner-account']
  return header === undefined ? undefined : Buffer.from(String(header), 'latin1').toString()
}

/**
 * The account that a client calls for: the one it names, or its only one. An account that is not on its list is rejected
 * alike, whether it exists or not.
 *
 * @throws RejectedCall
 */
export function accountFor(client: KeptClient, scope: ClientScope, named: string | undefined): string {
  const { accounts } = client
  if (!client.scope.includes(scope)) throw new RejectedCall('ERR_BROKER_SCOPE', {}, scopeLacks[scope])
  if (named === undefined && accounts.length > 1) throw new RejectedCall('ERR_BROKER_NO_ACCOUNT')
  const account = named === undefined ? accounts[0] : accountNamed(named)
  if (account === undefined || !accounts.includes(account)) throw new RejectedCall('ERR_BROKER_ACCOUNT_NOT_ALLOWED')
  return account
}

const again = 'Revoke it, and invite it again with'
const scopeLacks: Readonly<Record<ClientScope, string>> = {
  token: `This program may call the owner API through the broker, and gets no token. ${again} --scope token.`,
  proxy: `This program may have tokens, and not call the owner API through the broker. ${again} --scope proxy.`,
}

/** Who may make a call, or why it is rejected. */
export type Admission = { readonly client: string; readonly account: string } | { readonly code: BrokerRejectionCode }

/**
 * The client and the account of a call with a key: for a gateway of one's own, such as examples/shared-proxy.
 *
 * @param scope - what the client has to be invited for
 * @throws ClientsError, StoreError where the clients were never read; TypeError for another scope
 */
export async function admit(
  request: IncomingMessage,
  clients: Pick<BrokerClients, 'find'>,
  scope: ClientScope,
): Promise<Admission> {
  checkOption('clients', kinds.having('what brokerClients() returns', 'find'), clients)
  checkOption('scope', kinds.oneOf(...scopes), scope)
  const key = bearerKey(request)
  const client = key === undefined ? undefined : await clients.find(key)
  if (client === undefined) return { code: 'ERR_BROKER_UNKNOWN_KEY' }
  try {
    return { client: client.name, account: accountFor(client, scope, accountInHeader(request)) }
  } catch (error) {
    if (error instanceof RejectedCall) return { code: error.code }
    throw error
  }
}
