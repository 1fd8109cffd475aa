/**
 * A TCP or TLS server whose every byte a test writes itself.
 */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { generate } from 'selfsigned'

export interface RawServer {
  readonly port: number
  readonly connections: number
  /** Everything that clients wrote, decrypted. */
  readonly received: string
  close(): Promise<void>
}

/** @param serve - called with each connection once it stands (for TLS: once the handshake is done) */
export async function startRawServer(
  serve: (socket: Socket) => void,
  tls?: { key: string; cert: string },
): Promise<RawServer> {
  const sockets = new Set<Socket>()
  let received = ''
  let connections = 0
  const onSocket = (socket: Socket): void => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
    serve(socket)
  }
  const server: Server = tls ? createTlsServer({ ...tls, maxVersion: 'TLSv1.3' }, onSocket) : createServer(onSocket)
  server.on('tlsClientError', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server's address
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections
    },
    get received() {
      return received
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A certificate for loopback that is its own CA. */
export async function loopbackCertificate(): Promise<{ key: string; cert: string }> {
  const extensions = [
    {
      name: 'subjectAltName' as const,
      altNames: [
        { type: 2 as const, value: 'localhost' },
        { type: 7 as const, ip: '127.0.0.1' },
      ],
    },
  ]
  const pem = await generate([{ name: 'commonName', value: 'localhost' }], { keySize: 2048, extensions })
  return { key: pem.private, cert: pem.cert }
}
