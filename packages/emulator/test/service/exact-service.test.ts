/** Each limit at it and one beyond it: what the service takes, refuses and keeps. */
import type { IncomingMessage } from 'node:http'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { setClock } from '../../src/control/clock-order.ts'
import { setFirewall } from '../../src/control/firewall-order.ts'
import type { Settings } from '../../src/options/options.ts'
import { parseEmulatorOptions } from '../../src/options/parse-options.ts'
import { accountView, createAccount, createAccountDirectory } from '../../src/service/accounts.ts'
import { authorizeCookies } from '../../src/service/authorize-responses.ts'
import { readAuthorizationRequest } from '../../src/service/authorization-request.ts'
import { createClock } from '../../src/service/clock.ts'
import { createCounters } from '../../src/service/counters.ts'
import { createAccessTokens } from '../../src/service/access-tokens.ts'
import { createCodes } from '../../src/service/codes.ts'
import { createExpiringMap } from '../../src/service/expiring-map.ts'
import { createFactor } from '../../src/service/factors.ts'
import { createFirewall } from '../../src/service/firewall.ts'
import { createInstances } from '../../src/service/instances.ts'
import { createRefreshTokens } from '../../src/service/refresh-tokens.ts'
import type { ServiceState } from '../../src/service/service-state.ts'
import { describeMinting } from '../../src/service/minting.ts'
import { createSessions } from '../../src/service/sessions.ts'
import { publicKeys, signToken } from '../../src/service/signing-key.ts'
import {
  isCodeVerifier,
  isPasscodeCsrf,
  isPostedBack,
  isRedirectUri,
  withoutLocale,
} from '../../src/service/strictness.ts'

it.each<['document' | 'lenient', string, boolean]>([
  ['document', 'a'.repeat(86), true],
  ['document', 'a'.repeat(85), false],
  ['document', 'a'.repeat(87), false],
  ['document', `-${'a'.repeat(85)}`, false],
  ['lenient', 'a'.repeat(43), true],
  ['lenient', `${'a'.repeat(124)}-._~`, true],
  ['lenient', 'a'.repeat(42), false],
  ['lenient', 'a'.repeat(129), false],
  ['lenient', ` ${'a'.repeat(43)}`, false],
  ['lenient', `${'a'.repeat(43)} `, false],
])('with strictness %s %s is a code verifier: %s', (strictness, verifier, isOne) => {
  expect(isCodeVerifier({ strictness }, verifier)).toBe(isOne)
})

describe('an authorization request', () => {
  const parameters = {
    client_id: 'ownerapi',
    code_challenge: 'a'.repeat(43),
    code_challenge_method: 'S256',
    redirect_uri: 'https://auth.example.com/void/callback',
    response_type: 'code',
    scope: 'openid email offline_access',
    state: 'x',
  }
  const read = (more: Partial<typeof parameters>) =>
    readAuthorizationRequest(new URLSearchParams({ ...parameters, ...more }), (uri) => uri === parameters.redirect_uri)

  it.each([
    ['a'.repeat(43), true],
    ['-_'.repeat(64), true],
    [`${'a'.repeat(43)}=`, true],
    [`${'a'.repeat(43)}==`, true],
    ['a'.repeat(42), false],
    ['a'.repeat(129), false],
    [`${'a'.repeat(43)}===`, false],
    [` ${'a'.repeat(43)}`, false],
    [`${'a'.repeat(43)} `, false],
  ])('may have the challenge %j: %s', (challenge, isOne) => {
    const codeChallenge = challenge.replace(/=+$/u, '')
    const { redirect_uri: redirectUri, state } = parameters
    const refusal = 'The parameter code_challenge must be a base64url SHA-256 challenge.'
    expect(read({ code_challenge: challenge })).toEqual(isOne ? { codeChallenge, redirectUri, state } : refusal)
  })

  it('has nothing twice', () => {
    const twice = new URLSearchParams({ ...parameters, login_hint: 'a' })
    expect(readAuthorizationRequest(twice, () => true)).toMatchObject({ state: 'x' })
    twice.append('login_hint', 'b')
    expect(readAuthorizationRequest(twice, () => true)).toBe('The parameter login_hint must not be repeated.')
  })

  it('has a state of 1024 characters at the most', () => {
    expect(read({ state: 'x'.repeat(1024) })).toMatchObject({ state: 'x'.repeat(1024) })
    const refusal = 'The parameter state must be a random string.'
    expect([read({ state: 'x'.repeat(1025) }), read({ state: '' })]).toEqual([refusal, refusal])
  })
})

