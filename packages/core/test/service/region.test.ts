import { afterEach, describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { anyText } from '../../../../tests/support/any-text.ts'
import { createSso, RegionNotAllowedError, type Sso } from '../../src/index.ts'
import { runs } from '../../../../tests/support/runs.ts'
import { goodTokens, type SmallService, startSmallService } from '../small-service.ts'

const home = createSso({
  authUrl: 'https://auth.example.com',
  regionalAuthUrls: ['https://auth.example.cn', 'https://sso.example.net:8443'],
})

/** The instance that an address is on, as an application without types would ask for it; `undefined` for a foreign one. */
async function instanceAt(address: unknown, sso: Sso): Promise<unknown> {
  try {
    return await Reflect.apply(sso.allowedAuthUrl, sso, [address])
  } catch (error) {
    if (error instanceof RegionNotAllowedError && !error.requestSent) return undefined
    throw error
  }
}

describe('an address is allowed (S1)', () => {
  it.each([
    ['https://auth.example.com', 'https://auth.example.com'],
    ['https://auth.example.com/oauth2/v3', 'https://auth.example.com'],
    ['https://AUTH.example.com:443/oauth2/v3/authorize?a=b', 'https://auth.example.com'],
    ['https://auth-eu.example.com/x', 'https://auth-eu.example.com'],
    ['https://example.com', 'https://example.com'],
    ['https://auth.example.cn/oauth2/v3/authorize', 'https://auth.example.cn'],
    ['https://sso.example.net:8443/', 'https://sso.example.net:8443'],
  ])('%s', async (address, origin) => {
    expect(await instanceAt(address, home)).toBe(origin)
  })
})

const foreign: unknown[] = [
  'https://evil.example',
  'https://example.com.evil.example',
  'https://evilexample.com',
  'https://auth.example.com.',
  'https://auth.example.com.evil.example',
  'http://auth.example.com',
  'https://auth.example.com:444',
  'https://auth-eu.example.com:8443',
  'https://user@auth.example.com',
  'https://user:pw@auth.example.com',
  'https://auth.example.com@evil.example',
  'https://evil.example#@auth.example.com',
  'https://evil.example/auth.example.com',
  'https://evil.example?auth.example.com',
  'https:\\\\auth.example.com',
  'https://auth.example.com\\@evil.example',
  'https://evil.example\\.auth.example.com',
  ' https://auth.example.com',
  'https://auth.example.com ',
  'https://auth.example.com\n',
  'https://auth\t.example.com',
  '//auth.example.com',
  '/oauth2/v3/authorize',
  'auth.example.com',
  '',
  'javascript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  'ftp://auth.example.com',
  'wss://auth.example.com',
  'https://аuth.example.com',
  'https://auth.exаmple.com',
  'https://auth.example。com',
  'https://xn--uth-5cd.exаmple.com',
  'https://auth.example.co',
  'https://com',
  'https://co.uk',
  'https://127.0.0.1',
  'http://127.0.0.1',
  'http://localhost',
  'https://[::1]',
  'https://0x7f.1',
  'https://2130706433',
  'https://auth.example.cn:444',
  'http://auth.example.cn',
  'https://eu.auth.example.cn',
  'https://sso.example.net',
  'https://sso.example.net:8444',
  'https://example.net:8443',
  'https://auth.example.cn.',
  'blob:https://auth.example.com/x',
  'https://%61uth.evil.example',
  'https://auth.example.com%2eevil.example',
  'https://auth.example.com%00.evil.example',
  undefined,
  null,
  7,
  {},
  ['https://auth.example.com'],
  { toString: () => 'https://auth.example.com' },
  `https://auth.example.com/${'a'.repeat(9000)}`,
  'https://',
  'https://:443',
]

describe('an address is rejected (J5, S3)', () => {
  it.each(foreign.map((address) => [address]))('%s', async (address) => {
    expect(await instanceAt(address, home)).toBeUndefined()
  })

  it('also where generated addresses try to look like an allowed one', async () => {
    const hosts = fc.oneof(fc.domain(), fc.ipV4(), fc.constantFrom('auth.example.com', 'evil.example', 'example.com'))
    const address = fc.tuple(
      fc.constantFrom('https://', 'http://', 'https:\\', '//', 'https:/'),
      fc.constantFrom('', 'a@', 'a:b@', 'auth.example.com@'),
      hosts,
      fc.constantFrom('', '.', ':443', ':80', ':8443', '\\', '%2e', '\u3002'),
      fc.constantFrom('', '.example.com', '.evil.example', '/auth.example.com', '#', '?'),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          address.map((parts) => parts.join('')),
          anyText(),
          fc.webUrl(),
        ),
        async (text) => {
          const origin = await instanceAt(text, home)
          if (origin === undefined) return
          expect(origin).toMatch(
            /^https:\/\/(?:auth\.example\.com|auth\.example\.cn|sso\.example\.net:8443|(?:[\w-]+\.)*example\.com)$/u,
          )
          expect(new URL(text).origin).toBe(origin)
        },
      ),
      { numRuns: runs(2000) },
    )
  })

  it('where the home instance is a loopback address, everything that is not listed', async () => {
    const local = createSso({ authUrl: 'http://127.0.0.1:8080', regionalAuthUrls: ['http://localhost:8080'] })
    expect(await instanceAt('http://localhost:8080/oauth2/v3/authorize', local)).toBe('http://localhost:8080')
    for (const each of ['http://127.0.0.1:8081', 'http://127.0.0.2:8080', 'http://localhost', 'https://localhost:8080'])
      expect(await instanceAt(each, local)).toBeUndefined()
  })

  it('where the home instance is on a shared suffix, its neighbours', async () => {
    expect(
      await instanceAt('https://evil.github.io', createSso({ authUrl: 'https://owner.github.io' })),
    ).toBeUndefined()
  })

  it('with its origin in the error, where it has one', async () => {
    await expect(home.allowedAuthUrl('https://evil.example:1/x?secret')).rejects.toMatchObject({
      origin: 'https://evil.example:1',
      message: expect.not.stringContaining('secret'),
    })
    for (const address of ['data:x', 'app:x', 'nowhere'])
      await expect(home.allowedAuthUrl(address)).rejects.not.toHaveProperty('origin')
  })
})

