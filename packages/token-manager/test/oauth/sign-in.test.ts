/** A sign-in by `oauthIssuer` alone: the address, the callback and the code. The whole of it at a real provider is in tests/interop. */
import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { createTokenManager, SsoError } from '../../src/index.ts'
import {
  oauthIssuer,
  type OauthAuthorizationRequest,
  type OauthIssuer,
  type OauthIssuerOptions,
} from '../../src/oauth/oauth-issuer.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { type SmallProvider, startSmallProvider } from './small-provider.ts'

const redirectUri = 'https://app.example.com/callback'

let provider: SmallProvider
beforeEach(async () => {
  provider = await startSmallProvider()
})
afterEach(() => provider.close())

function issuerOf(options: Partial<OauthIssuerOptions> = {}): OauthIssuer {
  const { tokenUrl, url } = provider
  return oauthIssuer({
    tokenUrl,
    authorizationUrl: `${url}/authorize?tenant=7`,
    redirectUri,
    clientId: 'app',
    ...options,
  })
}

async function begun(issuer: OauthIssuer): Promise<{ query: URLSearchParams; request: OauthAuthorizationRequest }> {
  const { url, request } = await issuer.createAuthorizationUrl()
  return { query: new URL(url).searchParams, request }
}

const callback = (query: Record<string, string>): string => `${redirectUri}?${new URLSearchParams(query).toString()}`
const stateOf = (query: URLSearchParams): string => query.get('state') ?? ''

it('sends the person to an address with a challenge, and exchanges the code with its verifier', async () => {
  const issuer = issuerOf({ scope: 'openid offline_access', audience: 'https://api.example.com' })
  const { url, request } = await issuer.createAuthorizationUrl({ login_hint: 'ann@example.com', prompt: 'consent' })
  const query = Object.fromEntries(new URL(url).searchParams)
  expect(query).toEqual({
    tenant: '7',
    response_type: 'code',
    client_id: 'app',
    redirect_uri: redirectUri,
    scope: 'openid offline_access',
    audience: 'https://api.example.com',
    login_hint: 'ann@example.com',
    prompt: 'consent',
    state: expect.stringMatching(/^[\w-]{43}$/u),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/u),
    code_challenge_method: 'S256',
  })
  // As a session keeps it.
  const kept: OauthAuthorizationRequest = JSON.parse(JSON.stringify(request))
  const tokens = createTokenManager({ issuer, store: mapStore() })
  await tokens.save('ann', await issuer.exchangeCode(callback({ code: 'the code', state: query['state'] ?? '' }), kept))
  expect(await tokens.getAccessToken('ann')).toBe('a1')
  const [{ parameters } = { parameters: {} }] = provider.requests
  expect(parameters).toMatchObject({ grant_type: 'authorization_code', code: 'the code', redirect_uri: redirectUri })
  const verifier = String(Reflect.get(parameters, 'code_verifier'))
  expect(createHash('sha256').update(verifier).digest('base64url')).toBe(query['code_challenge'])
})

it('asks the provider nothing where refreshes are left to others', async () => {
  const { request, query } = await begun(issuerOf())
  const issuer = issuerOf()
  const tokens = createTokenManager({ issuer, store: mapStore(), refresh: 'elsewhere' })
  const token = { access_token: 'a', token_type: 'Bearer', expires_at: 1_700_000_000 }
  await tokens.save('ann', { ...token, refresh_token: 'r' })
  const set = { ...token, refresh_token: 'r', auth_url: issuer.authUrl }
  for (const call of [
    async () => issuer.createAuthorizationUrl(),
    async () => issuer.exchangeCode(callback({ code: 'c', state: stateOf(query) }), request),
    async () => issuer.refresh(set),
  ])
    await expect(call()).rejects.toMatchObject({ code: 'ERR_SSO_REFRESH_ELSEWHERE', requestSent: false })
  expect(provider.requests).toEqual([])
})

it('makes a state and a verifier of its own for each sign-in, and shows none of them', async () => {
  const issuer = issuerOf()
  const [one, other] = [await begun(issuer), await begun(issuer)]
  expect(stateOf(one.query)).not.toBe(stateOf(other.query))
  expect(one.query.get('code_challenge')).not.toBe(other.query.get('code_challenge'))
  expect(inspect(one.request, { depth: 9, showHidden: false })).not.toContain(stateOf(one.query))
})

