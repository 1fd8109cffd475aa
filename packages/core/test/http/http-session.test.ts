import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { createSso, type Sso, type SsoOptions, type TokenSet } from '../../src/index.ts'
import {
  type Answers,
  goodPage,
  goodTokens,
  html,
  json,
  redirectToCallback,
  type SmallService,
  startSmallService,
} from '../small-service.ts'
import { loopbackCertificate, type RawServer, startRawServer } from '../raw-server.ts'
import { type ConnectProxy, startConnectProxy } from '../../../../tests/support/connect-proxy.ts'

const closing: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of closing.splice(0)) await each.close()
})

async function small(answers: Answers = {}): Promise<SmallService> {
  const service = await startSmallService(answers)
  closing.push(service)
  return service
}

async function raw(serve: (socket: Socket) => void, tls?: { key: string; cert: string }): Promise<RawServer> {
  const server = await startRawServer(serve, tls)
  closing.push(server)
  return server
}

const tokensOf = (authUrl: string): TokenSet => ({ ...goodTokens, expires_at: 0, auth_url: authUrl })

/** One refresh request: the smallest thing that goes through a session. */
async function refreshAt(authUrl: string, options: Partial<SsoOptions> = {}): Promise<unknown> {
  return createSso({ authUrl, timeout: 1000, ...options }).refresh(tokensOf(authUrl))
}

