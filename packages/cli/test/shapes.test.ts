/** What an input is taken for, whatever is in it. */
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { UnsecuredJWT } from 'jose'
import { anyText } from '../../../tests/support/any-text.ts'
import { readShape } from '../src/moving/shapes.ts'

const refresh_token = 'a-refresh-token-of-somebody'
const jwt = (claims: object): string => new UnsecuredJWT({ ...claims }).encode()
const time = 1_900_000_000

describe('the shape of tokens to import', () => {
  it.each<[string, unknown, string, object[]]>([
    ['a refresh token', refresh_token, 'refresh token', [{}]],
    ['one with a line break and a byte order mark', `\uFEFF ${refresh_token}\r\n`, 'refresh token', [{}]],
    ['one in quotes', JSON.stringify(refresh_token), 'refresh token', [{}]],
    [
      'a token response',
      { refresh_token, access_token: 'a', expires_in: 300 },
      'token response',
      [{ accessToken: 'a' }],
    ],
    ['one in camel case', { authToken: 'a', refreshToken: refresh_token }, 'token response', [{ accessToken: 'a' }]],
    [
      'a token set of ours',
      { refresh_token, auth_url: 'https://a.example', expires_at: time + 300, expires_in: 300 },
      'token response',
      [{ accessEndsAt: time + 300, authUrl: 'https://a.example', issuedAt: time }],
    ],
    [
      'one whose access token says when it ends',
      { refresh_token, access_token: jwt({ exp: time }) },
      'token response',
      [{ accessToken: jwt({ exp: time }), accessEndsAt: time }],
    ],
    [
      'one that says how long the access token lives from its issue on',
      { refresh_token, access_token: 'a', created_at: time, expires_in: 28_800 },
      'token response',
      [{ accessToken: 'a', accessEndsAt: time + 28_800, issuedAt: time }],
    ],
    [
      'a cache with the token set in it',
      { 'ann@example.com': { refresh_token, created_at: time * 1000 }, version: 2 },
      'cache',
      [{ account: 'ann@example.com', issuedAt: time }],
    ],
    [
      'a cache with the token set one level below',
      {
        'ann@example.com': { url: 'https://a.example/', sso: { refresh_token, expires_at: `${time}`, expires_in: 1 } },
      },
      'cache',
      [{ account: 'ann@example.com', accessEndsAt: time, authUrl: 'https://a.example/', issuedAt: time - 1 }],
    ],
    [
      'a cache with another service’s tokens before those of this one',
      { 'sub:7': { trade: { refresh_token: 'of the trade' }, sso: { refresh_token } } },
      'cache',
      [{ account: 'sub:7' }],
    ],
    [
      'tokens that say whose they are, from where, and how long',
      {
        refresh_token: jwt({ exp: time + 9, iss: 'https://a.example/v3' }),
        id_token: jwt({ email: 'jo@example.com', iat: time }),
      },
      'token response',
      [{ owner: 'jo@example.com', authUrl: 'https://a.example/v3', issuedAt: time, endsAt: time + 9 }],
    ],
    ['names that are no accounts', { work: { refresh_token }, 'a b@c': { refresh_token } }, 'cache', [{}, {}]],
  ])('%s is recognised', (_what, input, shape, tokens) => {
    const found = readShape(typeof input === 'string' ? input : JSON.stringify(input))
    expect(found?.shape).toBe(shape)
    expect(found?.tokens.map(({ refreshToken: _token, ...facts }) => facts)).toEqual(tokens)
    if (_what.startsWith('tokens that')) return
    for (const one of found?.tokens ?? []) expect(one.refreshToken).toBe(refresh_token)
  })

  it.each([
    '',
    'short',
    'two words of text that are long enough',
    '<html><body>a-page-of-a-firewall</body></html>',
    '{"refresh_token": "cut off',
    '[]',
    'null',
    '42',
    '{}',
    '{"access_token":"alone"}',
    '{"ann@example.com":{"deep":{"deeper":{"refresh_token":"too deep"}}}}',
    '{"refresh_token":["a-list"]}',
    '{"kind":"owner-sso export","version":1}',
    '{"kind":"owner-sso export","version":1,"accounts":{}}',
  ])('%j is none', (input) => {
    expect(readShape(input)).toBeUndefined()
  })

  it('is read from any text without an error, and never with a fact that is not in it', () => {
    const anything = fc.oneof(anyText(), fc.json(), fc.json({ maxDepth: 6 }))
    fc.assert(
      fc.property(anything, (input) => {
        for (const { refreshToken, ...facts } of readShape(input)?.tokens ?? []) {
          expect(input).toContain(JSON.stringify(refreshToken).slice(1, -1))
          for (const fact of Object.values(facts)) expect(['string', 'number']).toContain(typeof fact)
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('of a cache has each token set under its own account, however the accounts are called and whatever stands beside', () => {
    const set = fc.record({ refresh_token: fc.string({ minLength: 1 }), junk: fc.jsonValue() })
    const wrapped = set.chain((one) => fc.constantFrom<object>(one, { sso: one }, { url: 'x', tokens: one }))
    fc.assert(
      fc.property(fc.dictionary(fc.emailAddress(), wrapped, { minKeys: 1 }), (cache) => {
        // A name such as __proto__ is a key like any other.
        const found = readShape(JSON.stringify(cache).replace('{', '{"__proto__":7,"constructor":[],'))
        expect(found?.tokens.map(({ account }) => account)).toEqual(Object.keys(cache))
        expect(found?.others).toBe(2)
      }),
    )
  })
})