describe('an address that is not the answer', () => {
  it.each<[string, string, (state: string) => Record<string, string>]>([
    ['with another state', 'ERR_SSO_STATE_MISMATCH', () => ({ code: 'c', state: 'another', iss: provider.url })],
    ['without a state', 'ERR_SSO_STATE_MISMATCH', () => ({ code: 'c', iss: provider.url })],
    [
      'of another issuer',
      'ERR_SSO_ISSUER_MISMATCH',
      (state) => ({ code: 'c', state, iss: 'https://other.example.com' }),
    ],
    ['without an issuer', 'ERR_SSO_ISSUER_MISMATCH', (state) => ({ code: 'c', state })],
    ['without a code', 'ERR_SSO_UNEXPECTED_RESPONSE', (state) => ({ state, iss: provider.url })],
    ['with an error', 'ERR_SSO_UNEXPECTED_RESPONSE', (state) => ({ error: 'access_denied', state, iss: provider.url })],
  ])('%s is refused, and nothing is sent', async (_, code, answer) => {
    provider.documents.set('/.well-known/oauth-authorization-server', {
      body: {
        issuer: provider.url,
        token_endpoint: provider.tokenUrl,
        authorization_endpoint: `${provider.url}/authorize`,
        authorization_response_iss_parameter_supported: true,
      },
    })
    const issuer = issuerOf({ issuer: provider.url, tokenUrl: undefined, authorizationUrl: undefined })
    const { query, request } = await begun(issuer)
    const exchange = issuer.exchangeCode(callback(answer(stateOf(query))), request)
    await expect(exchange).rejects.toMatchObject({ code, requestSent: false })
    expect(provider.requests).toEqual([])
    // And the right one is taken.
    const right = callback({ code: 'c', state: stateOf(query), iss: provider.url })
    expect(await issuer.exchangeCode(new URL(right), request)).toHaveProperty('refresh_token', 'r1')
  })

  it('says why the sign-in was ended, in a word', async () => {
    const issuer = issuerOf()
    const { query, request } = await begun(issuer)
    const exchange = issuer.exchangeCode(callback({ error: 'access_denied', state: stateOf(query) }), request)
    await expect(exchange).rejects.toThrow('the sign-in was ended (access_denied)')
  })

  it('is any address where the request is none of ours', async () => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a program in JavaScript may give
    const none = undefined as unknown as OauthAuthorizationRequest
    await expect(issuerOf().exchangeCode(callback({ code: 'c' }), none)).rejects.toThrow(
      'request must be what createAuthorizationUrl()',
    )
  })
})

describe('an exchange that fails', () => {
  it.each<[string, object, number, object]>([
    [
      'a code that was used',
      { error: 'invalid_grant' },
      400,
      { code: 'ERR_SSO_TOKEN_REJECTED', error: 'invalid_grant' },
    ],
    ['a wrong secret', { error: 'invalid_client' }, 401, { name: 'ClientRejectedError' }],
    ['a service that has a fault', {}, 500, { code: 'ERR_SSO_UNEXPECTED_RESPONSE' }],
    ['too many requests', {}, 429, { code: 'ERR_SSO_FIREWALL_CHALLENGE' }],
  ])('%s', async (_, body, status, error) => {
    const issuer = issuerOf()
    const { query, request } = await begun(issuer)
    provider.answer = { status, body }
    const thrown: unknown = await issuer
      .exchangeCode(callback({ code: 'the-code-itself', state: stateOf(query) }), request)
      .catch((reason: unknown) => reason)
    expect(thrown).toBeInstanceOf(SsoError)
    expect(thrown).toMatchObject({ step: 'code-exchange', ...error })
    expect(inspect(thrown, { depth: 9 })).not.toContain('the-code-itself')
  })

  it('with 429 keeps the refreshes of all processes from being sent', async () => {
    const issuer = issuerOf()
    const store = mapStore()
    const tokens = createTokenManager({ issuer, store })
    await tokens.save('ann', { access_token: 'a0', refresh_token: 'r0', expires_at: 1_700_000_000 })
    const { query, request } = await begun(issuer)
    provider.answer = { status: 429 }
    await expect(issuer.exchangeCode(callback({ code: 'c', state: stateOf(query) }), request)).rejects.toThrow(SsoError)
    await expect(createTokenManager({ issuer: issuerOf(), store }).getAccessToken('ann')).rejects.toMatchObject({
      code: 'ERR_SSO_FIREWALL_CHALLENGE',
    })
    expect(provider.requests).toHaveLength(1)
  })
})

describe('a sign-in without what it needs', () => {
  it.each([
    [{ redirectUri: undefined }, 'redirectUri of oauthIssuer is not given'],
    [{ authorizationUrl: undefined }, 'authorizationUrl of oauthIssuer is not given'],
  ])('%p', async (without, message) => {
    await expect(issuerOf(without).createAuthorizationUrl()).rejects.toThrow(message)
  })
})
