/** What a call is given: options, account names and token sets, each at its limit and beyond it. */
import { describe, expect, it } from '@jest/globals'
import { parseCallOptions } from '../../src/issuer/call-options.ts'
import { checkedAccountName, checkedTokens, replacesSession } from '../../src/manager/options.ts'
import { requestBudgetFrom } from '../../src/budget/request-budget.ts'

const authUrl = 'https://auth.example.com'

describe('what a call is given', () => {
  it('has its signal in the last place, and a signal there', () => {
    const { signal } = new AbortController()
    const parse = (options: unknown, before?: object): unknown =>
      parseCallOptions('call({ signal })', options as never, before)
    expect([parse(undefined), parse({ signal }), parse({ signal: undefined }, {})]).toEqual([
      {},
      { signal },
      { signal: undefined },
    ])
    const shaped = { aborted: false, addEventListener: () => undefined }
    expect(parse({ signal: shaped })).toEqual({ signal: shaped })
    for (const misplaced of [() => parse(signal), () => parse(shaped), () => parse({}, { signal })])
      expect(misplaced).toThrow('signal is in the wrong place: write call({ signal })')
    for (const wrong of [null, 7, 'x', {}, { aborted: false }, { addEventListener: () => undefined }])
      expect(() => parse({ signal: wrong })).toThrow('signal must be an AbortSignal')
  })

  it('is an account by a name that stores can keep', () => {
    for (const name of ['a', ' ', 'ä\u{1F600}', 'owner-ss', 'x owner-sso:']) expect(checkedAccountName(name)).toBe(name)
    for (const wrong of ['', 7, undefined, null, 'a\uD800', '\uDC00b', 'owner-sso:', 'owner-sso:x'])
      expect(() => checkedAccountName(wrong as never)).toThrow(TypeError)
  })

  it('is a token set whole in its kinds, or a refresh token with its instance', async () => {
    const whole = {
      access_token: 'a',
      refresh_token: 'r',
      token_type: 'Bearer',
      expires_at: 7,
      auth_url: authUrl,
    }
    const sso = {
      authUrl,
      allowedAuthUrl: (url: string) => (url.includes('evil') ? Promise.reject(new Error(url)) : url),
    }
    const checked = async (tokens: unknown): Promise<unknown> => checkedTokens(tokens as never, sso as never)
    const all = { ...whole, id_token: 'i', state: 's', expires_in: 3 }
    expect([await checked(whole), await checked(all)]).toEqual([whole, all])
    const bare = { access_token: '', refresh_token: 'r', token_type: 'Bearer', expires_at: 0 }
    const asJson = async (tokens: object): Promise<unknown> => JSON.parse(JSON.stringify(await checked(tokens)))
    expect(await asJson({ refresh_token: 'r' })).toEqual({ ...bare, auth_url: authUrl })
    expect(await asJson({ refresh_token: 'r', auth_url: 'https://b.example' })).toEqual({
      ...bare,
      auth_url: 'https://b.example',
    })
    expect(await asJson({ refresh_token: 'r', access_token: undefined })).toEqual({ ...bare, auth_url: authUrl })
    const plain = { authUrl, refresh: () => undefined }
    expect(await checkedTokens({ refresh_token: 'r' }, plain as never)).toMatchObject({ auth_url: authUrl })
    const wrong: [string, unknown][] = [
      ['tokens', null],
      ['tokens', 'x'],
      ['tokens.refresh_token', {}],
      ['tokens.refresh_token', { ...whole, refresh_token: '' }],
      ['tokens.refresh_token', { ...whole, refresh_token: 7 }],
      ['tokens.auth_url', { ...whole, auth_url: '' }],
      ['tokens.auth_url', { ...whole, auth_url: 7 }],
      ['tokens.auth_url', { ...whole, auth_url: 'nowhere' }],
      ['tokens.access_token', { ...whole, access_token: '' }],
      ['tokens.access_token', { ...whole, access_token: 7 }],
      ['tokens.token_type', { ...whole, token_type: '' }],
      ['tokens.token_type', { ...whole, token_type: undefined }],
      ['tokens.expires_at', { ...whole, expires_at: Number.NaN }],
      ['tokens.expires_at', { ...whole, expires_at: '7' }],
      ['tokens.id_token', { ...whole, id_token: 7 }],
      ['tokens.state', { ...whole, state: null }],
      ['tokens.expires_in', { ...whole, expires_in: '3' }],
    ]
    for (const [name, tokens] of wrong)
      await expect(checked(tokens)).rejects.toMatchObject({
        name: 'TypeError',
        message: expect.stringMatching(new RegExp(`^${name} must be`, 'u')),
      })
    await expect(checked({ ...whole, auth_url: 'https://evil.example' })).rejects.toThrow('evil')
    expect([replacesSession(whole as never), replacesSession({ refresh_token: 'r' })]).toEqual([true, false])
    expect([
      replacesSession(whole as never, { replace: false }),
      replacesSession({ refresh_token: 'r' }, { replace: true }),
    ]).toEqual([false, true])
    expect(() => replacesSession({ refresh_token: 'r' }, { replace: 'yes' as never })).toThrow('replace must be')
  })

  it('may be a budget in a word, or with its parts', () => {
    expect([requestBudgetFrom('300'), requestBudgetFrom('300:5')]).toEqual([
      { perMinute: 300 },
      { perMinute: 300, burst: 5 },
    ])
    const parts = { perMinute: 4, burst: 2, scope: 'process' as const }
    expect(requestBudgetFrom(parts)).toEqual(parts)
    for (const fine of ['2', '2:1', { perMinute: 2, scope: 'store' }, '999999999'])
      expect(requestBudgetFrom(fine)).toBeDefined()
    for (const wrong of ['', 'x', ' 300', '300 ', '300:', '300:5:5', '1234567890', '300:1234567890', '-3', '3e2'])
      expect(() => requestBudgetFrom(wrong, 'BUDGET')).toThrow('BUDGET must be requests a minute')
    const figures: [object | string, string][] = [
      ['1', 'perMinute'],
      ['4:3', 'burst'],
      ['4:0', 'burst'],
      [{}, 'perMinute'],
      [{ perMinute: 2.5 }, 'perMinute'],
      [{ perMinute: 4, burst: 1.5 }, 'burst'],
      [{ perMinute: 4, scope: 'fleet' }, 'scope'],
    ]
    for (const [wrong, name] of figures) expect(() => requestBudgetFrom(wrong)).toThrow(`requestBudget: ${name} must`)
  })
})
