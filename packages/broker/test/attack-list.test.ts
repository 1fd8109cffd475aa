/** What nobody who means well would send, as bytes over a bare socket. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals'
import fc from 'fast-check'
import { isOwnHost } from '../src/http/guard.ts'
import { account, type Home, refreshAt, startHome, tokensIn } from './broker-home.ts'
import { useTimersByHand } from './only-timers.ts'

interface RawAnswer {
  /** 0 where the connection was closed without an answer. */
  readonly status: number
  readonly text: string
}

let home: Home
let key: string
let realToken: string
const sockets = new Set<Socket>()
beforeAll(async () => {
  home = await startHome({ withProxy: true, hosts: ['broker.example'], limits: { wrongKeysPerMinute: 1000 } })
  key = await home.invite('victim', { scope: ['token', 'proxy'], limits: { callsPerMinute: 10_000 } })
  realToken = await home.tokens.getAccessToken(account)
})
afterEach(() => void jest.useRealTimers())
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await home[Symbol.asyncDispose]()
})

function send(bytes: string): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(home.url).port), '127.0.0.1')
    sockets.add(socket)
    let text = ''
    socket.setEncoding('latin1').on('data', (chunk) => (text += chunk))
    socket.on('connect', () => socket.write(bytes, 'latin1'))
    // A reset after the answer is as good as an end.
    socket.on('error', () => undefined)
    socket.on('close', () => {
      sockets.delete(socket)
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/u.exec(text)?.[1] ?? 0), text })
    })
  })
}

const lines = (...all: readonly string[]): string => `${all.join('\r\n')}\r\nConnection: close\r\n\r\n`
const get = (path: string, ...more: readonly string[]): Promise<RawAnswer> =>
  send(lines(`GET ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${key}`, ...more))

describe('pages of a browser', () => {
  it.each([
    'evil.example',
    'broker.example.evil.example',
    '127.0.0.1.evil.example',
    'localhost..',
    '.',
    'evil.example.',
    'a@127.0.0.1',
    '',
    'localhost:x',
    '[::1',
  ])('get nothing under the name %j, which may lead here by DNS', async (host) => {
    const answer = await send(lines('GET /token HTTP/1.1', `Host: ${host}`, `Authorization: Bearer ${key}`))
    expect([400, 421]).toContain(answer.status)
    expect(answer.text).not.toContain(realToken)
  })

  it.each([
    '127.0.0.1',
    '[::1]:80',
    'LOCALHOST:8700',
    'Broker.Example',
    '192.168.1.5:1',
    'localhost.:80',
    'broker.example.',
  ])('are answered under the name %s, without Origin', async (host) => {
    const answer = await send(lines('GET /token HTTP/1.1', `Host: ${host}`, `Authorization: Bearer ${key}`))
    expect([answer.status, answer.text.includes(realToken)]).toEqual([200, true])
  })

  it.each([
    'Origin: http://evil.example',
    'Origin: null',
    'Origin: http://127.0.0.1',
    'Sec-Fetch-Site: cross-site',
    'Sec-Fetch-Site: same-site',
    'Sec-Fetch-Site: same-origin',
  ])('are rejected: %s', async (header) => {
    for (const path of ['/token', '/api/1/vehicles', '/healthz']) {
      const answer = await get(path, header)
      expect(answer.status).toBe(403)
      expect(answer.text).toContain('ERR_BROKER_CROSS_SITE')
    }
  })
})

it('two names for one request are rejected', async () => {
  expect((await get('/token', 'Host: localhost')).status).toBe(400)
})

