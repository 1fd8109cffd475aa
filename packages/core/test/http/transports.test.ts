import { once } from 'node:events'
import { constants, createSecureServer, type Http2SecureServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setImmediate as turn } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { createSso, type Sso, type SsoOptions, type TokenSet, type TransportOption } from '../../src/index.ts'
import { type Answers, goodTokens, type SmallService, startSmallService } from '../small-service.ts'
import { loopbackCertificate, startRawServer } from '../raw-server.ts'
import { type ConnectProxy, startConnectProxy } from '../../../../tests/support/connect-proxy.ts'

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))
const loopback = ['127.0.0.1', ...(hasIpv6 ? ['::1'] : [])]

const closing: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of closing.splice(0)) await each.close()
})

let certificate: { key: string; cert: string }
beforeAll(async () => {
  certificate = await loopbackCertificate()
})

const credentials = { identity: 'a@example.com', credential: 'x' }
const okBody = JSON.stringify(goodTokens)
const tokensOf = (authUrl: string): TokenSet => ({ ...goodTokens, expires_at: 0, auth_url: authUrl })

async function small(tls: object = {}, answers: Answers = {}): Promise<SmallService> {
  const service = await startSmallService(answers, { ...certificate, ...tls })
  closing.push(service)
  return service
}

function ssoAt(authUrl: string, transport: TransportOption, options: Partial<SsoOptions> = {}): Sso {
  return createSso({ authUrl, transport, tls: { ca: certificate.cert }, timeout: 1000, ...options })
}

const tlsVersions = ({ connections }: SmallService): (string | null)[] =>
  connections.map(({ tlsVersion }) => tlsVersion)