describe('a 303 of the login page (S3, S4, S5, J5)', () => {
  const open: SmallService[] = []
  afterEach(async () => {
    for (const service of open.splice(0)) await service.close()
  })
  const start = async (): Promise<SmallService> => {
    const service = await startSmallService()
    open.push(service)
    return service
  }
  const credentials = { identity: 'a@example.com', credential: 'canary-credential' }

  it.each([301, 302, 307, 308])('is the only redirect that is followed: not a %i', async (status) => {
    const [service, region] = [await start(), await start()]
    service.answer({ loginPage: { status, headers: { location: `${region.authUrl}/oauth2/v3/authorize` } } })
    const sso = createSso({ authUrl: service.authUrl, regionalAuthUrls: [region.authUrl] })
    await expect(sso.login(credentials)).rejects.toMatchObject({
      code: 'ERR_SSO_UNEXPECTED_RESPONSE',
      step: 'login-page',
      status,
    })
    expect([service.requests.length, region.requests.length]).toEqual([1, 0])
  })

  it('may name an address without its scheme', async () => {
    const [service, region] = [await start(), await start()]
    const location = `${region.authUrl}/oauth2/v3/authorize`.replace('http:', '')
    service.answer({ loginPage: { status: 303, headers: { location } } })
    const sso = createSso({ authUrl: service.authUrl, regionalAuthUrls: [region.authUrl] })
    await sso.login(credentials).catch(() => undefined)
    expect(region.requests[0]?.url).toContain('/oauth2/v3/authorize?client_id=ownerapi')
  })

  it('leads nowhere but to a listed instance, and no credential is sent', async () => {
    const [service, elsewhere] = [await start(), await start()]
    const port = new URL(elsewhere.authUrl).port
    const sso = createSso({ authUrl: service.authUrl, regionalAuthUrls: ['https://auth.example.cn'] })
    for (const location of [
      elsewhere.authUrl,
      `http://localhost:${port}`,
      `http://127.0.0.1:${port}/oauth2/v3/authorize`,
      `//127.0.0.1:${port}/oauth2/v3/authorize`,
      `http://auth.example.cn@127.0.0.1:${port}/`,
      `https://127.0.0.1:${port}/`,
    ]) {
      service.answer({ loginPage: { status: 303, headers: { location } } })
      await expect(sso.login(credentials)).rejects.toMatchObject({
        code: 'ERR_SSO_REGION_NOT_ALLOWED',
        step: 'login-page',
        requestSent: false,
      })
    }
    expect(elsewhere.requests).toEqual([])
    expect(JSON.stringify(service.requests)).not.toContain('canary-credential')
  })

  it.each([
    '',
    '/',
    '/oauth2/v3/authorize/',
    '/oauth2/v3/Authorize',
    '/oauth2/v2/authorize',
    '/other?/oauth2/v3/authorize',
    '/a/oauth2/v3/authorize',
  ])('leads to no other path: %j', async (path) => {
    const [service, region] = [await start(), await start()]
    service.answer({ loginPage: { status: 303, headers: { location: `${region.authUrl}${path}` } } })
    const sso = createSso({ authUrl: service.authUrl, regionalAuthUrls: [region.authUrl] })
    await expect(sso.login(credentials)).rejects.toMatchObject({ code: 'ERR_SSO_UNEXPECTED_RESPONSE' })
    expect(region.requests).toEqual([])
  })

  it('is followed once: a second one, or one to itself, ends the login before a credential is sent', async () => {
    const [service, region] = [await start(), await start()]
    const sso = createSso({ authUrl: service.authUrl, regionalAuthUrls: [region.authUrl] })
    service.answer({ loginPage: { status: 303, headers: { location: `${region.authUrl}/oauth2/v3/authorize` } } })
    region.answer({ loginPage: { status: 303, headers: { location: `${service.authUrl}/oauth2/v3/authorize` } } })
    await expect(sso.login(credentials)).rejects.toMatchObject({ code: 'ERR_SSO_UNEXPECTED_RESPONSE', status: 303 })
    service.answer({ loginPage: { status: 303, headers: { location: `${service.authUrl}/oauth2/v3/authorize` } } })
    await expect(sso.login(credentials)).rejects.toMatchObject({ code: 'ERR_SSO_UNEXPECTED_RESPONSE', status: 303 })
    expect([service.requests.length, region.requests.length]).toEqual([2, 1])
    expect(JSON.stringify([service.requests, region.requests])).not.toContain('canary-credential')
  })

  it('does not lead on from a region, not even to another listed one', async () => {
    const [service, region, third] = [await start(), await start(), await start()]
    const sso = createSso({ authUrl: service.authUrl, regionalAuthUrls: [region.authUrl, third.authUrl] })
    service.answer({ loginPage: { status: 303, headers: { location: `${region.authUrl}/oauth2/v3/authorize` } } })
    region.answer({ loginPage: { status: 303, headers: { location: `${third.authUrl}/oauth2/v3/authorize` } } })
    await expect(sso.login(credentials)).rejects.toMatchObject({ code: 'ERR_SSO_UNEXPECTED_RESPONSE', status: 303 })
    expect([service.requests.length, region.requests.length, third.requests.length]).toEqual([1, 1, 0])
  })

  it('carries nothing of its own query to the region', async () => {
    const [service, region] = [await start(), await start()]
    const sso = createSso({ authUrl: service.authUrl, regionalAuthUrls: [region.authUrl] })
    service.answer({
      loginPage: {
        status: 303,
        headers: {
          location: `${region.authUrl}/oauth2/v3/authorize?client_id=evil&redirect_uri=https://evil.example&injected=1`,
        },
      },
    })
    await sso.login(credentials)
    const query = new URL(region.requests[0]?.url ?? '', region.authUrl).searchParams
    expect([query.get('client_id'), query.get('redirect_uri'), query.get('injected')]).toEqual([
      'ownerapi',
      `${service.authUrl}/void/callback`,
      null,
    ])
  })

  it('is followed without the home instance’s cookies (S24)', async () => {
    const [service, region] = [await start(), await start()]
    const sso = createSso({ authUrl: service.authUrl, regionalAuthUrls: [region.authUrl] })
    service.answer({
      loginPage: {
        status: 303,
        headers: { location: `${region.authUrl}/oauth2/v3/authorize`, 'set-cookie': 'home=1; Path=/' },
      },
    })
    await sso.login(credentials)
    expect(region.requests.map(({ headers }) => headers.cookie)).toEqual([undefined, 'sid=session-1', 'sid=session-1'])
  })
})

describe('a refresh', () => {
  it('goes nowhere but to an allowed instance: checked before anything is sent', async () => {
    const service = await startSmallService()
    const sso = createSso({ authUrl: 'https://auth.example.com' })
    await expect(sso.refresh({ ...goodTokens, expires_at: 0, auth_url: service.authUrl })).rejects.toMatchObject({
      code: 'ERR_SSO_REGION_NOT_ALLOWED',
      step: 'refresh',
      requestSent: false,
      origin: service.authUrl,
    })
    expect(service.requests).toEqual([])
    await service.close()
  })
})
