/**
 * A sign-in in the person's browser (RFC 6749 section 4.1, RFC 7636, RFC 9207): where it begins, and the code that it ends with.
 */
import type { AuthorizationServer } from 'oauth4webapi'
import { SsoError, UnexpectedResponseError } from '../errors.ts'
import type { TokenSet } from '../issuer/token-set.ts'
import { redacted, secretiveKind } from '../support/redaction.ts'
import { grantTokens } from './grant.ts'
import { type OauthService, requestTimeout as timeout } from './service.ts'

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
  const [{ authorization_endpoint }] = await ready('callback', { timeout })
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
  const [server] = await service.ready('callback', { timeout, signal })
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
