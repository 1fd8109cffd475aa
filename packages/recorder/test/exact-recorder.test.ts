/** Each limit at it and one beyond it: what goes to the service and comes from it, and the ports. */
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import * as consumers from 'node:stream/consumers'
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { Fixture } from '../src/fixture/fixture.ts'
import { format } from '../src/fixture/fixture-checks.ts'
import { listenOnLoopback } from '../src/listener.ts'
import { ownAddresses } from '../src/loopback.ts'
import type { SeenResponse } from '../src/masking/exchange-mask.ts'
import { baseAddress, swapped } from '../src/recorder/addresses.ts'
import { clientResponse, swappedBody } from '../src/recorder/client-response.ts'
import { startReplay } from '../src/replay/replay.ts'
import { startRecorder } from '../src/recorder/recorder.ts'
import { startResponseLimit } from '../src/recorder/response-limit.ts'
import { createUpstream, headerPairs } from '../src/recorder/upstream.ts'
import { transportFromText, upstreamTls } from '../src/recorder/upstream-tls.ts'

/** What it comes to; the name of the error where it throws one. */
function outcomeOf(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    return error instanceof Error && error.name
  }
}

it.each([
  ['https://auth.example.com', 'https://auth.example.com'],
  ['https://auth.example.com//', 'https://auth.example.com'],
  ['http://localhost:1/', 'http://localhost:1'],
  ['http://127.1.2.3', 'http://127.1.2.3'],
  ['http://[::1]/', 'http://[::1]'],
  ['http://auth.example.com', undefined],
  ['http://xlocalhost', undefined],
  ['http://localhostx', undefined],
  ['ftp://localhost', undefined],
  ['https://ann@auth.example.com', undefined],
  ['https://auth.example.com/?a', undefined],
  ['https://auth.example.com/#a', undefined],
  ['auth.example.com', undefined],
])('the service may be at %s: %s', (address, base) => {
  const found = outcomeOf(() => baseAddress('upstream', address))
  expect(found).toBe(base ?? 'TypeError')
})

it('an address is put in another’s place in each spelling, and no longer one', () => {
  const to = [['http://127.0.0.1:4000', 'https://auth.example.com']] as const
  expect(swapped('http://127.0.0.1:4000/a', to)).toBe('https://auth.example.com/a')
  expect(swapped('http%3A%2F%2F127.0.0.1%3A4000', to)).toBe('https%3A%2F%2Fauth.example.com')
  expect(swapped(String.raw`http:\/\/127.0.0.1:4000`, to)).toBe(String.raw`https:\/\/auth.example.com`)
  for (const other of ['http://127.0.0.1:40001', 'http://127x0.0.1:4000']) expect(swapped(other, to)).toBe(other)
  const bytes = Buffer.from([0xff, 0x68])
  expect(swappedBody(bytes, to)).toBe(bytes)
})

it.each([
  ['a=b; Domain=x; Secure; Partitioned; SameSite=None; Path=/', 'a=b; Path=/'],
  ['a=b; SameSite=Lax; Secured; xdomain=1; partitioned=1', 'a=b; SameSite=Lax; Secured; xdomain=1; partitioned=1'],
  [' __host-a=b; Domain=x; Secure; SameSite=None', ' __host-a=b; Secure; SameSite=None'],
  ['__Secure-a=b;domain =x;Secure', '__Secure-a=b;Secure'],
  ['x__Host-a=b; Secure', 'x__Host-a=b'],
  ['__Host-a=b; xdomain=1; domain', '__Host-a=b; xdomain=1; domain'],
])('a cookie %j reaches the client as %j', (value, shown) => {
  const answer = { status: 200, headers: [['Set-Cookie', value]] as const, body: Buffer.alloc(0) }
  expect(clientResponse(answer, [], new Set()).headers).toEqual([['Set-Cookie', shown]])
})

