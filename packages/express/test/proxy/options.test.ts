import { Agent, IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { Dispatcher } from 'undici'
import { connectionsFor, straightConnections } from '../../src/calls/connections.ts'
import { checkedAddress, parseOwnerCallOptions } from '../../src/calls/options.ts'
import { answerFault } from '../../src/handler-fault.ts'
import { refusal, type RefusalCode } from '../../src/answers/refusal.ts'
import { ownerApiProxy, type OwnerApiProxyOptions } from '../../src/index.ts'
import { isCrossSite } from '../../src/proxy/cross-site.ts'
import { connectionNames, defaultRequestHeaders, defaultResponseHeaders } from '../../src/proxy/header-names.ts'
import { parseProxyOptions } from '../../src/proxy/options.ts'
import { ownLocation } from '../../src/proxy/own-location.ts'
import { type Exchange, runExchange } from '../../src/proxy/exchange.ts'
import { closeWithConnection } from '../../src/proxy/queued-response.ts'
import { requestBody } from '../../src/proxy/request-body.ts'
import { upstreamHeaders } from '../../src/proxy/request-headers.ts'
import { parsedBody } from '../../src/proxy/parsed-body.ts'
import { shownError } from '../../src/calls/axios-outcome.ts'
import { ExchangeError, failureAnswer } from '../../src/proxy/upstream-failure.ts'
import { upstreamPool } from '../../src/proxy/upstream-pool.ts'
import { withoutSwitching } from '../../src/calls/switching-answer.ts'
import { silenceLimit } from '../../src/proxy/silence.ts'
import { endAfterAnswer, isSpent } from '../../src/proxy/spent-connection.ts'
import { ownerApiTarget } from '../../src/target.ts'
import { account, token, tokensOf } from '../tokens.ts'

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
    expect(() => ownerApiProxy(options as never)).toThrow(new TypeError('ownerApiProxy takes an object of options'))
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
    // Over HTTP/2 no header says that a body follows.
    const isOpen = (endAfterHeaders: boolean) => bodyOf(Object.assign(requestOf({}), { stream: { endAfterHeaders } }))
    expect([await isOpen(true), await isOpen(false)]).toEqual([{}, { content: expect.any(PassThrough) }])
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
    const [open, ended, gone] = [1, 2, 3].map(() => new ServerResponse(new IncomingMessage(new Socket())))
    ended?.end()
    gone?.destroy()
    for (const response of [open, ended, gone]) answerFault('onError', new Error('its words'), response!)
    expect([open?.statusCode, open?.getHeader('cache-control'), open?.writableEnded]).toEqual([500, undefined, true])
    expect([ended?.statusCode, ended?.destroyed]).toEqual([200, false])
    expect([gone?.statusCode, gone?.headersSent]).toEqual([200, false])
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
  const { transport } = parseOwnerCallOptions({ tokens: tokens as never, account: 'ann', tls: { ca: 'its own' } })
  expect(transport?.tls).toMatchObject({ ca: 'its own' })
  const before = process.env['OWNER_SSO_API_URL']
  process.env['OWNER_SSO_API_URL'] = 'https://environment.example'
  const { target } = parseOwnerCallOptions({ tokens: tokens as never, account: 'ann' })
  if (before === undefined) delete process.env['OWNER_SSO_API_URL']
  else process.env['OWNER_SSO_API_URL'] = before
  expect([target?.href, outcomeOf({ tokens, account: 'ann' })]).toMatchObject([
    'https://environment.example/',
    { target: new URL('https://fallback.example') },
  ])
})

it.each([
  'https://u@a.example',
  'https://:p@a.example',
  'https://a.example/?a',
  'https://a.example/#a',
  'http://a.example',
])('%s is no address that a token could go to', (address) => expect(() => ownerApiTarget(address)).toThrow(TypeError))

