/**
 * `GET /token`: the current access token, for programs in any language. As text for a shell, as JSON for whoever asks for it.
 */
import { createHash } from 'node:crypto'
import type { CurrentTokens } from '@owner-sso/core'
import Negotiator from 'negotiator'
import { secondsLeft } from './account-tokens.ts'
import { accountFor, accountInHeader, bearerKey } from './caller.ts'
import { type Call, clientWithKey, type BrokerParts } from './call.ts'
import { RejectedCall, unknownKey } from './rejection.ts'
import type { TokenChanges } from './token-changes.ts'

interface Asker {
  readonly client: string
  readonly account: string
}

/** @throws RejectedCall, ClientsError, SsoError */
export async function answerCurrentToken(call: Call, parts: BrokerParts, changes: TokenChanges): Promise<void> {
  const { request, response, query } = call
  const { client, account } = await askerOf(call, parts)
  Object.assign(call.told, { client, account })
  const [before, wait] = [query.get('after'), waitOf(query)]
  const now = await parts.tokensOf(account)
  const isChanged = before === null || tagOf(now) !== opaqueTag(before)
  const tokens = isChanged ? now : await changes.next(client, account, now, wait, response)
  // Whoever has hung up was given nothing.
  if (response.destroyed) return
  if (!isChanged) await checkAgain(call, parts, account)
  const note = { by: 'get', client, account, address: call.door.addressOf(request) } as const
  const tag = tagOf(tokens ?? now)
  const known = before === null ? (request.headers['if-none-match'] ?? '').split(',').map(opaqueTag) : []
  const headers = { etag: `W/"${tag}"`, 'cache-control': 'no-store', vary: 'accept, authorization' }
  if (tokens === undefined || known.includes(tag)) {
    response.writeHead(304, headers).end()
    parts.audit({ ...note, event: 'unchanged' })
    return
  }
  const [type = 'text/plain'] = new Negotiator(request).mediaTypes(['text/plain', 'application/json'])
  const body = type === 'text/plain' ? tokens.access_token : JSON.stringify(shown(tokens, account))
  const content = { 'content-type': `${type}; charset=utf-8`, 'content-length': Buffer.byteLength(body) }
  response.writeHead(200, { ...headers, ...content }).end(body)
  parts.audit({ ...note, event: request.method === 'HEAD' ? 'unchanged' : 'token' })
}

/** @throws RejectedCall */
async function askerOf(call: Call, parts: BrokerParts): Promise<Asker> {
  const { request, query, door } = call
  const key = bearerKey(request)
  const named = accountInHeader(request) ?? query.get('account') ?? undefined
  if (key === undefined && request.headers.authorization === undefined && door.isTrusted) {
    return { client: 'unix socket', account: named ?? (await onlyAccount(parts)) }
  }
  const client = await clientWithKey(call, parts)
  return { client: client.name, account: accountFor(client, 'token', named) }
}

/** A client may have been revoked while it waited. @throws RejectedCall */
async function checkAgain({ request }: Call, { clients }: BrokerParts, account: string): Promise<void> {
  const key = bearerKey(request)
  if (key === undefined) return
  const client = await clients.find(key)
  if (client === undefined) throw new RejectedCall('ERR_BROKER_UNKNOWN_KEY', {}, unknownKey)
  accountFor(client, 'token', account)
}

/** @throws RejectedCall where there are several, or none */
async function onlyAccount({ tokens }: BrokerParts): Promise<string> {
  const found: string[] = []
  for await (const account of tokens.accounts()) {
    found.push(account)
    if (found.length > 1) break
  }
  const [account] = found
  if (account === undefined) throw new RejectedCall('ERR_BROKER_NOBODY_SIGNED_IN')
  if (found.length > 1) throw new RejectedCall('ERR_BROKER_NO_ACCOUNT')
  return account
}

function shown(tokens: CurrentTokens, account: string): object {
  const { access_token, token_type, expires_at } = tokens
  return { account, access_token, token_type, expires_in: secondsLeft(tokens), expires_at: Math.floor(expires_at) }
}

/** Tells a token from the next one, and nothing else of it. */
function tagOf({ access_token }: CurrentTokens): string {
  return createHash('sha256').update(access_token).digest('base64url').slice(0, 22)
}

/** What is in an entity tag, however it is written: `W/"x"`, `"x"` or `x`. */
function opaqueTag(tag: string): string {
  return tag.trim().replace(/^(?:W\/)?"|"$/gu, '')
}

/** Milliseconds that a caller waits: half a minute, or what it says up to a minute. @throws RejectedCall */
function waitOf(query: URLSearchParams): number {
  const wait = query.get('wait') ?? '30'
  if (!/^\d{1,5}$/u.test(wait)) throw new RejectedCall('ERR_BROKER_MALFORMED_REQUEST')
  return Math.min(Number(wait), 60) * 1000
}
