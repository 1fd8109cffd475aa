/** Something that says it is a Redis server over TLS, with a certificate that nobody has vouched for; it remembers what it was sent. */
import { once } from 'node:events'
import { createServer } from 'node:tls'
import { generate } from 'selfsigned'

export interface UnverifiedRedis {
  /** With the password `hush` in it. */
  readonly url: string
  /** PEM: whoever trusts it has verified the server. */
  readonly certificate: string
  /** What clients wrote, decrypted. */
  readonly received: () => string
  readonly close: () => Promise<void>
}

export async function startUnverifiedRedis(): Promise<UnverifiedRedis> {
  let received = ''
  const { private: key, cert } = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  })
  const server = createServer({ key, cert }, (socket) => {
    socket.on('error', () => {}).on('data', (chunk) => (received += chunk.toString()))
    socket.once('data', () => socket.end('-ERR no\r\n'))
  }).listen(0, '127.0.0.1')
  server.on('tlsClientError', () => {})
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('it listens on no port')
  return {
    url: `rediss://:hush@127.0.0.1:${address.port}`,
    certificate: cert,
    received: () => received,
    close: async () => {
      server.close()
      await once(server, 'close')
    },
  }
}
