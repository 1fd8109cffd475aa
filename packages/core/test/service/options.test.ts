import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { createSso, type SsoOptions, transportFromText, transportOf } from '../../src/index.ts'
import { goodTokens, startSmallService } from '../small-service.ts'

const authUrl = 'https://auth.example.com'

describe('createSso rejects a wrong option with a TypeError that names it', () => {
  it.each<[string, unknown]>([
    ['authUrl is not given: set OWNER_SSO_AUTH_URL', { authUrl: undefined }],
    ['authUrl', {}],
    ['authUrl', { authUrl: 'auth.example.com' }],
    ['authUrl', { authUrl: 'http://auth.example.com' }],
    ['authUrl', { authUrl: 'ftp://127.0.0.1' }],
    ['authUrl', { authUrl: 'https://auth.example.com/oauth2' }],
    ['authUrl', { authUrl: 'https://user@auth.example.com' }],
    ['authUrl', { authUrl: 'https://auth.example.com/?a' }],
    ['authUrl', { authUrl: 'https://auth.example.com.' }],
    ['authUrl', { authUrl: 'http://127.0.0.1.example.com' }],
    ['authUrl', undefined],
    ['regionalAuthUrls', { regionalAuthUrls: 'https://auth.example.cn' }],
    ['regionalAuthUrls', { regionalAuthUrls: ['http://auth.example.cn'] }],
    ['regionalAuthUrls', { regionalAuthUrls: [7] }],
    ['tokenUrl', { tokenUrl: 'token.example.com' }],
    ['tokenUrl', { tokenUrl: 'http://token.example.com' }],
    ['tokenUrl', { tokenUrl: 'https://token.example.com/oauth2/v3/token' }],
    ['tokenUrl', { tokenUrl: ['https://token.example.com'] }],
    ['tokenUrl', { tokenUrl: null }],
    ['tokenUrl', { tokenUrl: { [authUrl]: 'http://token.example.com' } }],
    ['tokenUrl', { tokenUrl: { [authUrl]: undefined } }],
    [
      'tokenUrl names "https://auth.example.cn", which is neither authUrl nor',
      { tokenUrl: { 'https://auth.example.cn': authUrl } },
    ],
    ['redirectUri', { redirectUri: '/void/callback' }],
    ['redirectUri', { redirectUri: 'https://auth.example.com/void/callback?a=b' }],
    ['redirectUri', { redirectUri: 'https://auth.example.com/void/callback#a' }],
    ['redirectUri', { redirectUri: 'https://me:pw@auth.example.com/void/callback' }],
    ['redirectUri', { redirectUri: 'http://auth.example.com/void/callback' }],
    ['redirectUri', { redirectUri: 7 }],
    ['redirectUri', { redirectUri: 'https://auth.example.com/void call' }],
    ['redirectUri', { redirectUri: 'https:\\\\auth.example.com\\void' }],
    ['redirectUri', { redirectUri: 'javascript:alert(1)' }],
    ['redirectUri', { redirectUri: 'data:x' }],
    ['redirectUri', { redirectUri: 'blob:x' }],
    ['redirectUri', { redirectUri: 'file:///x' }],
    ['redirectUri', { redirectUri: 'about:x' }],
    ['redirectUri', { redirectUri: 'vbscript:x' }],
    ['codeChallengeEncoding', { codeChallengeEncoding: 'plain' }],
    ['accessTokenLifetime', { accessTokenLifetime: 0 }],
    ['accessTokenLifetime', { accessTokenLifetime: '8h' }],
    ['accessTokenLifetime', { accessTokenLifetime: -1 }],
    ['userAgent', { userAgent: 'Mozilla/5.0 (X11; Linux x86_64)' }],
    ['userAgent', { userAgent: 'MyApp Chrome/120' }],
    ['userAgent', { userAgent: 'a\r\nX-Evil: 1' }],
    ['userAgent', { userAgent: '' }],
    ['userAgent', { userAgent: 'x'.repeat(257) }],
    ['userAgent', { userAgent: ' fleet/1' }],
    ['userAgent', { userAgent: 'fleet/\u00FC' }],
    ['tls', { tls: true }],
    ['tls.rejectUnauthorized', { tls: { rejectUnauthorized: false } }],
    ['tls.maxVersion', { tls: { maxVersion: 'TLSv1' } }],
    ['tls.minVersion', { tls: { minVersion: 'TLSv1.3' } }],
    ['tls.minVersion', { transport: 'modern', tls: { maxVersion: 'TLSv1.2' } }],
    ['tls.ciphers', { tls: { ciphers: 'NO-SUCH-CIPHER' } }],
    ['tls.ciphers', { tls: { ciphers: ['ECDHE-RSA-AES128-GCM-SHA256'] } }],
    ['transport', { transport: 'quic' }],
    ['transport', { transport: null }],
    ['transport', { transport: ['modern'] }],
    ['http3 is not an option of transport', { transport: { http3: true } }],
    ['transport.http2', { transport: { http2: 'yes' } }],
    ['transport.tls', { transport: { tls: 'TLSv1.3' } }],
    ['transport.tls.rejectUnauthorized', { transport: { tls: { rejectUnauthorized: false } } }],
    ['userAgent', { transport: { userAgent: 'Mozilla/5.0' } }],
    ['timeout', { timeout: 0 }],
    ['timeout', { timeout: Number.POSITIVE_INFINITY }],
    ['timeout', { timeout: '15' }],
    ['timeout', { timeout: 2 ** 31 }],
    ['timeout', { timeout: Number.NaN }],
    ['proxy', { proxy: 'socks5://127.0.0.1:1080' }],
    ['proxy', { proxy: 'proxy.example.com:3128' }],
    ['proxy', { proxy: 7 }],
    ['proxy', { proxy: 'http://me:100%@proxy' }],
    ['firewallCooldown', { firewallCooldown: -1 }],
    ['firewallCooldown', { firewallCooldown: 0 }],
    ['firewallCooldown', { firewallCooldown: Number.POSITIVE_INFINITY }],
    ['rejectUnauthorized', { rejectUnauthorized: false }],
    ['clientId', { clientId: 'other' }],
  ])('%s', (name, options) => {
    const given =
      options === undefined ? options : { ...(name === 'authUrl' ? {} : { authUrl }), ...(options as object) }
    expect(() => createSso(given as SsoOptions)).toThrow(TypeError)
    expect(() => createSso(given as SsoOptions)).toThrow(name)
  })

  it('asks for https:// where an address comes without it, or with another scheme', () => {
    for (const wrong of [
      'localhost:9000',
      'auth.example.com:443',
      'http://auth.example.com',
      'ftp://auth.example.com',
    ]) {
      expect(() => createSso({ authUrl: wrong })).toThrow(
        new TypeError('authUrl must begin with https:// (http:// is for loopback hosts only)'),
      )
    }
  })

  it('shows no password of a proxy or an address', () => {
    expect(() => createSso({ authUrl, proxy: 'socks5://me:hunter2@127.0.0.1' })).not.toThrow('hunter2')
  })
})

