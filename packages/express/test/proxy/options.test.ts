/** The options of ownerApiProxy: what is refused, what is meant where nothing is said, and the environment. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { ownerApiProxy, type OwnerApiProxyOptions } from '../../src/index.ts'
import { defaultRequestHeaders, defaultResponseHeaders } from '../../src/proxy/header-names.ts'
import { parseProxyOptions } from '../../src/proxy/options.ts'
import { valid } from './valid-options.ts'

const without = (name: keyof OwnerApiProxyOptions) => ({ [name]: undefined })

describe('a wrong option is a TypeError at the start that names it', () => {
  it.each<[string, Record<string, unknown>]>([
    ['target must be', { target: 'http://owner-api.example.com' }],
    ['target must be', { target: 'ftp://127.0.0.1' }],
    ['target must be', { target: 'http://127.0.0.1.example.com' }],
    ['target must be', { target: 'owner-api.example.com' }],
    ['target must be', { target: 5 }],
    ['target must be', without('target')],
    ['target must have no', { target: 'https://user:secret@owner-api.example.com' }],
    ['target must have no', { target: 'https://owner-api.example.com/?x=1' }],
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
    ['maxConcurrent must be', { maxConcurrent: 0 }],
    ['maxConcurrent must be', { maxConcurrent: Infinity }],
    ['replayLimit must be', { replayLimit: -1 }],
    ['connectTimeout must be', { connectTimeout: '10s' }],
    ['headersTimeout must be', { headersTimeout: 0 }],
    ['bodyTimeout must be', { bodyTimeout: 2 ** 31 }],
    ['maxDuration must be', { maxDuration: 1.5 }],
    ['tls must be', { tls: null }],
    ['tls.rejectUnauthorized is not an option', { tls: { rejectUnauthorized: false } }],
    ['tls.maxVersion must be', { tls: { maxVersion: 'TLSv1.1' } }],
    ['userAgent must be', { userAgent: 'a\r\nb: c' }],
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
  ])('%s can’t be made to forward %s', async (option, name) => {
    const options = { ...(await valid()), [option]: ['x-own', name] }
    expect(() => ownerApiProxy(options)).toThrow(
      `${option} can’t include ${name.toLowerCase()}, which is never forwarded`,
    )
  })

  it.each([' x-own', 'x-own ', 'x-own\n', '', 'x:own', 5])('%j is no header name', async (name) => {
    const options = await valid()
    for (const option of ['requestHeaders', 'responseHeaders']) {
      expect(() => ownerApiProxy({ ...options, [option]: [name] })).toThrow(
        `${option} must be an array of header names`,
      )
    }
  })

  const whole = {
    requestHeaders: [
      'connection expect http2-settings keep-alive te trailer transfer-encoding upgrade',
      'authorization content-length cookie cookie2 forwarded host user-agent via',
      'x-forwarded x-http-method x-http-method-override x-method-override x-real-ip x-rewrite-url',
    ],
    responseHeaders: [
      'connection keep-alive te trailer transfer-encoding upgrade',
      'alt-svc cdn-cache-control cache-tag edge-control surrogate-control surrogate-key',
      'authentication-info authorization clear-site-data content-security-policy content-security-policy-report-only',
      'origin-agent-cluster permissions-policy public-key-pins refresh report-to reporting-endpoints server',
      'service-worker-allowed set-cookie set-cookie2 strict-transport-security www-authenticate',
      'x-content-type-options x-frame-options x-powered-by x-sendfile',
    ],
  }
  const eachName = Object.entries(whole).flatMap(([option, lines]) =>
    lines.flatMap((line) => line.split(' ').map((name) => [option, name] as const)),
  )
  it.each(eachName)('%s can’t include %s, and may include what only holds that name', async (option, name) => {
    const options = await valid()
    expect(() => ownerApiProxy({ ...options, [option]: [name] })).toThrow(`${option} can’t include ${name},`)
    await expect(
      ownerApiProxy({ ...options, [option]: [`own${name}`, `${name}.own`] }).close(),
    ).resolves.toBeUndefined()
  })

  it.each([
    ['requestHeaders', 'proxy-'],
    ['requestHeaders', 'x-forwarded-'],
    ['requestHeaders', 'x-original-'],
    ['responseHeaders', 'access-control-'],
    ['responseHeaders', 'cross-origin-'],
    ['responseHeaders', 'x-accel-'],
  ])('%s can’t include a name that begins with %s, and may include one that goes on with it', async (option, start) => {
    const options = await valid()
    expect(() => ownerApiProxy({ ...options, [option]: [`${start}own`] })).toThrow(`${option} can’t include`)
    await expect(ownerApiProxy({ ...options, [option]: [`own-${start}own`] }).close()).resolves.toBeUndefined()
  })

  it.each([undefined, null, 'options'])('no options at all (%s)', (options) => {
    expect(() => ownerApiProxy(options as never)).toThrow('ownerApiProxy takes an object with target, tokens, ')
  })
})

it.each([
  'https://owner-api.example.com',
  'https://owner-api.example.com/base/',
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

it('passes on the headers that it did in the last release: another one is a change for its users', () => {
  expect({ defaultRequestHeaders, defaultResponseHeaders }).toMatchSnapshot()
})

describe('the options that are not given', () => {
  it('are as the README has them, and each limit may be reached', async () => {
    const given = await valid()
    expect(parseProxyOptions(given)).toMatchObject({
      paths: ['/api/1/'],
      requestHeaders: defaultRequestHeaders,
      responseHeaders: new Set(defaultResponseHeaders),
      trustedOrigins: new Set(),
      maxConcurrent: 1024,
      replayLimit: 65_536,
      connectTimeout: 10_000,
      headersTimeout: 30_000,
      bodyTimeout: 300_000,
      maxDuration: 3_600_000,
      onProblem: undefined,
    })
    for (const name of ['connectTimeout', 'headersTimeout', 'bodyTimeout', 'maxDuration'] as const) {
      expect(parseProxyOptions({ ...given, [name]: 1 })[name]).toBe(1)
      expect(parseProxyOptions({ ...given, [name]: 2 ** 31 - 1 })[name]).toBe(2 ** 31 - 1)
    }
    const [least, most] = [
      { replayLimit: 0, maxConcurrent: 1 },
      { replayLimit: 16 * 1024 ** 2, maxConcurrent: 1_000_000 },
    ]
    expect(parseProxyOptions({ ...given, ...least })).toMatchObject(least)
    expect(parseProxyOptions({ ...given, ...most })).toMatchObject(most)
    for (const beyond of [{ replayLimit: 16 * 1024 ** 2 + 1 }, { maxConcurrent: 1_000_001 }])
      expect(() => parseProxyOptions({ ...given, ...beyond })).toThrow(TypeError)
  })

  it('a target with a path is called below it', async () => {
    const below = async (target: string): Promise<string> => parseProxyOptions({ ...(await valid()), target }).basePath
    expect(await below('https://owner-api.example.com')).toBe('')
    expect(await below('https://owner-api.example.com/a/b/')).toBe('/a/b')
    expect(await below('https://owner-api.example.com/a/b')).toBe('/a/b')
  })
})
