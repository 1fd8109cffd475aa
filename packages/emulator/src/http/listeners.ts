/**
 * The emulator's sockets: http or https, with HTTP/2 where that is wanted.
 */
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createSecureServer as createHttp2Server } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import {
  addressesOf,
  answerBadRequests,
  httpListener,
  listenOnHost,
  serverLimits,
  type AddressListener,
  type Listener as PlainListener,
} from './loopback-listener.ts'
import type { Certificate } from './certificate.ts'
import { createHttp2Bridge } from './http2-bridge.ts'
import type { EmulatorSettings } from '../options/options.ts'

export interface ListenOptions {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  readonly certificate?: Certificate | undefined
  /** Offers HTTP/2 in addition to HTTP/1.1, with a certificate. */
  readonly http2?: boolean
  readonly tls: TlsVersions
}

/** The settings that say which TLS versions a connection may have. */
export type TlsVersions = Pick<EmulatorSettings, 'tlsMinVersion' | 'tlsMaxVersion'>

/** One port, listened on at one or two addresses. */
export interface Listener extends PlainListener {
  /** Connections from now on have one of these versions. Nothing happens without TLS. */
  offer(tls: TlsVersions): void
}

/** What listens at one address. */
interface Each extends AddressListener {
  readonly setSecureContext?: (context: SecureContextOptions) => void
}

/** @throws {Error} With code EADDRINUSE if the port is taken. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const listener = await listenOnHost(options.host, options.port, () => listenerOf(options))
  return {
    ...listener,
    offer(tls) {
      for (const each of listener.listeners) each.setSecureContext?.(secureContext({ ...options, tls }))
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

function listenerOf(options: ListenOptions): Each {
  if (!options.certificate) return httpListener(createHttpServer(serverLimits))
  const context = secureContext(options)
  if (options.http2) return http2Listener(context)
  const server = createHttpsServer({ ...serverLimits, ...context })
  return { ...httpListener(server), setSecureContext: (changed) => server.setSecureContext(changed) }
}

/** HTTP/2 for clients that offer it, HTTP/1.1 for all others (RFC 7301). */
function http2Listener(context: SecureContextOptions): Each {
  const bridge = createHttp2Bridge(serverLimits)
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
    setSecureContext: (changed) => server.setSecureContext(changed),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

function secureContext({ certificate, tls }: ListenOptions): SecureContextOptions {
  const versions = { minVersion: tls.tlsMinVersion, maxVersion: tls.tlsMaxVersion }
  return { ...(certificate && { cert: certificate.cert, key: certificate.key }), ...versions }
}
