/**
 * Endpoint 6 of the interface document, `POST /oauth2/v3/token`, as the SSO service has it, and `POST /oauth/token`, where older
 * clients refresh: a client that can be pointed at another address needs no change. Its refresh token is its own; the real one never leaves the token manager.
 */
import type { ServerResponse } from 'node:http'
import type { CurrentTokens } from '@owner-sso/core'
import type { Answer } from '@owner-sso/express/support'
import { decodeJwt } from 'jose/jwt/decode'
import { sha256 } from '../clients/secret.ts'
import { secondsLeft } from './account-tokens.ts'
import { accountFor, accountInHeader } from './caller.ts'
import { type Call, clientWithKey, type BrokerParts } from './call.ts'
import { RejectedCall, unknownKey } from './rejection.ts'
import { type Fields, tokenRequestFields } from './token-request.ts'

export async function answerTokenRequest(call: Call, parts: BrokerParts): Promise<void> {
  const { request, response, door, told } = call
  const note = { by: 'refresh', address: door.addressOf(request) } as const
  try {
    const fields = checkedFields(await tokenRequestFields(request))
    // As it was in a file: with a byte order mark, or a line's end.
    const presented = fields.get('refresh_token')?.trim() ?? ''
    const client = await clientWithKey(call, parts, presented)
    told.account = accountFor(client, 'token', accountInHeader(request))
    const tokens = await parts.tokensOf(told.account)
    if (client.scope.includes('proxy')) parts.handedOut.set(sha256(tokens.access_token), presented)
    sendTokens(response, tokens, presented)
    parts.audit({ ...note, event: 'token', ...told })
  } catch (error) {
    const rejected: TokenErrorAnswer =
      error instanceof TokenError
        ? { status: 400, error: error.error, description: error.message, code: error.error }
        : tokenErrorOf(error, parts.answerTo(error, request))
    const { status, description, headers } = rejected
    sendJson(response, status, { error: rejected.error, error_description: description }, headers)
    parts.audit({ ...note, event: 'rejected', ...told, code: rejected.code })
  }
}

function sendTokens(response: ServerResponse, tokens: CurrentTokens, refresh_token: string): void {
  const id_token = livingIdToken(tokens.id_token)
  sendJson(response, 200, {
    access_token: tokens.access_token,
    refresh_token,
    ...(id_token !== undefined && { id_token }),
    expires_in: secondsLeft(tokens),
    token_type: tokens.token_type,
  })
}

/** An id token that is not over; one that can't be read is not for us to judge. */
function livingIdToken(idToken: string | undefined): string | undefined {
  if (idToken === undefined) return undefined
  try {
    const { exp = Infinity } = decodeJwt(idToken)
    return exp > Date.now() / 1000 ? idToken : undefined
  } catch {
    return idToken
  }
}

/** @throws TokenError */
function checkedFields(fields: Fields | undefined): Fields {
  if (fields === undefined)
    throw new TokenError('invalid_request', 'The body must be a JSON object or a form, as Content-Type says')
  const grant = fields.get('grant_type')
  if (grant === undefined) throw new TokenError('invalid_request', 'Missing grant_type (a text)')
  if (grant !== 'refresh_token') throw new TokenError('unsupported_grant_type', 'The grant_type is not supported')
  if (!fields.get('refresh_token')?.trim()) throw new TokenError('invalid_request', 'Missing refresh_token (a text)')
  // Its key says who a program is, and what it gets: client_id, client_secret, audience and scope are those of its own settings.
  return fields
}

/** A rejection in the words of RFC 6749 section 5.2. */
class TokenError extends Error {
  readonly error: string

  constructor(error: string, description: string) {
    super(description)
    this.error = error
  }
}

interface TokenErrorAnswer {
  readonly status: number
  readonly error: string
  readonly description: string
  readonly headers?: Readonly<Record<string, string>>
  readonly code: string
}

/** @param answer - what the error means at any other endpoint */
function tokenErrorOf(error: unknown, { status, headers, problem }: Answer): TokenErrorAnswer {
  const { code, detail: description } = problem
  // Unknown, revoked and expired tokens are all the same to whoever sends them.
  if (code === 'ERR_BROKER_UNKNOWN_KEY') {
    const unknown = `The refresh_token is unknown, expired or revoked. ${unknownKey}`
    return { status: 400, error: 'invalid_grant', description: unknown, code: 'invalid_grant' }
  }
  // The account's own sign-in has ended: as the service says it, so that clients tell their owner to sign in.
  if (status === 401) {
    return { status: 400, error: 'login_required', description: 'The refresh_token is expired.', code }
  }
  const isOfKey = error instanceof RejectedCall && ofKey.has(error.code)
  if (isOfKey) return { status: 400, error: 'invalid_grant', description, code }
  const word = status >= 500 || status === 429 ? 'temporarily_unavailable' : 'invalid_request'
  return { status, error: word, description, headers, code }
}

/** Rejections that say that a key is not for this. */
const ofKey: ReadonlySet<string> = new Set(['ERR_BROKER_SCOPE', 'ERR_BROKER_ACCOUNT_NOT_ALLOWED'])

/** RFC 6749 section 5.1: nothing keeps it. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = JSON.stringify(body)
  response
    .writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
      pragma: 'no-cache',
      ...headers,
    })
    .end(text)
}
