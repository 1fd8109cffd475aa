/** The sockets: http or https on loopback, IPv4 and IPv6 alike, so that `localhost` arrives however it resolves. */
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Certificate } from './certificate.ts'
import { BANNER } from './web-app.ts'

export interface ListenOptions {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  readonly certificate?: Certificate | undefined
  readonly tlsMaxVersion: 'TLSv1.2' | 'TLSv1.3'
}

/** One port, listened on at one or two addresses. */
export interface Listener {
  readonly port: number
  serve(app: RequestListener): void
  /** Ends every connection, too. */
  close(): Promise<void>
}

const MAX_HEADER_BYTES = 16_384
const PORT_TRIES = 5

/** @throws {Error} With code EADDRINUSE if the port is taken. */
export async function listen(options: ListenOptions, tries: number = PORT_TRIES): Promise<Listener> {
  const first = await listenOn(options, isLoopback(options.host) ? '127.0.0.1' : options.host, options.port)
  const { port } = first.address() as AddressInfo
  const servers = [first]
  if (isLoopback(options.host)) {
    try {
      servers.push(await listenOn(options, '::1', port))
    } catch (error) {
      if (isAddressInUse(error)) {
        await closeServer(first)
        if (options.port !== 0 || tries <= 1) throw error
        return listen(options, tries - 1)
      }
      // A machine without IPv6: `localhost` resolves to 127.0.0.1 there.
    }
  }
  return {
    port,
    serve: (app) => {
      for (const server of servers) server.on('request', app)
    },
    close: async () => {
      await Promise.all(servers.map(closeServer))
    },
  }
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/u.test(host)
}

function isAddressInUse(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
}

async function listenOn(options: ListenOptions, host: string, port: number): Promise<Server> {
  const { certificate, tlsMaxVersion } = options
  const limits = { maxHeaderSize: MAX_HEADER_BYTES, headersTimeout: 30_000, requestTimeout: 60_000 }
  const server = certificate
    ? createHttpsServer({ ...limits, cert: certificate.cert, key: certificate.key, maxVersion: tlsMaxVersion })
    : createHttpServer(limits)
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const status = error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request'
    if (socket.writable)
      socket.end(`HTTP/1.1 ${status}\r\n${BANNER}: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`)
    else socket.destroy()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  return server
}

async function closeServer(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