const okBody = JSON.stringify(goodTokens)
const okHead = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${okBody.length}\r\n\r\n`

let certificate: { key: string; cert: string }
beforeAll(async () => {
  certificate = await loopbackCertificate()
})

describe('an error says whether the request may have arrived (C4)', () => {
  const notSent = { requestSent: false }
  const inDoubt = { requestSent: true }

  it('not sent: the name does not resolve', async () => {
    await expect(refreshAt('https://no-such-host.invalid')).rejects.toMatchObject(notSent)
  })

  it('in doubt: TLS is spoken where http:// was written, which is told', async () => {
    const server = await raw(() => undefined, certificate)
    await expect(refreshAt(`http://127.0.0.1:${server.port}`)).rejects.toMatchObject({
      ...inDoubt,
      message: expect.stringContaining('If TLS is spoken there, its address begins with https://.'),
    })
  })

  it('not sent: the process was told after the start to trust anybody (S6)', async () => {
    const { env } = process
    const authUrl = 'https://auth.invalid'
    const sso = createSso({ authUrl })
    try {
      process.env = { ...env, NODE_TLS_REJECT_UNAUTHORIZED: '0' }
      await expect(sso.refresh(tokensOf(authUrl))).rejects.toMatchObject({
        message: expect.stringContaining('NODE_TLS_REJECT_UNAUTHORIZED'),
        ...notSent,
      })
    } finally {
      process.env = env
    }
    await expect(sso.refresh(tokensOf(authUrl))).rejects.toMatchObject({
      message: expect.stringMatching(/ at [\w.-]+:443: the name does not resolve \(ENOTFOUND\)\. Nothing was sent\.$/u),
      cause: { code: 'ENOTFOUND' },
      ...notSent,
    })
  })

  it('not sent: nobody listens, which the message says with host and port alone (S38)', async () => {
    const server = await startRawServer(() => undefined)
    await server.close()
    await expect(refreshAt(`http://127.0.0.1:${server.port}`)).rejects.toMatchObject({
      code: 'ERR_SSO_UNREACHABLE',
      message: `The SSO service could not be reached at 127.0.0.1:${server.port}: nothing listens there (ECONNREFUSED). Nothing was sent.`,
      cause: { code: 'ECONNREFUSED' },
      ...notSent,
    })
  })

  it('not sent: the connection is cut before the TLS handshake is done', async () => {
    const server = await raw((socket) => socket.once('data', () => socket.destroy()))
    await expect(refreshAt(`https://127.0.0.1:${server.port}`)).rejects.toMatchObject({
      code: 'ERR_SSO_UNREACHABLE',
      ...notSent,
    })
  })

  it('not sent: the TLS handshake never ends', async () => {
    const server = await raw(() => undefined)
    await expect(refreshAt(`https://127.0.0.1:${server.port}`, { timeout: 300 })).rejects.toMatchObject({
      code: 'ERR_SSO_TIMEOUT',
      ...notSent,
    })
  })

  it.each([false, true])('no socket is left of a TLS handshake that a signal ended (http2: %s)', async (http2) => {
    const ending = new AbortController()
    let ended: Promise<unknown> | undefined
    const server = await raw((socket) => {
      ended = once(socket, 'close')
      socket.once('data', () => ending.abort())
    })
    const authUrl = `https://127.0.0.1:${server.port}`
    const refresh = createSso({ authUrl, transport: { http2 } }).refresh(tokensOf(authUrl), { signal: ending.signal })
    await expect(refresh).rejects.toMatchObject({ code: 'ERR_SSO_TIMEOUT', ...notSent })
    await ended
    expect(server.connections).toBe(1)
  })

  it.each([false, true])('no socket is left of a CONNECT that a proxy never answers (http2: %s)', async (http2) => {
    const ending = new AbortController()
    let ended: Promise<unknown> | undefined
    const server = await raw((socket) => {
      ended = once(socket, 'close')
      socket.once('data', () => ending.abort())
    })
    const authUrl = 'https://127.0.0.1:9'
    const sso = createSso({ authUrl, transport: { http2 }, proxy: `http://127.0.0.1:${server.port}` })
    const refresh = sso.refresh(tokensOf(authUrl), { signal: ending.signal })
    await expect(refresh).rejects.toMatchObject({ code: 'ERR_SSO_TIMEOUT', ...notSent })
    await ended
    expect(server.received).toMatch(/^CONNECT 127\.0\.0\.1:9 HTTP/u)
  })

  it('not sent: the certificate is not trusted, and the request is never written', async () => {
    const server = await raw(() => undefined, certificate)
    await expect(refreshAt(`https://127.0.0.1:${server.port}`)).rejects.toMatchObject({
      code: 'ERR_SSO_UNREACHABLE',
      message: expect.stringContaining(
        `127.0.0.1:${server.port}: its certificate is signed by nobody who is trusted here (`,
      ),
      ...notSent,
    })
    expect(server.received).toBe('')
  })

  it('not sent: the signal was aborted before', async () => {
    const service = await small()
    const sso = createSso({ authUrl: service.authUrl })
    await expect(sso.refresh(tokensOf(service.authUrl), { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'ERR_SSO_TIMEOUT',
      ...notSent,
    })
    expect(service.requests).toEqual([])
  })

  it.each<[string, (socket: Socket) => void, string]>([
    ['cut at the first byte of the request', (socket) => socket.resetAndDestroy(), 'ERR_SSO_UNREACHABLE'],
    ['cut after the request', (socket) => socket.destroy(), 'ERR_SSO_UNREACHABLE'],
    [
      'cut in the middle of the headers',
      (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Ty'),
      'ERR_SSO_UNREACHABLE',
    ],
    ['cut in the middle of the body', (socket) => socket.end(okHead + okBody.slice(0, 20)), 'ERR_SSO_UNREACHABLE'],
    ['half-closed without an answer', (socket) => socket.end(), 'ERR_SSO_UNREACHABLE'],
    ['no answer at all', () => undefined, 'ERR_SSO_TIMEOUT'],
  ])('may have arrived: %s', async (_, cut, code) => {
    const server = await raw((socket) => socket.once('data', () => cut(socket)))
    await expect(refreshAt(`http://127.0.0.1:${server.port}`, { timeout: 400 })).rejects.toMatchObject({
      code,
      ...inDoubt,
    })
    expect(server.connections).toBe(1)
  })

  it('may have arrived: the same over TLS', async () => {
    const server = await raw((socket) => socket.once('data', () => socket.destroy()), certificate)
    const options = { tls: { ca: certificate.cert } }
    await expect(refreshAt(`https://127.0.0.1:${server.port}`, options)).rejects.toMatchObject({
      code: 'ERR_SSO_UNREACHABLE',
      ...inDoubt,
    })
  })

  it('succeeds where the connection is cut after the whole body', async () => {
    const server = await raw((socket) =>
      socket.once('data', () => socket.write(okHead + okBody, () => socket.resetAndDestroy())),
    )
    await expect(refreshAt(`http://127.0.0.1:${server.port}`)).resolves.toMatchObject({
      access_token: goodTokens.access_token,
    })
  })
})