it.each([
  ['POST', 'none', false],
  ['POST', 'same-origin', false],
  ['POST', 'same-site', true],
  ['POST', 'cross-site', true],
  ['GET', 'same-site', false],
  ['HEAD', 'same-site', false],
  ['GET', 'cross-site', true],
  ['HEAD', 'cross-site', true],
])('a %s that a browser calls %s is from elsewhere: %s', (method, site, isElsewhere) => {
  const request = { method, headers: { 'sec-fetch-site': site } } as unknown as IncomingMessage
  expect(isCrossSite(request, new Set())).toBe(isElsewhere)
})

it('a redirect leads below the part that is offered, of the same origin, or nowhere', () => {
  const rules = { target: new URL('https://a.example'), basePath: '/base', paths: ['/base/api/', '/other/'] }
  const located = [
    '/base/api/1?a=b',
    'https://b.example/base/api/1',
    '/other/1',
    '/base/secret',
    'https://a.example:x/',
  ]
  expect(located.map((location) => ownLocation(location, '/base/api/2', '/mine', rules))).toEqual([
    '/mine/api/1?a=b',
    ...Array<undefined>(4).fill(undefined),
  ])
})

it('connections to the owner API have the limits of the options, each a second later', async () => {
  const settings = parseProxyOptions({ ...(await valid()), headersTimeout: 4000, bodyTimeout: 3000 })
  const pool = upstreamPool(settings)
  const kept = Object.getOwnPropertySymbols(pool).map((name): unknown => Reflect.get(pool, name))
  expect(kept).toContainEqual(expect.objectContaining({ headersTimeout: 5000, bodyTimeout: 4000, allowH2: false }))
  await pool.close()
})

it('an address is looked at as it will be called, and with what it is called', () => {
  const target = new URL('https://a.example/b/')
  const outcomeOf = (address: string, ...more: unknown[]): string => {
    try {
      return String(Reflect.apply(checkedAddress, undefined, [address, ...more]))
    } catch (error) {
      return String(error)
    }
  }
  expect([outcomeOf('c?d=/../#/..', target), outcomeOf('https://a.example/x', undefined)]).toEqual([
    'https://a.example/b/c?d=/../#/..',
    'https://a.example/x',
  ])
  expect([
    outcomeOf('c'),
    outcomeOf('x/../c', target),
    outcomeOf('x/%2e', target),
    outcomeOf('https://b.example', target),
    outcomeOf('http://b.example'),
  ]).toEqual([
    'TypeError: the address is relative, and there is no target to resolve it against',
    'TypeError: the address has dot segments, which lead to another path',
    'TypeError: the address has dot segments, which lead to another path',
    'TypeError: the owner’s token goes only to https://a.example, not to https://b.example',
    'TypeError: the owner’s token is sent only over https (or http on a loopback host)',
  ])
  const open = { options: { rejectUnauthorized: false } }
  expect(outcomeOf('https://a.example', target, open)).toMatch(/^TypeError: the address /u)
})

it('a tunnel has what TLS is spoken with, and is verified whatever its agent says', () => {
  const throughIt = (config: object) => {
    const connections = connectionsFor(
      new URL('https://a.example'),
      { proxy: { host: 'h', port: 1 }, ...config },
      straightConnections({ ca: 'its own' }),
    )
    return Reflect.get(Object(connections.httpsAgent), 'options') as unknown
  }
  expect(throughIt({})).toMatchObject({ ca: 'its own', rejectUnauthorized: true, keepAlive: false })
  const own = { httpsAgent: { options: { ca: 'another', rejectUnauthorized: false } } }
  expect(throughIt(own)).toMatchObject({ ca: 'another', rejectUnauthorized: true, keepAlive: false })
})

