/**
 * The sockets: one port of this machine, at IPv4 and IPv6 alike, so that `localhost` arrives however it resolves.
 */
import { once } from 'node:events'
import { createServer, type Server as HttpServer, type RequestListener, type ServerResponse } from 'node:http'
import type { Server as NetServer } from 'node:net'
import type { Duplex } from 'node:stream'

/** What listens, at one address or two. */
export interface Listener {
  readonly port: number
  serve(app: RequestListener): void
  /** Ends every connection, too. */
  close(): Promise<void>
}

/** What can listen at one address. */
export interface AddressListener extends Omit<Listener, 'port'> {
  readonly server: NetServer
}

/** On whatever answers by itself, so that nobody mistakes it for the service. */
export const banner = 'x-owner-sso-emulator'

const portTries = 5
export const serverLimits = {
  maxHeaderSize: 16_384,
  headersTimeout: 30_000,
  requestTimeout: 60_000,
  // Milliseconds: a client that is busy for a while does not find its idle connection gone.
  keepAliveTimeout: 60_000,
}

/** @throws {Error} With code EADDRINUSE if the port is taken. */
export function listenOnLoopback(port = 0): Promise<Listener> {
  return listenOnHost('127.0.0.1', port, () => httpListener(createServer(serverLimits)))
}

/**
 * Listens at each address of a host, on one port.
 *
 * @param port 0: any that is free at all of them
 * @throws {Error} With code EADDRINUSE if the port is taken at one of them.
 */
export async function listenOnHost<Each extends AddressListener>(
  host: string,
  port: number,
  create: () => Each,
  tries: number = portTries,
): Promise<Listener & { readonly listeners: readonly Each[] }> {
  const [address = host, twin] = addressesOf(host)
  const first = create()
  const bound = await listenAt(first, address, port)
  if (twin === undefined) return together(bound, [first])
  const second = create()
  try {
    await listenAt(second, twin, bound)
    return together(bound, [first, second])
  } catch (error) {
    // A machine without the other protocol: `localhost` doesn't resolve to it either.
    if (!isAddressInUse(error)) return together(bound, [first])
    await first.close()
    if (port !== 0 || tries <= 1) throw error
    return listenOnHost(host, port, create, tries - 1)
  }
}

function together<Each extends AddressListener>(
  port: number,
  listeners: readonly Each[],
): Listener & { readonly listeners: readonly Each[] } {
  return {
    port,
    listeners,
    serve(app) {
      for (const listener of listeners) listener.serve(app)
    },
    async close() {
      await Promise.all(listeners.map((listener) => listener.close()))
    },
  }
}

/** The addresses that `host` is reached at: those of loopback come in pairs. */
export function addressesOf(host: string): readonly string[] {
  if (host === '127.0.0.1' || host === 'localhost') return ['127.0.0.1', '::1']
  return host === '::1' ? ['::1', '127.0.0.1'] : [host]
}

export function httpListener(server: HttpServer): AddressListener {
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

/** Refuses bytes that are no HTTP, or headers that are too long, with our banner; the connection ends. */
export function answerBadRequests(server: NetServer): void {
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

/** The port that it listens on. */
async function listenAt({ server }: AddressListener, host: string, port: number): Promise<number> {
  await once(server.listen(port, host), 'listening')
  const bound = server.address()
  return typeof bound === 'object' && bound ? bound.port : port
}

function isAddressInUse(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'EADDRINUSE'
}
