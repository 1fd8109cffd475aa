/**
 * Who calls, and for which account: told before anything else is looked at.
 */
import type { IncomingMessage } from 'node:http'
import type { Refusal } from './own-responses.ts'
import { accountNamed, type Client, clientWithKey } from './clients.ts'

/** The account to call the owner API for, or why not. */
export type Admission = { readonly account: string } | { readonly refusal: Refusal }

/**
 * The API key comes as a bearer token (RFC 6750 section 2.1), the account's name in `X-Owner-Account`; a client with one
 * account may leave it out. An account that is not on the client's list is refused alike, whether it exists or not.
 */
export function admit({ headers }: IncomingMessage, clients: readonly Client[]): Admission {
  const [, key] = /^Bearer +([\w.~+/-]+=*)$/iu.exec(headers.authorization ?? '') ?? []
  const client = key === undefined ? undefined : clientWithKey(clients, key)
  if (!client) return { refusal: unknownKey }
  const named = nameIn(headers['x-owner-account'])
  if (named === undefined && client.accounts.length > 1) return { refusal: noAccount }
  const account = named === undefined ? client.accounts[0] : accountNamed(named)
  return account !== undefined && client.accounts.includes(account) ? { account } : { refusal: foreignAccount }
}

/** Node reads headers as Latin-1; names are UTF-8. A header that came twice is joined by commas and so is nobody's name. */
function nameIn(header: string | string[] | undefined): string | undefined {
  return header === undefined ? undefined : Buffer.from(String(header), 'latin1').toString()
}

const unknownKey: Refusal = {
  status: 401,
  code: 'ERR_GATEWAY_UNKNOWN_KEY',
  detail: 'Send an API key of this gateway as Authorization: Bearer.',
  headers: { 'www-authenticate': 'Bearer realm="owner API gateway"' },
}

const noAccount: Refusal = {
  status: 400,
  code: 'ERR_GATEWAY_NO_ACCOUNT',
  detail: 'This API key serves several accounts: name one in the header X-Owner-Account.',
}

const foreignAccount: Refusal = {
  status: 403,
  code: 'ERR_GATEWAY_ACCOUNT_NOT_ALLOWED',
  detail: 'This API key may not be used for that account.',
}
