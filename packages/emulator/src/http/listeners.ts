/**
 * The emulator's sockets: one port of this machine, at IPv4 and IPv6 alike, so that `localhost` arrives however it resolves; http or
 * https, with HTTP/2 where that is wanted.
 */
import { once } from 'node:events'
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { createSecureServer as createHttp2Server } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import type { Server, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Certificate } from './certificate.ts'
import { createHttp2Bridge } from './http2-bridge.ts'

export interface Listener {
  readonly port: number
  serve(app: RequestListener): void
  close(): Promise<void>
}

export interface ListenOptions {
  readonly port?: number
  readonly certificate?: Certificate | undefined
  readonly http2?: boolean
}

/** On whatever answers by itself, so that nobody mistakes it for the service. */
export const banner = 'x-owner-sso-emulator'

const portTries = 5
const limits = {
  maxHeaderSize: 16_384,
  headersTimeout: 30_000,
  requestTimeout: 60_000,
  // Milliseconds: a client that is busy for a while does not find its idle connection gone.
  keepAliveTimeout: 60_000,
}

/** Whether another machine can't reach this address. Core has the same rule; the emulator shares no code with it, on purpose. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/u.test(host)
}

/** @throws {Error} With code EADDRINUSE if the port is taken at one of the addresses. */
export async function listen(options: ListenOptions = {}, tries: number = portTries): Promise<Listener> {
  const first = listenerOf(options)
  const port = await listenAt(first, '127.0.0.1', options.port ?? 0)
  const second = listenerOf(options)
  try {
    await listenAt(second, '::1', port)
    return together(port, [first, second])
  } catch (error) {
    // A machine without the other protocol: `localhost` doesn't resolve to it either.
    if (Object(error).code !== 'EADDRINUSE') return together(port, [first])
    await first.close()
    if (options.port || tries <= 1) throw error
    return listen(options, tries - 1)
  }
}

interface AddressListener extends Omit<Listener, 'port'> {
  readonly server: Server
}

function together(port: number, listeners: readonly AddressListener[]): Listener {
  return {
    port,
    serve(app) {
      for (const listener of listeners) listener.serve(app)
    },
    async close() {
      await Promise.all(listeners.map((listener) => listener.close()))
    },
  }
}

async function listenAt({ server }: AddressListener, host: string, port: number): Promise<number> {
  await once(server.listen(port, host), 'listening')
  const bound = server.address()
  return typeof bound === 'object' && bound ? bound.port : port
}

function listenerOf({ certificate, http2 = false }: ListenOptions): AddressListener {
  if (certificate && http2) return http2Listener(certificate)
  const server = certificate ? createHttpsServer({ ...limits, ...certificate }) : createHttpServer(limits)
  answerBadRequests(server)
  return {
    server,
    serve: (app) => void server.on('request', app),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** HTTP/2 for clients that offer it, HTTP/1.1 for all others (RFC 7301). */
function http2Listener({ cert, key }: Certificate): AddressListener {
  const bridge = createHttp2Bridge(limits)
  const sockets = new Set<Socket>()
  const server = createHttp2Server({ allowHTTP1: true, cert, key })
  answerBadRequests(server)
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return {
    server,
    serve(app) {
      bridge.serve(app)
      server.on('request', (request, response) => {
        if (request.httpVersionMajor === 2) bridge.pass(request, response)
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a request of HTTP/1.1 is that of node:http
        else app(request as unknown as IncomingMessage, response as unknown as ServerResponse)
      })
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/** Refuses bytes that are no HTTP, or headers that are too long, with our banner; the connection ends. */
function answerBadRequests(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const status = error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request'
    if (socket.writable)
      socket.end(`HTTP/1.1 ${status}\r\n${banner}: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`)
    else socket.destroy()
  })
  server.on('checkExpectation', (_request, response: ServerResponse) => {
    response.writeHead(417, { [banner]: '1', connection: 'close', 'content-length': '0' }).end()
  })
}