describe('a transport', () => {
  it.each<[string, TransportOption, string, string]>([
    ['document', 'document', 'TLSv1.2', '1.1'],
    ['modern', 'modern', 'TLSv1.3', '2.0'],
    ['{ http2 }', { http2: true }, 'TLSv1.2', '2.0'],
    ['{ tls }', { tls: { maxVersion: 'TLSv1.3' } }, 'TLSv1.3', '1.1'],
  ])('%s: a login and a refresh speak it, each on one connection of its own', async (_, transport, tls, http) => {
    const service = await small()
    const sso = ssoAt(service.authUrl, transport, { userAgent: 'fleet/1' })
    const onConnected = jest.fn()
    await sso.refresh(await sso.login(credentials), { onConnected })
    expect(onConnected).toHaveBeenCalledTimes(1)
    expect(onConnected).toHaveBeenCalledWith({ tls, http: http === '2.0' ? '2' : '1.1' })
    expect(tlsVersions(service)).toEqual([tls, tls])
    expect(service.requests.map(({ httpVersion }) => httpVersion)).toEqual([http, http, http, http])
    const [login, form, token, refresh] = service.requests
    expect([form?.port, token?.port]).toEqual([login?.port, login?.port])
    expect(refresh?.port).not.toBe(login?.port)
    expect(service.requests.map(({ headers }) => headers['user-agent'])).toEqual(Array(4).fill('fleet/1'))
    expect(service.requests.map(({ headers }) => headers.cookie)).toEqual([
      undefined,
      'sid=session-1',
      'sid=session-1',
      undefined,
    ])
  })

  it('speaks HTTP/1.1 on the same connection where the service does not take the HTTP/2 that it is offered', async () => {
    const service = await small({ ALPNProtocols: ['http/1.1'] })
    await ssoAt(service.authUrl, 'modern').login(credentials)
    expect(service.requests.map(({ httpVersion }) => httpVersion)).toEqual(['1.1', '1.1', '1.1'])
    expect(service.connections).toHaveLength(1)
  })

  it('speaks plain HTTP/1.1 to a loopback service without TLS, whatever it would offer', async () => {
    const service = await startSmallService()
    closing.push(service)
    await ssoAt(service.authUrl, 'modern').login(credentials)
    expect(service.requests.map(({ httpVersion }) => httpVersion)).toEqual(['1.1', '1.1', '1.1'])
  })

  it.each<[string, TransportOption, object]>([
    ['below the lowest version', 'modern', { maxVersion: 'TLSv1.2' }],
    ['above the highest version', 'document', { minVersion: 'TLSv1.3' }],
    [
      'with other ciphers',
      { tls: { ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' } },
      { ciphers: 'ECDHE-RSA-AES256-GCM-SHA384' },
    ],
  ])('is not spoken %s: nothing is sent', async (_, transport, server) => {
    const service = await small({ ...server, ...('ciphers' in server && { maxVersion: 'TLSv1.2' }) })
    await expect(ssoAt(service.authUrl, transport).login(credentials)).rejects.toMatchObject({
      code: 'ERR_SSO_UNREACHABLE',
      requestSent: false,
    })
    expect(service.requests).toEqual([])
  })

  it('checks the certificate with HTTP/2 as well', async () => {
    const service = await small()
    const failure = createSso({ authUrl: service.authUrl, transport: 'modern' }).login(credentials)
    await expect(failure).rejects.toMatchObject({ code: 'ERR_SSO_UNREACHABLE', requestSent: false })
    expect(service.requests).toEqual([])
  })

  it('goes through an outbound proxy, and by no proxy of the environment', async () => {
    const { proxy, tunnels } = await startProxy()
    const service = await small()
    const before = { ...process.env }
    try {
      for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']) process.env[name] = 'http://127.0.0.1:9'
      await ssoAt(service.authUrl, 'modern').login(credentials)
      await ssoAt(service.authUrl, 'modern', { proxy }).login(credentials)
    } finally {
      process.env = before
    }
    expect(service.requests.map(({ httpVersion }) => httpVersion)).toEqual(Array(6).fill('2.0'))
    expect(tunnels).toEqual([new URL(service.authUrl).host])
  })

  it.each(loopback)('finds an outbound proxy at %s', async (host) => {
    const { proxy, tunnels } = await startProxy(host)
    const service = await small()
    await ssoAt(service.authUrl, 'document', { proxy }).login(credentials)
    expect(tunnels).toEqual([new URL(service.authUrl).host])
  })

  async function startProxy(host = '127.0.0.1'): Promise<ConnectProxy> {
    const proxy = await startConnectProxy(undefined, undefined, { host })
    closing.push(proxy)
    return proxy
  }
})

describe('what holds for every request holds over HTTP/2', () => {
  type Serve = (stream: ServerHttp2Stream, socket: TLSSocket) => void

  interface Http2Service {
    readonly authUrl: string
    /** Requests whose headers arrived. */
    readonly streams: number
    readonly sockets: TLSSocket[]
    close(): Promise<void>
  }

  /** An HTTP/2 server whose every frame a test decides on. */
  async function http2Service(serve: Serve): Promise<Http2Service> {
    let streams = 0
    const sockets: TLSSocket[] = []
    const server: Http2SecureServer = createSecureServer({
      ...certificate,
      // Much on the wire for little that is a body.
      paddingStrategy: constants.PADDING_STRATEGY_MAX,
    })
    server.on('session', (session) => session.on('error', () => undefined))
    server.on('secureConnection', (socket) => sockets.push(socket))
    server.on('stream', (stream) => {
      streams += 1
      stream.on('error', () => undefined)
      const socket = sockets.at(-1)
      stream.once('end', () => socket && serve(stream, socket)).resume()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const service = {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server's address
      authUrl: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      get streams() {
        return streams
      },
      sockets,
      async close() {
        for (const socket of sockets) socket.destroy()
        server.close()
        await once(server, 'close')
      },
    }
    closing.push(service)
    return service
  }

  const refreshAt = (authUrl: string, options: Partial<SsoOptions> = {}): Promise<TokenSet> =>
    ssoAt(authUrl, 'modern', options).refresh(tokensOf(authUrl))

  const ok = { ':status': 200, 'content-type': 'application/json' }

  it('beforeSend runs once, on the open connection, before the request is written', async () => {
    const service = await http2Service((stream) => (stream.respond(ok), stream.end(okBody)))
    const seen = jest.fn(() => service.streams)
    const sso = ssoAt(service.authUrl, 'modern')
    await expect(sso.refresh(tokensOf(service.authUrl), { beforeSend: seen })).resolves.toMatchObject(goodTokens)
    expect(seen).toHaveBeenCalledTimes(1)
    expect(seen).toHaveReturnedWith(0)
  })

  it('beforeSend keeps the request unwritten by throwing, and its error is the outcome', async () => {
    const service = await http2Service(() => undefined)
    const tooLate = new Error('too late')
    const refused = ssoAt(service.authUrl, 'modern').refresh(tokensOf(service.authUrl), {
      beforeSend: () => {
        throw tooLate
      },
    })
    await expect(refused).rejects.toBe(tooLate)
    // The connection is closed: nothing more can come.
    const [socket] = service.sockets
    if (socket && !socket.closed) await once(socket, 'close')
    expect(service.streams).toBe(0)
  })

  it('not sent: nobody listens, the handshake never ends, the signal was aborted before', async () => {
    const silent = await startRawServer(() => undefined)
    closing.push(silent)
    const gone = await startRawServer(() => undefined)
    await gone.close()
    const at = (port: number): string => `https://127.0.0.1:${port}`
    await expect(refreshAt(at(gone.port))).rejects.toMatchObject({ code: 'ERR_SSO_UNREACHABLE', requestSent: false })
    await expect(refreshAt(at(silent.port), { timeout: 200 })).rejects.toMatchObject({
      code: 'ERR_SSO_TIMEOUT',
      requestSent: false,
    })
    const service = await http2Service(() => undefined)
    const sso = ssoAt(service.authUrl, 'modern')
    await expect(sso.refresh(tokensOf(service.authUrl), { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'ERR_SSO_TIMEOUT',
      requestSent: false,
    })
    expect(service.streams).toBe(0)
  })

  it.each<[string, Serve, string]>([
    ['the connection is cut before the answer', (_, socket) => socket.destroy(), 'ERR_SSO_UNREACHABLE'],
    ['the stream is reset', (stream) => stream.close(2), 'ERR_SSO_UNREACHABLE'],
    ['the stream is refused', (stream) => stream.close(7), 'ERR_SSO_UNREACHABLE'],
    ['the stream is ended without an error', (stream) => stream.close(0), 'ERR_SSO_UNREACHABLE'],
    ['the service goes away', (stream) => stream.session?.destroy(undefined, 0), 'ERR_SSO_UNREACHABLE'],
    ['the service goes away with an error', (stream) => stream.session?.goaway(2), 'ERR_SSO_UNREACHABLE'],
    [
      'cut in the middle of the body',
      (stream, socket) => {
        stream.respond(ok)
        stream.write(okBody.slice(0, 20), () => socket.destroy())
      },
      'ERR_SSO_UNREACHABLE',
    ],
    [
      'reset in the middle of the body',
      (stream) => {
        stream.respond({ ...ok, 'content-length': okBody.length })
        stream.write(okBody.slice(0, 20), () => stream.close(2))
      },
      'ERR_SSO_UNREACHABLE',
    ],
    [
      'the stream is ended without an error in the middle of the body',
      (stream) => {
        stream.respond({ ...ok, 'content-length': okBody.length })
        stream.write(okBody.slice(0, 20), () => stream.close(0))
      },
      'ERR_SSO_UNREACHABLE',
    ],
    [
      'the stream is ended without an error in the middle of a body of unknown length',
      (stream) => {
        stream.respond(ok)
        stream.write(okBody.slice(0, 20))
        stream.close(0)
      },
      'ERR_SSO_UNREACHABLE',
    ],
    ['no answer at all', () => undefined, 'ERR_SSO_TIMEOUT'],
    ['headers, and no body', (stream) => stream.respond(ok), 'ERR_SSO_TIMEOUT'],
    ['a body that drips', (stream) => (stream.respond(ok), drip(stream, () => stream.write(' '))), 'ERR_SSO_TIMEOUT'],
    [
      'interim answers, one after the other',
      (stream) => drip(stream, () => stream.additionalHeaders({ ':status': 103, link: '</a.css>' }), 100),
      'ERR_SSO_TIMEOUT',
    ],
  ])('may have arrived: %s', async (_, serve, code) => {
    const service = await http2Service(serve)
    await expect(refreshAt(service.authUrl, { timeout: 500 })).rejects.toMatchObject({ code, requestSent: true })
    expect([service.sockets.length, service.streams]).toEqual([1, 1])
  })

  it.each([0, 8])('posts nothing of half a page, where its stream is ended with code %d', async (code) => {
    const service = await http2Service((stream) => {
      stream.respond({ ':status': 200, 'content-type': 'text/html' })
      stream.write(`<title>Sign in</title><form><input name="identity"><input name="credential">`)
      stream.close(code)
    })
    const login = ssoAt(service.authUrl, 'modern').login({ identity: 'a@b.c', credential: 'x' })
    await expect(login).rejects.toMatchObject({ code: 'ERR_SSO_UNREACHABLE', step: 'login-page' })
    expect(service.streams).toBe(1)
  })

  it('a stream that ended without an error is reported as a connection that was cut', async () => {
    const service = await http2Service((stream) => stream.close(0))
    await expect(refreshAt(service.authUrl)).rejects.toMatchObject({
      cause: { code: 'ECONNRESET', message: 'read ECONNRESET' },
    })
  })

  it.each<[string, Serve, string]>([
    ['a large body', (stream) => (stream.respond(ok), stream.end(Buffer.alloc(300 * 1024, ' '))), '256 KiB'],
    [
      'a gzip bomb',
      (stream) => (stream.respond({ ...ok, 'content-encoding': 'gzip' }), stream.end(gzipSync(Buffer.alloc(2 ** 25)))),
      '256 KiB',
    ],
    [
      'a brotli bomb',
      (stream) => (
        stream.respond({ ...ok, 'content-encoding': 'br' }),
        stream.end(brotliCompressSync(Buffer.alloc(2 ** 25)))
      ),
      '256 KiB',
    ],
    [
      'interim answers without end',
      (stream) => {
        for (let n = 0; n < 400 && !stream.destroyed; n += 1) stream.additionalHeaders({ ':status': 103, link: '</a>' })
      },
      'interim answers',
    ],
    [
      'padding without end',
      (stream) => {
        stream.respond(ok)
        // Each byte is a frame of 265.
        drip(
          stream,
          () => {
            for (let n = 0; n < 50; n += 1) stream.write(' ')
          },
          1,
        )
      },
      'more than 1 MiB',
    ],
    [
      'headers of 40 KiB',
      (stream) => {
        const long = Array.from({ length: 10 }, (_, n) => [`x-${n}`, 'x'.repeat(4096)])
        stream.respond({ ...ok, ...Object.fromEntries(long) })
      },
      '16 KiB',
    ],
  ])('%s is rejected', async (_, serve, message) => {
    const service = await http2Service(serve)
    await expect(refreshAt(service.authUrl, { timeout: 20_000 })).rejects.toMatchObject({
      code: 'ERR_SSO_UNEXPECTED_RESPONSE',
      message: expect.stringContaining(message),
      requestSent: true,
    })
  })

  it.each([
    ['are read', 16 * 1024, 'Bearer'],
    ['are too much', 16 * 1024 + 1, expect.stringContaining('16 KiB')],
  ])('headers %s that have %i bytes, names and values', async (_, size, outcome) => {
    // A date of our own: the server would add its own to what is counted here.
    const headers = { ...ok, ':status': '200', date: new Date(0).toUTCString() }
    const others = Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, 0)
    const long = 'x'.repeat(size - others - 'x-long'.length)
    const service = await http2Service((stream) => {
      stream.respond({ ...headers, ':status': 200, 'x-long': long })
      stream.end(okBody)
    })
    const refreshed = refreshAt(service.authUrl, { timeout: 20_000 })
    expect(
      await refreshed.then(
        ({ token_type }) => token_type,
        (error: Error) => error.message,
      ),
    ).toEqual(outcome)
  })

  it('no redirect is followed', async () => {
    const elsewhere = await small()
    const service = await http2Service((stream) => {
      stream.respond({ ':status': 307, location: `${elsewhere.authUrl}/oauth2/v3/token` })
      stream.end()
    })
    await expect(refreshAt(service.authUrl)).rejects.toMatchObject({ code: 'ERR_SSO_UNEXPECTED_RESPONSE', status: 307 })
    expect([service.streams, elsewhere.requests.length]).toEqual([1, 0])
  })

  it('a compressed answer is read', async () => {
    const service = await http2Service((stream) => {
      stream.respond({ ...ok, 'content-encoding': 'gzip' })
      stream.end(gzipSync(okBody))
    })
    await expect(refreshAt(service.authUrl)).resolves.toMatchObject(goodTokens)
  })

  it('the connection is closed at the end', async () => {
    const service = await http2Service((stream) => (stream.respond(ok), stream.end(okBody)))
    await refreshAt(service.authUrl)
    const [socket] = service.sockets
    if (socket && !socket.closed) await once(socket, 'close')
    expect(socket?.destroyed).toBe(true)
  })

  it('a service that pushes is not listened to', async () => {
    const service = await http2Service((stream) => {
      expect(stream.pushAllowed).toBe(false)
      stream.respond(ok)
      stream.end(okBody)
    })
    await expect(refreshAt(service.authUrl)).resolves.toMatchObject(goodTokens)
  })

  function drip(stream: ServerHttp2Stream, write: () => void, every = 20): void {
    const timer = setInterval(write, every)
    stream.once('close', () => clearInterval(timer))
  }
})

it.each<TransportOption>(['document', 'modern'])(
  'a connection that ended between two requests of a login is followed by another: %s',
  async (transport) => {
    const asksForPasscode = { body: '<input name="passcode">', headers: { 'content-type': 'text/html' } }
    const first = await small({}, { formSubmission: asksForPasscode })
    const { port } = new URL(first.authUrl)
    const tokens = await ssoAt(first.authUrl, transport).login({
      ...credentials,
      passcode: async () => {
        await first.close()
        closing.splice(closing.indexOf(first), 1, await startSmallService({}, { ...certificate }, Number(port)))
        // Until the client, in this same process, has read that the other side has gone.
        for (let turns = 0; turns < 100; turns += 1) await turn()
        return '123456'
      },
    })
    expect(tokens).toMatchObject(goodTokens)
  },
)

describe('TLS sessions are shared', () => {
  const resumed = ({ connections }: SmallService): boolean[] => connections.map((connection) => connection.resumed)

  it.each<[string, TransportOption]>([
    ['TLS 1.2', 'document'],
    ['TLS 1.3', { tls: { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' } }],
    ['HTTP/2', 'modern'],
  ])('the next login or refresh resumes the session of the last: %s', async (_, transport) => {
    const service = await small()
    const sso = ssoAt(service.authUrl, transport)
    const tokens = await sso.login(credentials)
    await sso.refresh(tokens)
    await sso.login({ identity: 'b@example.com', credential: 'y' })
    expect(resumed(service)).toEqual([false, true, true])
    expect(new Set(service.requests.map(({ port }) => port)).size).toBe(3)
  })

  it.each<TransportOption>(['document', 'modern'])('through an outbound proxy as well: %s', async (transport) => {
    const proxy = await startConnectProxy()
    closing.push(proxy)
    const service = await small()
    const sso = ssoAt(service.authUrl, transport, { proxy: proxy.proxy })
    for (let n = 0; n < 2; n += 1) await sso.refresh(tokensOf(service.authUrl))
    expect(resumed(service)).toEqual([false, true])
  })

  it('not with another CA, nor with another service', async () => {
    const service = await small()
    const other = await small()
    const sso = ssoAt(service.authUrl, 'document', { regionalAuthUrls: [other.authUrl] })
    await sso.refresh(tokensOf(service.authUrl))
    await sso.refresh(tokensOf(other.authUrl))
    const stranger = await loopbackCertificate()
    await expect(
      ssoAt(service.authUrl, 'document', { tls: { ca: stranger.cert } }).refresh(tokensOf(service.authUrl)),
    ).rejects.toMatchObject({ requestSent: false })
    expect([...resumed(service), ...resumed(other)]).not.toContain(true)
  })

  it('never that of a connection whose certificate was rejected', async () => {
    const service = await small()
    const sso = createSso({ authUrl: service.authUrl, timeout: 1000 })
    for (let n = 0; n < 2; n += 1) {
      await expect(sso.refresh(tokensOf(service.authUrl))).rejects.toMatchObject({ requestSent: false })
    }
    expect(service.requests).toEqual([])
    expect(resumed(service)).not.toContain(true)
  })

  it('a session that the service has forgotten costs a whole handshake, and nothing else', async () => {
    const first = await small()
    const sso = ssoAt(first.authUrl, 'document')
    await sso.refresh(tokensOf(first.authUrl))
    await first.close()
    closing.splice(closing.indexOf(first), 1)
    const { port } = new URL(first.authUrl)
    const second = await startSmallService({}, { ...certificate }, Number(port))
    closing.push(second)
    await expect(sso.refresh(tokensOf(first.authUrl))).resolves.toMatchObject(goodTokens)
    expect(resumed(second)).toEqual([false])
  })

  it.each<TransportOption>(['document', 'modern'])(
    'a session does not let in another service that took the place of the first, without its certificate: %s',
    async (transport) => {
      const first = await small()
      const sso = ssoAt(first.authUrl, transport)
      await sso.refresh(tokensOf(first.authUrl))
      await first.close()
      closing.splice(closing.indexOf(first), 1)
      const other = await startSmallService({}, await loopbackCertificate(), Number(new URL(first.authUrl).port))
      closing.push(other)
      await expect(sso.refresh(tokensOf(first.authUrl))).rejects.toMatchObject({ requestSent: false })
      expect(other.requests).toEqual([])
    },
  )
})