describe('verbs and paths', () => {
  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'])('%s /token gets no token', async (verb) => {
    const answer = await send(lines(`${verb} /token HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${key}`))
    expect(answer.status).toBe(405)
    expect(answer.text).toMatch(/^allow: GET, HEAD\r$/mu)
  })

  it('HEAD gets no token', async () => {
    const answer = await send(lines('HEAD /token HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${key}`))
    expect([answer.status, answer.text.includes(realToken)]).toEqual([200, false])
  })

  it.each(['GET', 'PUT', 'HEAD'])('%s is no token request', async (verb) => {
    expect((await send(lines(`${verb} /oauth2/v3/token HTTP/1.1`, 'Host: localhost'))).status).toBe(405)
  })

  it.each([
    '/TOKEN',
    '/token/',
    '//token',
    '/./token',
    '/oauth2/v3/token/../../token',
    '/%74oken',
    '/',
    '*',
    'http://127.0.0.1',
    'http://localhost//token',
    'http://evil.example/token',
    'http://127.0.0.1@evil.example/token',
    'ftp://127.0.0.1/token',
  ])('there is nothing at %s', async (path) => {
    const answer = await get(path)
    expect([400, 404, 421]).toContain(answer.status)
    expect(answer.text).not.toContain(realToken)
  })

  it('a whole address is as good as its path, and names the host as well', async () => {
    const getAt = (host: string, target: string): Promise<RawAnswer> =>
      send(lines(`GET ${target} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${key}`))
    const answer = await getAt('localhost:8700', 'HTTP://localhost:8700/token?account=plain@example.com')
    expect([answer.status, answer.text.includes(realToken)]).toEqual([200, true])
    const call = await getAt('broker.example', 'http://broker.example/api/1/vehicles?page=1')
    expect([call.status, call.text.includes('"count":2')]).toEqual([200, true])
    expect((await getAt('evil.example', 'http://localhost/token')).status).toBe(421)
    expect((await getAt('localhost', 'http://evil.example/token')).status).toBe(404)
  })

  it('a load balancer of HTTP/1.0 needs no name; whoever gives one needs a right one', async () => {
    expect((await send('GET /healthz HTTP/1.0\r\n\r\n')).status).toBe(200)
    expect((await send(`GET /token HTTP/1.0\r\nAuthorization: Bearer ${key}\r\n\r\n`)).text).toContain(realToken)
    expect((await send('GET /healthz HTTP/1.0\r\nHost: evil.example\r\n\r\n')).status).toBe(421)
    expect((await send('GET /healthz HTTP/1.0\r\nOrigin: http://evil.example\r\n\r\n')).status).toBe(403)
    expect((await send(lines('GET /healthz HTTP/1.1'))).status).toBe(400)
  })

  it.each(['/api/2/x', '/api/1/../../token', '/api/1/%2e%2e/%2e%2e/token'])('the proxy rejects %s', async (path) => {
    expect([400, 404]).toContain((await get(path)).status)
  })

  it('rejects CONNECT and upgrades with an answer', async () => {
    expect((await send(lines('CONNECT elsewhere:1 HTTP/1.1', 'Host: localhost'))).status).toBe(405)
    const upgrade = lines('GET /token HTTP/1.1', 'Host: localhost', 'Upgrade: websocket').replace('close', 'upgrade')
    expect((await send(upgrade)).status).toBe(501)
  })

  it.each(['/token', '/api/1/vehicles', '/healthz'])('answers %s to a client that offers HTTP/2', async (path) => {
    const connection = 'Connection: Upgrade, HTTP2-Settings, close'
    const offer = [connection, 'Upgrade: h2c', 'HTTP2-Settings: AAEAAEAAAAIAAAAA']
    const head = [`GET ${path} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${key}`, ...offer]
    expect((await send(`${head.join('\r\n')}\r\n\r\n`)).status).toBe(200)
  })
})

