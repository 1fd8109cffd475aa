/** Each limit at it and one beyond it: listeners, requests, responses and certificates. */
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { type Server as HttpServer, ServerResponse } from 'node:http'
import { createServer, type AddressInfo, Server } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import type { Request, Response } from 'express'
import { latency } from '../../src/http/latency.ts'
import { mediaType, readCookies, readFormFields, readServiceRequest } from '../../src/http/service-request.ts'
import { withReason } from '../../src/http/service-response.ts'
import { statusOf } from '../../src/http/web-app.ts'
import { createCertificate } from '../../src/http/certificate.ts'
import type { Settings } from '../../src/options/options.ts'
import { hasTwoNames, isLoopback, listen } from '../../src/http/listeners.ts'
import { incoming } from './incoming.ts'

it.each([
  ['127.0.0.1', true],
  ['127.255.255.255', true],
  ['localhost', true],
  ['::1', true],
  ['127.0.0.1.example', false],
  ['x127.0.0.1', false],
  ['127.0.0', false],
  ['127.0.0.1000', false],
  ['0.0.0.0', false],
  ['::', false],
])('the address %s is for this machine alone: %s', (host, isOwn) => {
  expect(isLoopback(host)).toBe(isOwn)
})

it.each([
  ['a=1; b=2=3', { a: '1', b: '2=3' }],
  ['a=1; a=2', { a: '2' }],
  ['=1; b', {}],
  ['a=', { a: '' }],
  ['x=1;y=2', { x: '1', y: '2' }],
])('the cookies of %j are %j', (header, cookies) => {
  expect(Object.fromEntries(readCookies(header))).toEqual(cookies)
})

it.each<[unknown, number]>([
  [{ status: 399 }, 500],
  [{ status: 400 }, 400],
  [{ status: 499 }, 499],
  [{ status: 500 }, 500],
  [{ status: '400' }, 500],
  [{}, 500],
  [null, 500],
  ['error', 500],
])('the mistake %j is answered with %i', (error, status) => {
  expect(statusOf(error)).toBe(status)
})

