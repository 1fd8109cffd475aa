import { Agent, IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { connectionsFor } from '../../src/calls/connections.ts'
import { parseOwnerCallOptions } from '../../src/calls/options.ts'
import { answerFault } from '../../src/handler-fault.ts'
import { ownerApiProxy, type OwnerApiProxyOptions } from '../../src/index.ts'
import { connectionNames, defaultRequestHeaders, defaultResponseHeaders } from '../../src/proxy/header-names.ts'
import { parseProxyOptions } from '../../src/proxy/options.ts'
import { requestBody } from '../../src/proxy/request-body.ts'
import { endAfterAnswer, isSpent } from '../../src/proxy/spent-connection.ts'
import { account, tokensOf } from '../tokens.ts'

const valid = async (): Promise<OwnerApiProxyOptions> => ({
  target: 'https://owner-api.example.com',
  tokens: await tokensOf(),
  account,
  authorize: true,
})

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
    expect(() => ownerApiProxy(options as never)).toThrow(TypeError)
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

it.each<[string | string[] | undefined, string[] | undefined]>([
  [undefined, undefined],
  ['keep-alive', undefined],
  ['close', undefined],
  ['Close', ['close']],
  ['X-A, keep-alive ,x-b', ['x-a', 'keep-alive', 'x-b']],
  [
    ['x-a', 'x-b'],
    ['x-a', 'x-b'],
  ],
])('a Connection header %j names %j', (connection, names) => {
  expect(connectionNames(connection)).toEqual(names && new Set(names))
})

describe('a piece of the proxy by itself', () => {
  const requestOf = (headers: object): PassThrough => Object.assign(new PassThrough(), { headers })
  const bodyOf = (request: PassThrough) => requestBody(request as unknown as IncomingMessage, 5)

  it('reads a body of a known length, and fails with what ends it too early', async () => {
    for (const pieces of [['12345'], ['12', '345'], []]) {
      const whole = requestOf({ 'content-length': '5' })
      const body = bodyOf(whole)
      for (const piece of pieces) whole.write(piece)
      whole.end()
      expect(await body).toEqual({ content: Buffer.from(pieces.join('')) })
    }
    const broken = requestOf({ 'content-length': '5' })
    const body = bodyOf(broken)
    broken.destroy(new Error('cut'))
    await expect(body).rejects.toThrow('cut')
    expect(await bodyOf(requestOf({}))).toEqual({})
    expect(await bodyOf(requestOf({ 'content-length': '0' }))).toEqual({})
    expect(await bodyOf(requestOf({ 'content-length': '6' }))).toEqual({ content: expect.any(PassThrough), length: 6 })
    expect(await bodyOf(requestOf({ 'transfer-encoding': 'chunked' }))).toEqual({ content: expect.any(PassThrough) })
  })

  it('takes no more from a connection that is spent, whatever parser it has', () => {
    const parser = { onIncoming: (): number => 0 }
    const [socket, other] = [Object.assign(new PassThrough(), { parser }), new PassThrough()]
    for (const each of [socket, other]) {
      expect(isSpent(each)).toBe(false)
      endAfterAnswer(each)
      expect(isSpent(each)).toBe(true)
    }
    const request = { upgrade: true }
    expect([Reflect.apply(parser.onIncoming, undefined, [request]), request]).toEqual([2, { upgrade: false }])
    const odd = { onIncoming: 'text' }
    endAfterAnswer(Object.assign(new PassThrough(), { parser: odd }))
    expect(odd.onIncoming).toBe('text')
  })

  it('answers for a handler that has failed, unless that has answered itself', () => {
    const warned = jest.spyOn(process, 'emitWarning').mockReturnValue(undefined)
    const [open, ended] = [1, 2].map(() => new ServerResponse(new IncomingMessage(new Socket())))
    ended?.end()
    for (const response of [open, ended]) answerFault('onError', new Error('its words'), response!)
    expect([open?.statusCode, open?.getHeader('cache-control'), open?.writableEnded]).toEqual([500, undefined, true])
    expect([ended?.statusCode, ended?.destroyed]).toEqual([200, false])
    const [what, details] = warned.mock.calls[0] ?? []
    expect([what, details]).toEqual([
      'onError failed.',
      { type: 'OwnerSsoWarning', code: 'OWNER_SSO_CALLBACK', detail: expect.not.stringContaining('its words') },
    ])
    warned.mockRestore()
  })
})

it.each<[object, string | undefined]>([
  [{ host: 'proxy.example', port: 8080 }, 'http://proxy.example:8080/'],
  [{ hostname: 'a.example', host: 'b.example', port: '1', protocol: 'https:' }, 'https://a.example:1/'],
  [{ host: 'proxy.example', port: 1, protocol: 'http' }, 'http://proxy.example:1/'],
  [{ host: 'h', port: 1, auth: { username: 'a b', password: 'c:d@' } }, 'http://a%20b:c%3Ad%40@h:1/'],
  [{ host: 'h', port: 1, protocol: 'ftp' }, undefined],
  [{ host: 'h', port: 1, protocol: 'xhttp' }, undefined],
  [{ host: 'h', port: 1, protocol: 'httpss' }, undefined],
  [{ host: 'h', port: {} }, 'http://h/'],
  [{ port: 1 }, undefined],
  [{ host: 'h', port: 65_536 }, undefined],
])('a tunnel through %j leads to %s, and plain http never leaves the machine by it', (proxy, address) => {
  const through = (url: string) => connectionsFor(new URL(url), { proxy }).httpsAgent
  const outcomeOf = (): unknown => {
    try {
      return String(Reflect.get(Object(through('https://a.example')), 'proxy'))
    } catch (error) {
      return error
    }
  }
  const message = 'proxy must have a host and a port, and http or https as its protocol'
  expect(outcomeOf()).toEqual(address ?? new TypeError(message))
})

it('connections are straight, verified and kept, unless the application gives its own', () => {
  const straight = connectionsFor(new URL('https://a.example'), {})
  expect(straight).toMatchObject({ proxy: false, maxRedirects: 0, fetchOptions: { redirect: 'manual' } })
  expect(straight.httpAgent).toMatchObject({ options: { keepAlive: true, scheduling: 'lifo', timeout: 5000 } })
  expect(straight.httpsAgent).toMatchObject({
    options: { keepAlive: true, scheduling: 'lifo', timeout: 5000, rejectUnauthorized: true },
  })
  for (const proxy of [false, null, undefined, 'http://a.example']) {
    expect(connectionsFor(new URL('https://a.example'), { proxy }).httpsAgent).toBe(straight.httpsAgent)
  }
  const proxy = { host: 'h', port: 1 }
  expect(connectionsFor(new URL('http://127.0.0.1'), { proxy }).httpsAgent).toBe(straight.httpsAgent)
  const own = { httpAgent: new Agent(), fetchOptions: { dispatcher: 'mine', redirect: 'follow', more: 1 } }
  expect(connectionsFor(new URL('http://127.0.0.1'), own)).toMatchObject({
    fetchOptions: { dispatcher: 'mine', redirect: 'manual', more: 1 },
  })
})

it('whose token, and where to, is looked at before anything is called', () => {
  const tokens = { getAccessToken: () => '', invalidate: () => undefined }
  const outcomeOf = (options: unknown): unknown => {
    try {
      return Reflect.apply(parseOwnerCallOptions, undefined, [options, 'https://fallback.example'])
    } catch (error) {
      return String(error)
    }
  }
  expect([undefined, null, 'x'].map(outcomeOf)).toEqual(Array(3).fill('TypeError: options must be an object'))
  const wrongTokens = 'TypeError: tokens must be what createTokenManager() returns'
  for (const wrong of [undefined, {}, { getAccessToken: tokens.getAccessToken }, { invalidate: tokens.invalidate }]) {
    expect(outcomeOf({ tokens: wrong, account: 'ann' })).toBe(wrongTokens)
  }
  for (const wrong of [undefined, '', 7]) {
    expect(outcomeOf({ tokens, account: wrong })).toBe('TypeError: account must be a name or a function of the request')
  }
  expect(outcomeOf({ tokens, account: 'ann' })).toMatchObject({
    target: new URL('https://fallback.example'),
    transport: undefined,
  })
  expect(outcomeOf({ tokens, account: 'ann', target: 'https://a.example', tls: {} })).toMatchObject({
    target: new URL('https://a.example'),
    transport: { http2: false },
  })
})
