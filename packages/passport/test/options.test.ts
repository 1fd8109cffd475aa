import { runInNewContext } from 'node:vm'
import { beforeEach, describe, expect, it, jest } from '@jest/globals'
import { createSso, createTokenManager } from '@owner-sso/core'
import { useEmulator } from '@owner-sso/emulator/jest'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { OwnerSsoStrategy, Strategy } from '../src/index.ts'
import { recordedOutcomes, requestWith } from './recorded-outcomes.ts'

const authUrl = 'http://127.0.0.1:1'
/** As an application without types would write them. */
const newUntyped = (...given: unknown[]): OwnerSsoStrategy => Reflect.construct(OwnerSsoStrategy, given)

beforeEach(() => {
  for (const name of ['AUTH_URL', 'REGIONAL_AUTH_URLS', 'TOKEN_URL', 'REDIRECT_URI', 'TRANSPORT'])
    delete process.env[`OWNER_SSO_${name}`]
})

describe('new OwnerSsoStrategy()', () => {
  it('says what to set when nothing is', () => {
    expect(() => new OwnerSsoStrategy()).toThrow(TypeError)
    expect(() => new OwnerSsoStrategy()).toThrow(/authUrl.*OWNER_SSO_AUTH_URL/u)
  })

  it('is also called Strategy, and its name is owner-sso', () => {
    expect(Strategy).toBe(OwnerSsoStrategy)
    expect(new Strategy({ authUrl }).name).toBe('owner-sso')
  })

  describe('with a service', () => {
    const emulator = useEmulator({ firewall: false })
    const regional = { identity: 'regional@example.com', credential: 'correct horse' }

    it('takes it from OWNER_SSO_AUTH_URL and OWNER_SSO_REGIONAL_AUTH_URLS', async () => {
      process.env['OWNER_SSO_AUTH_URL'] = `\uFEFF${emulator.authUrl}\n`
      process.env['OWNER_SSO_REGIONAL_AUTH_URLS'] = `https://auth.example.cn, ${emulator.regionalAuthUrl}`
      const [outcome] = await recordedOutcomes(new OwnerSsoStrategy(), requestWith(regional))
      expect(outcome?.kind).toBe('success')
    })

    it('takes the address of the token endpoint from OWNER_SSO_TOKEN_URL', async () => {
      process.env['OWNER_SSO_AUTH_URL'] = emulator.authUrl
      process.env['OWNER_SSO_TOKEN_URL'] = emulator.regionalAuthUrl
      const plain = { identity: 'plain@example.com', credential: 'correct horse' }
      await recordedOutcomes(new OwnerSsoStrategy(), requestWith(plain))
      const [home, elsewhere] = [emulator.authUrl, emulator.regionalAuthUrl].map((url) => new URL(url).host)
      expect(emulator.requests.map(({ host }) => host)).toEqual([home, home, elsewhere])
    })

    it('takes the redirect address and the transport from OWNER_SSO_REDIRECT_URI and OWNER_SSO_TRANSPORT', async () => {
      process.env['OWNER_SSO_AUTH_URL'] = emulator.authUrl
      process.env['OWNER_SSO_REDIRECT_URI'] = 'owner-app://auth/callback'
      process.env['OWNER_SSO_TRANSPORT'] = '{"userAgent":"fleet/1"}'
      emulator.change({ redirectUris: ['owner-app://auth/callback'] })
      const plain = { identity: 'plain@example.com', credential: 'correct horse' }
      const [outcome] = await recordedOutcomes(new OwnerSsoStrategy(), requestWith(plain))
      expect(outcome?.kind).toBe('success')
      expect(emulator.requests[0]?.headers['user-agent']).toBe('fleet/1')
      expect(emulator.requests[0]?.query['redirect_uri']).toBe('owner-app://auth/callback')
    })

    it('rejects a transport that is none, wherever it comes from', () => {
      expect(() => newUntyped({ authUrl, transport: 'quic' })).toThrow(/transport/u)
      process.env['OWNER_SSO_AUTH_URL'] = authUrl
      process.env['OWNER_SSO_TRANSPORT'] = 'quic'
      expect(() => new OwnerSsoStrategy()).toThrow(/OWNER_SSO_TRANSPORT/u)
      process.env['OWNER_SSO_AUTH_URL'] = `"${authUrl}"`
      expect(() => new OwnerSsoStrategy()).toThrow('OWNER_SSO_AUTH_URL has quotation marks around it')
    })

    it('takes createSso’s options beside its own', async () => {
      const options = { authUrl: emulator.authUrl, regionalAuthUrls: [emulator.regionalAuthUrl] }
      const strategy = new OwnerSsoStrategy({ ...options, mode: 'form' })
      const [outcome] = await recordedOutcomes(strategy, requestWith(regional))
      expect(outcome?.kind).toBe('success')
    })

    it('takes what createSso made, and a token manager, which is strategy.tokens', async () => {
      const sso = createSso({ authUrl: emulator.authUrl, regionalAuthUrls: [emulator.regionalAuthUrl] })
      const tokens = createTokenManager({ issuer: sso, store: memoryTokenStore() })
      const strategy = new OwnerSsoStrategy({ sso, tokens })
      await recordedOutcomes(strategy, requestWith(regional))
      expect(strategy.tokens).toBe(tokens)
      expect((await tokens.status('regional@example.com')).state).toBe('valid')
    })

    it('reads the fields that it is told to', async () => {
      const names = { identityField: 'email', credentialField: 'password' }
      const strategy = new OwnerSsoStrategy({ authUrl: emulator.authUrl, ...names })
      const body = { email: 'plain@example.com', password: 'correct horse' }
      expect((await recordedOutcomes(strategy, requestWith(body)))[0]?.kind).toBe('success')
    })
  })

  it.each<[string, unknown]>([
    ['identityfield', { authUrl, identityfield: 'x' }],
    ['identityField', { authUrl, identityField: '' }],
    ['credentialField', { authUrl, credentialField: 1 }],
    ['passReqToCallback', { authUrl, passReqToCallback: 'yes' }],
    ['pendingLoginTtl', { authUrl, pendingLoginTtl: 0 }],
    ['pendingLoginTtl', { authUrl, pendingLoginTtl: 86_401 }],
    ['pendingLoginTtl', { authUrl, pendingLoginTtl: '300' }],
    ['pendingLoginKey', { authUrl, pendingLoginKey: new Uint8Array(31) }],
    ['pendingLoginKey', { authUrl, pendingLoginKey: 'x'.repeat(32) }],
    ['mode', { authUrl, mode: 'popup' }],
    ['tokens', { authUrl, tokens: {} }],
    ['tokens', { authUrl, tokens: 'x' }],
    ['sso', { sso: 'https://auth.example.com' }],
    ['authUrl', { sso: createSso({ authUrl }), authUrl }],
    ['authUrl', { authUrl: 'ftp://auth.example.com' }],
    ['timeout', { authUrl, timeout: -1 }],
    ['OwnerSsoStrategy', null],
  ])('names the option that is wrong: %s', (name, options) => {
    expect(() => newUntyped(options)).toThrow(TypeError)
    expect(() => newUntyped(options)).toThrow(new RegExp(`\\b${name}\\b`, 'u'))
  })

  it('says how a key is made of text', () => {
    const text = Buffer.alloc(32).toString('base64')
    expect(() => newUntyped({ authUrl, pendingLoginKey: text })).toThrow("such as Buffer.from(text, 'base64')")
  })

  it('takes a key that was made in another realm (node:vm)', () => {
    const pendingLoginKey: unknown = runInNewContext('new Uint8Array(32)')
    expect(() => newUntyped({ authUrl, pendingLoginKey })).not.toThrow()
  })

  it('says that verify must be a function', () => {
    expect(() => newUntyped({ authUrl }, 'verify')).toThrow(/verify must be a function/u)
  })

  it('says what verify takes when it has more parameters than it is called with', () => {
    const ofOtherStrategies = (_access: string, _refresh: string, _profile: object, _done: unknown) => undefined
    const withRequest = (_request: object, _signIn: object, _done: unknown) => undefined
    const taken = 'verify takes ({ account, tokens, profile }, done)'
    expect(() => newUntyped({ authUrl }, ofOtherStrategies)).toThrow(
      new TypeError(`${taken}; one with 4 parameters came`),
    )
    expect(() => newUntyped({ authUrl }, withRequest)).toThrow(
      new TypeError(`${taken}; one with 3 parameters came: for the request in front, set passReqToCallback`),
    )
    expect(() => newUntyped({ authUrl, passReqToCallback: true }, ofOtherStrategies)).toThrow(
      new TypeError('verify takes (req, { account, tokens, profile }, done); one with 4 parameters came'),
    )
    expect(() => newUntyped({ authUrl, passReqToCallback: true }, withRequest)).not.toThrow()
  })

  it('takes undefined for an option that is not given', () => {
    expect(() => new OwnerSsoStrategy({ authUrl, tokens: undefined, mode: undefined })).not.toThrow()
    expect(
      () => new OwnerSsoStrategy({ sso: createSso({ authUrl }), authUrl: undefined, tls: undefined }),
    ).not.toThrow()
  })

  it('takes an option that is undefined from the environment', async () => {
    process.env['OWNER_SSO_AUTH_URL'] = authUrl
    process.env['OWNER_SSO_REDIRECT_URI'] = 'owner-app://auth/callback'
    const strategy = new OwnerSsoStrategy({ redirectUri: undefined, mode: 'browser' })
    const redirect = new URL(await linkOf(strategy)).searchParams
    expect(redirect.get('redirect_uri')).toBe('owner-app://auth/callback')
  })

  it('ignores the environment’s settings of a service where an option names another one', async () => {
    process.env['OWNER_SSO_AUTH_URL'] = authUrl
    process.env['OWNER_SSO_REDIRECT_URI'] = 'owner-app://auth/callback'
    const other = 'https://other.example.com'
    const redirect = new URL(await linkOf(new OwnerSsoStrategy({ authUrl: other, mode: 'browser' }))).searchParams
    expect(redirect.get('redirect_uri')).toBe(`${other}/void/callback`)
  })
})

