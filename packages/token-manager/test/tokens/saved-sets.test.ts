/** What `save` takes: an account's name and a token set, each at its limit and beyond it. */
import { describe, expect, it } from '@jest/globals'
import { createTokenManager, requestBudgetFrom, type TokenIssuer, type TokenManager } from '../../src/index.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'

const auth_url = 'https://auth.example.com'
const whole = { access_token: 'a', refresh_token: 'r', token_type: 'Bearer', expires_at: 7, auth_url }

/** An issuer of two hosts: it allows no other. */
const issuer: TokenIssuer = {
  authUrl: auth_url,
  refresh: () => Promise.reject(new Error('nobody refreshes here')),
  allowedAuthUrl: (url) => (url.includes('evil') ? Promise.reject(new Error(url)) : Promise.resolve(url)),
}

function manager(): { readonly tokens: TokenManager; readonly store: ReturnType<typeof mapStore> } {
  const store = mapStore()
  return { store, tokens: createTokenManager({ issuer, store }) }
}

/** As JavaScript calls it: with anything. */
const save = (tokens: TokenManager, ...given: readonly unknown[]): Promise<void> =>
  Reflect.apply(tokens.save, tokens, given)

describe('save', () => {
  it.each(['a', ' ', 'ä\u{1F600}', 'owner-ss', 'x owner-sso:'])('takes the account name %j', async (name) => {
    const { tokens } = manager()
    await tokens.save(name, whole)
    expect(await tokens.status(name)).toMatchObject({ state: 'expired' })
  })

  it.each(['', 7, undefined, null, 'a\uD800', '\uDC00b', 'owner-sso:', 'owner-sso:x'])(
    'refuses the account name %j, which no store could keep',
    async (name) => {
      await expect(save(manager().tokens, name, whole)).rejects.toThrow(TypeError)
    },
  )

  it.each([
    ['tokens', null],
    ['tokens', 'x'],
    ['tokens.refresh_token', {}],
    ['tokens.refresh_token', { ...whole, refresh_token: '' }],
    ['tokens.refresh_token', { ...whole, refresh_token: 7 }],
    ['tokens.auth_url', { ...whole, auth_url: '' }],
    ['tokens.auth_url', { ...whole, auth_url: 'nowhere' }],
    ['tokens.access_token', { ...whole, access_token: '' }],
    ['tokens.token_type', { ...whole, token_type: undefined }],
    ['tokens.expires_at', { ...whole, expires_at: Number.NaN }],
    ['tokens.expires_at', { ...whole, expires_at: '7' }],
    ['tokens.expires_at', { ...whole, expires_at: 1_790_000_000_000 }],
    ['tokens.id_token', { ...whole, id_token: 7 }],
    ['tokens.state', { ...whole, state: null }],
    ['tokens.expires_in', { ...whole, expires_in: '3' }],
  ])('names %s where it is wrong in %j, and stores nothing', async (name, set) => {
    const { tokens, store } = manager()
    await expect(save(tokens, 'owner', set)).rejects.toMatchObject({
      name: 'TypeError',
      message: expect.stringMatching(new RegExp(`^${name} must be`, 'u')),
    })
    expect(await store.read('owner')).toBeUndefined()
  })

  it.each([
    { ...whole, auth_url: undefined },
    { access_token: 'a', refresh_token: 'r', token_type: 'Bearer', expires_at: 7 },
    { access_token: 'a', refresh_token: 'r', expires_at: 7 },
    { ...whole, scope: 'openid', created_at: 1, expires_in: 28_800 },
    { refresh_token: 'r' },
  ])('keeps what can be read again: %j', async (set) => {
    const { tokens, store } = manager()
    await save(tokens, 'owner', set)
    expect(await tokens.status('owner')).not.toMatchObject({ state: 'signed-out' })
    expect(await store.read('owner')).toMatchObject({ record: { tokens: { auth_url, refresh_token: 'r' } } })
  })
})

describe('a request budget', () => {
  it('may be a word, or have parts', () => {
    expect([requestBudgetFrom('300'), requestBudgetFrom('300:5')]).toEqual([
      { perMinute: 300 },
      { perMinute: 300, burst: 5 },
    ])
    expect(requestBudgetFrom({ perMinute: 4, burst: 2, scope: 'process' })).toMatchObject({ burst: 2 })
  })

  it.each(['', 'x', ' 300', '300 ', '300:', '300:5:5', '1234567890', '300:1234567890', '-3', '3e2'])(
    'is not %j',
    (wrong) => {
      expect(() => requestBudgetFrom(wrong, 'BUDGET')).toThrow('BUDGET must be requests a minute')
    },
  )

  it.each([
    ['1', 'perMinute'],
    ['4:3', 'burst'],
    ['4:0', 'burst'],
    [{}, 'perMinute'],
    [{ perMinute: 2.5 }, 'perMinute'],
    [{ perMinute: 4, burst: 1.5 }, 'burst'],
    [{ perMinute: 4, scope: 'fleet' }, 'scope'],
  ])('of %j names %s', (wrong, name) => {
    expect(() => requestBudgetFrom(wrong)).toThrow(`requestBudget: ${name} must`)
  })
})
