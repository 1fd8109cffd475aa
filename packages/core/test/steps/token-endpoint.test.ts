import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { anyText } from '../../../../tests/support/any-text.ts'
import { createSso, type Sso, type TokenSet } from '../../src/index.ts'
import { tokenSet } from '@owner-sso/token-manager/support'
import { tokenEndpointAnswers } from '../../../../tests/support/recorded-answers.ts'
import { runs } from '../../../../tests/support/runs.ts'
import { type CannedAnswer, goodTokens, html, json, type SmallService, startSmallService } from '../small-service.ts'

let service: SmallService
let sso: Sso
let old: TokenSet
beforeAll(async () => {
  service = await startSmallService()
})
afterAll(() => service.close())
beforeEach(() => {
  service.requests.length = 0
  sso = createSso({ authUrl: service.authUrl })
  old = { ...goodTokens, refresh_token: 'old-refresh-token', expires_at: 0, auth_url: service.authUrl }
})

const credentials = { identity: 'a@example.com', credential: 'x' }
async function exchangeWith(token: CannedAnswer): Promise<TokenSet> {
  service.answer({ token })
  return sso.login(credentials)
}
async function refreshWith(token: CannedAnswer): Promise<TokenSet> {
  service.answer({ token })
  return sso.refresh(old)
}

it.each(tokenEndpointAnswers)(
  'An answer as people recorded it is $code: $name',
  async ({ status, headers, body, where, code }) => {
    const ask = where === 'a refresh' ? refreshWith : exchangeWith
    await expect(ask({ status, headers, body })).rejects.toMatchObject({ code, status })
  },
)

describe('the requests to the token endpoint', () => {
  it('exchange a code as the document has it (endpoint 3)', async () => {
    await exchangeWith(json(goodTokens))
    const { headers, body } = service.requests[2] ?? { headers: {}, body: '{}' }
    expect(headers['content-type']).toBe('application/json')
    expect(JSON.parse(body)).toEqual({
      grant_type: 'authorization_code',
      client_id: 'ownerapi',
      code: 'code-1',
      code_verifier: expect.stringMatching(/^[A-Za-z0-9]{86}$/u),
      redirect_uri: `${service.authUrl}/void/callback`,
    })
  })

  it('refresh as the document has it (endpoint 6), with the token in the body alone (S17)', async () => {
    await refreshWith(json(goodTokens))
    const { method, url, headers, body } = service.requests[0] ?? { method: '', url: '', headers: {}, body: '{}' }
    expect([method, url, headers.authorization, headers.cookie]).toEqual([
      'POST',
      '/oauth2/v3/token',
      undefined,
      undefined,
    ])
    expect(JSON.parse(body)).toEqual({
      grant_type: 'refresh_token',
      client_id: 'ownerapi',
      refresh_token: 'old-refresh-token',
      scope: 'openid email offline_access',
    })
  })
})

describe('what a token says of itself', () => {
  it('selects no host and names no account: neither iss nor id_token is looked at (S15, S16)', async () => {
    const part = (claims: object): string => Buffer.from(JSON.stringify(claims)).toString('base64url')
    const jwt = `${part({ alg: 'none' })}.${part({ iss: 'https://evil.example', sub: 'another', auth_url: 'https://evil.example' })}.x`
    const fresh = await refreshWith(
      json({ ...goodTokens, access_token: jwt, id_token: jwt, issuer: 'https://evil.example' }),
    )
    expect(fresh).toMatchObject({ auth_url: service.authUrl, id_token: jwt })
    expect(Object.keys(fresh)).not.toContain('sub')
    await sso.refresh(fresh)
    expect(service.requests).toHaveLength(2)
  })
})