it('a hidden input comes back as it is; with strictness lenient also as the source of the page has it', () => {
  const document = { strictness: 'document' } as never
  const lenient = { strictness: 'lenient' } as never
  expect([isPostedBack(document, 'a&b', 'a&b'), isPostedBack(document, 'a&amp;b', 'a&b')]).toEqual([true, false])
  expect([isPostedBack(lenient, 'a&b', 'a&b'), isPostedBack(lenient, 'a&amp;b', 'a&b')]).toEqual([true, true])
  expect([isPostedBack(lenient, undefined, undefined), isPostedBack(lenient, 'x', undefined)]).toEqual([true, false])
})

it('an account has one subject, however its e-mail is written', () => {
  const subjectOf = (identity: string) => createAccount({ identity, credential: 'x' }).subject
  expect(subjectOf('ann@example.com')).toMatch(/^[\da-f]{32}$/u)
  expect(subjectOf('Ann@Example.com')).toBe(subjectOf('ann@example.com'))
  expect(subjectOf('bob@example.com')).not.toBe(subjectOf('ann@example.com'))
})

it('nothing is counted at the start', () => {
  expect([...new Set(Object.values(createCounters()))]).toEqual([0])
})

it('what expires is gone at that moment, and of too many the oldest', () => {
  const clock = createClock()
  clock.freeze()
  const map = createExpiringMap<number>({ clock, lifetime: () => 10, max: 2 })
  map.set('a', 1)
  clock.advance(9)
  map.set('b', 2)
  expect([map.get('a'), [...map.values()]]).toEqual([1, [1, 2]])
  map.set('c', 3)
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([undefined, 2, 3])
  clock.advance(10)
  expect([map.get('b'), [...map.alive()]]).toEqual([undefined, []])
  for (const key of ['a', 'b', 'b']) map.set(key, 7)
  expect([map.get('a'), map.get('b')]).toEqual([7, 7])
  for (const key of ['a', 'c']) map.set(key, 8)
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([8, undefined, 8])
})

