/**
 * The token endpoint's address, and the one table of what its error responses mean (interface document, "Errors": not shown;
 * recordings; RFC 6749 section 5.2).
 *
 * | response                                      | code exchange      | refresh                                              |
 * | --------------------------------------------- | ------------------ | ---------------------------------------------------- |
 * | `invalid_grant`, `login_required`             | TokenRejectedError | ReauthenticationRequiredError: the token is dead     |
 * | `invalid_client`, `invalid_request`, …        | TokenRejectedError | TokenRejectedError: a mistake in our request or registration; the refresh token is not spent. Services were seen to say `invalid_request` of a dead refresh token as well: the token manager gives up after five |
 * | `invalid_client` of a registered application | ClientRejectedError | ClientRejectedError: the same, and all accounts rest  |
 * | `temporarily_unavailable`, `server_error`, 5xx, any other word or body | UnexpectedResponseError | UnexpectedResponseError: the refresh token may be spent |
 *
 * A firewall page never gets here: `http-session.ts` has thrown FirewallChallengeError.
 */
import {
  ClientRejectedError,
  ReauthenticationRequiredError,
  type SsoError,
  TokenRejectedError,
  UnexpectedResponseError,
} from '@owner-sso/token-manager'
import { quotedWords } from '@owner-sso/token-manager/support'
import type { StepAnswer, StepRequest } from '../http/http-session.ts'
import { parseJsonObject } from '@owner-sso/token-manager/http'
import { clientSecretOf } from '../service/client.ts'
import type { ServiceContext } from '../service/options.ts'
import { tokenUrlOf } from '../service/region.ts'

const deadGrant = new Set(['invalid_grant', 'login_required'])
const mistakes = new Set([
  'invalid_audience',
  'invalid_client',
  'invalid_request',
  'invalid_scope',
  'unauthorized_client',
  'unsupported_grant_type',
])

const otherChallenge =
  "It takes another code challenge: set service to 'current', or to 'document' where it was that (OWNER_SSO_SERVICE), or codeChallengeEncoding."

const secretFields = new Set(['code', 'code_verifier', 'refresh_token', 'client_secret'])
/** Seconds until an application that is not known is tried again, at first. */
const clientRest = 60

/**
 * The request of a grant at an instance's token endpoint (endpoints 3 and 6): JSON, as documented; of a registered application a form
 * with its secret, and at the exchange with the owner API that the tokens are for.
 *
 * @throws UnreachableError where there is no secret
 */
export async function tokenRequest(
  { client, tokenUrls }: ServiceContext,
  step: 'code-exchange' | 'refresh',
  authUrl: string,
  grant: Readonly<Record<string, string>>,
): Promise<StepRequest> {
  const url = new URL('/oauth2/v3/token', tokenUrlOf(authUrl, { tokenUrls }))
  const isRefresh = step === 'refresh'
  const { id: client_id, scope, application } = client
  const fields = { grant_type: isRefresh ? 'refresh_token' : 'authorization_code', client_id, ...grant }
  if (application === undefined) return { step, url, json: { ...fields, ...(isRefresh && { scope }) } }
  const { audience, secret } = application
  const client_secret = await clientSecretOf(secret, step)
  return { step, url, form: Object.entries({ ...fields, client_secret, ...(!isRefresh && { audience }) }) }
}

/**
 * The error for a response of the token endpoint that holds no usable tokens. All processes hear of a rejected application.
 *
 * @param request - all that was sent may be repeated in the response
 */
export async function tokenEndpointError(
  { client, now, sharedFirewallStates }: ServiceContext,
  response: StepAnswer,
  { step, url, json = {}, form = [] }: StepRequest,
): Promise<SsoError> {
  const { status } = response
  const secrets = [...Object.entries(json), ...form]
    .filter(([name]) => secretFields.has(name))
    .map(([, value]) => value)
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
  if (isClientError && error === 'invalid_client' && client.application !== undefined) {
    const rejected = new ClientRejectedError(Math.ceil(now()) + clientRest, { step, status })
    for (const state of sharedFirewallStates) await state.challenged(url.origin, rejected)
    return rejected
  }
  if (isClientError && mistakes.has(error)) {
    const isOfChallenge = step === 'code-exchange' && /code_verifier/iu.test(description ?? '')
    return new TokenRejectedError(error, { step, status }, description, isOfChallenge ? otherChallenge : undefined)
  }
  const whereToLook = status === 404 ? ': look at tokenUrl' : ''
  return new UnexpectedResponseError(`status ${status} without usable tokens${whereToLook}`, { step, status })
}