describe('a rejection by the token endpoint (H8, H9)', () => {
  const table: [string, CannedAnswer, string, string][] = [
    [
      'invalid_grant',
      json({ error: 'invalid_grant' }, 400),
      'ERR_SSO_REAUTHENTICATION_REQUIRED',
      'ERR_SSO_TOKEN_REJECTED',
    ],
    [
      'login_required',
      json({ error: 'login_required', error_description: 'The refresh_token is expired.' }, 400),
      'ERR_SSO_REAUTHENTICATION_REQUIRED',
      'ERR_SSO_TOKEN_REJECTED',
    ],
    [
      'login_required with 401',
      json({ error: 'login_required' }, 401),
      'ERR_SSO_REAUTHENTICATION_REQUIRED',
      'ERR_SSO_TOKEN_REJECTED',
    ],
    ['invalid_client', json({ error: 'invalid_client' }, 401), 'ERR_SSO_TOKEN_REJECTED', 'ERR_SSO_TOKEN_REJECTED'],
    ['invalid_request', json({ error: 'invalid_request' }, 400), 'ERR_SSO_TOKEN_REJECTED', 'ERR_SSO_TOKEN_REJECTED'],
    ...['unauthorized_client', 'unsupported_grant_type', 'invalid_scope'].map(
      (error): [string, CannedAnswer, string, string] => [
        error,
        json({ error }, 400),
        'ERR_SSO_TOKEN_REJECTED',
        'ERR_SSO_TOKEN_REJECTED',
      ],
    ),
    [
      'temporarily_unavailable',
      json({ error: 'temporarily_unavailable' }, 400),
      'ERR_SSO_UNEXPECTED_RESPONSE',
      'ERR_SSO_UNEXPECTED_RESPONSE',
    ],
    [
      'server_error',
      json({ error: 'server_error' }, 500),
      'ERR_SSO_UNEXPECTED_RESPONSE',
      'ERR_SSO_UNEXPECTED_RESPONSE',
    ],
    [
      'invalid_grant with 500',
      json({ error: 'invalid_grant' }, 500),
      'ERR_SSO_UNEXPECTED_RESPONSE',
      'ERR_SSO_UNEXPECTED_RESPONSE',
    ],
    [
      'a word of its own',
      json({ error: 'who_knows' }, 400),
      'ERR_SSO_UNEXPECTED_RESPONSE',
      'ERR_SSO_UNEXPECTED_RESPONSE',
    ],
    [
      '502',
      html('<title>502 Bad Gateway</title><h1>502 Bad Gateway</h1>', 502),
      'ERR_SSO_UNEXPECTED_RESPONSE',
      'ERR_SSO_UNEXPECTED_RESPONSE',
    ],
    [
      'an HTML 400',
      html('<title>Error</title><h1>Bad request</h1>', 400),
      'ERR_SSO_UNEXPECTED_RESPONSE',
      'ERR_SSO_UNEXPECTED_RESPONSE',
    ],
    ['an empty 200', { status: 200 }, 'ERR_SSO_UNEXPECTED_RESPONSE', 'ERR_SSO_UNEXPECTED_RESPONSE'],
    ['a 204', { status: 204 }, 'ERR_SSO_UNEXPECTED_RESPONSE', 'ERR_SSO_UNEXPECTED_RESPONSE'],
    ['no tokens', json({}), 'ERR_SSO_UNEXPECTED_RESPONSE', 'ERR_SSO_UNEXPECTED_RESPONSE'],
    [
      'a challenge',
      html('<title>Access Denied</title>', 403),
      'ERR_SSO_FIREWALL_CHALLENGE',
      'ERR_SSO_FIREWALL_CHALLENGE',
    ],
  ]
  it.each(table)('%s', async (_, answer, onRefresh, onExchange) => {
    await expect(refreshWith(answer)).rejects.toMatchObject({ code: onRefresh, step: 'refresh', requestSent: true })
    sso = createSso({ authUrl: service.authUrl })
    await expect(exchangeWith(answer)).rejects.toMatchObject({
      code: onExchange,
      step: 'code-exchange',
      requestSent: true,
    })
    expect(service.requests).toHaveLength(4)
  })

  it('names the error where it is a plain word', async () => {
    await expect(refreshWith(json({ error: 'invalid_scope' }, 400))).rejects.toMatchObject({ error: 'invalid_scope' })
    await expect(refreshWith(json({ error: 'invalid_grant' }, 400))).rejects.toMatchObject({
      reason: 'refresh_token_rejected',
    })
  })

  it('comes before any request where there is no refresh token', async () => {
    await expect(sso.refresh({ ...old, refresh_token: '' })).rejects.toMatchObject({
      code: 'ERR_SSO_REAUTHENTICATION_REQUIRED',
      reason: 'no_refresh_token',
      requestSent: false,
    })
    await expect(sso.refresh({ ...tokenSet(old) })).rejects.toThrow(
      /^tokens is a copy of a token set that lost its tokens/u,
    )
    expect(service.requests).toEqual([])
  })
})