it('a redirect to an address of the client’s own stays there, its query aside', () => {
  const swaps = [['http://127.0.0.1:4000', 'https://auth.example.com']] as const
  const location = 'https://auth.example.com/void?issuer=https%3A%2F%2Fauth.example.com'
  const redirect = (name: string, foreign: readonly string[]) =>
    clientResponse({ status: 302, headers: [[name, location]], body: Buffer.alloc(0) }, swaps, new Set(foreign)).headers
  const issuer = 'issuer=http%3A%2F%2F127.0.0.1%3A4000'
  expect(redirect('Location', [])).toEqual([['Location', `http://127.0.0.1:4000/void?${issuer}`]])
  expect(redirect('location', ['https://auth.example.com/void'])).toEqual([
    ['location', `https://auth.example.com/void?${issuer}`],
  ])
  expect(redirect('x-other', ['https://auth.example.com/void'])).toEqual([
    ['x-other', `http://127.0.0.1:4000/void?${issuer}`],
  ])
})

it('the two instances are two names of one port', () => {
  const { addresses, instanceOf } = ownAddresses(4000)
  expect(addresses).toEqual({ home: 'http://127.0.0.1:4000', regional: 'http://localhost:4000' })
  const hosts = ['127.0.0.1:4000', 'LOCALHOST:4000', 'localhost', 'localhost:40001', undefined]
  expect(hosts.map((host) => instanceOf({ headers: { host } } as never))).toEqual([
    'home',
    'regional',
    ...Array<undefined>(3),
  ])
})