describe('createSso', () => {
  it.each([
    'https://auth.example.com',
    'https://auth.example.com/',
    'http://127.0.0.1:8080',
    'http://localhost:1',
    'http://[::1]:1',
    'https://127.0.0.1:8443',
  ])('takes %s', (url) => {
    expect(createSso({ authUrl: url }).authUrl).toBe(new URL(url).origin)
  })

  it.each<Partial<SsoOptions>>([
    { timeout: 2 ** 31 - 1 },
    { timeout: 0.5 },
    { firewallCooldown: 0.5 },
    { accessTokenLifetime: 'expires_in' },
    { accessTokenLifetime: 0.5 },
    { regionalAuthUrls: ['http://localhost:1'] },
    { proxy: 'http://proxy:1' },
    { proxy: 'https://proxy' },
    { userAgent: 'x'.repeat(256) },
  ])('takes %j', (options) => {
    expect(() => createSso({ authUrl, ...options })).not.toThrow()
  })

  it.each([undefined, 'owner-app://auth/callback', 'app:/callback', 'http://127.0.0.1/callback'])(
    'ends a login on the redirectUri %s',
    (redirectUri) => {
      const { url } = createSso({ authUrl, redirectUri }).createAuthorizationUrl()
      expect(new URL(url).searchParams.get('redirect_uri')).toBe(redirectUri ?? `${authUrl}/void/callback`)
    },
  )

  it('has one value for the transport: a name, its parts, or a name with parts in short beside it', () => {
    const modern = { tls: { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' }, http2: true }
    expect(transportOf({ transport: 'document' })).toEqual(transportOf({}))
    expect(transportOf({ transport: 'modern' })).toMatchObject(modern)
    expect(
      transportOf({ transport: 'modern', tls: { ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' }, userAgent: 'mine/1' }),
    ).toEqual({
      tls: { ...modern.tls, ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' },
      http2: true,
      userAgent: 'mine/1',
    })
    expect(transportOf({ transport: { tls: { maxVersion: 'TLSv1.3' }, userAgent: 'mine/1' } })).toEqual({
      tls: { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' },
      http2: false,
      userAgent: 'mine/1',
    })
  })

  it.each([
    ['document', 'document'],
    [' modern\n', 'modern'],
    ['{"http2": true}', { http2: true }],
  ])('takes the transport from a variable of the environment: %j', (text, value) => {
    expect(transportFromText(text)).toEqual(value)
  })

  it.each(['', 'Modern', 'tls', '{', '[]', 'null', '1', '"modern"'])('rejects %j in that variable', (text) => {
    expect(() => transportFromText(text)).toThrow(TypeError)
  })

  it('speaks TLS 1.2 and HTTP/1.1 by default, as the interface document has it', () => {
    expect(transportOf({})).toEqual({
      tls: { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' },
      http2: false,
      userAgent: expect.stringMatching(/^owner-sso\/\d/u),
    })
  })

  it('takes no option from Object.prototype (S64)', async () => {
    const service = await startSmallService()
    Object.assign(Object.prototype, { proxy: 'http://127.0.0.1:9', userAgent: 'Mozilla/5.0', timeout: 1e-9 })
    try {
      const sso = createSso({ authUrl: service.authUrl })
      await sso.refresh({ ...goodTokens, expires_at: 0, auth_url: service.authUrl })
      expect(service.requests[0]?.headers['user-agent']).toMatch(/^owner-sso/u)
    } finally {
      for (const name of ['proxy', 'userAgent', 'timeout']) Reflect.deleteProperty(Object.prototype, name)
      await service.close()
    }
  })

  it('does not start where certificates are not verified, except for a loopback host (S6)', async () => {
    const core = fileURLToPath(new URL('../../dist/index.js', import.meta.url))
    const start = (url: string): Promise<{ stdout: string }> =>
      promisify(execFile)(
        process.execPath,
        [
          '--input-type=module',
          '-e',
          `import { createSso } from ${JSON.stringify(core)}; try { createSso({ authUrl: '${url}' }); console.log('started') } catch (error) { console.log(error.name, error.message) }`,
        ],
        { env: { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' } },
      )
    expect((await start(authUrl)).stdout).toMatch(/^TypeError authUrl .*NODE_TLS_REJECT_UNAUTHORIZED/u)
    expect((await start('https://127.0.0.1:1')).stdout).toBe('started\n')
  })
})
