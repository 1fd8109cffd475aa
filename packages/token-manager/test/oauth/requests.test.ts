/** What `oauthIssuer` sends: the refresh request of RFC 6749, section 6, and who asks. */
import { generateKeyPairSync } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { jwtVerify } from 'jose'
import { createTokenManager, type TokenManager } from '../../src/index.ts'
import { oauthIssuer, type OauthIssuerOptions } from '../../src/oauth/oauth-issuer.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { type SeenRequest, type SmallProvider, startSmallProvider } from './small-provider.ts'

const clientId = 'an app'
const clientSecret = 'a: secret+'
const ended = { access_token: 'a0', refresh_token: 'r0', token_type: 'bearer', expires_at: 1_700_000_000 }

let provider: SmallProvider
beforeEach(async () => {
  provider = await startSmallProvider()
})
afterEach(() => provider.close())

const seen = (): [SeenRequest] => {
  const [request] = provider.requests
  if (request === undefined) throw new Error('nothing was sent')
  return [request]
}

async function signedIn(options: Partial<OauthIssuerOptions> = {}): Promise<TokenManager> {
  const issuer = oauthIssuer({ tokenUrl: provider.tokenUrl, clientId, ...options })
  const tokens = createTokenManager({ issuer, store: mapStore(), minRefreshInterval: 0 })
  await tokens.save('ann', ended)
  return tokens
}

