/**
 * The token endpoint's address, and the one table of what its error responses mean (interface document, "Errors": not shown;
 * recordings; RFC 6749 section 5.2).
 *
 * | response                                      | code exchange      | refresh                                              |
 * | --------------------------------------------- | ------------------ | ---------------------------------------------------- |
 * | `invalid_grant`, `login_required`             | TokenRejectedError | ReauthenticationRequiredError: the token is dead     |
 * | `invalid_client`, `invalid_request`, …        | TokenRejectedError | TokenRejectedError: a mistake in our request or registration; the refresh token is not spent. Services were seen to say `invalid_request` of a dead refresh token as well: the token manager gives up after five |
 * | `temporarily_unavailable`, `server_error`, 5xx, any other word or body | UnexpectedResponseError | UnexpectedResponseError: the refresh token may be spent |
 *
 * A firewall page never gets here: `http-session.ts` has thrown FirewallChallengeError.
 */
import {
  ReauthenticationRequiredError,
  type SsoError,
  TokenRejectedError,
  UnexpectedResponseError,
} from '@owner-sso/token-manager'
import { quotedWords } from '@owner-sso/token-manager/support'
import type { StepAnswer } from '../http/http-session.ts'
import { parseJsonObject } from '@owner-sso/token-manager/http'
import { type TokenHosts, tokenUrlOf } from '../service/token-hosts.ts'

const deadGrant = new Set(['invalid_grant', 'login_required'])
const mistakes = new Set([
  'invalid_client',
  'invalid_request',
  'invalid_scope',
  'unauthorized_client',
  'unsupported_grant_type',
])

const otherChallenge =
  "It takes another code challenge: set service to 'current', or to 'document' where it was that (OWNER_SSO_SERVICE), or codeChallengeEncoding."

/** POST here with JSON, for both grants of an instance (endpoints 3 and 6). */
export function tokenEndpoint(service: TokenHosts, authUrl: string): URL {
  return new URL('/oauth2/v3/token', tokenUrlOf(authUrl, service))
}

/**
 * The error for a response of the token endpoint that holds no usable tokens.
 *
 * @param secrets - what was sent, so that the response may repeat it
 */
export function tokenEndpointError(
  response: StepAnswer,
  step: 'code-exchange' | 'refresh',
  secrets: readonly string[],
): SsoError {
  const { status } = response
  const body = parseJsonObject(response.body)
  const error = String(body?.get('error'))
  const errorDescription = body?.get('error_description')
  const description = typeof errorDescription === 'string' ? quotedWords(errorDescription, secrets) : undefined
  const isClientError = status >= 400 && status < 500
  if (isClientError && deadGrant.has(error)) {
    return step === 'refresh'
      ? new ReauthenticationRequiredError('refresh_token_rejected', { step, status }, description, error)
      : new TokenRejectedError(error, { step, status }, description)
  }
  if (isClientError && mistakes.has(error)) {
    const isOfChallenge = step === 'code-exchange' && /code_verifier/iu.test(description ?? '')
    return new TokenRejectedError(error, { step, status }, description, isOfChallenge ? otherChallenge : undefined)
  }
  const whereToLook = status === 404 ? ': look at tokenUrl' : ''
  return new UnexpectedResponseError(`status ${status} without usable tokens${whereToLook}`, { step, status })
}
