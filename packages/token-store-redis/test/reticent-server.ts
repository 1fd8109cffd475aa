/** A server in front of another, whose INFO has the two fields that a check looks for under other names: as if it had none. */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export async function startReticentServer(
  target: number,
): Promise<{ readonly port: number; readonly close: () => Promise<void> }> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => undefined).on('close', () => void (client.destroy(), upstream.destroy()))
    }
    client.on('data', (chunk) => upstream.write(chunk))
    upstream.on('data', (chunk: Buffer) => {
      // As long as before, since the answer begins with its length.
      const text = chunk.toString('latin1').replaceAll('\r\nmaxmemory_policy:', '\nxmaxmemory_policy:')
      client.write(text.replaceAll('\r\naof_enabled:', '\nxaof_enabled:'), 'latin1')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server's address
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