/** The link that a strategy in mode `browser` hands out. */
async function linkOf(strategy: OwnerSsoStrategy): Promise<string> {
  const [outcome] = await recordedOutcomes(strategy, requestWith({}))
  return String(Reflect.get(Object(outcome?.given[0]), 'url'))
}

it.each([
  [undefined, 900],
  [86_400, 86_400],
  [0.5, 0.5],
])('with the pendingLoginTtl %s, a link waits for %d s', async (pendingLoginTtl, seconds) => {
  const strategy = new OwnerSsoStrategy({ authUrl, mode: 'browser', pendingLoginTtl })
  const request = requestWith({})
  const clock = jest.spyOn(Date, 'now').mockReturnValue(1_800_000_000_000)
  await recordedOutcomes(strategy, request)
  expect(strategy.pendingLogin(request)?.expires_at).toBe(1_800_000_000 + seconds)
  clock.mockRestore()
})

it.each([
  ['pendingLoginTTL', 'pendingLoginTtl'],
  ['regionalAuthUrl', 'regionalAuthUrls'],
])('a mistyped option is a TypeError that says which was meant: %s for %s', (typed, meant) => {
  const refused = `${typed} is not an option of OwnerSsoStrategy. Did you mean ${meant}?`
  expect(() => newUntyped({ authUrl, [typed]: 60 })).toThrow(TypeError)
  expect(() => newUntyped({ authUrl, [typed]: 60 })).toThrow(refused)
})

it.each([
  ['passcodeRedirct', 'passcodeRedirect'],
  ['callbackredirect', 'callbackRedirect'],
])('passport.authenticate with a mistyped %s ends in an error that says %s', async (typed, meant) => {
  const [outcome] = await recordedOutcomes(new OwnerSsoStrategy({ authUrl }), requestWith({}), { [typed]: '/next' })
  expect(outcome).toEqual({
    kind: 'error',
    given: [new TypeError(`${typed} is not an option of passport.authenticate. Did you mean ${meant}?`)],
  })
})

it('passport.authenticate takes Passport’s own options, and those of other strategies on the same route', async () => {
  const options = { successRedirect: '/', failureRedirect: '/login', keepSessionInfo: true, accessType: 'offline' }
  const [outcome] = await recordedOutcomes(new OwnerSsoStrategy({ authUrl }), requestWith({}), options)
  expect(outcome?.kind).toBe('fail')
})