describe('a port that is free at one address, and not at the other', () => {
  const original = Object.getOwnPropertyDescriptor(Server.prototype, 'listen')?.value as Server['listen']
  const others: Server[] = []
  let tried: number[] = []
  const options = { host: '127.0.0.1', port: 0, tls: { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' } } as const

  /** Another program is faster, so many times: it takes the second address just before we do. */
  function faster(times: number, instead = '::1'): void {
    Server.prototype.listen = function listenLater(this: Server, port: number, host: string, done: () => void) {
      if (host === '::1') tried.push(port)
      if (host !== '::1' || tried.length > times) return Reflect.apply(original, this, [port, host, done])
      if (instead !== host) return Reflect.apply(original, this, [port, instead, done])
      const other = createServer()
      others.push(other)
      // Where a program of the machine's has been faster than ours, that is as good.
      const taken = (): void => void Reflect.apply(original, this, [port, host, done])
      Reflect.apply(original, other.once('error', taken), [port, host, taken])
      return this
    } as Server['listen']
  }
  beforeEach(() => {
    tried = []
  })
  afterEach(async () => {
    Server.prototype.listen = original
    for (const other of others.splice(0)) await new Promise((resolve) => other.close(resolve))
  })
  const isFree = async (port: number): Promise<boolean> => {
    const server = createServer().listen(port, '127.0.0.1')
    others.push(server)
    const [error]: unknown[] = await Promise.race([
      once(server, 'listening'),
      once(server, 'error').catch((cause) => [cause]),
    ])
    return error === undefined
  }

  it('is given back, and the next one is taken, up to five of them', async () => {
    faster(4)
    const listener = await listen(options)
    expect([tried.length, tried.indexOf(listener.port), await isFree(tried[0] ?? 0)]).toEqual([5, 4, true])
    await listener.close()
    tried = []
    faster(9)
    await expect(listen(options)).rejects.toMatchObject({ code: 'EADDRINUSE' })
    expect(tried).toHaveLength(5)
  })

  it('is refused where it was asked for', async () => {
    const free = createServer()
    free.listen(0, '127.0.0.1')
    await once(free, 'listening')
    const { port } = free.address() as AddressInfo
    await new Promise((resolve) => free.close(resolve))
    faster(1)
    await expect(listen({ ...options, port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    expect([tried, await isFree(port)]).toEqual([[port], true])
  })

  it('is taken alone on a machine that does not have the other', async () => {
    faster(1, '2001:db8::1')
    const listener = await listen(options)
    expect(tried).toEqual([listener.port])
    await listener.close()
  })
})

it('a form that names a field twice is none', () => {
  expect([readFormFields('a=1&b=2'), readFormFields('a=1&a=1')]).toEqual([
    new Map(Object.entries({ a: '1', b: '2' })),
    undefined,
  ])
})

it('a certificate is for the names of loopback and the host, and for servers alone', async () => {
  const { ca, cert } = await createCertificate('127.0.0.2')
  const [authority, server] = [new X509Certificate(ca), new X509Certificate(cert)]
  expect([authority.ca, server.ca, server.verify(authority.publicKey), server.checkIssued(authority)]).toEqual([
    true,
    false,
    true,
    true,
  ])
  // Both extensions are critical: RFC 5280 sections 4.2.1.3 and 4.2.1.9.
  for (const each of [authority, server]) {
    for (const identifier of ['551d13', '551d0f']) expect(each.raw.toString('hex')).toContain(`0603${identifier}0101ff`)
  }
  expect([authority.subject, server.subject]).toEqual(['CN=owner-sso emulator CA', 'CN=localhost'])
  expect(server.subjectAltName).toBe(
    'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, IP Address:127.0.0.2',
  )
  expect(server.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
  expect(authority.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' })
  expect(server.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' })
  for (const host of ['1.car', 'car.1']) {
    const { subjectAltName } = new X509Certificate((await createCertificate(host)).cert)
    expect(subjectAltName).toMatch(`, DNS:${host}`)
  }
  const named = new X509Certificate((await createCertificate('car.test')).cert)
  expect(named.subjectAltName).toBe('DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:car.test')
})

it.each([
  ['127.0.0.1', true],
  ['localhost', true],
  ['::1', true],
  ['0.0.0.0', true],
  ['::', true],
  ['127.0.0.2', false],
])('what listens on %s has two names: %s', (host, has) => {
  expect(hasTwoNames(host)).toBe(has)
})

it('every server has 16 KiB for headers, 30 s for them, 60 s for a request, and keeps idle connections for 60 s', async () => {
  const original = Object.getOwnPropertyDescriptor(Server.prototype, 'listen')?.value as Server['listen']
  const servers: HttpServer[] = []
  Server.prototype.listen = function keep(this: HttpServer, ...given: never[]) {
    servers.push(this)
    return Reflect.apply(original, this, given)
  } as Server['listen']
  try {
    const tls = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' } as const
    const options = { host: '127.0.0.2', port: 0, tls }
    const certificate = await createCertificate('127.0.0.2')
    for (const each of [options, { ...options, certificate }]) await (await listen(each)).close()
  } finally {
    Server.prototype.listen = original
  }
  const limits = { maxHeaderSize: 16_384, headersTimeout: 30_000, requestTimeout: 60_000, keepAliveTimeout: 60_000 }
  expect(servers).toMatchObject([limits, limits])
})

it('a request is read from its first question mark on, and its media type up to the first semicolon', () => {
  const home = { region: 'home', url: 'http://127.0.0.1' } as const
  const queryOf = (url: string) => [...readServiceRequest(incoming(url), home, '').query]
  expect(queryOf('/oauth2/v3/authorize')).toEqual([])
  expect(queryOf('a=b')).toEqual([])
  expect(queryOf('?a=b')).toEqual([['a', 'b']])
  expect(queryOf('/a?b=c?d&e')).toEqual([
    ['b', 'c?d'],
    ['e', ''],
  ])
  expect(readServiceRequest(incoming('/'), home, 'x')).toMatchObject({ contentType: '', userAgent: '', body: 'x' })
  expect(['Text/HTML ; charset=utf-8; x', '', ';'].map(mediaType)).toEqual(['text/html', '', ''])
})

it('a reason goes with a response, and names a refusal where the status does not', () => {
  const response = { status: 200, headers: {}, body: '' }
  expect(withReason('why', response)).toEqual({ ...response, decision: 'why' })
  expect(withReason('why', response, true)).toEqual({ ...response, decision: 'why', refused: true })
})

it('without latency a request goes on in the same turn, with some it does not', async () => {
  const goesOnAtOnce = async (milliseconds: number): Promise<boolean> => {
    let isOn = false
    const request = incoming('/')
    const handler = latency({ latency: milliseconds } as Settings)
    const next = (): void => {
      isOn = true
    }
    const done = handler(request as Request, new ServerResponse(request) as Response, next)
    const atOnce = isOn
    await done
    expect(isOn).toBe(true)
    return atOnce
  }
  expect([await goesOnAtOnce(0), await goesOnAtOnce(1)]).toEqual([true, false])
})
