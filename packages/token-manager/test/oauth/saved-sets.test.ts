/** What `save` takes: tokens as the libraries of the field hand them out. */
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { createTokenManager, type LibraryTokens, type TokenManager, type TokenStore } from '../../src/index.ts'
import { oauthIssuer } from '../../src/oauth/oauth-issuer.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { type SmallProvider, startSmallProvider } from './small-provider.ts'

const inAnHour = Math.floor(Date.now() / 1000) + 3600

let provider: SmallProvider
let store: TokenStore
let tokens: TokenManager
const managerOf = (clientId: string): TokenManager =>
  createTokenManager({ issuer: oauthIssuer({ tokenUrl: provider.tokenUrl, clientId }), store, minRefreshInterval: 0 })
beforeEach(async () => {
  provider = await startSmallProvider()
  store = mapStore()
  tokens = managerOf('app')
})
afterEach(() => provider.close())

describe('a set as it is handed out', () => {
  it.each<[string, LibraryTokens]>([
    [
      'by openid-client',
      { access_token: 'a0', refresh_token: 'r0', token_type: 'bearer', expires_in: 3600, expiresIn: () => 3600 },
    ],
    ['by passport-oauth2’s verify callback', { accessToken: 'a0', refreshToken: 'r0', expires_in: 3600 }],
    [
      'by next-auth',
      { provider: 'x', type: 'oauth', access_token: 'a0', refresh_token: 'r0', expires_at: inAnHour } as object,
    ],
    [
      'by google-auth',
      { access_token: 'a0', refresh_token: 'r0', expiry_date: inAnHour * 1000, scope: 'all' } as object,
    ],
    ['in camelCase', { accessToken: 'a0', refreshToken: 'r0', expiresIn: 3600 }],
    ['with a Date', { accessToken: 'a0', refreshToken: 'r0', expiresAt: new Date(inAnHour * 1000) }],
    [
      'with a date as text',
      { access_token: 'a0', refresh_token: 'r0', expires_at: new Date(inAnHour * 1000).toISOString() },
    ],
    [
      'with both, of which the moment is not older',
      { access_token: 'a0', refresh_token: 'r0', expires_in: 9000, expires_at: inAnHour },
    ],
  ])('%s is stored whole', async (_, given) => {
    await tokens.save('ann', given)
    expect(await tokens.getAccessToken('ann')).toBe('a0')
    const { expires_at = 0, state } = await tokens.status('ann')
    expect([state, Math.abs(expires_at - inAnHour) < 30]).toEqual(['valid', true])
    await tokens.refresh('ann')
    expect(provider.requests[0]?.parameters).toMatchObject({ refresh_token: 'r0' })
  })

  it('counts as a sign-in: it takes the place of the session that is there', async () => {
    await tokens.save('ann', { accessToken: 'a0', refreshToken: 'r0', expiresIn: 3600 })
    await tokens.save('ann', { accessToken: 'b0', refreshToken: 's0', expiresIn: 3600 })
    expect(await tokens.getAccessToken('ann')).toBe('b0')
    await expect(tokens.save('ann', { refreshToken: 'brought' })).rejects.toMatchObject({
      code: 'ERR_SSO_SESSION_EXISTS',
    })
  })

  it('is a refresh token alone, which the first call refreshes', async () => {
    await tokens.save('ann', { refreshToken: 'brought' })
    expect(await tokens.getAccessToken('ann')).toBe('a1')
  })

  it.each([
    [{}, 'tokens.refresh_token must be a non-empty string'],
    [{ access_token: 'a b' }, 'tokens.refresh_token must be a non-empty string'],
    [Promise.resolve({ access_token: 'a' }), 'tokens must be a token set; a promise came: await it'],
    ['a token', 'tokens must be a token set; text came'],
  ])('is a TypeError for %p', async (given, message) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a program in JavaScript may give
    await expect(tokens.save('ann', given as LibraryTokens)).rejects.toThrow(message)
  })

  it('shows no token when it is printed, as the issuer reads it', async () => {
    const read = await oauthIssuer({ tokenUrl: provider.tokenUrl, clientId: 'app' }).tokenSetOf?.({
      accessToken: 'a0',
      refreshToken: 'r0',
    })
    expect(inspect(read)).not.toMatch(/a0|r0/u)
  })
})