describe('the firewall', () => {
  const open = (changes: Partial<Settings> = {}) => {
    const clock = createClock()
    clock.freeze()
    clock.jump(1000)
    const firewall = { maxRequests: 2, windowSeconds: 10, blockSeconds: 20 }
    const settings = { firewall, strictness: 'document', allowBrowsers: false, mintedBy: null, ...changes } as Settings
    const wall = createFirewall(clock, settings)
    const ask = (userAgent = 'x', tlsVersion?: string, address = '127.0.0.1') =>
      wall.blocks({ address, userAgent, tlsVersion } as Parameters<typeof wall.blocks>[0])
    return { clock, wall, ask }
  }

  it('takes so many requests in a window, and then none for a while', () => {
    const { clock, wall, ask } = open()
    expect([ask(), ask(), ask('y'), ask('x', 'TLSv1.2'), ask('x', undefined, '::1')]).toEqual(Array.from({ length: 5 }))
    clock.advance(9)
    expect([ask(), ask()]).toEqual(['more than 2 requests in 10 s', 'this client is blocked'])
    const client = { address: '127.0.0.1', userAgent: 'x', tlsVersion: undefined }
    expect(wall.clients()).toContainEqual({ ...client, requests: 3, windowEndsAt: 1010, blockedUntil: 1029 })
    clock.advance(19)
    expect(ask()).toBe('this client is blocked')
    expect(wall.clients()).toEqual([{ ...client, requests: 0, windowEndsAt: undefined, blockedUntil: 1029 }])
    clock.advance(1)
    expect([ask(), ask(), ask()]).toEqual([undefined, undefined, 'more than 2 requests in 10 s'])
    wall.lift()
    expect([wall.clients(), ask()]).toEqual([[], undefined])
  })

  it('opens a window with the first request, and leaves it at that', () => {
    const { clock, ask } = open()
    expect(ask()).toBeUndefined()
    clock.advance(9)
    expect(ask()).toBeUndefined()
    clock.advance(1)
    expect(ask()).toBeUndefined()
  })

  it('tells clients apart by 256 signs of their User-Agent', () => {
    const { ask } = open()
    const agents = ['a', 'b', 'c'].map((last) => `${'x'.repeat(256)}${last}`)
    expect(agents.map((agent) => ask(agent))).toEqual([undefined, undefined, 'more than 2 requests in 10 s'])
    const others = ['a', 'b', 'c'].map((last) => `${'y'.repeat(255)}${last}`)
    expect(others.map((agent) => ask(agent))).toEqual([undefined, undefined, undefined])
  })

  it('blocks everybody for so long, even where it has no rules', () => {
    const { clock, wall, ask } = open({ firewall: false })
    expect(Array.from({ length: 3 }, () => ask('Mozilla/5.0', 'TLSv1.3'))).toEqual([undefined, undefined, undefined])
    wall.block(5)
    clock.advance(4.5)
    expect([ask(), wall.blockedUntil]).toEqual(['everybody is blocked', 1005])
    clock.advance(0.5)
    expect([ask(), wall.blockedUntil]).toEqual([undefined, undefined])
    wall.block()
    expect(wall.blockedUntil).toBe(1905)
    wall.block(0)
    expect([ask(), wall.blockedUntil]).toEqual([undefined, undefined])
    for (const wrong of [-1, Number.NaN]) expect(() => wall.block(wrong)).toThrow(TypeError)
  })

  it.each<[string, Partial<Settings>, string | undefined]>([
    ['', {}, 'it came with TLS 1.3'],
    [' with strictness lenient', { strictness: 'lenient' }, undefined],
    [' where tokens are minted over it', { mintedBy: { tls: 'TLSv1.3' } }, undefined],
    [' where they are minted over the other', { mintedBy: { tls: 'TLSv1.2' } }, 'it came with TLS 1.3'],
  ])('refuses TLS 1.3%s: %s', (_what, changes, reason) => {
    expect([open(changes).ask('x', 'TLSv1.3'), open(changes).ask('x', 'TLSv1.2')]).toEqual([reason, undefined])
  })

  it('refuses browsers, but for those that are let in', () => {
    const browser = 'its User-Agent is a browser’s'
    expect([open().ask('Firefox/1'), open({ allowBrowsers: true }).ask('Firefox/1')]).toEqual([browser, undefined])
    const some = { allowBrowsers: /Fire/gu }
    expect(['Firefox/1', 'Firefox/1', 'Chrome/1'].map((agent) => open(some).ask(agent))).toEqual([
      undefined,
      undefined,
      browser,
    ])
  })
})

it('a factor has the passcodes of RFC 6238, of this step and one beside it, each once', () => {
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
  const factor = createFactor({ id: 'x', name: 'Phone', totpSecret: secret })
  expect([factor.passcode(59), factor.passcode(60), factor.passcode(1_111_111_109)]).toEqual([
    '287082',
    '359152',
    '081804',
  ])
  expect(['28708', '2870822', ' 287082', '287082 ', '28708x'].map((passcode) => factor.check(passcode, 59))).toEqual(
    Array.from({ length: 5 }, () => 'wrong'),
  )
  expect([factor.check('287082', 119), factor.check('287082', 90)]).toEqual(['wrong', 'wrong'])
  expect([factor.check('287082', 89), factor.check('287082', 59), factor.check('287082', 0)]).toEqual([
    'valid',
    'replayed',
    'replayed',
  ])
  for (let step = 3; step < 150; step += 1) expect(factor.check(factor.passcode(30 * step), 30 * step)).toBe('valid')
  expect(factor.check(factor.passcode(30 * 148), 30 * 149)).toBe('replayed')
  factor.forget()
  expect(factor.check(factor.passcode(30 * 148), 30 * 149)).toBe('valid')
})