describe('how the service is spoken to', () => {
  const only = (version: string) => ({ minVersion: version, maxVersion: version })
  it.each<[unknown, object | undefined]>([
    [undefined, only('TLSv1.2')],
    ['document', only('TLSv1.2')],
    ['modern', only('TLSv1.3')],
    [{ tls: { maxVersion: 'TLSv1.3' } }, { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' }],
    [{ tls: { ciphers: 'X' } }, { ...only('TLSv1.2'), ciphers: 'X' }],
    [{}, only('TLSv1.2')],
    [{ tls: { minVersion: 'TLSv1.3' } }, undefined],
    [{ tls: { maxVersion: 'TLSv1.1', minVersion: 'TLSv1.1' } }, undefined],
    [{ tls: { ciphers: 1 } }, undefined],
    [{ tls: null }, undefined],
    ['other', undefined],
    [null, undefined],
  ])('%j: %j', (transport, parts) => {
    const found = outcomeOf(() => upstreamTls(transport))
    expect(found).toEqual(parts ?? 'TypeError')
    expect(upstreamTls('document', 'pem')).toEqual({ ...only('TLSv1.2'), ca: 'pem' })
  })

  it('is an argument: a name, or JSON', () => {
    expect(['document', 'modern', '{"tls":{}}'].map(transportFromText)).toEqual(['document', 'modern', { tls: {} }])
    for (const text of ['other', '"modern"', 'null', '{', '']) expect(() => transportFromText(text)).toThrow(TypeError)
  })
})

it('the headers of a message are pairs of Node’s flat list', () => {
  expect(headerPairs(['A', '1', 'b', '2', 'A', '3'])).toEqual([
    ['A', '1'],
    ['b', '2'],
    ['A', '3'],
  ])
})

it('a port that is taken at one of the two addresses is refused, and given back at the other', async () => {
  const other = createServer().listen(0, '::1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  await expect(listenOnLoopback(port)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await new Promise((resolve) => other.close(resolve))
  const listener = await listenOnLoopback(port)
  expect(listener.port).toBe(port)
  listener.serve((_request, response) => response.end('here'))
  for (const host of ['127.0.0.1', '[::1]']) expect(await (await fetch(`http://${host}:${port}/`)).text()).toBe('here')
  await listener.close()
  await (await listenOnLoopback(port)).close()
})

describe('the time that an answer may take', () => {
  beforeEach(() => void jest.useFakeTimers())
  afterEach(() => void jest.useRealTimers())

  /** Milliseconds after which it is over; a process that is held up reads what has come, twenty turns long. */
  function lasting(milliseconds: number): number {
    const { signal } = startResponseLimit(milliseconds)
    let passed = 0
    for (; !signal.aborted && passed < 5000; passed += 1) jest.advanceTimersByTime(1)
    return passed
  }

  it.each([
    // Twenty turns, each of which here takes a millisecond to begin.
    [1000, 1020],
    [201, 221],
    [200, 220],
    [0, 220],
  ])('%i ms are over after %i', (milliseconds, passed) => {
    expect(lasting(milliseconds)).toBe(passed)
  })

  it('ends in many small turns, and leaves nothing behind once the answer is there', () => {
    const limit = startResponseLimit(1000)
    jest.advanceTimersByTime(799)
    expect(jest.getTimerCount()).toBe(1)
    jest.advanceTimersByTime(1)
    // The first of the turns is behind the sockets.
    expect([limit.signal.aborted, jest.getTimerCount()]).toEqual([false, 1])
    limit.end()
    expect(jest.getTimerCount()).toBe(0)
    const other = startResponseLimit(1000)
    other.end()
    expect(jest.getTimerCount()).toBe(0)
  })
})

describe('a request to the service', () => {
  const most = 8 * 1024 * 1024
  const encodings: Readonly<Record<string, Buffer>> = {
    gzip: gzipSync('as it was'),
    'x-gzip': gzipSync('as it was'),
    deflate: deflateSync('as it was'),
    br: brotliCompressSync('as it was'),
    ' GZIP ': gzipSync('as it was'),
    identity: Buffer.from('as it was'),
  }
  const sent: Record<string, Buffer> = {
    largest: Buffer.alloc(most),
    larger: Buffer.alloc(most + 1),
    bomb: gzipSync(Buffer.alloc(most + 1)),
    broken: Buffer.from('as it was'),
  }
  const server = createHttpServer((request, response) => {
    const [, kind = '', name = ''] = decodeURIComponent(request.url ?? '').split('/')
    const names = request.rawHeaders.filter((_each, index) => index % 2 === 0)
    if (kind === 'cut') request.socket.destroy()
    else if (kind === 'headers')
      response
        .writeHead(200, { 'x-content-encoding': 'none', 'content-encoding-x': 'none', a: 'x'.repeat(Number(name)) })
        .end()
    else if (kind === 'encoded')
      response.writeHead(203, { 'content-encoding': name }).end(encodings[name] ?? 'as it was')
    else if (kind === 'empty') response.writeHead(200, { 'content-encoding': 'gzip', 'x-a': '1' }).end()
    else if (kind === 'sent')
      response.writeHead(200, ['bomb', 'broken'].includes(name) ? { 'content-encoding': 'gzip' } : {}).end(sent[name])
    else
      response
        .setHeader('connection', 'close')
        .setHeader('keep-alive', 'x')
        .end(JSON.stringify({ names, host: request.headers.host, length: request.headers['content-length'] }))
  })
  const connection = new Socket()
  const upstream = createUpstream({ minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' })
  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterAll(async () => {
    upstream.close()
    connection.destroy()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const address = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const send = (
    path: string,
    more: {
      method?: string
      connection?: Socket
      headers?: readonly (readonly [string, string])[]
      body?: Buffer
    } = {},
  ) =>
    upstream.send({
      url: `${address()}${path}`,
      method: 'GET',
      headers: [],
      body: Buffer.alloc(0),
      connection,
      signal: new AbortController().signal,
      ...more,
    })

  it('has the headers of the client but for those of its connection, and a length where it has a body', async () => {
    const headers = [
      'Connection',
      'keep-alive',
      'Proxy-Authorization',
      'TE',
      'Trailer',
      'transfer-encoding',
      'Upgrade',
      'Expect',
      'Content-Length',
      'Host',
      'X-Host',
      'Hosts',
      'Accept',
    ].map((name) => [name, 'x'] as const)
    const told = async (method: string, body = ''): Promise<unknown> => {
      const outcome = await send('/', { method, headers, body: Buffer.from(body) })
      if (outcome.kind !== 'answer') return outcome
      expect(outcome.answer.headers.map(([name]) => name.toLowerCase())).toEqual(['date'])
      return JSON.parse(outcome.answer.body.toString())
    }
    const passed = ['X-Host', 'Hosts', 'Accept', 'Connection']
    const host = new URL(address()).host
    expect(await told('GET')).toEqual({ names: ['Host', ...passed], host })
    expect(await told('POST')).toEqual({ names: ['Host', 'Content-Length', ...passed], host, length: '0' })
    expect(await told('PUT', 'a')).toEqual({ names: ['Host', 'Content-Length', ...passed], host, length: '1' })
  })

  it.each(Object.keys(encodings))('reads an answer that is encoded as %j', async (name) => {
    const { kind, answer } = (await send(`/encoded/${encodeURIComponent(name)}`)) as {
      kind: string
      answer?: SeenResponse
    }
    const names = answer?.headers.map(([header]) => header.toLowerCase())
    expect([kind, answer?.status, names, answer?.body.toString()]).toEqual(['answer', 203, ['date'], 'as it was'])
  })

  it('says why it can not read any other', async () => {
    const reason = 'its answer is encoded in a way that can not be read: leave accept-encoding out'
    expect(await send('/encoded/compress')).toEqual({ kind: 'unreachable', reason })
  })

  it('reads one of 8 MiB, and no larger, however it is encoded', async () => {
    const { answer } = (await send('/sent/largest')) as { answer?: { body: Buffer } }
    expect(answer?.body.length).toBe(most)
    expect(await send('/sent/larger')).toEqual({ kind: 'unreachable', reason: 'its answer is larger than 8 MiB' })
    for (const name of ['bomb', 'broken'])
      expect(await send(`/sent/${name}`)).toEqual({
        kind: 'unreachable',
        reason: 'its answer is not valid gzip, or larger than 8 MiB',
      })
    expect(await send('/empty')).toMatchObject({ kind: 'answer', answer: { status: 200, body: Buffer.alloc(0) } })
  })

  it('waits two minutes for an answer, the last of them in small turns', async () => {
    const timer = jest.spyOn(globalThis, 'setTimeout')
    await send('/empty')
    const delays = timer.mock.calls.map(([, delay]) => delay)
    timer.mockRestore()
    expect(delays).toContain(119_800)
  })

  it('reads headers of 64 KiB in all, and passes on those that only look like others', async () => {
    const { answer } = (await send('/headers/60000')) as { answer?: SeenResponse }
    expect(answer?.headers.map(([name]) => name)).toEqual(['x-content-encoding', 'content-encoding-x', 'a', 'Date'])
    expect(await send('/headers/66000')).toEqual({ kind: 'cut' })
  })

  it('goes over one connection for each of the client’s, which ends with it', async () => {
    const sockets = new Set<Socket>()
    const note = ({ socket }: { socket: Socket }): void => void sockets.add(socket)
    server.on('request', note)
    const [one, other] = [new Socket(), new Socket()]
    await Promise.all([send('/encoded/br', { connection: one }), send('/encoded/br', { connection: one })])
    await send('/encoded/br', { connection: one })
    expect(sockets.size).toBe(1)
    await send('/encoded/br', { connection: other })
    expect(sockets.size).toBe(2)
    server.off('request', note)
    const [first] = [...sockets]
    const ended = once(first!, 'close')
    one.emit('close')
    await ended
    expect([...sockets].map(({ destroyed }) => destroyed)).toEqual([true, false])
    // What is known of a client goes with it.
    server.on('request', note)
    await send('/encoded/br', { connection: one })
    server.off('request', note)
    const again = once([...sockets][2]!, 'close')
    one.emit('close')
    await again
    // And all of it with the recorder.
    const last = once([...sockets][1]!, 'close')
    upstream.close()
    await last
  })

  it('that is not answered was cut, given up, or never arrived', async () => {
    expect(await send('/cut', { method: 'POST', body: Buffer.from('x') })).toEqual({ kind: 'cut' })
    const gone = upstream.send({
      url: `${address()}/`,
      method: 'GET',
      headers: [],
      body: Buffer.alloc(0),
      connection,
      signal: AbortSignal.abort(),
    })
    expect(await gone).toEqual({ kind: 'none' })
    const unused = createServer().listen(0, '127.0.0.1')
    await once(unused, 'listening')
    const { port } = unused.address() as AddressInfo
    await new Promise((resolve) => unused.close(resolve))
    const away = upstream.send({
      url: `http://127.0.0.1:${port}/`,
      method: 'GET',
      headers: [],
      body: Buffer.alloc(0),
      connection,
      signal: new AbortController().signal,
    })
    expect(await away).toEqual({ kind: 'unreachable', reason: 'ECONNREFUSED' })
  })
})

describe('a port of this machine', () => {
  const original = Object.getOwnPropertyDescriptor(Server.prototype, 'listen')?.value as Server['listen']
  const others: Server[] = []
  let tried: number[] = []
  /** Another program takes the second address just before we do, so many times. */
  function faster(times: number): void {
    tried = []
    Server.prototype.listen = function listenLater(this: Server, port: number, host: string, done: () => void) {
      if (host === '::1') tried.push(port)
      if (host !== '::1' || tried.length > times) return Reflect.apply(original, this, [port, host, done])
      const other = createServer()
      others.push(other)
      const listen = () => Reflect.apply(original, this, [port, host, done])
      // Where it is taken already, that is as good.
      Reflect.apply(original, other.once('error', listen), [port, host, listen])
      return this
    } as Server['listen']
  }
  afterEach(async () => {
    Server.prototype.listen = original
    for (const other of others.splice(0)) await new Promise((resolve) => other.close(resolve))
  })

  it('that is free at one address alone is given back, and another is tried, five at the most', async () => {
    faster(4)
    const listener = await listenOnLoopback()
    expect([tried.length, tried.indexOf(listener.port)]).toEqual([5, 4])
    await listener.close()
    faster(9)
    await expect(listenOnLoopback()).rejects.toMatchObject({ code: 'EADDRINUSE' })
    expect(tried).toHaveLength(5)
  })

  it('is listened on with limits, and without IPv6 at the one address that there is', async () => {
    const made: HttpServer[] = []
    Server.prototype.listen = function listenOnce(this: HttpServer, port: number, host: string) {
      made.push(this)
      if (host !== '::1') return Reflect.apply(original, this, [port, host])
      const failure = Object.assign(new Error('listen'), { syscall: 'listen', code: 'EADDRNOTAVAIL' })
      queueMicrotask(() => this.emit('error', failure))
      return this
    } as Server['listen']
    const listener = await listenOnLoopback()
    expect(made).toHaveLength(2)
    expect(made[0]).toMatchObject({
      maxHeaderSize: 16_384,
      headersTimeout: 30_000,
      requestTimeout: 60_000,
      keepAliveTimeout: 60_000,
    })
    listener.serve((_request, response) => response.end('here'))
    expect(await (await fetch(`http://127.0.0.1:${listener.port}/`)).text()).toBe('here')
    // Nothing can be said on a connection that was ended already.
    const ended = new PassThrough().end()
    made[0]!.emit('clientError', new Error('late'), ended)
    expect(ended.destroyed).toBe(true)
    let isClosed = false
    made[0]!.once('close', () => (isClosed = true))
    await listener.close()
    expect(isClosed).toBe(true)
  })

  it('that was asked for is tried once, and free again after it', async () => {
    faster(0)
    const first = await listenOnLoopback()
    await first.close()
    faster(1)
    await expect(listenOnLoopback(first.port)).rejects.toMatchObject({ code: 'EADDRINUSE' })
    expect(tried).toEqual([first.port])
    for (const other of others.splice(0)) await new Promise((resolve) => other.close(resolve))
    const again = await listenOnLoopback(first.port)
    expect(again.port).toBe(first.port)
    await again.close()
  })
})

describe('a recorder', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'recorder-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('puts no address of its own in place of one that the client named, and writes what is under way when it ends', async () => {
    const urls: (string | undefined)[] = []
    let arrived: () => void = () => undefined
    const isAsked = new Promise<void>((resolve) => (arrived = resolve))
    const service = createHttpServer((request, response) => {
      urls.push(request.url)
      if (request.url === '/never') return arrived()
      const location = new URL(request.url ?? '/', upstream).searchParams.get('redirect_uri') ?? ''
      return response.writeHead(302, { location, 'x-other': location }).end(location)
    }).listen(0, '127.0.0.1')
    await once(service, 'listening')
    const upstream = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
    const file = join(folder, 'login.json')
    const lines: string[] = []
    const recorder = await startRecorder({ upstream, fixture: file, onExchange: (line) => lines.push(line) })
    const asked = async (redirectUri: string): Promise<unknown[]> => {
      const query = new URLSearchParams({ redirect_uri: redirectUri })
      const answer = await fetch(`${recorder.authUrl}/a?${query.toString()}`, { redirect: 'manual' })
      return [answer.status, answer.headers.get('location'), answer.headers.get('x-other'), await answer.text()]
    }
    expect(await asked('')).toEqual([302, '', '', ''])
    const own = `${recorder.authUrl}/void/callback`
    expect(await asked(own)).toEqual([302, own, own, own])
    // One of the service's own that the client has named stays in a redirect, and there alone.
    const named = `${upstream}/void/callback`
    expect(await asked(named)).toEqual([302, named, own, own])
    expect((await asked('https://app.example.com/callback'))[1]).toBe('https://app.example.com/callback')
    expect(urls).toEqual(
      ['', named, named, 'https://app.example.com/callback'].map(
        (uri) => `/a?${new URLSearchParams({ redirect_uri: uri }).toString()}`,
      ),
    )

    const left = fetch(`${recorder.authUrl}/never`).then(
      () => 'answered',
      () => 'left',
    )
    await isAsked
    await recorder.close()
    expect(await left).toBe('left')
    const written: Fixture = JSON.parse(await readFile(file, 'utf8'))
    expect(written.exchanges.map(({ answer }) => (typeof answer === 'string' ? answer : answer.status))).toEqual([
      302,
      302,
      302,
      302,
      'none',
    ])
    expect(lines.map((line) => line.replace(/^GET \S+/u, 'GET'))).toEqual([
      'GET → 302',
      'GET → 302',
      'GET → 302',
      'GET → 302',
      'GET → none',
    ])
    service.closeAllConnections()
    await new Promise((resolve) => service.close(resolve))
  })

  it('records a thousand exchanges, and passes on what comes after them', async () => {
    const service = createHttpServer((_request, response) => response.end()).listen(0, '127.0.0.1')
    await once(service, 'listening')
    const lines: string[] = []
    const upstream = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
    await using recorder = await startRecorder({ upstream, onExchange: (line) => lines.push(line) })
    const { host, port } = new URL(recorder.authUrl)
    const one = `GET / HTTP/1.1\r\nHost: ${host}\r\n`
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(`${one}\r\n`.repeat(1000) + `${one}Connection: close\r\n\r\n`)
    const answers = await consumers.text(socket)
    expect(answers.match(/^HTTP\/1\.1 200 /gmu)).toHaveLength(1001)
    const large = await fetch(recorder.authUrl, { method: 'POST', body: 'x'.repeat(2 ** 20 + 1) })
    expect([large.status, large.headers.get('x-owner-sso-emulator')]).toEqual([413, '1'])
    expect([recorder.fixture.exchanges.length, lines.slice(999)]).toEqual([
      1000,
      ['GET / → 200', 'passed on, but no longer recorded: a recording has at most 1000 exchanges'],
    ])
    service.closeAllConnections()
    await new Promise((resolve) => service.close(resolve))
  })

  it('and a replay tell of each exchange once it is over', async () => {
    const request = { instance: 'home', method: 'GET', path: '/', headers: {} } as const
    const answers = [{ status: 200, headers: {} }, 'cut', 'none'] as const
    const lines: string[] = []
    let told: () => void = () => undefined
    const replay = await startReplay(
      { format, version: 1, placeholders: {}, exchanges: answers.map((answer) => ({ request, answer })) },
      { onExchange: (line) => (lines.push(line), told()) },
    )
    const ended = async (path: string, bytes = ''): Promise<void> => {
      const isTold = new Promise<void>((resolve) => (told = resolve))
      const socket = connect(Number(new URL(replay.authUrl).port), '127.0.0.1').on('error', () => undefined)
      socket.resume().write(`GET ${path} HTTP/1.1\r\nHost: ${new URL(replay.authUrl).host}\r\n\r\n${bytes}`)
      if (lines.length === 2) await once(socket, 'connect')
      if (lines.length === 2) while (!replay.isComplete) await new Promise(setImmediate)
      if (lines.length === 2) socket.destroy()
      await isTold
      socket.destroy()
    }
    await ended('/')
    await ended('/')
    await ended('/')
    await ended('/other')
    expect(lines).toEqual([
      '1 of 3: GET / → 200',
      '2 of 3: GET / → cut',
      '3 of 3: GET / → none',
      'Exchange 3 of 3: no further request was recorded, but the recording has ended',
    ])
    await replay.close()
    await expect(fetch(replay.authUrl)).rejects.toThrow('fetch failed')
  })
})

it('each sign of an address is known in each spelling', () => {
  const to = [['http://[::1]:4000/a-b.c', 'https://[fe80::1]/x-y.z']] as const
  const spellings: Readonly<Record<string, readonly string[]>> = {
    ':': [':', '%3a', '%253A', '&#x25;3a', '&#37;3A', '&#x3a;', '&#58;', '&colon;'],
    '/': ['/', '\\/', '%2f', '%252F', '&#x25;2f', '&#37;2F', '&#x2f;', '&#47;', '&sol;'],
    '.': ['.', '%2e', '%252E', '&#x25;2e', '&#37;2E', '&#x2e;', '&#46;', '&period;'],
    '[': ['[', '%5b', '%255B', '&#x25;5b', '&#37;5B', '&#x5b;', '&#91;', '&lbrack;'],
    ']': [']', '%5d', '%255D', '&#x25;5d', '&#37;5D', '&#x5d;', '&#93;', '&rbrack;'],
    '-': ['-', '%2d', '%252D', '&#x25;2d', '&#37;2D', '&#x2d;', '&#45;'],
  }
  for (const [sign, ways] of Object.entries(spellings)) {
    for (const way of ways) {
      const [from, into] = to[0].map((address) => address.replaceAll(sign, () => way))
      expect(swapped(`<${from}>`, to)).toBe(`<${into}>`)
    }
    // Two spellings of one sign in one address are no spelling of it.
    const mixed = to[0][0].replace(sign, ways[1] ?? '')
    const isMixed = mixed.includes(sign)
    expect([sign, swapped(mixed, to) === mixed]).toEqual([sign, isMixed])
  }
  for (const tail of ['d', '-', '_', '.d', '0']) expect(swapped(`${to[0][0]}${tail}`, to)).toBe(`${to[0][0]}${tail}`)
  for (const tail of ['.', '/', '', ' d', '. d']) expect(swapped(`${to[0][0]}${tail}`, to)).toBe(`${to[0][1]}${tail}`)
})