describe('an exchange, event by event and millisecond by millisecond', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] })
  })
  afterEach(() => {
    jest.useRealTimers()
  })
  const pass = (milliseconds: number): Promise<void> => jest.advanceTimersByTimeAsync(milliseconds)

  /** An exchange under way, on a dispatcher that does nothing by itself; what becomes of it is read with `news()`. */
  function underWay(more: Partial<Exchange> = {}) {
    const [log, attempts] = [[] as string[], [] as [Dispatcher.DispatchOptions, Dispatcher.DispatchHandler][]]
    const dispatch: Dispatcher['dispatch'] = (options, handler) => attempts.push([options, handler]) > 0
    const controller = {
      abort: ({ message }: Error) => log.push(`abort: ${message}`),
      pause: () => log.push('pause'),
      resume: () => log.push('resume'),
    } as unknown as Dispatcher.DispatchController
    const socket = new PassThrough()
    const response = new ServerResponse(new IncomingMessage(new Socket()))
    response.sendDate = false
    response.assignSocket(socket as unknown as Socket)
    runExchange({ dispatch } as Dispatcher, {
      method: 'GET',
      path: '/api/1/vehicles',
      headers: ['accept', '*/*'],
      content: undefined,
      token,
      response,
      headersTimeout: 1000,
      bodyTimeout: 2000,
      maxDuration: 10_000,
      answerHeaders: (status) => (status === 200 ? {} : { 'content-length': 0 }),
      refusesToken: () => false,
      tokenAfter: () => Promise.resolve(undefined),
      answerTo: () => refusal('ERR_OWNER_API_INTERNAL'),
      report: (answer, error) => {
        log.push(`${answer.problem.code}: ${error instanceof Error ? error.message : String(error)}`)
        return answer
      },
      ...more,
    })
    const handler = (n = 0): Required<Dispatcher.DispatchHandler> => attempts[n]![1] as never
    const news = (): string[] => {
      const [head] = /^HTTP.*/u.exec(String(socket.read() ?? '')) ?? []
      return [...new Set([head, ...log.splice(0)])].filter((line) => line !== undefined)
    }
    const start = (status: number): void => handler().onResponseStart(controller, status, {}, '')
    return { attempts, controller, handler, news, response, socket, start }
  }
  const late = [
    'HTTP/1.1 504 Gateway Timeout',
    'ERR_OWNER_API_TIMEOUT: ERR_OWNER_API_TIMEOUT',
    'abort: the exchange is over',
  ]

  it('a silence is counted from what was heard last, and as long as was said there', async () => {
    const onSilence = jest.fn()
    const limit = silenceLimit(onSilence)
    const over = async (after: number): Promise<void> => {
      await pass(after - 1)
      expect(onSilence).not.toHaveBeenCalled()
      await pass(1)
      expect(onSilence).toHaveBeenCalledTimes(1)
      onSilence.mockClear()
    }
    limit.heard(1000)
    await pass(600)
    limit.heard(1000)
    await over(1000)
    limit.lift()
    limit.heard(1000)
    limit.heard(300)
    await over(300)
    limit.heard(300)
    limit.lift()
    await pass(1000)
    limit.heard(400)
    await over(400)
    limit.heard(300)
    limit.end()
    limit.heard(300)
    await pass(1000)
    expect([onSilence.mock.calls, jest.getTimerCount()]).toEqual([[], 0])
  })

  it('the head has its time from the last byte of the request, and each piece from the one before', async () => {
    const content = new PassThrough()
    const { attempts, handler, controller, news, start, response } = underWay({ content, method: 'PUT' })
    expect(attempts[0]![0]).toEqual({
      method: 'PUT',
      path: '/api/1/vehicles',
      headers: ['accept', '*/*', 'authorization', `Bearer ${token}`],
      body: content,
    })
    handler().onRequestStart(controller, {})
    await pass(3000)
    content.resume().end()
    await pass(999)
    expect(news()).toEqual([])
    start(200)
    await pass(1999)
    handler().onResponseData(controller, Buffer.from('piece'))
    expect(news()).toEqual(['HTTP/1.1 200 OK'])
    await pass(1999)
    expect([news(), response.destroyed]).toEqual([[], false])
    await pass(1)
    expect([news(), response.destroyed]).toEqual([late.slice(1), true])
  })

  it('the request goes without a body where there is none, and its head may take so long and no longer', async () => {
    const { attempts, handler, controller, news } = underWay()
    expect(attempts[0]![0].body).toBe(null)
    handler().onRequestStart(controller, {})
    await pass(999)
    expect(news()).toEqual([])
    await pass(1)
    expect(news()).toEqual(late)
    await pass(20_000)
    handler().onResponseError(controller, new Error('aborted'))
    expect([news(), jest.getTimerCount()]).toEqual([[], 0])
  })

  it('all of it has its time, however much comes', async () => {
    const { handler, controller, news, start } = underWay()
    handler().onRequestStart(controller, {})
    start(200)
    for (let n = 0; n < 9; n += 1) {
      await pass(1000)
      handler().onResponseData(controller, Buffer.from('piece'))
    }
    await pass(999)
    expect(news()).toEqual(['HTTP/1.1 200 OK'])
    await pass(1)
    expect(news()).toEqual(late.slice(1))
  })

  it('ten interim answers may come, which give no time, and not eleven', async () => {
    const { handler, controller, news, start } = underWay()
    handler().onRequestStart(controller, {})
    await pass(500)
    for (let n = 0; n < 10; n += 1) start(n === 0 ? 199 : 103)
    await pass(499)
    expect(news()).toEqual([])
    start(103)
    const unreachable = 'ERR_OWNER_API_UNREACHABLE: ERR_OWNER_API_UNREACHABLE'
    expect(news()).toEqual(['HTTP/1.1 502 Bad Gateway', unreachable, 'abort: the exchange is over'])
    const other = underWay()
    other.handler().onRequestStart(other.controller, {})
    other.start(103)
    await pass(1000)
    expect(other.news()).toEqual(late)
  })

  it('a caller has the time of a piece to read it, and leaves no listener behind', async () => {
    const { handler, controller, news, response, socket, start } = underWay()
    handler().onRequestStart(controller, {})
    start(200)
    const much = Buffer.alloc(response.writableHighWaterMark + 1)
    handler().onResponseData(controller, Buffer.from('little'))
    await pass(0)
    const listeners = () => ['drain', 'close'].map((name) => response.listenerCount(name))
    const [before] = [listeners(), news()]
    handler().onResponseData(controller, much)
    expect([news(), listeners()]).toEqual([['pause'], before.map((count) => count + 1)])
    await pass(1999)
    response.emit('drain')
    expect([news(), listeners()]).toEqual([['resume'], before])
    await pass(1999)
    handler().onResponseData(controller, much)
    await pass(1999)
    expect(news()).toEqual(['pause'])
    await pass(1)
    expect(news()).toEqual([...late.slice(1), 'resume'])
    socket.destroy()
  })

  it.each([204, 304, 205])('a broken end of %d is an error only where a body could have come', (status) => {
    const { handler, controller, news, response, start } = underWay()
    handler().onRequestStart(controller, {})
    start(status)
    handler().onResponseError(controller, new Error('no body'))
    const [first = '', ...rest] = news()
    expect([Number(first.split(' ')[1]), ...rest]).toEqual(
      status === 205 ? [502, 'ERR_OWNER_API_UNREACHABLE: no body', 'abort: the exchange is over'] : [status],
    )
    response.emit('close')
    expect(jest.getTimerCount()).toBe(0)
  })

  it('a head that can’t be written is a failure', () => {
    const { handler, controller, news, start } = underWay({
      answerHeaders: () => {
        throw new Error('a listener')
      },
    })
    handler().onRequestStart(controller, {})
    start(200)
    handler().onResponseData(controller, Buffer.from('piece'))
    const unreachable = 'ERR_OWNER_API_UNREACHABLE: a listener'
    expect(news()).toEqual(['HTTP/1.1 502 Bad Gateway', unreachable, 'abort: the exchange is over'])
  })

  it('a caller that goes ends it: what is under way, and what has not begun', async () => {
    const { handler, controller, news, response } = underWay()
    response.emit('close')
    handler().onRequestStart(controller, {})
    await pass(20_000)
    expect([news(), jest.getTimerCount()]).toEqual([['abort: the exchange is over'], 0])
    const other = underWay()
    other.handler().onRequestStart(other.controller, {})
    other.response.emit('close')
    await pass(20_000)
    expect([other.news(), jest.getTimerCount()]).toEqual([['abort: the exchange is over'], 0])
  })

  describe('a 401', () => {
    /** With what `settle` is called with for the next token, however late. */
    function refused() {
      let settle: (next: string | undefined) => void = () => undefined
      const tokenAfter = jest.fn(() => new Promise<string | undefined>((resolve) => (settle = resolve)))
      const exchange = underWay({ tokenAfter })
      const { handler, controller, start } = exchange
      handler().onRequestStart(controller, {})
      start(401)
      const settled = async (next?: string): Promise<void> => {
        settle(next)
        await pass(0)
      }
      return { ...exchange, settled, tokenAfter }
    }

    it('waits for the next token as long as that takes; the request goes out once more, and its 401 is the answer', async () => {
      const { attempts, controller, handler, news, settled, tokenAfter } = refused()
      await pass(9000)
      expect([news(), tokenAfter.mock.calls]).toEqual([['pause'], [[token]]])
      await settled('next token')
      expect([news(), attempts[1]![0].headers]).toEqual([
        ['resume'],
        ['accept', '*/*', 'authorization', 'Bearer next token'],
      ])
      await pass(499)
      expect(news()).toEqual([])
      await pass(1)
      expect(news()).toEqual(['abort: the exchange is over'])
      handler().onResponseError(controller, new Error('aborted'))
      handler(1).onRequestStart(controller, {})
      handler(1).onResponseStart(controller, 401, {}, '')
      handler(1).onResponseEnd(controller, {})
      expect(news()).toEqual(['HTTP/1.1 401 Unauthorized'])
    })

    it('is read to its end, and to 65,536 bytes', async () => {
      const { controller, handler, news, settled } = refused()
      await settled('next token')
      news()
      handler().onResponseData(controller, Buffer.alloc(65_536))
      expect(news()).toEqual([])
      handler().onResponseData(controller, Buffer.alloc(1))
      expect(news()).toEqual(['abort: the exchange is over'])
      handler().onResponseEnd(controller, {})
      await pass(500)
      expect(news()).toEqual([])
    })

    it('that has ended needs no limit', async () => {
      const { controller, handler, news, settled } = refused()
      handler().onResponseEnd(controller, {})
      await settled('next token')
      await pass(500)
      expect(news()).toEqual(['pause', 'resume'])
    })

    it('is the answer where there is no next token, and has its time again', async () => {
      const { controller, handler, news, settled } = refused()
      await pass(5000)
      await settled()
      await pass(1999)
      expect(news()).toEqual(['HTTP/1.1 401 Unauthorized', 'pause', 'resume'])
      await pass(1)
      expect(news()).toEqual(late.slice(1))
      const other = refused()
      other.handler().onResponseEnd(controller, {})
      await other.settled()
      expect([other.news(), other.response.writableEnded]).toEqual([
        ['HTTP/1.1 401 Unauthorized', 'pause', 'resume'],
        true,
      ])
      handler().onResponseEnd(controller, {})
    })

    it('that was lost meanwhile is a failure, and one whose caller has gone is nothing', async () => {
      const { controller, handler, news, settled } = refused()
      handler().onResponseError(controller, new Error('reset'))
      await settled()
      expect(news()).toEqual([
        'HTTP/1.1 502 Bad Gateway',
        'pause',
        'ERR_OWNER_API_UNREACHABLE: reset',
        'abort: the exchange is over',
        'resume',
      ])
      const other = refused()
      other.response.emit('close')
      await other.settled('next token')
      expect([other.news(), other.attempts.length]).toEqual([['pause', 'abort: the exchange is over', 'resume'], 1])
    })
  })
})

