/**
 * Endpoint 3 of the interface document: POST /oauth2/v3/token, exchange the code.
 */
import { type TokenSet, UnexpectedResponseError } from '@owner-sso/token-manager'
import type { LoginSecrets } from './authorization-request.ts'
import type { HttpSession } from '../http/http-session.ts'
import { isJsonType, parseJsonObject } from '@owner-sso/token-manager/http'
import { type PasscodePage, readPasscodePage } from '../pages/passcode-page.ts'
import type { ServiceContext } from '../service/options.ts'
import { tokenEndpointError, tokenRequest } from './token-endpoint.ts'
import { isBearer, receivedTokens } from './token-response.ts'

const step = 'code-exchange'

/** The tokens of an account without a second factor, or with one that was verified. */
export interface ExchangedTokens {
  readonly kind: 'tokens'
  readonly tokens: TokenSet
}

/**
 * Exchanges a code at the token endpoint of the instance that issued it, and nowhere else. An account with a second factor gets the page that
 * asks for its passcode instead.
 *
 * @throws TokenRejectedError, UnexpectedResponseError, and what `HttpSession.send` throws
 */
export async function exchangeCode(
  service: ServiceContext,
  session: HttpSession,
  secrets: LoginSecrets,
  authUrl: string,
  code: string,
): Promise<ExchangedTokens | PasscodePage> {
  const grant = { code, code_verifier: secrets.codeVerifier, redirect_uri: service.redirectUri }
  const request = await tokenRequest(service, step, authUrl, grant)
  const response = await session.send(request)
  const passcodePage = readPasscodePage(response.page)
  if (passcodePage) return passcodePage

  const { status } = response
  const body = parseJsonObject(response.body)
  const tokens = status === 200 ? body && (await receivedTokens(body, service, authUrl)) : undefined
  if (!body || !tokens) throw await tokenEndpointError(service, response, request)
  if (!isJsonType(response.header('content-type')) || !isBearer(body)) {
    throw new UnexpectedResponseError('its tokens are not bearer tokens in JSON', { step, status })
  }
  return { kind: 'tokens', tokens }
}