describe('beforeSend', () => {
  it('runs once, on the open connection, before a byte is written', async () => {
    const server = await raw((socket) => socket.once('data', () => socket.end(okHead + okBody)))
    const authUrl = `http://127.0.0.1:${server.port}`
    const seen = jest.fn(() => server.received)
    await createSso({ authUrl }).refresh(tokensOf(authUrl), { beforeSend: seen })
    expect(seen).toHaveBeenCalledTimes(1)
    expect(seen).toHaveReturnedWith('')
    expect(server.received).toMatch(/^POST \/oauth2\/v3\/token /u)
  })

  it.each(['http', 'https'])(
    'keeps the request unwritten by throwing, and its error is the outcome (%s)',
    async (scheme) => {
      let ended: Promise<unknown> = Promise.resolve()
      const server = await raw(
        (socket) => void (ended = once(socket, 'close')),
        scheme === 'https' ? certificate : undefined,
      )
      const authUrl = `${scheme}://127.0.0.1:${server.port}`
      const tooLate = new Error('too late')
      const refused = createSso({ authUrl, tls: { ca: certificate.cert } }).refresh(tokensOf(authUrl), {
        beforeSend: () => {
          throw tooLate
        },
      })
      await expect(refused).rejects.toBe(tooLate)
      await ended
      expect(server.connections).toBe(1)
      expect(server.received).toBe('')
    },
  )

  it('never runs where no connection came about', async () => {
    const seen = jest.fn()
    const sso = createSso({ authUrl: 'http://127.0.0.1:9' })
    await expect(sso.refresh(tokensOf(sso.authUrl), { beforeSend: seen })).rejects.toMatchObject({ requestSent: false })
    expect(seen).not.toHaveBeenCalled()
  })
})

