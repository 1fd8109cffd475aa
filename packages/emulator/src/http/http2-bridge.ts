/**
 * HTTP/2 for applications that speak HTTP/1.1: each request goes on to an inner server over a pair of sockets in memory, so that
 * the emulator answers, waits and breaks off over HTTP/2 as it does over HTTP/1.1.
 */
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http'
import { constants, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import { duplexPair } from 'node:stream'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

export interface ClientConnection {
  readonly socket: Socket
  readonly tlsVersion: string | undefined
  readonly httpVersion: string
}

/** Connections of clients that speak HTTP/2, by the sockets in memory that stand for them. */
const clients = new WeakMap<object, ClientConnection>()

/** The connection that a request really came on. */
export function connectionOf({ socket, httpVersion }: IncomingMessage): ClientConnection {
  return clients.get(socket) ?? { socket, tlsVersion: tlsVersionOf(socket), httpVersion }
}

function tlsVersionOf(socket: Socket): string | undefined {
  return socket instanceof TLSSocket ? (socket.getProtocol() ?? undefined) : undefined
}

export function createHttp2Bridge(limits: object): {
  serve(app: RequestListener): void
  pass(request: Http2ServerRequest, response: Http2ServerResponse): void
} {
  const inner: Server = createServer(limits)
  return {
    serve: (app) => void inner.on('request', app),
    pass(request, response) {
      const { session } = request.stream
      if (!session || session.destroyed) return
      const { socket } = session
      const [near, far] = duplexPair()
      near.once('close', () => far.destroy())
      far.once('close', () => near.destroy())
      clients.set(far, { socket, tlsVersion: tlsVersionOf(socket), httpVersion: '2' })
      Object.defineProperty(far, 'remoteAddress', { value: socket.remoteAddress })
      inner.emit('connection', far)
      const headers = Object.entries(request.headers).filter(([name]) => !name.startsWith(':'))
      const { ':authority': authority, host } = request.headers
      const passed = httpRequest({
        createConnection: () => near,
        method: request.method,
        path: request.url,
        headers: { ...Object.fromEntries(headers), host: authority ?? host ?? '' },
      })
      // A connection that is cut is cut as a whole, as over HTTP/1.1.
      const cut = (): void => session.destroy()
      passed.once('response', (answer) => {
        const kept = Object.entries(answer.headers).filter(([name]) => !connectionHeaders.has(name))
        if (response.stream.destroyed) return
        response.writeHead(answer.statusCode ?? 500, Object.fromEntries(kept))
        answer.once('aborted', cut)
        answer.pipe(response)
      })
      passed.once('error', () => {
        if (!response.stream.destroyed) cut()
      })
      request.once('error', () => passed.destroy()).pipe(passed)
      response.stream.once('close', () => {
        if (response.stream.rstCode !== constants.NGHTTP2_NO_ERROR) passed.destroy()
      })
    },
  }
}

/** RFC 9113 section 8.2.2. */
const connectionHeaders = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'])
