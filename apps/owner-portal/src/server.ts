/**
 * The portal's HTTP server: it takes another port where the one asked for is busy, and ends promptly.
 */
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { startTimeLimit } from '@owner-sso/core'

/** Milliseconds that answers under way have to end. */
const grace = 2000

export interface RunningServer {
  /** The address to open. */
  readonly url: string
  readonly port: number
  readonly close: () => Promise<void>
}

/** Tries `port`, the nine after it, then any free one. @throws the system's error where none can be had. */
export async function serve(listener: RequestListener, host: string, port: number): Promise<RunningServer> {
  const server = createServer(listener)
  const candidates = [...Array.from({ length: 10 }, (_, step) => port + step).filter((each) => each <= 65_535), 0]
  await listenOnFirstFree(server, host, port === 0 ? [0] : candidates)
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.')
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return {
    url: `http://${name.includes(':') ? `[${name}]` : name}:${address.port}`,
    port: address.port,
    close: () => close(server),
  }
}

async function listenOnFirstFree(server: Server, host: string, ports: readonly number[]): Promise<void> {
  for (const port of ports) {
    server.listen({ host, port, exclusive: true })
    try {
      await once(server, 'listening')
      return
    } catch (error) {
      if (!isBusy(error) || port === 0) throw error
    }
  }
}

function isBusy(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'EADDRINUSE'
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  const endLimit = startTimeLimit(grace, () => server.closeAllConnections())
  await closed
  endLimit()
}
