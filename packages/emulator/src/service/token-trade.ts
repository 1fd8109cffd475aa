/**
 * What legacy clients do before their first call: tokens are traded for others at the owner API itself, and refreshed there.
 */
import type { IncomingMessage } from 'node:http'
import type { AccessToken, Minting } from '../state/access-tokens.ts'
import type { TokenResponse } from '../state/refresh-tokens.ts'
import { jsonResponse, withReason, type ServiceResponse } from '../http/service-response.ts'
import type { ServiceState } from '../state/service-state.ts'
import { mediaTypeOf } from '../http/service-request.ts'
import { tokenFields } from './token-endpoint.ts'

/** The answer to `POST /oauth/token` of the owner API: tokens of the same account and sign-in, for the access token held. */
export async function tradeResponse(
  service: ServiceState,
  { account, family, audience }: AccessToken,
  minting: Minting,
): Promise<ServiceResponse> {
  const instance = service.instances[account.region]
  return tradedTokens(service, await service.refreshTokens.trade({ account, family, instance, audience }, minting))
}

/** The refresh token of a body that asks for a refresh; undefined: the request is a trade. */
export function tradedRefreshToken(
  service: ServiceState,
  request: IncomingMessage & { readonly body?: unknown },
): string | undefined {
  const body = typeof request.body === 'string' ? request.body : ''
  const fields = tokenFields(service, { contentType: mediaTypeOf(request), body })
  return fields?.get('grant_type') === 'refresh_token' ? (fields.get('refresh_token') ?? '') : undefined
}

/** The answer to a refresh at the same place. It takes what was traded there, whichever region it is of, and nothing else. */
export async function refreshedTradeResponse(
  service: ServiceState,
  refreshToken: string,
  minting: Minting,
): Promise<ServiceResponse> {
  service.counters.refreshRequests += 1
  const { decision, tokens } = await service.refreshTokens.refresh(refreshToken, 'owner-api', minting)
  if (tokens) return withReason(decision, tradedTokens(service, tokens))
  const description = 'The refresh token is unknown, expired or was not given here'
  return withReason(decision, jsonResponse(400, { error: 'invalid_grant', error_description: description }))
}

/** Legacy clients reckon with seconds, from `created_at` on. */
function tradedTokens(
  { clock, settings }: ServiceState,
  { access_token, refresh_token }: TokenResponse,
): ServiceResponse {
  return jsonResponse(200, {
    access_token,
    token_type: 'bearer',
    expires_in: settings.accessTokenLifetime,
    ...(refresh_token !== undefined && { refresh_token }),
    created_at: Math.floor(clock.now()),
  })
}
