/** The options of ownerApiProxy: which it takes, which it does not, and what the environment gives. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { ownerApiProxy, type OwnerApiProxyOptions } from '../../src/index.ts'
import { valid } from './valid-options.ts'

const without = (name: keyof OwnerApiProxyOptions) => ({ [name]: undefined })

describe('a wrong option is a TypeError at the start that names it', () => {
  it.each<[string, Record<string, unknown>]>([
    ['target must be', { target: 'http://owner-api.example.com' }],
    ['target must be', { target: 'ftp://127.0.0.1' }],
    ['target must be', { target: 'http://127.0.0.1.example.com' }],
    ['target must be', { target: 'owner-api.example.com' }],
    ['target must be', { target: 5 }],
    ['target is not given: set the environment variable OWNER_SSO_API_URL', without('target')],
    ['target must have no', { target: 'https://user:secret@owner-api.example.com' }],
    ['target must have no', { target: 'https://owner-api.example.com/?x=1' }],
    ['target must have no', { target: 'https://owner-api.example.com/#x' }],
    ['tokens must be', without('tokens')],
    ['tokens must be', { tokens: {} }],
    ['tokens must be', { tokens: { getAccessToken: () => 'x' } }],
    ['tokens must be', { tokens: 'token' }],
    ['authorize must be', without('authorize')],
    ['authorize must be', { authorize: false }],
    ['authorize must be', { authorize: 'true' }],
    ['account must be', { account: '' }],
    ['account must be', { account: 5 }],
    ['account must be', { account: null }],
    ['paths must be', { paths: [] }],
    ['paths must be', { paths: '/api/1/' }],
    ['paths must be', { paths: ['api/1'] }],
    ['paths must be', { paths: ['/api/../1'] }],
    ['paths must be', { paths: ['/api/%2e'] }],
    ['requestHeaders must be', { requestHeaders: 'x-own' }],
    ['requestHeaders must be', { requestHeaders: ['x own'] }],
    ['trustedOrigins must be', { trustedOrigins: ['https://app.example.com/'] }],
    ['trustedOrigins must be', { trustedOrigins: ['*'] }],
    ['trustedOrigins must be', { trustedOrigins: 'capacitor://localhost' }],
    ['trustedOrigins must be', { trustedOrigins: ['capacitor://localhost/'] }],
    ['trustedOrigins must be', { trustedOrigins: ['app.example.com'] }],
    ['trustedOrigins can’t have null', { trustedOrigins: ['null'] }],
    ['trustedOrigins can’t have file://', { trustedOrigins: ['file://'] }],
    ['maxConcurrent must be', { maxConcurrent: 0 }],
    ['maxConcurrent must be', { maxConcurrent: Infinity }],
    ['maxConcurrent must be', { maxConcurrent: 1_000_001 }],
    ['replayLimit must be', { replayLimit: 16 * 1024 ** 2 + 1 }],
    ['replayLimit must be', { replayLimit: -1 }],
    ['connectTimeout must be', { connectTimeout: '10s' }],
    ['headersTimeout must be', { headersTimeout: 0 }],
    ['bodyTimeout must be', { bodyTimeout: 2 ** 31 }],
    ['maxDuration must be', { maxDuration: 1.5 }],
    ['tls must be', { tls: null }],
    ['tls.rejectUnauthorized is not an option', { tls: { rejectUnauthorized: false } }],
    ['tls.maxVersion must be', { tls: { maxVersion: 'TLSv1.1' } }],
    [
      'target must be the owner API’s address: https, or http on a loopback host; a list came',
      { target: ['https://a.example.com'] },
    ],
    ['tokens must be what createTokenManager() returns; a promise came: await it', { tokens: Promise.resolve() }],
    [
      'account must be a name or a function of the request; a promise came: await it',
      { account: Promise.resolve('a') },
    ],
    ['reaches the proxy; a promise came: await it', { authorize: Promise.resolve(true) }],
    ['paths must be an array of paths such as /api/1/; text came', { paths: '/api/1/' }],
    ['paths must be an array of paths such as /api/1/; "api/1/" came', { paths: ['/api/1/', 'api/1/'] }],
    ['paths must be an array of paths such as /api/1/; an empty list came', { paths: [] }],
    ['without a path or a slash at the end; "*" came', { trustedOrigins: ['*'] }],
    ['paths allow all that is below them, and know no patterns; /api/1/* came', { paths: ['/api/1/*'] }],
    ['paths has none below the path of target, /base:', { target: 'https://owner-api.example.com/base' }],
    ['from 1 to 1000000; text came', { maxConcurrent: '5' }],
    ['from 1 to 2147483647; null came', { headersTimeout: null }],
    ['onProblem must be a function; null came', { onProblem: null }],
    ['requestHeaders must be an array of header names; text came', { requestHeaders: 'x' }],
    ['changeOrigin is not an option', { changeOrigin: true }],
  ])('%s … (%j)', async (message, wrong) => {
    const options = { ...(await valid()), ...wrong }
    const start = () => ownerApiProxy(options as OwnerApiProxyOptions)
    expect(start).toThrow(TypeError)
    expect(start).toThrow(message)
    expect(start).not.toThrow('secret')
  })

  it.each([
    ['requestHeaders', 'Authorization'],
    ['requestHeaders', 'Cookie'],
    ['requestHeaders', 'Host'],
    ['requestHeaders', 'Connection'],
    ['requestHeaders', 'Transfer-Encoding'],
    ['requestHeaders', 'Content-Length'],
    ['requestHeaders', 'Upgrade'],
    ['requestHeaders', 'Proxy-Authorization'],
    ['requestHeaders', 'X-Forwarded-For'],
    ['requestHeaders', 'Forwarded'],
    ['requestHeaders', 'X-HTTP-Method-Override'],
    ['requestHeaders', 'X-Original-URL'],
    ['requestHeaders', 'X-Real-IP'],
    ['requestHeaders', 'Via'],
    ['requestHeaders', 'Expect'],
    ['requestHeaders', 'TE'],
    ['responseHeaders', 'Set-Cookie'],
    ['responseHeaders', 'WWW-Authenticate'],
    ['responseHeaders', 'Transfer-Encoding'],
    ['responseHeaders', 'Server'],
    ['responseHeaders', 'Access-Control-Allow-Origin'],
    ['responseHeaders', 'Strict-Transport-Security'],
    ['responseHeaders', 'X-Accel-Redirect'],
    ['responseHeaders', 'Surrogate-Control'],
    ['responseHeaders', 'CDN-Cache-Control'],
    ['responseHeaders', 'Acme-CDN-Cache-Control'],
    ['responseHeaders', 'Cross-Origin-Opener-Policy'],
    ['responseHeaders', 'Content-Security-Policy'],
    ['responseHeaders', 'Clear-Site-Data'],
    ['responseHeaders', 'Alt-Svc'],
    ['responseHeaders', 'Refresh'],
  ])('%s can’t list %s', async (option, name) => {
    const options = { ...(await valid()), [option]: ['x-own', name] }
    expect(() => ownerApiProxy(options)).toThrow(
      `${option} can’t include ${name.toLowerCase()}, which is never forwarded`,
    )
  })

  it('a header whose name only resembles one of those may be listed', async () => {
    const more = { requestHeaders: ['own-cookie', 'x-forwarding'], responseHeaders: ['own-server', 'x-set-cookie'] }
    await expect(ownerApiProxy({ ...(await valid()), ...more }).close()).resolves.toBeUndefined()
  })

  it.each([' x-own', 'x-own ', 'x-own\n', '', 'x:own', 5])('%j is no header name', async (name) => {
    const options = await valid()
    for (const option of ['requestHeaders', 'responseHeaders']) {
      expect(() => ownerApiProxy({ ...options, [option]: [name] })).toThrow(
        `${option} must be an array of header names`,
      )
    }
  })

  it.each([undefined, null, 'options'])('no options at all (%s)', (options) => {
    expect(() => ownerApiProxy(options as never)).toThrow('ownerApiProxy takes an object with target, tokens, ')
  })
})

it.each(['10', -1, NaN, 1.5, 2 ** 31, null])('close takes no timeout of %p', async (timeout) => {
  const proxy = ownerApiProxy(await valid())
  await expect(proxy.close({ timeout: timeout as never })).rejects.toThrow('timeout must be a whole number from 0')
  await proxy.close({ timeout: 0 })
})

it.each([
  'https://owner-api.example.com',
  'http://127.0.0.1:8080',
  'http://localhost:8080',
  'http://[::1]:8080',
  new URL('https://owner-api.example.com'),
])('takes the target %s', async (target) => {
  const proxy = ownerApiProxy({ ...(await valid()), target })
  await expect(proxy.close()).resolves.toBeUndefined()
})

describe('the environment', () => {
  const { env } = process
  beforeEach(() => {
    process.env = { ...env }
  })
  afterEach(() => {
    process.env = env
  })

  it('gives the target where the options have none', async () => {
    process.env['OWNER_SSO_API_URL'] = 'https://owner-api.example.com'
    const { target: _target, ...options } = await valid()
    await expect(ownerApiProxy(options).close()).resolves.toBeUndefined()
  })

  it('can’t turn certificate checks off', async () => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    const options = await valid()
    expect(() => ownerApiProxy(options)).toThrow('NODE_TLS_REJECT_UNAUTHORIZED')
  })
})

it.each<Partial<OwnerApiProxyOptions>>([
  { replayLimit: 0 },
  { replayLimit: 16 * 1024 ** 2 },
  { maxConcurrent: 1 },
  { maxConcurrent: 1_000_000 },
  { connectTimeout: 1, headersTimeout: 1, bodyTimeout: 1, maxDuration: 1 },
  { maxDuration: 2 ** 31 - 1 },
])('takes %j', async (limits) => {
  await expect(ownerApiProxy({ ...(await valid()), ...limits }).close()).resolves.toBeUndefined()
})
