/**
 * All that makes requests: a sign-in in the person's browser (RFC 6749 section 4.1, RFC 7636, RFC 9207), and the token endpoint's two
 * grants (sections 4.1.3 and 6), one request each and never a second one.
 */
import type { AuthorizationServer } from 'oauth4webapi'
import {
  ClientRejectedError,
  FirewallChallengeError,
  OtherOwnerError,
  SsoError,
  UnexpectedResponseError,
} from '../errors.ts'
import type { IssuerRefreshOptions } from '../issuer/token-issuer.ts'
import type { TokenSet } from '../issuer/token-set.ts'
import { redacted, secretiveKind } from '../support/redaction.ts'
import { membersOf, tokenEndpointError } from './error-table.ts'
import { type OauthService, requestTimeout } from './service.ts'
import { readTokens, type TokensBefore } from './token-reading.ts'

export { openService } from './service.ts'

/** What `exchangeCode` needs of a sign-in. It shows no secret when printed: keep it as JSON, in the session of whoever signs in. */
export interface OauthAuthorizationRequest {
  readonly redirectUri: string
  readonly state: string
  readonly codeVerifier: string
}

const kind = secretiveKind('OauthAuthorizationRequest', ['redirectUri'])

/** Makes no request but for the metadata. */
export async function createAuthorizationUrl(
  { settings, oauth, ready }: OauthService,
  parameters: Readonly<Record<string, string>>,
): Promise<{ url: string; request: OauthAuthorizationRequest }> {
  const { redirectUri, clientId, scope, audience } = settings
  const [{ authorization_endpoint }] = await ready('callback', { timeout: requestTimeout })
  if (redirectUri === undefined) throw new TypeError('redirectUri of oauthIssuer is not given: a sign-in needs it')
  if (!authorization_endpoint) throw new TypeError('authorizationUrl of oauthIssuer is not given: a sign-in needs it')
  const [state, codeVerifier] = [oauth.generateRandomState(), oauth.generateRandomCodeVerifier()]
  const url = new URL(authorization_endpoint)
  const query = {
    ...(scope && { scope }),
    ...(audience && { audience }),
    ...parameters,
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return { url: url.href, request: redacted({ redirectUri, state, codeVerifier }, kind) }
}

/** @throws SsoError where the address is not the answer to this request, and what `grantTokens` throws */
export async function exchangeCode(
  service: OauthService,
  callbackUrl: string | URL,
  { redirectUri: redirect_uri, state, codeVerifier: code_verifier }: OauthAuthorizationRequest,
  signal: AbortSignal | undefined,
): Promise<TokenSet> {
  const [server] = await service.ready('callback', { timeout: requestTimeout, signal })
  const code = codeOf(service, server, new URL(callbackUrl, redirect_uri).searchParams, state)
  const parameters = { grant_type: 'authorization_code', code, redirect_uri, code_verifier }
  return grantTokens(service, 'code-exchange', parameters, { refresh_token: '' }, { signal })
}

/** Nothing of the address is used before all of it was checked. */
function codeOf(
  { settings: { issuer, clientId }, oauth }: OauthService,
  server: AuthorizationServer,
  query: URLSearchParams,
  state: string,
): string {
  const unsent = { step: 'callback', requestSent: false } as const
  // What the issuer is called, nobody has said then.
  if (issuer === undefined) query.delete('iss')
  try {
    const code = oauth.validateAuthResponse(server, { client_id: clientId }, query, state).get('code')
    if (code) return code
  } catch (error) {
    const [, name] = /"(iss|state)"/u.exec(String(error)) ?? []
    const sentence = `The answer does not belong to this sign-in (${name} differs). Sign in again from the start.`
    if (name) throw new SsoError(`ERR_SSO_${name === 'iss' ? 'ISSUER' : 'STATE'}_MISMATCH`, sentence, unsent)
  }
  const [word] = /^[a-z_]{1,64}$/u.exec(query.get('error') ?? '') ?? []
  throw new UnexpectedResponseError(word ? `the sign-in was ended (${word})` : 'the address holds no code', unsent)
}

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
async function grantTokens(
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