describe('a set without a refresh token', () => {
  it('is served to its end, and then a sentence says what to do', async () => {
    const real = Date.now
    for (const account of ['ann', 'bob'])
      await tokens.save(account, { access_token: `of ${account}`.replace(' ', '-'), expires_in: 3600 })
    expect(await tokens.getAccessToken('ann')).toBe('of-ann')
    try {
      // Due for a refresh, which there can't be.
      Date.now = () => real() + 3_400_000
      const told = new Promise((resolve) => tokens.on('reauthentication-required', resolve))
      expect(await tokens.getAccessToken('ann')).toBe('of-ann')
      expect(await told).toEqual({ account: 'ann', reason: 'no_refresh_token' })
      expect(await tokens.getAccessToken('ann')).toBe('of-ann')
      Date.now = () => real() + 3_700_000
      await expect(tokens.getAccessToken('ann')).rejects.toMatchObject({
        code: 'ERR_SSO_REAUTHENTICATION_REQUIRED',
        reason: 'no_refresh_token',
        message: 'This account has to sign in again (no refresh token).',
      })
    } finally {
      Date.now = real
    }
    expect(provider.requests).toEqual([])
  })
})

describe('the life of a refresh token', () => {
  it.each([
    { refresh_token_expires_in: 7200 },
    { refresh_expires_in: '7200' },
    { refreshTokenExpiresIn: 7200 },
    { refresh_token_expires_at: Math.floor(Date.now() / 1000) + 7200 },
  ])('is kept from %p, and goes with the next refresh token', async (told) => {
    await tokens.save('ann', { access_token: 'a0', refresh_token: 'r0', expires_in: 3600, ...told })
    const kept = async (): Promise<unknown> => {
      const stored = await store.read('ann')
      return Reflect.get(Object(Reflect.get(Object(stored?.record), 'tokens')), 'refresh_token_expires_at')
    }
    expect(Number(await kept()) - Date.now() / 1000).toBeCloseTo(7200, -2)
    provider.answer = { body: { access_token: 'a1', expires_in: 3600 } }
    await tokens.refresh('ann')
    expect(Number(await kept()) - Date.now() / 1000).toBeCloseTo(7200, -2)
    provider.answer = { body: { access_token: 'a2', refresh_token: 'r2', expires_in: 3600 } }
    await tokens.refresh('ann')
    expect(await kept()).toBeUndefined()
  })
})

describe('two clients with one store', () => {
  it('are told apart by name before anything is sent', async () => {
    await tokens.save('ann', { access_token: 'a0', refresh_token: 'r0', expires_at: 1_700_000_000 })
    await expect(managerOf('other app').getAccessToken('ann')).rejects.toMatchObject({
      code: 'ERR_SSO_STORE',
      reason: 'other-client',
      requestSent: false,
      message: expect.stringMatching(/client "app", and this program is "other app"/u),
    })
    expect(provider.requests).toEqual([])
    expect(await tokens.getAccessToken('ann')).toBe('a1')
  })

  it('can’t save each other’s sets either', async () => {
    const set = await oauthIssuer({ tokenUrl: provider.tokenUrl, clientId: 'app' }).tokenSetOf?.({
      access_token: 'a0',
      refresh_token: 'r0',
    })
    await expect(managerOf('other').save('ann', set ?? {})).rejects.toMatchObject({ reason: 'other-client' })
  })

  it('are told apart by a mark that nobody here has written', async () => {
    const auth_url = `${provider.tokenUrl}#client=%E0%A4`
    await expect(tokens.save('ann', { refresh_token: 'r', auth_url })).rejects.toMatchObject({ reason: 'other-client' })
  })

  it('refuses the tokens of another issuer', async () => {
    await expect(
      tokens.save('ann', { access_token: 'a0', refresh_token: 'r0', auth_url: 'https://other.example.com' }),
    ).rejects.toMatchObject({
      code: 'ERR_SSO_REGION_NOT_ALLOWED',
      origin: 'https://other.example.com',
    })
  })

  it('goes on with tokens that an issuer written by hand has stored', async () => {
    const byHand = { refresh: () => Promise.reject(new Error('unused')) }
    const expires_at = 1_700_000_000
    await createTokenManager({ issuer: byHand, store }).save('ann', {
      access_token: 'a0',
      refresh_token: 'r0',
      token_type: 'Bearer',
      expires_at,
      auth_url: provider.url,
    })
    expect(await tokens.getAccessToken('ann')).toBe('a1')
  })
})
