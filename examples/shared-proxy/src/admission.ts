/**
 * Who calls, and for which account: told before anything else is looked at.
 */
import type { IncomingMessage } from 'node:http'
import { admit, type BrokerClients, type BrokerRejectionCode } from '@owner-sso/broker'
import type { Rejection } from './own-responses.ts'

/** The account to call the owner API for, or why not. */
export type Admission = { readonly account: string } | { readonly rejection: Rejection }

/**
 * The API key comes as a bearer token (RFC 6750 section 2.1), the account's name in `X-Owner-Account`; a client with one
 * account may leave it out. An account that is not on the client's list is rejected alike, whether it exists or not.
 */
export async function admission(request: IncomingMessage, clients: BrokerClients): Promise<Admission> {
  const admitted = await admit(request, clients, 'proxy')
  if ('code' in admitted) return { rejection: rejections[admitted.code] ?? unknownKey }
  clients.noteUse(admitted.client, request.socket.remoteAddress ?? 'unknown')
  return { account: admitted.account }
}

const unknownKey: Rejection = {
  status: 401,
  code: 'ERR_GATEWAY_UNKNOWN_KEY',
  detail: 'Send an API key of this gateway as Authorization: Bearer.',
  headers: { 'www-authenticate': 'Bearer realm="owner API gateway"' },
}

const rejections: { readonly [Code in BrokerRejectionCode]?: Rejection } = {
  ERR_BROKER_UNKNOWN_KEY: unknownKey,
  ERR_BROKER_NO_ACCOUNT: {
    status: 400,
    code: 'ERR_GATEWAY_NO_ACCOUNT',
    detail: 'This API key serves several accounts: name one in the header X-Owner-Account.',
  },
  ERR_BROKER_SCOPE: {
    status: 403,
    code: 'ERR_GATEWAY_SCOPE',
    detail: 'This API key was not made for calls of the owner API.',
  },
  ERR_BROKER_ACCOUNT_NOT_ALLOWED: {
    status: 403,
    code: 'ERR_GATEWAY_ACCOUNT_NOT_ALLOWED',
    detail: 'This API key may not be used for that account.',
  },
}
