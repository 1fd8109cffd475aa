/**
 * The sockets: http or https on loopback, IPv4 and IPv6 alike, so that `localhost` arrives however it resolves.
 */
import { once } from 'node:events'
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { createSecureServer as createHttp2Server } from 'node:http2'
import { createServer as createHttpsServer, Server as HttpsServer } from 'node:https'
import type { Server as NetServer, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { SecureContextOptions } from 'node:tls'
import type { Certificate } from './certificate.ts'
import { createHttp2Bridge } from './http2-bridge.ts'
import type { Settings } from '../options/options.ts'
import { banner } from './web-app.ts'

export interface ListenOptions {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  readonly certificate?: Certificate | undefined
  /** Offers HTTP/2 in addition to HTTP/1.1, with a certificate. */
  readonly http2?: boolean
  readonly tls: TlsVersions
}

/** The lowest and the highest TLS version that a connection may have. */
export interface TlsVersions {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3'
  readonly maxVersion: 'TLSv1.2' | 'TLSv1.3'
}

export function tlsVersions({
  tlsMinVersion,
  tlsMaxVersion,
}: Pick<Settings, 'tlsMinVersion' | 'tlsMaxVersion'>): TlsVersions {
  return { minVersion: tlsMinVersion, maxVersion: tlsMaxVersion }
}

/** One port, listened on at one or two addresses. */
export interface Listener {
  readonly port: number
  serve(app: RequestListener): void
  /** Connections from now on have one of these versions. Nothing happens without TLS. */
  offer(tls: TlsVersions): void
  /** Ends every connection, too. */
  close(): Promise<void>
}

const maxHeaderBytes = 16_384
const portTries = 5
/** Milliseconds: a test that is busy for a while does not find its idle connection gone. */
const keepAliveMilliseconds = 60_000

/** @throws {Error} With code EADDRINUSE if the port is taken. */
export async function listen(options: ListenOptions, tries: number = portTries): Promise<Listener> {
  const [address = options.host, twin] = addressesOf(options.host)
  const first = await listenOn(options, address, options.port)
  const { port } = first
  const servers = [first]
  if (twin !== undefined) {
    try {
      servers.push(await listenOn(options, twin, port))
    } catch (error) {
      if (isAddressInUse(error)) {
        await first.close()
        if (options.port !== 0 || tries <= 1) throw error
        return listen(options, tries - 1)
      }
      // A machine without the other protocol: `localhost` doesn't resolve to it either.
    }
  }
  return {
    port,
    serve: (app) => {
      for (const server of servers) server.serve(app)
    },
    offer: (tls) => {
      for (const server of servers) server.offer(secureContext({ ...options, tls }))
    },
    close: async () => {
      await Promise.all(servers.map((server) => server.close()))
    },
  }
}

/** Whether another machine can't reach this address. Core has the same rule; the emulator shares no code with it, on purpose. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/u.test(host)
}

/** Whether what listens on this host is reached by two names, an address and `localhost`. */
export function hasTwoNames(host: string): boolean {
  return addressesOf(host).length === 2 || host === '0.0.0.0' || host === '::'
}

function addressesOf(host: string): readonly string[] {
  if (host === '127.0.0.1' || host === 'localhost') return ['127.0.0.1', '::1']
  return host === '::1' ? ['::1', '127.0.0.1'] : [host]
}

function isAddressInUse(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'EADDRINUSE'
}

/** What listens at one address. */
interface AddressListener extends Omit<Listener, 'offer'> {
  offer(context: SecureContextOptions): void
}

const limits = {
  maxHeaderSize: maxHeaderBytes,
  headersTimeout: 30_000,
  requestTimeout: 60_000,
  keepAliveTimeout: keepAliveMilliseconds,
}

async function listenOn(options: ListenOptions, host: string, port: number): Promise<AddressListener> {
  const listener = options.certificate && options.http2 ? http2Listener(secureContext(options)) : http1Listener(options)
  const { server } = listener
  await once(server.listen(port, host), 'listening')
  const bound = server.address()
  return { ...listener, port: typeof bound === 'object' && bound ? bound.port : port }
}

type Unbound = Omit<AddressListener, 'port'> & { readonly server: NetServer }

function http1Listener(options: ListenOptions): Unbound {
  const server = options.certificate
    ? createHttpsServer({ ...limits, ...secureContext(options) })
    : createHttpServer(limits)
  answerBadRequests(server)
  return {
    server,
    serve: (app) => void server.on('request', app),
    offer: (context) => {
      if (server instanceof HttpsServer) server.setSecureContext(context)
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** HTTP/2 for clients that offer it, HTTP/1.1 for all others (RFC 7301). */
function http2Listener(context: SecureContextOptions): Unbound {
  const bridge = createHttp2Bridge(limits)
  const sockets = new Set<Socket>()
  const server = createHttp2Server({ allowHTTP1: true, ...context })
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
    offer: (changed) => server.setSecureContext(changed),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

function answerBadRequests(server: NetServer): void {
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

function secureContext({ certificate, tls }: ListenOptions): SecureContextOptions {
  return { ...(certificate && { cert: certificate.cert, key: certificate.key }), ...tls }
}