it.each<[string, boolean]>([
  ['https://auth.example.com/void/callback', true],
  ['http://[::1]:8080/void/callback', true],
  ['app.name+1://auth/callback', true],
  ['x https://auth.example.com/void/callback', false],
  ['https://auth.example.com/void/callback/', false],
  ['https://auth.example.com/other/callback', false],
  ['ftp://auth.example.com/void/callback', false],
  ['1app://auth/callback', false],
  ['app://other/callback', false],
])('a legacy client may be sent to %s: %s', (uri, isTaken) => {
  expect(isRedirectUri({ strictness: 'lenient' }, [], uri)).toBe(isTaken)
  expect([
    isRedirectUri({ strictness: 'document' }, [], uri),
    isRedirectUri({ strictness: 'document' }, [uri], uri),
  ]).toEqual([false, true])
  expect(isRedirectUri({ strictness: 'lenient', redirectUris: [] }, [], uri)).toBe(false)
})

it('a locale before the path is left out with strictness lenient alone', () => {
  const urls = ['/en_us/a', '/EN_us/en_us/a', '/eng_us/a', '/en_us', '/a/en_us/b', '/e1_us/a']
  expect(urls.map((url) => withoutLocale({ strictness: 'lenient' }, url))).toEqual(['/a', '/en_us/a', ...urls.slice(2)])
  expect(urls.map((url) => withoutLocale({ strictness: 'document' }, url))).toEqual(urls)
})

it('the _csrf of a passcode page is its own; others only where a page shows none, or with strictness lenient', () => {
  const pending = { csrf: 'a&b', loginCsrf: 'c&d', isUnnamed: false }
  const posted = ['a&b', 'a&amp;b', 'c&d', 'c&amp;d', null, undefined, 'x']
  const taken = (strictness: 'document' | 'lenient', isUnnamed: boolean): readonly boolean[] =>
    posted.map((each) => isPasscodeCsrf({ strictness }, each, { ...pending, isUnnamed }))
  expect(taken('document', false)).toEqual([true, false, false, false, false, false, false])
  expect(taken('document', true)).toEqual([true, false, true, false, true, true, false])
  expect(taken('lenient', false)).toEqual([true, true, true, true, true, true, false])
})

