/** The pieces of the proxy by themselves: headers, addresses, places, connections. */
import { Agent, IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { describe, expect, it, jest } from '@jest/globals'
import { connectionsFor, straightConnections } from '../../src/calls/connections.ts'
import { checkedAddress, parseOwnerCallOptions } from '../../src/calls/options.ts'
import { answerFault } from '../../src/handler-fault.ts'
import { isCrossSite } from '../../src/proxy/cross-site.ts'
import { connectionNames } from '../../src/proxy/header-names.ts'
import { parseProxyOptions } from '../../src/proxy/options.ts'
import { ownLocation } from '../../src/proxy/own-location.ts'
import { requestBody } from '../../src/proxy/request-body.ts'
import { upstreamPool } from '../../src/proxy/upstream-pool.ts'
import { endAfterAnswer, isSpent } from '../../src/proxy/spent-connection.ts'
import { ownerApiTarget } from '../../src/target.ts'
import { valid } from './valid-options.ts'

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