describe('keys', () => {
  it.each([
    ['none', []],
    ['an empty one', ['Authorization: Bearer ']],
    ['another scheme', ['Authorization: Basic dmljdGltOng=']],
    ['the real access token', ['Authorization: Bearer REAL']],
    ['a null byte', ['Authorization: Bearer \0']],
    ['two headers, the wrong one first', ['Authorization: Bearer wrong', 'Authorization: Bearer KEY']],
    ['a key in the address', [], '?access_token=KEY'],
    ['a name of the trusted', ['X-Forwarded-For: unix socket']],
  ])('%s opens nothing', async (_what, more, search = '') => {
    const filled = [`GET /token${search} HTTP/1.1`, 'Host: localhost', ...more].map((line) =>
      line.replace('KEY', key).replace('REAL', realToken),
    )
    const answer = await send(lines(...filled))
    expect([400, 401]).toContain(answer.status)
    expect(answer.text).not.toContain(realToken)
    expect(answer.status === 401).toBe(answer.text.includes('www-authenticate: Bearer'))
  })

  it('open no account of other clients, whether it exists or not', async () => {
    const answers = await Promise.all(
      ['mfa@example.com', 'nobody@example.com', '__proto__', '', '../x'].map((name) =>
        get('/token', `X-Owner-Account: ${name}`),
      ),
    )
    const bodies = answers.map(({ text }) => text.slice(text.indexOf('\r\n\r\n')))
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403])
    expect(new Set(bodies).size).toBe(1)
  })

  it('can be guessed a few times in a minute, while a right one is served', async () => {
    await using strict = await startHome({ limits: { wrongKeysPerMinute: 3, callsPerMinute: 5 } })
    const right = await strict.invite('right')
    const guesses: number[] = []
    for (let guess = 0; guess < 5; guess += 1) guesses.push((await strict.token(`wrong-${guess}`)).status)
    expect(guesses).toEqual([401, 401, 401, 429, 429])
    const rejected = await strict.refresh('owner-sso-guess')
    expect([rejected.status, Number(rejected.headers.get('retry-after')) > 0]).toEqual([429, true])
    const calls: number[] = []
    for (let call = 0; call < 7; call += 1) calls.push((await strict.token(right)).status)
    expect(calls).toEqual([200, 200, 200, 200, 200, 429, 429])
    // Another client has a limit of its own.
    expect((await strict.token(await strict.invite('other'))).status).toBe(200)
  })
})