describe('what the service keeps', () => {
  const clock = createClock()
  beforeEach(() => clock.freeze())
  const home = { region: 'home', url: 'http://127.0.0.1' } as const
  const settings = (changes: Partial<Settings> = {}): Settings =>
    ({
      strictness: 'document',
      hiddenInputs: {},
      sessionLifetime: 900,
      codeLifetime: 300,
      accessTokenLifetime: 100,
      accessTokenFormat: 'opaque',
      refreshTokenLifetime: null,
      expiresIn: 300,
      rotation: 'single-use',
      reuse: 'refuse',
      graceSeconds: 60,
      firewall: { maxRequests: null, windowSeconds: 60, blockSeconds: 900 },
      allowBrowsers: false,
      mintedBy: null,
      ...changes,
    }) as Settings
  const account = createAccount({ identity: 'ann@example.com', credential: 'x' })

  it('is ten thousand sessions, codes and clients of the firewall, the oldest give way', () => {
    const sessions = createSessions(clock, settings())
    const codes = createCodes(clock, settings())
    const firewall = createFirewall(clock, settings())
    const request = { codeChallenge: 'x', redirectUri: 'x', state: 'x' }
    const fill = (index: number) => {
      const session = sessions.create(home, request)
      firewall.blocks({ address: `${index}`, userAgent: '' } as Parameters<typeof firewall.blocks>[0])
      return { session, code: codes.issue({ session, account, complete: true }) }
    }
    const kept = Array.from({ length: 10_000 }, (_, index) => fill(index))
    expect([[...sessions.alive()].length, [...codes.alive()].length, firewall.clients().length]).toEqual([
      10_000, 10_000, 10_000,
    ])
    fill(10_000)
    expect([[...sessions.alive()].length, [...codes.alive()].length, firewall.clients().length]).toEqual([
      10_000, 10_000, 10_000,
    ])
    expect([sessions.find(kept[0]?.session.id, home), sessions.find(kept[1]?.session.id, home)]).toEqual([
      undefined,
      kept[1]?.session,
    ])
    expect([codes.take(kept[0]?.code ?? ''), codes.take(kept[1]?.code ?? '')]).toMatchObject([
      undefined,
      { complete: true },
    ])
    expect(codes.take(kept[1]?.code ?? '')).toBeUndefined()
    expect(firewall.clients()[0]?.address).toBe('1')
  })

  it('is so many tokens, the oldest give way', async () => {
    const accessTokens = createAccessTokens(clock, settings(), 2)
    const tokens = createRefreshTokens({
      clock,
      settings: settings(),
      counters: createCounters(),
      accessTokens,
      max: 2,
    })
    const signedIn = [
      await tokens.signIn(account, home),
      await tokens.signIn(account, home),
      await tokens.signIn(account, home),
    ]
    expect(signedIn.map(({ access_token }) => accessTokens.find(access_token) !== undefined)).toEqual([
      false,
      true,
      true,
    ])
    expect([...tokens.alive()]).toHaveLength(2)
    const [first] = signedIn
    expect(await tokens.refresh(first?.refresh_token ?? '', home, {} as never)).toEqual({
      decision: 'an unknown refresh token',
    })
  })

  it('is alive until it is spent, revoked or over', async () => {
    const changes = { refreshTokenLifetime: 50 }
    const accessTokens = createAccessTokens(clock, settings(changes))
    const counters = createCounters()
    const tokens = createRefreshTokens({ clock, settings: settings(changes), counters, accessTokens })
    const other = createAccount({ identity: 'bob@example.com', credential: 'x' })
    const { refresh_token: first } = await tokens.signIn(account, home)
    await tokens.signIn(other, home)
    const alive = (): readonly [number, number] => [[...tokens.alive()].length, [...accessTokens.alive()].length]
    expect([...tokens.alive()].map(({ value, expiresAt }) => [value.account, expiresAt - clock.now()])).toEqual([
      [account, 50],
      [other, 50],
    ])
    const { tokens: fresh } = await tokens.refresh(first, home, {} as never)
    // The spent one is not, its successor is.
    expect(alive()).toEqual([2, 3])
    expect([tokens.expire(account), tokens.expire(account), alive()]).toEqual([1, 0, [1, 3]])
    expect((await tokens.refresh(fresh?.refresh_token ?? '', home, {} as never)).decision).toBe(
      'the refresh token has expired',
    )
    expect([accessTokens.revoke((token) => token.account === account), accessTokens.revoke(() => true)]).toEqual([2, 1])
    expect(alive()).toEqual([1, 0])
    clock.advance(50)
    expect(alive()).toEqual([0, 0])
  })

  it('forgives no refresh token that was spent before it was told to', async () => {
    const given = settings({ reuse: 'refuse' })
    const accessTokens = createAccessTokens(clock, given)
    const tokens = createRefreshTokens({ clock, settings: given, counters: createCounters(), accessTokens })
    const { refresh_token: first } = await tokens.signIn(account, home)
    await tokens.refresh(first, home, {} as never)
    Object.assign(given, { reuse: 'grace' })
    expect(await tokens.refresh(first, home, {} as never)).toEqual({
      decision: 'a spent refresh token was presented again',
    })
  })

  it('says that a family was revoked', async () => {
    const given = settings({ reuse: 'revoke-family' })
    const accessTokens = createAccessTokens(clock, given)
    const tokens = createRefreshTokens({ clock, settings: given, counters: createCounters(), accessTokens })
    const { refresh_token: first } = await tokens.signIn(account, home)
    await tokens.refresh(first, home, {} as never)
    expect(await tokens.refresh(first, home, {} as never)).toEqual({
      decision: 'a spent refresh token was presented again: its family is revoked',
    })
    expect([[...tokens.alive()], [...accessTokens.alive()]]).toEqual([[], []])
  })

  it.each(['grace', 'grace-stale'] as const)(
    'forgives a spent refresh token for sixty seconds, and until its successor is used (%s)',
    async (reuse) => {
      const accessTokens = createAccessTokens(clock, settings())
      const counters = createCounters()
      const given = settings({ reuse })
      const tokens = createRefreshTokens({ clock, settings: given, counters, accessTokens })
      const refresh = async (token: string) => (await tokens.refresh(token, home, {} as never)).tokens
      const { refresh_token: first } = await tokens.signIn(account, home)
      const second = await refresh(first)
      clock.advance(60)
      const again = await refresh(first)
      expect(again?.refresh_token).toBe(reuse === 'grace' ? second?.refresh_token : first)
      expect(again?.access_token === second?.access_token).toBe(reuse === 'grace')
      clock.advance(0.5)
      expect(await refresh(first)).toBeUndefined()
      clock.advance(-0.5)
      await refresh(second?.refresh_token ?? '')
      expect(await refresh(first)).toBeUndefined()
      const { refresh_token: third } = await tokens.signIn(account, home)
      await refresh(third)
      tokens.expire(account)
      expect([await refresh(third), counters.replays, counters.tokenRefreshes]).toEqual([undefined, 4, 3])
    },
  )
})

