/** An address that leads to one server, and after a failover to another. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export interface Switchboard {
  readonly port: number
  /** Where new connections lead. The old ones are cut. */
  connectTo(port: number): void
  /** From now on nobody is there; the old connections are cut. */
  cutOff(): void
  readonly close: () => Promise<void>
}

export async function startSwitchboard(port: number): Promise<Switchboard> {
  let target: number | undefined = port
  const open = new Set<Socket>()
  const cut = (): void => open.forEach((socket) => socket.destroy())
  const server = createServer((near) => {
    if (target === undefined) {
      near.destroy()
      return
    }
    const far = connect(target, '127.0.0.1')
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        open.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const own = typeof address === 'object' && address !== null ? address.port : 0
  return {
    port: own,
    connectTo(next) {
      target = next
      cut()
    },
    cutOff() {
      target = undefined
      cut()
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      cut()
      await closed
    },
  }
}
