/**
 * Endpoint 6 of the interface document: POST /oauth2/v3/token, refresh.
 */
import { ReauthenticationRequiredError, type TokenSet } from '@owner-sso/token-manager'
import { howTokensAreLost, lostItsTokens, whatCame } from '@owner-sso/token-manager/support'
import type { RequestOptions } from '../http/http-context.ts'
import { openSession } from '../http/http-session.ts'
import { parseJsonObject } from '@owner-sso/token-manager/http'
import { requireOwn } from '../service/client.ts'
import { allowedInstance } from '../service/region.ts'
import type { ServiceContext } from '../service/options.ts'
import { tokenEndpointError, tokenRequest } from './token-endpoint.ts'
import { receivedTokens } from './token-response.ts'

/** What a refresh takes in addition to its tokens. */
export type RefreshOptions = RequestOptions

const step = 'refresh'

/**
 * Makes one refresh request, on a connection of its own, at the token endpoint of the instance that issued the tokens.
 *
 * Any response that holds a usable pair of tokens succeeds, whatever else is wrong with it: that pair may be the only valid
 * one, so it has to be saved before anything is judged.
 *
 * @throws TypeError for what is no token set, or a copy that lost its tokens; RegionNotAllowedError and, for another client's tokens, StoreError before anything is sent; ReauthenticationRequiredError, TokenRejectedError,
 *   UnexpectedResponseError as `token-endpoint.ts` tells them apart, and what `HttpSession.send` throws
 */
export async function refreshTokens(
  service: ServiceContext,
  tokens: TokenSet,
  options: RefreshOptions,
): Promise<TokenSet> {
  const came = whatCame(tokens)
  if (typeof tokens !== 'object' || came !== '') throw new TypeError(`tokens must be a token set${came}`)
  if (typeof tokens.auth_url !== 'string') throw new TypeError('tokens.auth_url must be the address of the instance')
  const authUrl = await allowedInstance(tokens.auth_url, service, step)
  requireOwn(service.client, tokens.auth_url)
  if (lostItsTokens(tokens)) throw new TypeError(`tokens is ${howTokensAreLost}; hand on the token set itself`)
  if (!tokens.refresh_token) throw new ReauthenticationRequiredError('no_refresh_token', { step, requestSent: false })
  // What other processes know of blocks is asked by the token manager, before it stores its intent.
  const session = openSession({ ...service, sharedFirewallStates: new Set() }, options)
  try {
    const request = await tokenRequest(service, step, authUrl, { refresh_token: tokens.refresh_token })
    const response = await session.send(request)
    const body = parseJsonObject(response.body)
    const fresh = body && (await receivedTokens(body, service, authUrl, tokens.refresh_token))
    if (!fresh) throw await tokenEndpointError(service, response, request)
    return fresh
  } finally {
    session.close()
  }
}
