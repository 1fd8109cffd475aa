/** What becomes of an account, for each answer of a token endpoint: the table of `error-table.ts`, and answers that are odd. */
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { createTokenManager, type TokenManager } from '../../src/index.ts'
import { oauthIssuer } from '../../src/oauth/oauth-issuer.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { type CannedAnswer, rotating, type SmallProvider, startSmallProvider } from './small-provider.ts'

const seconds = (): number => Math.floor(Date.now() / 1000)
const ended = { access_token: 'a0', refresh_token: 'the refresh token'.replaceAll(' ', '-'), expires_at: 1_700_000_000 }

let provider: SmallProvider
let tokens: TokenManager
beforeEach(async () => {
  provider = await startSmallProvider()
  const issuer = oauthIssuer({ tokenUrl: provider.tokenUrl, clientId: 'app', clientSecret: 'the-client-secret' })
  tokens = createTokenManager({ issuer, store: mapStore(), minRefreshInterval: 0 })
  await tokens.save('ann', ended)
})
afterEach(() => provider.close())

const html = { headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>Access denied</title>' }
const text = (body: string, status: number): CannedAnswer => ({
  status,
  headers: { 'content-type': 'text/plain' },
  body,
})

describe('an answer without tokens', () => {
  it.each<[string, CannedAnswer, string, string]>([
    [
      '400 invalid_grant',
      { status: 400, body: { error: 'invalid_grant' } },
      'ERR_SSO_REAUTHENTICATION_REQUIRED',
      'reauthentication-required',
    ],
    [
      '401 invalid_grant',
      { status: 401, body: { error: 'invalid_grant' } },
      'ERR_SSO_REAUTHENTICATION_REQUIRED',
      'reauthentication-required',
    ],
    [
      '200 with an error inside',
      { body: { ok: false, error: 'invalid_refresh_token' } },
      'ERR_SSO_REAUTHENTICATION_REQUIRED',
      'reauthentication-required',
    ],
    [
      '200 with an error as a form',
      text('error=bad_refresh_token&error_description=gone', 200),
      'ERR_SSO_REAUTHENTICATION_REQUIRED',
      'reauthentication-required',
    ],
    [
      '400 with a word in place of JSON',
      text('invalid_grant', 400),
      'ERR_SSO_REAUTHENTICATION_REQUIRED',
      'reauthentication-required',
    ],
    ['400 invalid_scope', { status: 400, body: { error: 'invalid_scope' } }, 'ERR_SSO_TOKEN_REJECTED', 'expired'],
    ['400 without a word', { status: 400 }, 'ERR_SSO_TOKEN_REJECTED', 'expired'],
    ['401 without a word', text('Unauthorized', 401), 'ERR_SSO_TOKEN_REJECTED', 'expired'],
    ['401 invalid_client', { status: 401, body: { error: 'invalid_client' } }, 'ERR_SSO_TOKEN_REJECTED', 'expired'],
    ['429', { status: 429, headers: { 'retry-after': '120' } }, 'ERR_SSO_FIREWALL_CHALLENGE', 'expired'],
    ['403 with a page', { status: 403, ...html }, 'ERR_SSO_FIREWALL_CHALLENGE', 'expired'],
    ['500 invalid_grant', { status: 500, body: { error: 'invalid_grant' } }, 'ERR_SSO_REFRESH_IN_DOUBT', 'in-doubt'],
    [
      '400 with a word that nobody knows',
      { status: 400, body: { error: 'try_later' } },
      'ERR_SSO_REFRESH_IN_DOUBT',
      'in-doubt',
    ],
    [
      '400 with an error that is no word',
      { status: 400, body: { error: { code: 7 } } },
      'ERR_SSO_TOKEN_REJECTED',
      'expired',
    ],
    ['503', { status: 503 }, 'ERR_SSO_REFRESH_IN_DOUBT', 'in-doubt'],
    ['404', { status: 404, ...html }, 'ERR_SSO_REFRESH_IN_DOUBT', 'in-doubt'],
    ['200 with a page', html, 'ERR_SSO_REFRESH_IN_DOUBT', 'in-doubt'],
    ['200 with half of a JSON', { body: '{"access_token":"a1","refr' }, 'ERR_SSO_REFRESH_IN_DOUBT', 'in-doubt'],
  ])('%s', async (_, answer, code, state) => {
    provider.answer = answer
    await expect(tokens.getAccessToken('ann')).rejects.toMatchObject({ code })
    expect(await tokens.status('ann')).toMatchObject({ state })
    expect(provider.requests).toHaveLength(1)
  })

  it('is quoted in plain words, and never with what was sent', async () => {
    const error_description = `Token ${ended.refresh_token} of the-client-secret has been revoked`
    provider.answer = { status: 400, body: { error: 'invalid_grant', error_description } }
    const error: unknown = await tokens.getAccessToken('ann').catch((thrown: unknown) => thrown)
    expect(inspect(error, { depth: 9 })).not.toMatch(/the-refresh-token|the-client-secret/u)
    provider.answer = { status: 400, body: { error: 'invalid_grant', error_description: 'Session expired by owner' } }
    await tokens.save('bob', { ...ended, refresh_token: 'r9' })
    await expect(tokens.getAccessToken('bob')).rejects.toThrow('Session expired by owner')
  })
})

describe('an answer with tokens, whatever else is odd about it', () => {
  const found = { access_token: 'a1', refresh_token: 'r1' }

  it.each<[string, CannedAnswer]>([
    ['as a form', text('access_token=a1&refresh_token=r1&expires_in=3600', 200)],
    ['with the type of a text', { headers: { 'content-type': 'text/html' }, body: JSON.stringify(found) }],
    ['with the status 201', { status: 201, body: found }],
    ['with a type of another name', { body: { ...found, token_type: 'bot' } }],
    ['with other names', { body: { accessToken: 'a1', refreshToken: 'r1', expiresIn: 3600 } }],
    ['with an error beside them', { body: { ...found, error: null } }],
  ])('is taken %s', async (_, answer) => {
    provider.answer = answer
    expect(await tokens.getAccessToken('ann')).toBe('a1')
    provider.answer = rotating()
    await tokens.refresh('ann')
    expect(provider.requests[1]?.parameters).toMatchObject({ refresh_token: 'r1' })
  })

  const jwtEnding = (exp: number): string =>
    ['{"alg":"none"}', JSON.stringify({ exp }), ''].map((part) => Buffer.from(part).toString('base64url')).join('.')

  it.each<[string, object, number]>([
    ['a number', { expires_in: 7200 }, 7200],
    ['text', { expires_in: '7200' }, 7200],
    ['missing', {}, 3600],
    ['null', { expires_in: null }, 3600],
    ['no number', { expires_in: 'an hour' }, 3600],
    ['zero', { expires_in: 0 }, 3600],
    ['negative', { expires_in: -1 }, 3600],
    ['more than a hundred years', { expires_in: 1e15 }, 3600],
    ['of years, which count as a day', { expires_in: 63_072_000 }, 86_400],
    ['missing beside an expires_at in seconds', { expires_at: seconds() + 1800 }, 1800],
    ['missing beside an expires_at in milliseconds', { expires_at: (seconds() + 1800) * 1000 }, 1800],
    ['missing beside an expires_at that is over', { expires_at: seconds() - 60 }, 3600],
    ['missing, of a JWT that says it', { access_token: jwtEnding(seconds() + 900) }, 900],
    ['missing, of a JWT that is over', { access_token: jwtEnding(seconds() - 900) }, 3600],
  ])('has an expires_in that is %s', async (_, more, life) => {
    provider.answer = { body: { ...found, ...more } }
    await tokens.getAccessToken('ann')
    const { expires_at = 0 } = await tokens.status('ann')
    expect(Math.abs(expires_at - seconds() - life)).toBeLessThanOrEqual(5)
  })

  it('keeps the refresh token where rotation is switched off', async () => {
    provider.answer = { body: { access_token: 'a1', expires_in: 3600 } }
    await tokens.getAccessToken('ann')
    provider.answer = { body: { access_token: 'a2', refresh_token: ended.refresh_token, expires_in: 3600 } }
    await tokens.refresh('ann')
    provider.answer = rotating()
    await tokens.refresh('ann')
    expect(await tokens.getAccessToken('ann')).toBe('a1')
    expect(provider.requests.map(({ parameters }) => parameters['refresh_token'])).toEqual([
      ended.refresh_token,
      ended.refresh_token,
      ended.refresh_token,
    ])
  })
})

describe('an answer of another subject', () => {
  const idToken = (sub: string): string =>
    ['{"alg":"none"}', JSON.stringify({ sub }), ''].map((part) => Buffer.from(part).toString('base64url')).join('.')

  it.each([
    ['the same', 'ann-1', 'a1'],
    ['another', 'bob-1', 'other_owner'],
  ])('is served for %s alone', async (_, sub, end) => {
    await tokens.save('ann', { ...ended, id_token: idToken('ann-1') })
    provider.answer = rotating({ id_token: idToken(sub) })
    const ending = await tokens.getAccessToken('ann').catch((error: unknown) => error)
    expect(typeof ending === 'string' ? ending : Reflect.get(Object(ending), 'reason')).toBe(end)
  })
})