describe('the tokens of a code exchange (S14)', () => {
  it.each<[string, CannedAnswer]>([
    ['are JSON', { status: 200, headers: { 'content-type': 'text/plain' }, body: JSON.stringify(goodTokens) }],
    ['are bearer tokens', json({ ...goodTokens, token_type: 'mac' })],
    ['say that they are', json({ ...goodTokens, token_type: undefined })],
    ['can stand in a header', json({ ...goodTokens, access_token: 'a\r\nX-Evil: 1' })],
    ['are text', json({ ...goodTokens, access_token: 7 })],
    ['are not empty', json({ ...goodTokens, access_token: '' })],
    ['include a refresh token', json({ ...goodTokens, refresh_token: undefined })],
    ['come with 200', json(goodTokens, 500)],
  ])('%s, or are rejected', async (_, answer) => {
    await expect(exchangeWith(answer)).rejects.toMatchObject({ code: 'ERR_SSO_UNEXPECTED_RESPONSE' })
  })

  it('are taken with their type in any case, and with a charset', async () => {
    const answer = {
      ...json({ ...goodTokens, token_type: 'bEaReR' }),
      headers: { 'content-type': 'Application/JSON; charset=utf-8' },
    }
    await expect(exchangeWith(answer)).resolves.toMatchObject({ token_type: 'Bearer' })
  })
})

describe('the tokens of a refresh are never lost (G5)', () => {
  it.each<[string, CannedAnswer]>([
    [
      'with another content type',
      { status: 200, headers: { 'content-type': 'text/html' }, body: JSON.stringify(goodTokens) },
    ],
    ['without one', { status: 200, body: JSON.stringify(goodTokens) }],
    ['after a byte order mark', { status: 200, body: `\uFEFF${JSON.stringify(goodTokens)}` }],
    ['without a token_type', json({ ...goodTokens, token_type: undefined })],
    ['with another token_type', json({ ...goodTokens, token_type: 'mac' })],
    ['with an odd expires_in', json({ ...goodTokens, expires_in: 'soon' })],
    ['with odd fields beside', json({ ...goodTokens, id_token: 7, state: {}, extra: [[[]]] })],
    ['with another status', json(goodTokens, 201)],
    ['with an error status', json(goodTokens, 500)],
    ['with an error beside', json({ ...goodTokens, error: 'none' })],
  ])('%s', async (_, answer) => {
    await expect(refreshWith(answer)).resolves.toMatchObject({
      access_token: goodTokens.access_token,
      refresh_token: goodTokens.refresh_token,
    })
  })

  it.each([[undefined], [null], [''], [7]])(
    'the old refresh token is kept where the answer has %j in its place',
    async (refreshToken) => {
      await expect(refreshWith(json({ ...goodTokens, refresh_token: refreshToken }))).resolves.toMatchObject({
        access_token: goodTokens.access_token,
        refresh_token: 'old-refresh-token',
      })
    },
  )

  it('whatever else the body holds; a body without them ends in a typed error', async () => {
    const rest = fc.dictionary(
      fc.string().filter((name) => !(name in goodTokens)),
      fc.jsonValue(),
      { maxKeys: 5 },
    )
    const body = fc.oneof(
      { weight: 3, arbitrary: rest.map((more) => ({ text: JSON.stringify({ ...more, ...goodTokens }), valid: true })) },
      {
        weight: 1,
        arbitrary: rest.map((more) => ({
          text: `{"__proto__":{"access_token":"polluted"},${JSON.stringify({ ...more, ...goodTokens }).slice(1)}`,
          valid: true,
        })),
      },
      { weight: 2, arbitrary: fc.json().map((text) => ({ text, valid: false })) },
      { weight: 1, arbitrary: anyText({ maxLength: 100 }).map((text) => ({ text, valid: false })) },
      { weight: 1, arbitrary: fc.nat(1000).map((depth) => ({ text: '{"a":'.repeat(depth), valid: false })) },
      {
        weight: 1,
        arbitrary: fc.constant({
          text: '{"__proto__":{"access_token":"polluted","refresh_token":"polluted"}}',
          valid: false,
        }),
      },
    )
    await fc.assert(
      fc.asyncProperty(
        body,
        fc.constantFrom('application/json', 'text/html', 'application/octet-stream'),
        async ({ text, valid }, type) => {
          sso = createSso({ authUrl: service.authUrl })
          const outcome = refreshWith({ status: 200, headers: { 'content-type': type }, body: text })
          const found = await outcome.then(
            ({ access_token, refresh_token }) => `${access_token} ${refresh_token}`,
            (error: { code?: string }) => error.code,
          )
          const pair = `${goodTokens.access_token} ${goodTokens.refresh_token}`
          expect(found).toMatch(valid ? new RegExp(`^${pair}$`, 'u') : /^ERR_SSO_/u)
        },
      ),
      { numRuns: runs(150) },
    )
    expect(({} as Record<string, unknown>)['access_token']).toBeUndefined()
  })
})

