/**
 * The token endpoint's success response as a token set (interface document, "Token response"; RFC 6749 section 5.1).
 */
import type { TokenSet } from '@owner-sso/token-manager'
import { tokenSet } from '@owner-sso/token-manager/support'
import type { JsonObject } from '@owner-sso/token-manager/http'
import { markedBy } from '../service/client.ts'
import type { ServiceContext } from '../service/options.ts'
import { expiresAt } from './token-lifetime.ts'

/** RFC 6750 section 2.1: what can stand in an Authorization header. */
const b64token = /^[A-Za-z0-9\-._~+/]{1,16384}=*$/u
/** RFC 6749 appendix A.17. */
const visibleText = /^[\x20-\x7e]{1,8192}$/u

/**
 * A token set, where the response holds a usable pair of tokens. Whatever else is odd about it is passed over: on a refresh
 * the pair may be the only valid one, and throwing it away would sign the owner out.
 *
 * @param authUrl - the instance that answered
 * @param previous - the refresh token that was sent: it stays, where the response names no other
 */
export async function receivedTokens(
  body: JsonObject,
  service: Pick<ServiceContext, 'accessTokenLifetime' | 'client' | 'now'>,
  authUrl: string,
  previous?: string,
): Promise<TokenSet | undefined> {
  const accessToken = matching(body.get('access_token'), b64token)
  const refreshToken = matching(body.get('refresh_token'), visibleText) ?? previous
  if (accessToken === undefined || refreshToken === undefined) return undefined
  const idToken = matching(body.get('id_token'), b64token)
  const state = body.get('state')
  const expiresIn = body.get('expires_in')
  return tokenSet({
    access_token: accessToken,
    refresh_token: refreshToken,
    ...(idToken === undefined ? {} : { id_token: idToken }),
    token_type: 'Bearer',
    ...(typeof expiresIn === 'number' ? { expires_in: expiresIn } : {}),
    ...(typeof state === 'string' ? { state } : {}),
    expires_at: await expiresAt(accessToken, expiresIn, service.accessTokenLifetime, service.now()),
    auth_url: markedBy(service.client, authUrl),
  })
}

/** Whether the response says that its tokens are bearer tokens (RFC 6749 section 7.1: case does not matter). */
export function isBearer(body: JsonObject): boolean {
  return String(body.get('token_type')).toLowerCase() === 'bearer'
}

function matching(value: unknown, pattern: RegExp): string | undefined {
  return typeof value === 'string' && pattern.test(value) ? value : undefined
}
