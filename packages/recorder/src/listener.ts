/**
 * The sockets of recorder and replay: plain http on one port of this machine, IPv4 and IPv6 alike, so that `localhost` arrives
 * however it resolves. The emulator has listeners of its own, with TLS and HTTP/2: neither needs the other's.
 */
import { once } from 'node:events'
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

export interface Listener {
  readonly port: number
  serve(app: RequestListener): void
  /** Ends every connection, too. */
  close(): Promise<void>
}

/** On whatever a recorder or replay says by itself, so that nobody mistakes it for the service. */
export const banner = 'x-owner-sso-emulator'

const portTries = 5
const limits = {
  maxHeaderSize: 16_384,
  headersTimeout: 30_000,
  requestTimeout: 60_000,
  // Milliseconds: a client that is busy for a while does not find its idle connection gone.
  keepAliveTimeout: 60_000,
}

/** @throws {Error} With code EADDRINUSE if the port is taken. */
export async function listenOnLoopback(port = 0, tries: number = portTries): Promise<Listener> {
  const first = await listenOn('127.0.0.1', port)
  const bound = portOf(first)
  const servers = [first]
  try {
    servers.push(await listenOn('::1', bound))
  } catch (error) {
    if (isAddressInUse(error)) {
      await close(first)
      if (port !== 0 || tries <= 1) throw error
      return listenOnLoopback(port, tries - 1)
    }
    // A machine without IPv6: `localhost` doesn't resolve to it either.
  }
  return {
    port: bound,
    serve: (app) => {
      for (const server of servers) server.on('request', app)
    },
    close: async () => {
      await Promise.all(servers.map(close))
    },
  }
}

async function listenOn(host: string, port: number): Promise<Server> {
  const server = createServer(limits)
  answerBadRequests(server)
  await once(server.listen(port, host), 'listening')
  return server
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

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

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

function isAddressInUse(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'EADDRINUSE'
}
