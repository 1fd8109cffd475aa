/**
 * The token endpoint's two grants (RFC 6749 sections 4.1.3 and 6): one request each, and never a second one.
 */
import { ClientRejectedError, FirewallChallengeError, OtherOwnerError } from '../errors.ts'
import type { IssuerRefreshOptions } from '../issuer/token-issuer.ts'
import type { TokenSet } from '../issuer/token-set.ts'
import { membersOf, tokenEndpointError } from './error-table.ts'
import { type OauthService, requestTimeout } from './service.ts'
import { readTokens, type TokensBefore } from './token-reading.ts'

/** One refresh. @throws as the table of `TokenIssuer` says */
export async function refreshTokens(
  service: OauthService,
  tokens: TokenSet,
  call: IssuerRefreshOptions,
): Promise<TokenSet> {
  const parameters = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }
  const fresh = await grantTokens(service, 'refresh', parameters, tokens, call)
  // OpenID Connect Core, section 12.2. The account's own access token goes on.
  const [before, now] = [await subjectOf(tokens), await subjectOf(fresh)]
  if (before === undefined || now === undefined || before === now) return fresh
  throw new OtherOwnerError({ step: 'refresh' })
}

/** @param before - the refresh token that stays, where the response names none */
export async function grantTokens(
  { settings, states, ready, send }: OauthService,
  step: 'code-exchange' | 'refresh',
  parameters: Readonly<Record<string, string>>,
  before: TokensBefore,
  { timeout = requestTimeout, signal, beforeSend }: IssuerRefreshOptions,
): Promise<TokenSet> {
  const [server, authentication] = await ready(step, { timeout, signal })
  const { clientId, clientSecret, audience, encoding, authUrl } = settings
  const body = new URLSearchParams({ ...settings.parameters, ...(audience && { audience }), ...parameters })
  const isJson = encoding === 'json'
  const headers = new Map([['Content-Type', isJson ? 'application/json' : 'application/x-www-form-urlencoded']])
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it only sets some; Node's own Headers bring all of fetch with them
  await authentication(server, { client_id: clientId }, body, headers as unknown as Headers)
  const request = {
    url: new URL(server.token_endpoint ?? ''),
    headers: Object.fromEntries(headers),
    body: isJson ? JSON.stringify(Object.fromEntries(body)) : body.toString(),
  }
  const answer = await send(step, { method: 'POST', ...request }, { timeout, signal, beforeSend })
  const tokens = answer.status < 400 && (await readTokens(membersOf(answer), 'endpoint', authUrl, before))
  if (tokens) return tokens
  const error = tokenEndpointError(answer, step, [...Object.values(parameters), clientSecret ?? ''].filter(Boolean))
  const isRejected = error instanceof ClientRejectedError
  // Of one that a refresh meets, the token manager tells the others itself.
  const isFirewall = error instanceof FirewallChallengeError && step !== 'refresh'
  if (isRejected || isFirewall) for (const state of states) await state.challenged(authUrl, error)
  throw error
}

async function subjectOf({ id_token }: TokenSet): Promise<string | undefined> {
  if (id_token === undefined) return undefined
  const { decodeJwt } = await import('jose/jwt/decode')
  try {
    return decodeJwt(id_token).sub
  } catch {
    return undefined
  }
}