describe('an order of the control API', () => {
  it('of the clock does what it names alone', () => {
    const clock = createClock()
    clock.freeze()
    clock.jump(1000)
    setClock(clock, {})
    setClock(clock, { reset: false, advance: 5 })
    expect([clock.now(), clock.frozen]).toEqual([1005, true])
    setClock(clock, { advance: -5, frozen: true })
    expect([clock.now(), clock.frozen]).toEqual([1000, true])
    setClock(clock, { jump: '1970-01-01T00:00:07Z', advance: 1 })
    expect([clock.now(), clock.frozen]).toEqual([8, true])
    setClock(clock, { frozen: false })
    expect(clock.frozen).toBe(false)
    setClock(clock, { reset: true })
    expect(clock.offset).toBe(0)
  })

  it('of the firewall does what it names alone', () => {
    const clock = createClock()
    clock.freeze()
    const firewall = createFirewall(clock, {
      firewall: { maxRequests: 2, windowSeconds: 10, blockSeconds: 20 },
    } as Settings)
    const come = (): unknown =>
      firewall.blocks({ address: '127.0.0.1', userAgent: 'x' } as Parameters<typeof firewall.blocks>[0])
    come()
    setFirewall(firewall, {})
    setFirewall(firewall, { block: 5 })
    expect([firewall.clients().length, (firewall.blockedUntil ?? 0) - clock.now()]).toEqual([1, 5])
    setFirewall(firewall, { block: true })
    expect((firewall.blockedUntil ?? 0) - clock.now()).toBe(20)
    setFirewall(firewall, { lift: true })
    expect([firewall.clients(), firewall.blockedUntil]).toEqual([[], undefined])
  })
})

it('the cookies of a sign-in are set as recorded, over TLS for TLS alone', () => {
  const cookies = (changes: Partial<Settings>, id?: string): readonly string[] => {
    const settings = { tls: false, strictness: 'document', firewallCookies: ['ak_bmsc', 'other', '_abck'], ...changes }
    const session = id === undefined ? undefined : ({ id } as Parameters<typeof authorizeCookies>[1])
    return authorizeCookies({ settings } as ServiceState, session)['set-cookie'].map((line) =>
      line.replace(/=[\w-]{32}~-1~;/u, '=RANDOM;'),
    )
  }
  const own = 'sso.sid=s; Path=/; HttpOnly; SameSite=Lax'
  const others = ['ak_bmsc=RANDOM; Max-Age=7200; Path=/', 'other=RANDOM; Max-Age=3600; Path=/']
  const last = '_abck=RANDOM; Max-Age=31536000; Path=/'
  expect(cookies({}, 's')).toEqual([...others, own, last])
  expect(cookies({ strictness: 'lenient' }, 's')).toEqual([own, ...others, last])
  expect(cookies({ firewallCookies: [] }, 's')).toEqual([own])
  expect(cookies({ firewallCookies: ['other'] }, 's')).toEqual([own, others[1]])
  expect(cookies({})).toEqual([...others, last])
  expect(cookies({ tls: true, firewallCookies: ['other'] }, 's')).toEqual([
    'sso.sid=s; Path=/; Secure; HttpOnly; SameSite=Lax',
    'other=RANDOM; Max-Age=3600; Path=/; Secure',
  ])
})

