/** A TCP connection in between that can be cut at the worst moment: once the server has answered, before the client hears it. */
import { once } from 'node:events'
import { connect, createServer, type Socket, type AddressInfo } from 'node:net'

export interface CuttingProxy {
  readonly port: number
  /** The next answer of the server is swallowed, and both connections are cut. */
  cutNext: boolean
  readonly cuts: number
  readonly close: () => Promise<void>
}

export async function startCuttingProxy(target: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>()
  const state = { cutNext: false, cuts: 0 }
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    const cut = (): void => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', cut).on('close', cut)
    }
    client.on('data', (chunk) => upstream.write(chunk))
    upstream.on('data', (chunk) => {
      if (!state.cutNext) return void client.write(chunk)
      state.cutNext = false
      state.cuts += 1
      return cut()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server's address
    port: (server.address() as AddressInfo).port,
    get cutNext() {
      return state.cutNext
    },
    set cutNext(value) {
      state.cutNext = value
    },
    get cuts() {
      return state.cuts
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