describe('what surrounds an exchange', () => {
  it.each<[RefusalCode, object]>([
    ['ERR_OWNER_API_BUSY', { 'retry-after': '1' }],
    ['ERR_OWNER_API_CLOSING', { 'retry-after': '1' }],
    ['ERR_OWNER_API_TIMEOUT', {}],
    ['ERR_OWNER_API_METHOD_NOT_ALLOWED', { allow: 'GET, HEAD, POST, PUT, PATCH, DELETE' }],
    ['ERR_OWNER_API_MALFORMED_REQUEST', { connection: 'close' }],
    ['ERR_OWNER_API_MALFORMED_PATH', {}],
    ['ERR_OWNER_API_UPGRADE_REFUSED', { connection: 'close' }],
  ])('is told with %s what to do next: %j', (code, told) => {
    const names = ['retry-after', 'allow', 'connection']
    const headers = Object.entries(refusal(code).headers).filter(([name]) => names.includes(name))
    expect(Object.fromEntries(headers)).toEqual(told)
  })

  it.each([
    ['UND_ERR_CONNECT_TIMEOUT', 'ERR_OWNER_API_TIMEOUT'],
    ['UND_ERR_HEADERS_TIMEOUT', 'ERR_OWNER_API_TIMEOUT'],
    ['UND_ERR_BODY_TIMEOUT', 'ERR_OWNER_API_TIMEOUT'],
    ['ETIMEDOUT', 'ERR_OWNER_API_TIMEOUT'],
    ['UND_ERR_CLOSED', 'ERR_OWNER_API_CLOSING'],
    ['UND_ERR_DESTROYED', 'ERR_OWNER_API_CLOSING'],
    ['ECONNRESET', 'ERR_OWNER_API_UNREACHABLE'],
    [undefined, 'ERR_OWNER_API_UNREACHABLE'],
  ])('a failure with the code %s is answered with %s', (code, answered) => {
    expect(failureAnswer(Object.assign(new Error('failed'), { code })).problem.code).toBe(answered)
    const own = new ExchangeError('ERR_OWNER_API_TOKEN_ECHOED')
    expect([own.name, own.message, failureAnswer(own)]).toEqual([
      'ExchangeError',
      'ERR_OWNER_API_TOKEN_ECHOED',
      refusal('ERR_OWNER_API_TOKEN_ECHOED'),
    ])
  })

  it.each<[unknown, string | undefined, string, string]>([
    [Buffer.from('raw'), undefined, 'application/octet-stream', 'raw'],
    [Buffer.from('raw'), 'a/b; c=d', 'a/b; c=d', 'raw'],
    ['text', undefined, 'text/plain; charset=utf-8', 'text'],
    ['text', 'A/B; charset=latin1', 'a/b; charset=utf-8', 'text'],
    [{ a: 1 }, 'application/vnd.x+json', 'application/vnd.x+json', '{"a":1}'],
    [null, 'application/json', 'application/json', 'null'],
    [{ a: 1, b: null }, 'application/x-www-form-urlencoded', 'application/x-www-form-urlencoded', 'a=1&b=null'],
    [null, 'application/x-www-form-urlencoded', 'nothing', ''],
    [7, 'application/x-www-form-urlencoded', 'nothing', ''],
    [{ a: 1 }, 'multipart/form-data', 'nothing', ''],
    [undefined, 'application/json', 'nothing', ''],
  ])('what was parsed to %j from %s is sent as %s: %s', (body, type, contentType, content) => {
    const sent = parsedBody({ headers: { 'content-type': type }, body } as unknown as IncomingMessage)
    expect([sent?.contentType ?? 'nothing', String(sent?.content ?? '')]).toEqual([contentType, content])
  })

  it('an error that causes itself is shown without the token, wherever that is', () => {
    const [error, other] = [new Error(`sent ${token} twice: ${token}`), new Error('plain')]
    Object.assign(error, { cause: other, errors: [error, other], socket: {}, count: 1 })
    other.cause = error
    expect(shownError(error, { config: {}, token })).toBe(error)
    expect(error).toMatchObject({ message: 'sent [redacted] twice: [redacted]', count: 1 })
    expect([Object.hasOwn(error, 'socket'), other.message, other.cause]).toEqual([false, 'plain', error])
  })

  it('a request that switches protocols unasked fails, unless somebody waits for that', () => {
    const requests = [1, 2].map(() => Object.assign(new PassThrough(), { at: '' }))
    const errors: unknown[] = []
    const addRequest = (request: { at: string }, ...more: string[]) => (request.at = more.join('/'))
    const agent = { addRequest }
    const watching = withoutSwitching(agent) as typeof agent
    expect([withoutSwitching(agent), withoutSwitching('x'), withoutSwitching(null)]).toEqual([watching, 'x', null])
    for (const other of [{ options: {} }, { addRequest, options: { proxyEnv: {} } }]) {
      expect(withoutSwitching(other)).toBe(other)
    }
    for (const [n, request] of requests.entries()) {
      watching.addRequest(request, 'host', '443')
      request.on('error', (error) => errors.push(error))
      if (n === 1) request.on('upgrade', () => {})
    }
    const sockets = requests.map((request) => {
      const socket = new PassThrough()
      request.emit('upgrade', {}, socket)
      return socket
    })
    expect(requests.map(({ at }) => at)).toEqual(['host/443', 'host/443'])
    expect([...sockets, ...requests].map(({ destroyed }) => destroyed)).toEqual([true, false, true, false])
    expect(errors).toEqual([new Error('The owner API switched protocols unasked (101).')])
    expect(errors[0]).toMatchObject({ code: 'ERR_BAD_RESPONSE' })
  })

  it('sends the caller’s headers that are on the list, and those of the body', () => {
    const headers = { accept: 'a/b', cookie: 'c', 'content-type': 'a/b', 'content-language': 'en', range: 'bytes=0-' }
    const names = ['accept', 'content-type', 'content-language', 'range', 'toString']
    const sent = (body: object, connection?: string) =>
      upstreamHeaders({ headers: { ...headers, connection } } as unknown as IncomingMessage, names, 'agent', body)
    const always = ['user-agent', 'agent', 'accept', 'a/b']
    const ofBody = ['content-type', 'a/b', 'content-language', 'en']
    expect([sent({}), sent({ length: 0 }), sent({ contentType: 'c/d' }), sent({}, 'close, Range')]).toEqual([
      [...always, ...ofBody, 'range', 'bytes=0-'],
      [...always, ...ofBody, 'range', 'bytes=0-', 'content-length', '0'],
      [...always, 'range', 'bytes=0-', 'content-type', 'c/d'],
      [...always, ...ofBody],
    ])
  })

  it('a stream or a socket that breaks off ends nothing else', async () => {
    const request = Object.assign(new PassThrough(), { headers: { 'content-length': '9' } })
    const { content } = (await requestBody(request as unknown as IncomingMessage, 5)) as { content: PassThrough }
    const proxy = ownerApiProxy(await valid())
    const refusedSockets = ['CONNECT', 'GET'].map((method) => {
      const socket = new PassThrough()
      proxy.refuse({ method } as IncomingMessage, socket)
      return socket
    })
    for (const each of [content, ...refusedSockets]) {
      expect(() => each.emit('error', new Error('reset'))).not.toThrow()
    }
    expect(refusedSockets.map((socket) => String(socket.read()).split('\r\n', 1)[0])).toEqual([
      'HTTP/1.1 405 Method Not Allowed',
      'HTTP/1.1 501 Not Implemented',
    ])
    await proxy.close()
  })

  it('responses that wait their turn close with their connection, each once', async () => {
    const socket = new PassThrough()
    const closed: number[] = []
    const [first, second] = [0, 1].map((n) => {
      const response = new ServerResponse(new IncomingMessage(new Socket()))
      closeWithConnection(
        { socket } as unknown as IncomingMessage,
        response.on('close', () => closed.push(n)),
      )
      return response
    })
    const [served, gone] = [0, 1].map(() => new ServerResponse(new IncomingMessage(new Socket())))
    served?.assignSocket(new PassThrough() as unknown as Socket)
    gone?.destroy()
    const before = [served?.listenerCount('close'), gone?.listenerCount('close')]
    for (const each of [served, gone]) closeWithConnection({ socket } as unknown as IncomingMessage, each!)
    expect([served?.listenerCount('close'), gone?.listenerCount('close')]).toEqual(before)
    expect(socket.listenerCount('close')).toBe(1)
    first?.emit('close')
    const over = new Promise((resolve) => second?.once('close', resolve))
    socket.destroy()
    await over
    await new Promise(setImmediate)
    expect([closed, first?.destroyed, second?.destroyed]).toEqual([[0, 1], false, true])
  })
})