it('an account says what it has no passcode for; backup codes that were used come back', () => {
  const options = { identity: 'ann@example.com', credential: 'x', totpSecret: 'MY', backupCodes: ['123456789'] }
  const accounts = createAccountDirectory([options, { identity: 'bob@example.com', credential: 'x' }])
  const [ann, bob] = accounts.all.map((account) => accountView(account, createClock()))
  expect(() => bob?.passcode()).toThrow('bob@example.com has no factor')
  expect(() => ann?.passcode('Phone')).toThrow('ann@example.com has no such factor')
  expect(ann?.passcode()).toBe(ann?.passcode('Device #1'))
  accounts.all[0]?.backupCodes.clear()
  accounts.forget()
  expect(ann?.backupCodes).toEqual(['123456789'])
})

it('the key that signs is told with its name and its use, and each token names it', async () => {
  const coordinate: unknown = expect.any(String)
  const key = { kid: 'owner-sso-emulator', alg: 'ES256' }
  expect(await publicKeys()).toEqual({
    keys: [{ kty: 'EC', crv: 'P-256', x: coordinate, y: coordinate, use: 'sig', ...key }],
  })
  const [head = ''] = (await signToken({})).split('.')
  expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual({ ...key, typ: 'JWT' })
})

it('a refresh token is refused elsewhere, with the reason', async () => {
  const settings = { ...parseEmulatorOptions(), accessTokenFormat: 'opaque' } as const
  const clock = createClock()
  expect(clock.offset).toBe(0)
  const accessTokens = createAccessTokens(clock, settings)
  const tokens = createRefreshTokens({ clock, settings, counters: createCounters(), accessTokens })
  const account = createAccount({ identity: 'ann@example.com', credential: 'x' })
  const [home, regional] = [
    { region: 'home', url: 'http://127.0.0.1' },
    { region: 'regional', url: 'http://localhost' },
  ] as const
  const minting = { tlsVersion: undefined, httpVersion: '1.1' }
  const { access_token, refresh_token } = await tokens.signIn(account, home)
  expect([access_token.length, refresh_token.length]).toEqual([64, 54])
  const decision = async (token: string, place: Parameters<typeof tokens.refresh>[1]): Promise<string> =>
    (await tokens.refresh(token, place, minting)).decision
  expect(await decision(refresh_token, regional)).toBe('a refresh token of the other region')
  expect(await decision(refresh_token, 'owner-api')).toBe('a refresh token of the owner API is refreshed there alone')
  const traded = await tokens.trade({ account, family: 'x', instance: home }, minting)
  expect(await decision(traded.refresh_token ?? '', home)).toBe(
    'a refresh token of the owner API is refreshed there alone',
  )
})

it.each<[string, string, readonly string[]]>([
  ['http://127.0.0.1:1', 'http://localhost:1', ['home', 'regional', 'regional', 'home']],
  ['http://127.0.0.1:1', 'http://127.0.0.1:2', ['regional', 'home', 'home', 'regional']],
])(
  'a request to %s or %s is told by its host name, or by its port where that tells them apart',
  (home, regional, regions) => {
    const instances = createInstances(home, regional)
    const asked: readonly [string | undefined, number][] = [
      ['127.0.0.1:1', 2],
      ['localhost:1', 1],
      ['LOCALHOST:1', 1],
      [undefined, 2],
    ]
    const requests = asked.map(([host, localPort]) => ({ headers: { host }, socket: { localPort } }) as IncomingMessage)
    expect(requests.map((request) => instances.of(request).region)).toEqual(regions)
  },
)

it('what a token was minted over is said in words', () => {
  expect([
    describeMinting({ tlsVersion: undefined, httpVersion: '1.1' }),
    describeMinting({ tlsVersion: 'TLSv1.3', httpVersion: '2' }),
    describeMinting(undefined),
  ]).toEqual(['plain http, HTTP/1.1', 'TLSv1.3, HTTP/2', 'issued by hand'])
})
