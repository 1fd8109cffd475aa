/**
 * A real forward proxy on loopback that keeps every byte it is sent: it tunnels what asks for a tunnel, and answers the rest.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface RecordingProxy {
  readonly port: number
  readonly url: string
  /** All that clients wrote, as latin1. */
  readonly seen: () => string
  close(): Promise<void>
}

/**
 * @param refusal - the status that every CONNECT gets, in place of a tunnel; or the answers before one
 * @param host - the address to listen at
 */
export async function startRecordingProxy(refusal?: number | string, host = '127.0.0.1'): Promise<RecordingProxy> {
  let seen = ''
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.on('error', () => {}).once('close', () => sockets.delete(socket))
  }
  const server = createServer((client) => {
    keep(client).on('data', (chunk) => (seen += chunk.toString('latin1')))
    client.once('data', (first) => {
      const tunnel = /^CONNECT ([^ :]+):(\d+) /u.exec(first.toString('latin1'))
      if (!tunnel) {
        client.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}')
        return
      }
      if (typeof refusal === 'number') {
        client.end(`HTTP/1.1 ${refusal} No\r\n\r\n`)
        return
      }
      const upstream = keep(connect(Number(tunnel[2]), tunnel[1]))
      upstream.once('connect', () => {
        client.write(refusal ?? 'HTTP/1.1 200 Connection established\r\n\r\n')
        upstream.pipe(client).pipe(upstream)
      })
    })
  }).listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    seen: () => seen,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