describe('every answer ends within its time (C5)', () => {
  const slowness: [string, (socket: Socket) => void][] = [
    ['a body that drips', (socket) => (socket.write(okHead), drip(socket, ' '))],
    ['headers that drip', (socket) => (socket.write('HTTP/1.1 200 OK\r\n'), drip(socket, 'X-A: b\r\n'))],
    [
      'a chunked body without an end',
      (socket) => (socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'), drip(socket, '1\r\n \r\n')),
    ],
    ['a 100 Continue and nothing more', (socket) => void socket.write('HTTP/1.1 100 Continue\r\n\r\n')],
    ['interim answers, one after the other', (socket) => drip(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n', 100)],
  ]
  it.each(slowness)('%s', async (_, serve) => {
    const server = await raw((socket) => socket.once('data', () => serve(socket)))
    await expect(refreshAt(`http://127.0.0.1:${server.port}`, { timeout: 500 })).rejects.toMatchObject({
      code: 'ERR_SSO_TIMEOUT',
      requestSent: true,
    })
  })

  it('ends a call when its caller says so', async () => {
    const server = await raw(() => undefined)
    const authUrl = `http://127.0.0.1:${server.port}`
    const ending = new AbortController()
    const call = createSso({ authUrl }).login({ identity: 'a@example.com', credential: 'x' }, { signal: ending.signal })
    ending.abort()
    await expect(call).rejects.toMatchObject({ code: 'ERR_SSO_TIMEOUT' })
  })

  it('takes a time of its own for a refresh', async () => {
    const server = await raw(() => undefined)
    const authUrl = `http://127.0.0.1:${server.port}`
    const sso = createSso({ authUrl, timeout: 60_000 })
    await expect(sso.refresh(tokensOf(authUrl), { timeout: 100 })).rejects.toMatchObject({
      code: 'ERR_SSO_TIMEOUT',
      requestSent: true,
    })
  })

  function drip(socket: Socket, piece: string, every = 20): void {
    const timer = setInterval(() => socket.write(piece), every)
    socket.once('close', () => clearInterval(timer))
  }
})

describe('an answer that is too long, or not HTTP, is rejected (S19, G2)', () => {
  const megabytes = Buffer.alloc(32 * 1024 * 1024, ' ')
  it.each<[string, () => { headers: Record<string, string>; body: Buffer }]>([
    ['a large body', () => ({ headers: {}, body: megabytes.subarray(0, 300 * 1024) })],
    ['a gzip bomb', () => ({ headers: { 'content-encoding': 'gzip' }, body: gzipSync(megabytes) })],
    ['a brotli bomb', () => ({ headers: { 'content-encoding': 'br' }, body: brotliCompressSync(megabytes) })],
  ])('%s', async (_, make) => {
    const { headers, body } = make()
    const service = await small({ token: (_request, response) => void response.writeHead(200, headers).end(body) })
    await expect(refreshAt(service.authUrl, { timeout: 5000 })).rejects.toMatchObject({
      code: 'ERR_SSO_UNEXPECTED_RESPONSE',
      message: expect.stringContaining('256 KiB'),
    })
    expect(service.requests).toHaveLength(1)
  })

  it('a page of too many elements', async () => {
    const body = '<br>'.repeat(5001)
    const service = await small({ token: { status: 400, headers: { 'content-type': 'text/html' }, body } })
    await expect(refreshAt(service.authUrl)).rejects.toMatchObject({
      code: 'ERR_SSO_UNEXPECTED_RESPONSE',
      message: expect.stringContaining('too many or too deeply nested elements'),
      step: 'refresh',
      status: 400,
    })
  })

  it.each([
    ['headers of 40 KiB', `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(40_000)}\r\n\r\n`, '16 KiB'],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', 'not valid HTTP'],
    [
      'other protocols',
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n',
      'switches protocols',
    ],
    ['a broken chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 'not valid HTTP'],
    [
      'a broken gzip',
      'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\nnot gzip!',
      'decompressed',
    ],
  ])('%s', async (_, bytes, message) => {
    const server = await raw((socket) => socket.once('data', () => socket.write(bytes)))
    await expect(refreshAt(`http://127.0.0.1:${server.port}`)).rejects.toMatchObject({
      code: 'ERR_SSO_UNEXPECTED_RESPONSE',
      message: expect.stringContaining(message),
    })
  })
})

const gzipped = gzipSync(okBody)
it.each([
  ['gzip', gzipped],
  ['X-GZIP', gzipped],
  ['gzip', gzipped.subarray(0, -8)],
  ['deflate', deflateSync(okBody)],
  ['deflate', deflateRawSync(okBody)],
  ['br', brotliCompressSync(okBody)],
  ['identity', Buffer.from(okBody)],
  ['gzip, gzip', Buffer.from(okBody)],
])('an answer in the encoding %s is read (%#)', async (encoding, body) => {
  const headers = { 'content-encoding': encoding }
  const service = await small({ token: (_request, response) => void response.writeHead(200, headers).end(body) })
  expect(await refreshAt(service.authUrl)).toMatchObject(goodTokens)
  expect(service.requests[0]?.headers['accept-encoding']).toBe('gzip, compress, deflate, br')
})

it.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
])('nothing is posted of half a page in the encoding %s (%#)', async (encoding, compress) => {
  // Padded so that the form is in the half that comes.
  const whole = compress(goodPage + Array.from({ length: 2000 }, (_, n) => n).join(' '))
  const half = whole.subarray(0, whole.length / 2)
  const service = await small({
    loginPage: (_request, response) =>
      void response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': encoding }).end(half),
  })
  const login = createSso({ authUrl: service.authUrl }).login({ identity: 'a@b.c', credential: 'x' })
  await expect(login).rejects.toMatchObject({ message: expect.stringContaining('can’t be decompressed') })
  expect(service.requests.map(({ method }) => method)).toEqual(['GET'])
})

it.each([
  [256 * 1024, 1],
  [256 * 1024 + 1, 0],
])('a request has 256 KiB at the most: of %i bytes %i are sent', async (bytes, sent) => {
  const service = await small()
  const sso = createSso({ authUrl: service.authUrl })
  await sso.refresh({ ...tokensOf(service.authUrl), refresh_token: 'r' })
  const others = (service.requests[0]?.body.length ?? 0) - 1
  const refreshed = sso.refresh({ ...tokensOf(service.authUrl), refresh_token: 'r'.repeat(bytes - others) })
  expect(await Promise.allSettled([refreshed])).toMatchObject([
    sent === 1 ? { status: 'fulfilled' } : { reason: { code: 'ERR_SSO_UNREACHABLE', requestSent: false } },
  ])
  expect(service.requests).toHaveLength(1 + sent)
})

describe('what comes beside a body is bounded', () => {
  const interim = 'HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n'
  const chunk = `1;x=${'y'.repeat(15_000)}\r\n \r\n`
  const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

  it.each([
    ['interim answers', '', interim.repeat(400), 'interim answers'],
    ['the extensions of chunks', chunked, chunk, 'more than 1 MiB'],
  ])('a flood of %s ends the request, long before its time is up', async (_, head, piece, message) => {
    let written = Promise.resolve(0)
    const server = await raw((socket) => {
      written = new Promise((resolve) => socket.once('close', () => resolve(socket.bytesWritten)))
      const flood = (): void => {
        while (!socket.destroyed && socket.write(piece));
      }
      socket.once('data', () => (socket.write(head), flood())).on('drain', flood)
    })
    await expect(refreshAt(`http://127.0.0.1:${server.port}`, { timeout: 20_000 })).rejects.toMatchObject({
      code: 'ERR_SSO_UNEXPECTED_RESPONSE',
      message: expect.stringContaining(message),
      requestSent: true,
    })
    // What the system holds in its buffers beside what was read.
    expect(await written).toBeLessThan(16 * 1024 * 1024)
  })

  it('the eleventh interim answer is one too many', async () => {
    const server = await raw((socket) => socket.once('data', () => socket.write(interim.repeat(11) + okHead + okBody)))
    await expect(refreshAt(`http://127.0.0.1:${server.port}`)).rejects.toMatchObject({
      message: expect.stringContaining('interim answers'),
    })
  })

  it('a few interim answers, and chunks with extensions, are read', async () => {
    const body = okBody
      .split('')
      .map((byte) => `1;x=y\r\n${byte}\r\n`)
      .join('')
    const server = await raw((socket) =>
      socket.once('data', () => socket.write(`${interim.repeat(10)}${chunked}${body}0\r\n\r\n`)),
    )
    expect(await refreshAt(`http://127.0.0.1:${server.port}`)).toMatchObject(goodTokens)
  })
})

it('the connection of a login is closed at its end', async () => {
  const service = await small()
  let ended: Promise<unknown> = Promise.resolve()
  const front = await raw((socket) => {
    ended = once(socket, 'close')
    const behind = connect(Number(new URL(service.authUrl).port), '127.0.0.1')
    // Nobody but the client ends it.
    behind.pipe(
      socket.on('close', () => behind.destroy()),
      { end: false },
    )
    socket.pipe(behind)
  })
  const authUrl = `http://127.0.0.1:${front.port}`
  service.answer({ formSubmission: redirectToCallback({ issuer: authUrl }) })
  await createSso({ authUrl }).login({ identity: 'a@example.com', credential: 'x' })
  await ended
  expect([front.connections, service.requests.length]).toEqual([1, 3])
})

describe('no redirect is followed by the HTTP library (S2, S4)', () => {
  it.each([301, 302, 303, 307, 308])('a %i of the token endpoint', async (status) => {
    const elsewhere = await small()
    const service = await small({ token: { status, headers: { location: `${elsewhere.authUrl}/oauth2/v3/token` } } })
    await expect(refreshAt(service.authUrl)).rejects.toMatchObject({ code: 'ERR_SSO_UNEXPECTED_RESPONSE', status })
    expect([service.requests.length, elsewhere.requests.length]).toEqual([1, 0])
  })
})

describe('an outbound proxy', () => {
  it('is not taken from the environment (S7)', async () => {
    const service = await small()
    const before = { ...process.env }
    try {
      for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY'])
        process.env[name] = 'http://127.0.0.1:9'
      await expect(refreshAt(service.authUrl)).resolves.toMatchObject({ token_type: 'Bearer' })
    } finally {
      process.env = before
    }
  })

  it('given as an option, carries a whole login through one CONNECT, cookies included', async () => {
    const { proxy, tunnels } = await startProxy()
    const service = await small()
    const { port } = new URL(service.authUrl)
    const front = await raw((socket) => {
      const behind = connect(Number(port), '127.0.0.1')
      behind.pipe(socket.on('close', () => behind.destroy())).pipe(behind)
    }, certificate)
    const authUrl = `https://127.0.0.1:${front.port}`
    service.answer({ formSubmission: redirectToCallback({ issuer: authUrl }) })
    const sso = createSso({ authUrl, proxy, tls: { ca: certificate.cert } })
    await sso.login({ identity: 'a@example.com', credential: 'x' })
    expect(tunnels).toEqual([new URL(authUrl).host])
    expect(service.requests.map(({ headers }) => headers.cookie)).toEqual([undefined, 'sid=session-1', 'sid=session-1'])
  })

  it('is not used for plain http, which never leaves this machine', async () => {
    const { proxy, tunnels } = await startProxy()
    const service = await small()
    await createSso({ authUrl: service.authUrl, proxy }).login({ identity: 'a@example.com', credential: 'x' })
    expect([tunnels, service.requests.length]).toEqual([[], 3])
  })

  it('changes nothing about the check of the service’s certificate', async () => {
    const { proxy } = await startProxy()
    const server = await raw((socket) => socket.once('data', () => socket.end(okHead + okBody)), certificate)
    const authUrl = `https://127.0.0.1:${server.port}`
    await expect(refreshAt(authUrl, { proxy })).rejects.toMatchObject({
      code: 'ERR_SSO_UNREACHABLE',
      requestSent: false,
    })
    await expect(refreshAt(authUrl, { proxy, tls: { ca: certificate.cert } })).resolves.toMatchObject({
      token_type: 'Bearer',
    })
  })

  it('that rejects the tunnel or never answers leaves the request unsent', async () => {
    const refusing = await startProxy(407)
    const silent = await raw(() => undefined)
    const server = await raw(() => undefined, certificate)
    const authUrl = `https://127.0.0.1:${server.port}`
    await expect(refreshAt(authUrl, { proxy: refusing.proxy })).rejects.toMatchObject({
      message: expect.stringContaining(`${new URL(authUrl).host} through the proxy: `),
      requestSent: false,
    })
    const started = refreshAt(authUrl, { proxy: `http://127.0.0.1:${silent.port}`, timeout: 200 })
    await expect(started).rejects.toMatchObject({ code: 'ERR_SSO_TIMEOUT', requestSent: false })
    expect([refusing.tunnels, server.connections]).toEqual([[new URL(authUrl).host], 0])
  })

  const head = (status: string): string => `HTTP/1.1 ${status}\r\n\r\n`

  it.each([
    [
      head('407 Proxy Authentication Required'),
      '(407): put both into its address, percent-encoded, as http://USER:PASSWORD@',
    ],
    [head('407 No'), 'does not accept the user and the password of its address (407)'],
    [
      'HTTP/1.0 403 Forbidden\r\nContent-Type: text/html\r\n\r\n<p>No</p>',
      '(403): ask whoever runs it to allow CONNECT',
    ],
    [head('502 Bad Gateway'), 'can’t reach that address (502)'],
    [head('503 Service Unavailable'), 'can’t reach that address (503)'],
    [head('100 Continue') + head('504 Gateway Timeout'), 'can’t reach that address (504)'],
    [head('302 Found'), 'rejects a tunnel to that address (302)'],
    [head('101 Switching Protocols'), 'rejects a tunnel to that address (101)'],
    ['SSH-2.0-OpenSSH_9.2\r\n', 'its answer is no HTTP'],
    [`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_000)}`, 'its answer is no HTTP'],
    ['', 'the proxy itself can’t be reached, the connection was cut while it was made (ECONNRESET)'],
  ])('that answers CONNECT with %j is told with what to do', async (answer, message) => {
    const proxy = await raw((socket) => socket.once('data', () => socket.end(answer)))
    const server = await raw(() => undefined, certificate)
    const user = message.includes('put both') ? '' : 'ann:p%40ss@'
    for (const http2 of [false, true]) {
      const options = { proxy: `http://${user}127.0.0.1:${proxy.port}`, transport: { http2 } }
      const error: unknown = await refreshAt(`https://127.0.0.1:${server.port}`, options).catch(
        (thrown: unknown) => thrown,
      )
      expect(error).toMatchObject({
        code: 'ERR_SSO_UNREACHABLE',
        message: expect.stringContaining(message),
        requestSent: false,
      })
      expect(String(error)).not.toMatch(/ann|p@ss|p%40ss/u)
    }
    expect([proxy.connections, server.connections]).toEqual([2, 0])
  })

  it.each(
    ['200 OK', '201 Created', '204 No Content', '299 Fine'].flatMap((status) => [
      head(status),
      `${head('100 Continue')}${head('103 Early Hints')}${head(status)}`,
    ]),
  )('has opened the tunnel where it answers %j', async (answer) => {
    const service = await startSmallService({}, certificate)
    closing.push(service)
    const port = Number(new URL(service.authUrl).port)
    const proxy = await raw((socket) =>
      socket.once('data', () => {
        const behind = connect(port, '127.0.0.1')
        socket.write(answer)
        behind.pipe(socket.on('close', () => behind.destroy())).pipe(behind)
      }),
    )
    const options = { proxy: `http://ann:p%40ss@127.0.0.1:${proxy.port}`, tls: { ca: certificate.cert } }
    for (const transport of ['document', 'modern'] as const)
      await expect(refreshAt(service.authUrl, { ...options, transport })).resolves.toMatchObject(goodTokens)
    const pair = Buffer.from('ann:p@ss').toString('base64')
    expect(proxy.received.split('CONNECT')[1]).toContain(
      ` 127.0.0.1:${port} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nProxy-Authorization: Basic ${pair}\r\n\r\n`,
    )
  })

  it('that is not running is named in the error, apart from the service', async () => {
    const gone = await startRawServer(() => undefined)
    await gone.close()
    await expect(refreshAt('https://127.0.0.1:1', { proxy: `http://127.0.0.1:${gone.port}` })).rejects.toMatchObject({
      message: expect.stringContaining('through the proxy: the proxy itself can’t be reached, nothing listens there'),
    })
  })

  async function startProxy(refusal?: number): Promise<ConnectProxy> {
    const proxy = await startConnectProxy(refusal)
    closing.push(proxy)
    return proxy
  }
})

describe('the firewall breaker', () => {
  it('fails fast on every endpoint of a host once it has shown a challenge, and leaves other services alone', async () => {
    const service = await small({ token: html('<title>Access Denied</title>Reference #18.2d3', 403) })
    const other = await small()
    const sso: Sso = createSso({ authUrl: service.authUrl })
    await expect(sso.refresh(tokensOf(service.authUrl))).rejects.toMatchObject({
      code: 'ERR_SSO_FIREWALL_CHALLENGE',
      status: 403,
    })
    const blocked = { code: 'ERR_SSO_FIREWALL_CHALLENGE', requestSent: false, nextAttemptAt: expect.any(Number) }
    await expect(sso.refresh(tokensOf(service.authUrl))).rejects.toMatchObject(blocked)
    await expect(sso.login({ identity: 'a@example.com', credential: 'x' })).rejects.toMatchObject(blocked)
    expect(service.requests).toHaveLength(1)
    await expect(refreshAt(other.authUrl)).resolves.toMatchObject({ token_type: 'Bearer' })
  })

  it.each(['application/json', 'text/plain', 'application/octet-stream'])(
    'knows a challenge page by what its body begins with, though its header says %s',
    async (type) => {
      const page = '\n <title>Access Denied</title>Reference #18.2d3'
      const service = await small({ token: { status: 403, headers: { 'content-type': type }, body: page } })
      const sso = createSso({ authUrl: service.authUrl })
      const blocked = { code: 'ERR_SSO_FIREWALL_CHALLENGE' }
      await expect(sso.refresh(tokensOf(service.authUrl))).rejects.toMatchObject(blocked)
      await expect(sso.refresh(tokensOf(service.authUrl))).rejects.toMatchObject({ ...blocked, requestSent: false })
      expect(service.requests).toHaveLength(1)
    },
  )

  it.each([
    ['{"error":"invalid_request","error_description":"<title>Access Denied</title>"}', 'ERR_SSO_TOKEN_REJECTED'],
    ['["<title>Access Denied</title>"]', 'ERR_SSO_UNEXPECTED_RESPONSE'],
  ])('does not take JSON for a challenge page, though its header says text/html: %s', async (body, code) => {
    const service = await small({ token: { status: 400, headers: { 'content-type': 'text/html' }, body } })
    await expect(refreshAt(service.authUrl)).rejects.toMatchObject({ code })
  })

  it('takes text without a tag for a challenge page where its header says text/html', async () => {
    const service = await small({ token: html('You don’t have permission to access this', 403) })
    await expect(refreshAt(service.authUrl)).rejects.toMatchObject({ code: 'ERR_SSO_FIREWALL_CHALLENGE' })
    const other = await small({ token: { ...html('You don’t have permission to access this', 403), headers: {} } })
    await expect(refreshAt(other.authUrl)).rejects.toMatchObject({ code: 'ERR_SSO_UNEXPECTED_RESPONSE' })
  })

  it('blocks for a quarter of an hour where no Retry-After came, whatever is on Object.prototype', async () => {
    const service = await small({ token: json({ error: 'slow_down' }, 429) })
    Object.assign(Object.prototype, { 'retry-after': '3600' })
    try {
      const failure = await refreshAt(service.authUrl).catch((error: { nextAttemptAt: number }) => error)
      expect((failure as { nextAttemptAt: number }).nextAttemptAt - Date.now() / 1000).toBeLessThan(1000)
    } finally {
      Reflect.deleteProperty(Object.prototype, 'retry-after')
    }
  })

  it('takes any 429 for a challenge and honours its Retry-After (I3)', async () => {
    const service = await small({ token: { ...json({ error: 'slow_down' }, 429), headers: { 'retry-after': '3600' } } })
    const failure = refreshAt(service.authUrl)
    await expect(failure).rejects.toMatchObject({ code: 'ERR_SSO_FIREWALL_CHALLENGE' })
    const { nextAttemptAt } = (await failure.catch((error: { nextAttemptAt: number }) => error)) as {
      nextAttemptAt: number
    }
    expect(nextAttemptAt - Date.now() / 1000).toBeGreaterThan(3590)
    expect(nextAttemptAt - Date.now() / 1000).toBeLessThan(3602)
  })
})
