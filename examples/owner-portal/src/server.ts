/**
 * The portal's HTTP server: it takes another port where the one asked for is busy, and ends promptly.
 */
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { startTimeLimit, systemCode, withBrackets } from '@owner-sso/core'

/** Milliseconds that answers under way have to end. */
const grace = 2000

export interface RunningServer {
  /** The address to open. */
  readonly url: string
  readonly port: number
  readonly close: () => Promise<void>
}

/** Takes `port`, else any free one. @throws the system's error where none can be had. */
export async function serve(listener: RequestListener, host: string, port: number): Promise<RunningServer> {
  const server = createServer(listener)
  try {
    await listen(server, host, port)
  } catch (error) {
    if (systemCode(error) !== 'EADDRINUSE') throw error
    await listen(server, host, 0)
  }
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.')
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return {
    url: `http://${withBrackets(name)}:${address.port}`,
    port: address.port,
    close: () => close(server),
  }
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  server.listen({ host, port, exclusive: true })
  await once(server, 'listening')
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  const endLimit = startTimeLimit(grace, () => server.closeAllConnections())
  await closed
  endLimit()
}