it('sends one form with the refresh token, and keeps what comes back', async () => {
  const tokens = await signedIn()
  expect(await tokens.getAccessToken('ann')).toBe('a1')
  await tokens.refresh('ann')
  expect(await tokens.getAccessToken('ann')).toBe('a2')
  expect(provider.requests.map(({ parameters }) => parameters)).toEqual([
    { grant_type: 'refresh_token', refresh_token: 'r0', client_id: clientId },
    { grant_type: 'refresh_token', refresh_token: 'r1', client_id: clientId },
  ])
  expect(provider.requests[0]?.headers).toMatchObject({
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
    'user-agent': expect.stringMatching(/^owner-sso\//u),
  })
})

it('sends a JSON body, an audience and more parameters where the service wants them', async () => {
  const tokens = await signedIn({ encoding: 'json', audience: 'https://api.example.com', parameters: { scope: 'all' } })
  await tokens.getAccessToken('ann')
  expect(provider.requests).toMatchObject([{ headers: { 'content-type': 'application/json' } }])
  expect(JSON.parse(provider.requests[0]?.body ?? '')).toEqual({
    grant_type: 'refresh_token',
    refresh_token: 'r0',
    client_id: clientId,
    audience: 'https://api.example.com',
    scope: 'all',
  })
})

it('lets no parameter of the application take the place of the grant', async () => {
  const tokens = await signedIn({ parameters: { grant_type: 'password', refresh_token: 'another' } })
  await tokens.getAccessToken('ann')
  expect(provider.requests[0]?.parameters).toMatchObject({ grant_type: 'refresh_token', refresh_token: 'r0' })
})

describe('the client shows who it is', () => {
  it.each<[string, Partial<OauthIssuerOptions>, object, string | undefined]>([
    ['by its id alone', {}, { client_id: clientId }, undefined],
    // RFC 6749, section 2.3.1: encoded like a form, then Basic.
    ['by Basic where it has a secret', { clientSecret }, {}, 'an+app:a%3A+secret%2B'],
    [
      'in the body where that is asked for',
      { clientSecret, clientAuthentication: 'post' },
      { client_id: clientId, client_secret: clientSecret },
      undefined,
    ],
    [
      'not at all where that is asked for',
      { clientSecret, clientAuthentication: 'none' },
      { client_id: clientId },
      undefined,
    ],
  ])('%s', async (_, options, inBody, basic) => {
    const tokens = await signedIn(options)
    await tokens.getAccessToken('ann')
    const [{ parameters, headers }] = seen()
    const { grant_type: _grant, refresh_token: _token, ...who } = parameters
    expect(who).toEqual(inBody)
    const expected = basic === undefined ? undefined : `Basic ${Buffer.from(basic).toString('base64')}`
    expect(headers.authorization).toBe(expected)
  })

  it('in the body where the metadata list nothing else', async () => {
    provider.documents.set('/.well-known/oauth-authorization-server', {
      body: {
        issuer: provider.url,
        token_endpoint: provider.tokenUrl,
        token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt'],
      },
    })
    const tokens = await signedIn({ issuer: provider.url, tokenUrl: undefined, clientSecret })
    await tokens.getAccessToken('ann')
    expect(provider.requests[0]?.parameters).toMatchObject({ client_secret: clientSecret })
  })

  it.each([
    ['ES256', 'ES256'],
    ['RS256', 'RS256'],
    ['PS256', 'PS256'],
    // RFC 9864 has a name of its own for it.
    ['EdDSA', 'Ed25519'],
  ])('by a JWT that it signs itself, with %s', async (alg, named) => {
    const { privateKey, publicKey } =
      alg === 'ES256'
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
        : alg === 'EdDSA'
          ? generateKeyPairSync('ed25519')
          : generateKeyPairSync('rsa', { modulusLength: 2048 })
    // RSA alone has to say so.
    const asText = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const key = alg === 'PS256' ? { ...privateKey.export({ format: 'jwk' }), alg, kid: 'key-1' } : asText
    const tokens = await signedIn({ privateKey: key })
    await tokens.getAccessToken('ann')
    const { client_assertion = '', ...others } = provider.requests[0]?.parameters ?? {}
    expect(others).toMatchObject({
      client_id: clientId,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    })
    const { payload, protectedHeader } = await jwtVerify(client_assertion, publicKey, { audience: provider.tokenUrl })
    expect(payload).toMatchObject({ iss: clientId, sub: clientId, jti: expect.any(String) })
    expect(protectedHeader).toEqual(alg === 'PS256' ? { alg, kid: 'key-1' } : { alg: named })
  })
})

describe('where the endpoints are', () => {
  const metadata = (): object => ({ issuer: provider.url, token_endpoint: provider.tokenUrl })

  it.each(['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'])(
    'stands at %s, which is asked once',
    async (path) => {
      provider.documents.set(path, { body: metadata() })
      const tokens = await signedIn({ issuer: provider.url, tokenUrl: undefined })
      await tokens.getAccessToken('ann')
      await tokens.refresh('ann')
      expect(provider.requests).toHaveLength(2)
      expect(provider.paths.filter((each) => each === path)).toHaveLength(1)
    },
  )

  it('is known already where tokenUrl is given, and nothing is asked', async () => {
    const tokens = await signedIn({ issuer: provider.url })
    await tokens.getAccessToken('ann')
    expect([provider.paths, provider.requests.length]).toEqual([[], 1])
  })

  it('is asked again where it could not be had; meanwhile nothing was sent', async () => {
    const tokens = await signedIn({ issuer: provider.url, tokenUrl: undefined })
    await expect(tokens.getAccessToken('ann')).rejects.toMatchObject({
      code: 'ERR_SSO_UNREACHABLE',
      requestSent: false,
      message: expect.stringContaining('No token was sent'),
    })
    provider.documents.set('/.well-known/openid-configuration', { body: metadata() })
    await tokens.refresh('ann').catch(() => undefined)
    expect(await tokens.getAccessToken('ann')).toBe('a1')
  })

  it.each<[string, (url: string) => object]>([
    [
      'another issuer’s',
      () => ({ issuer: 'https://other.example.com', token_endpoint: 'https://other.example.com/token' }),
    ],
    ['with a token endpoint without https', (url) => ({ issuer: url, token_endpoint: 'http://id.example.com/token' })],
    ['without a token endpoint', (url) => ({ issuer: url })],
  ])('is refused where the metadata are %s', async (_, lies) => {
    provider.documents.set('/.well-known/oauth-authorization-server', { body: lies(provider.url) })
    const tokens = await signedIn({ issuer: provider.url, tokenUrl: undefined })
    await expect(tokens.getAccessToken('ann')).rejects.toMatchObject({
      code: 'ERR_SSO_ISSUER_MISMATCH',
      requestSent: false,
    })
    expect(provider.requests).toEqual([])
  })
})

describe('a refresh that the service does not answer', () => {
  it('was not sent where nothing listens', async () => {
    const tokens = await signedIn()
    await provider.close()
    await expect(tokens.getAccessToken('ann')).rejects.toMatchObject({
      code: 'ERR_SSO_UNREACHABLE',
      requestSent: false,
    })
    expect(await tokens.status('ann')).toMatchObject({ state: 'expired' })
    provider = await startSmallProvider()
  })

  it('is in doubt where the connection breaks', async () => {
    const tokens = await signedIn()
    provider.answer = (_, response) => void response.destroy()
    await expect(tokens.getAccessToken('ann')).rejects.toMatchObject({ code: 'ERR_SSO_REFRESH_IN_DOUBT' })
    expect(await tokens.status('ann')).toMatchObject({ state: 'in-doubt' })
    expect(provider.requests).toHaveLength(1)
  })

  it('follows no redirect', async () => {
    const tokens = await signedIn()
    provider.answer = { status: 307, headers: { location: `${provider.url}/elsewhere` } }
    await expect(tokens.getAccessToken('ann')).rejects.toMatchObject({ code: 'ERR_SSO_REFRESH_IN_DOUBT' })
    expect(provider.paths).toEqual([])
  })
})