describe('bodies', () => {
  const post = (body: string, ...more: readonly string[]): Promise<RawAnswer> => {
    const head = ['POST /oauth2/v3/token HTTP/1.1', 'Host: localhost', 'Connection: close', ...more]
    return send(`${head.join('\r\n')}\r\n\r\n${body}`)
  }
  const json = (): string => JSON.stringify({ grant_type: 'refresh_token', refresh_token: key })

  it('with one Content-Length, in form or JSON, are read', async () => {
    const answer = await post(json(), 'Content-Type: application/json', `Content-Length: ${json().length}`)
    expect([answer.status, answer.text.includes(realToken)]).toEqual([200, true])
  })

  it.each([
    ['of another type', ['Content-Type: text/plain']],
    ['of no type', []],
    ['that are packed', ['Content-Type: application/json', 'Content-Encoding: gzip']],
  ])('%s are rejected', async (_what, more) => {
    const answer = await post(json(), ...more, `Content-Length: ${json().length}`)
    expect([answer.status, answer.text.includes('invalid_request')]).toEqual([400, true])
  })

  it.each([
    [16_384, 200],
    [16_385, 413],
  ])('of %i bytes are answered with %i, with Content-Length and in chunks', async (length, status) => {
    const body = json().padEnd(length)
    const said = await post(body, 'Content-Type: application/json', `Content-Length: ${length}`)
    const chunks = `${length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    const unsaid = await post(chunks, 'Content-Type: application/json', 'Transfer-Encoding: chunked')
    expect([said.status, unsaid.status]).toEqual([status, status])
  })

  it.each([
    ['both', ['Content-Length: 5', 'Transfer-Encoding: chunked']],
    ['two lengths', ['Content-Length: 5', 'Content-Length: 60']],
    ['an unknown coding', ['Transfer-Encoding: xchunked']],
    ['a space before the colon', ['Content-Length : 5']],
    ['a bare CR', ['X-Cr: a\rTransfer-Encoding: chunked']],
  ])('whose end can be read in two ways (%s) smuggle no second request in', async (_what, more) => {
    const before = home.audit.length
    const smuggled = `0\r\n\r\nGET /token HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`
    const answer = await send(
      [
        'POST /oauth2/v3/token HTTP/1.1',
        'Host: localhost',
        'Content-Type: application/json',
        ...more,
        '',
        smuggled,
      ].join('\r\n'),
    )
    expect([400, 501]).toContain(answer.status)
    expect(answer.text).not.toContain(realToken)
    expect(home.audit.slice(before).filter(({ event }) => event === 'token')).toEqual([])
  })

  it('of a GET are rejected, and what comes after them is not read', async () => {
    const answer = await send(
      `GET /token HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhelloGET /token HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`,
    )
    expect([answer.status, answer.text.includes(realToken)]).toEqual([400, false])
  })

  it('of random bytes are rejected, and never end in a 500', async () => {
    const types = fc.constantFrom(
      'application/json',
      'Application/JSON; charset=utf-8',
      'application/x-www-form-urlencoded',
      'x',
    )
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.json()), types, async (body, type) => {
        expect((await home.refresh('', { headers: { 'content-type': type }, body })).status).toBe(400)
      }),
    )
  })

  it('with the key as it stands in a file, behind a byte order mark and before a line end, are read', async () => {
    const mark = Buffer.from('\uFEFF').toString('latin1')
    expect((await home.token('', '', { authorization: `Bearer ${mark}${key}` })).status).toBe(200)
    expect((await home.token('', '', { authorization: `Bearer ${mark}${mark}${key}` })).status).toBe(401)
    const tokens = await tokensIn(await home.refresh(`\uFEFF${key}\r\n`))
    expect(tokens).toMatchObject({ access_token: realToken, refresh_token: key })
  })

  it.each([
    ['application/json', () => json()],
    ['application/x-www-form-urlencoded', () => `grant_type=refresh_token&refresh_token=${key}`],
  ])('of %s are read behind a byte order mark', async (type, body) => {
    const answer = await home.refresh('', { headers: { 'content-type': type }, body: `\uFEFF${body()}` })
    expect(await tokensIn(answer)).toMatchObject({ access_token: realToken })
  })

  it('that name a field twice are rejected', async () => {
    const body = `grant_type=refresh_token&refresh_token=${key}&refresh_token=${key}`
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    expect(await (await home.refresh('', { headers, body })).json()).toMatchObject({ error: 'invalid_request' })
  })

  it('have ten seconds', async () => {
    useTimersByHand()
    const arrived = once(home.server.server, 'request')
    const answer = post('{', 'Content-Type: application/json', 'Content-Length: 2')
    await arrived
    await jest.advanceTimersByTimeAsync(10_000)
    expect((await answer).text).toContain('The body did not arrive in time.')
  })
})

it('a flood of calls and of connections that say nothing holds nobody else up', async () => {
  const silent = Array.from({ length: 200 }, () => connect(Number(new URL(home.url).port), '127.0.0.1'))
  for (const socket of silent) sockets.add(socket.on('error', () => undefined))
  const answers = await Promise.all(
    Array.from({ length: 300 }, (_, index) => (index % 2 ? home.token('wrong') : home.token(key))),
  )
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(150)
  expect(await tokensIn(await home.refresh(key))).toMatchObject({ access_token: realToken })
  for (const socket of silent) socket.destroy()
})

it('a Host that only looks like one of its own names is not taken for one', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme-ascii' }), (host) => {
      const looksOwn = /^(?:localhost|\[[\da-f:.]+\]|[\d.]+)(?::\d+)?$/iu.test(host)
      expect(looksOwn || !isOwnHost(host, new Set())).toBe(true)
    }),
  )
})

it('one IPv6 network counts as one address, and every IPv4 address by itself', async () => {
  await using strict = await startHome({
    where: () => ({ port: 0, behindTlsProxy: true }),
    limits: { wrongKeysPerMinute: 1 },
  })
  const guessFrom = async (address: string): Promise<number> =>
    (await strict.token('wrong', '', { 'x-forwarded-for': `192.0.2.99, ${address}` })).status
  expect([await guessFrom('2001:db8:1:2:3:4:5:6'), await guessFrom('2001:db8:1:2::1%eth0')]).toEqual([401, 429])
  const others = ['2001:db8:1:3::1', '2001:db8::', '::1', '::ffff:192.0.2.1', '::ffff:192.0.2.2', '192.0.2.1']
  for (const address of others) expect([address, await guessFrom(address)]).toEqual([address, 401])
})

it('by default an address may try 20 wrong keys a minute, and a client may call 600 times', async () => {
  await using usual = await startHome()
  const right = await usual.invite('right')
  const statuses = async (calls: number, call: () => Promise<Response>): Promise<number[]> => {
    const answers = await Promise.all(Array.from({ length: calls }, call))
    return answers.map(({ status }) => status).toSorted((one, other) => one - other)
  }
  const guesses = await statuses(21, () => refreshAt(usual.url, 'owner-sso-guess'))
  expect([guesses.filter((status) => status === 400).length, guesses.at(-1)]).toEqual([20, 429])
  const calls = await statuses(601, () => usual.token(right))
  expect([calls.filter((status) => status === 200).length, calls.at(-1)]).toEqual([600, 429])
})
