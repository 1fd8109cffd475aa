import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { createSso, type SsoOptions } from '../../src/index.ts'
import { parseSsoOptions } from '../../src/login/options.ts'
import { transportFromText } from '../../src/http/transport.ts'

const authUrl = 'https://auth.example.com'

describe('createSso refuses a wrong option with a TypeError that names it', () => {
  it.each<[string, unknown]>([
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
    ['redirectUri', { redirectUri: '/void/callback' }],
    ['redirectUri', { redirectUri: 'https://auth.example.com/void/callback?a=b' }],
    ['redirectUri', { redirectUri: 'https://auth.example.com/void/callback#a' }],
    ['redirectUri', { redirectUri: 'https://me:pw@auth.example.com/void/callback' }],
    ['redirectUri', { redirectUri: 'http://auth.example.com/void/callback' }],
    ['redirectUri', { redirectUri: 'javascript:alert(1)' }],
    ['codeChallengeEncoding', { codeChallengeEncoding: 'plain' }],
    ['accessTokenLifetime', { accessTokenLifetime: 0 }],
    ['accessTokenLifetime', { accessTokenLifetime: '8h' }],
    ['userAgent', { userAgent: 'Mozilla/5.0 (X11; Linux x86_64)' }],
    ['userAgent', { userAgent: 'MyApp Chrome/120' }],
    ['userAgent', { userAgent: 'a\r\nX-Evil: 1' }],
    ['userAgent', { userAgent: '' }],
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
    ['proxy', { proxy: 'socks5://127.0.0.1:1080' }],
    ['proxy', { proxy: 'proxy.example.com:3128' }],
    ['firewallCooldown', { firewallCooldown: -1 }],
    ['rejectUnauthorized', { rejectUnauthorized: false }],
    ['clientId', { clientId: 'other' }],
  ])('%s', (name, options) => {
    const given =
      options === undefined ? options : { ...(name === 'authUrl' ? {} : { authUrl }), ...(options as object) }
    expect(() => createSso(given as SsoOptions)).toThrow(TypeError)
    expect(() => createSso(given as SsoOptions)).toThrow(name)
  })

  it('and shows no password of a proxy or an address in it', () => {
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

  it('takes an app’s own scheme as redirectUri', () => {
    expect(parseSsoOptions({ authUrl, redirectUri: 'owner-app://auth/callback' }).redirectUri).toBe(
      'owner-app://auth/callback',
    )
  })

  it('has one value for the transport: a name, its parts, or a name with parts in short beside it', () => {
    const transport = (options: object): unknown => parseSsoOptions({ authUrl, ...options }).transport
    const modern = { tls: { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' }, http2: true }
    expect(transport({ transport: 'document' })).toEqual(transport({}))
    expect(transport({ transport: 'modern' })).toMatchObject(modern)
    expect(transport({ transport: 'modern', tls: { ca: 'PEM' }, userAgent: 'mine/1' })).toEqual({
      tls: { ...modern.tls, ca: 'PEM' },
      http2: true,
      userAgent: 'mine/1',
    })
    expect(transport({ transport: { tls: { maxVersion: 'TLSv1.3' }, userAgent: 'mine/1' } })).toEqual({
      tls: { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' },
      http2: false,
      userAgent: 'mine/1',
    })
  })

  it.each([
    ['document', 'document'],
    [' modern\n', 'modern'],
    ['{"http2": true}', { http2: true }],
  ])('has a form for variables of the environment: %j', (text, value) => {
    expect(transportFromText(text)).toEqual(value)
  })

  it.each(['', 'Modern', 'tls', '{', '[]', 'null', '1', '"modern"'])('and refuses %j there', (text) => {
    expect(() => transportFromText(text)).toThrow(TypeError)
  })

  it('has the defaults of the interface document', () => {
    expect(parseSsoOptions({ authUrl })).toMatchObject({
      redirectUri: 'https://auth.example.com/void/callback',
      codeChallengeEncoding: 'hex-digest',
      timeout: 15_000,
      firewallCooldown: 900,
      transport: {
        tls: { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' },
        http2: false,
        userAgent: expect.stringMatching(/^owner-sso\/\d/u),
      },
    })
  })

  it('takes no option from Object.prototype (S64)', () => {
    Object.assign(Object.prototype, { proxy: 'http://127.0.0.1:9', userAgent: 'Mozilla/5.0' })
    try {
      expect(parseSsoOptions({ authUrl })).toMatchObject({
        proxy: undefined,
        transport: { userAgent: expect.stringMatching(/^owner-sso/u) },
      })
    } finally {
      for (const name of ['proxy', 'userAgent']) Reflect.deleteProperty(Object.prototype, name)
    }
  })

  it('refuses to start where certificates are not verified, but for a loopback host (S6)', async () => {
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