it.each([
  [399, 'ERR_SSO_UNEXPECTED_RESPONSE'],
  [400, 'ERR_SSO_REAUTHENTICATION_REQUIRED'],
  [499, 'ERR_SSO_REAUTHENTICATION_REQUIRED'],
  [500, 'ERR_SSO_UNEXPECTED_RESPONSE'],
])('a token endpoint that answers %i with invalid_grant means %s', async (status, code) => {
  await expect(refreshWith(json({ error: 'invalid_grant' }, status))).rejects.toMatchObject({ code, status })
})

it('a mistake in a request to the token endpoint has its step and its status', async () => {
  const answer = json({ error: 'invalid_client' }, 400)
  const mistake = { code: 'ERR_SSO_TOKEN_REJECTED', error: 'invalid_client', status: 400 }
  await expect(refreshWith(answer)).rejects.toMatchObject({ ...mistake, step: 'refresh' })
  await expect(exchangeWith(answer)).rejects.toMatchObject({ ...mistake, step: 'code-exchange' })
})

describe('a token is taken where it can stand in a header', () => {
  it.each([
    ['all its signs', 'aA0-._~+/==', true],
    ['8,192 characters', 'x'.repeat(8192), true],
    ['16,385 characters', 'x'.repeat(16_385), false],
    ['no characters', '', false],
    ['an = in the middle', 'a=b', false],
    ['a space at its end', 'access ', false],
    ['another header in it', 'access\r\nX-Evil: 1', false],
  ])('with %s', async (_, text, isTaken) => {
    const outcome = await refreshWith(json({ ...goodTokens, access_token: text })).catch((error: unknown) => error)
    expect(outcome).toMatchObject(isTaken ? { access_token: text } : { code: 'ERR_SSO_UNEXPECTED_RESPONSE' })
    const { id_token: idToken } = await refreshWith(json({ ...goodTokens, id_token: text }))
    expect(idToken).toBe(isTaken ? text : undefined)
  })

  it.each([
    ['a space in it', 're fresh~', true],
    ['8,192 characters', 'x'.repeat(8192), true],
    ['8,193 characters', 'x'.repeat(8193), false],
    ['a line feed at its end', 'refresh\n', false],
    ['a control character', '\u0007refresh', false],
    ['a letter of no header', 'refresh\u00FC', false],
  ])('a refresh token with %s is taken, or the old one is kept', async (_, text, isTaken) => {
    const fresh = await refreshWith(json({ ...goodTokens, refresh_token: text }))
    expect(fresh.refresh_token).toBe(isTaken ? text : 'old-refresh-token')
  })
})
