/**
 * One address in front of all instances: each connection goes to the next one that takes it, as with any load balancer.
 */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export interface Front {
  readonly url: string
  readonly close: () => Promise<void>
}

/**
 * @param targets - ports on 127.0.0.1
 * @param port - the port asked for; where it is busy, any free one
 */
export async function startFront(targets: readonly number[], port: number): Promise<Front> {
  const sockets = new Set<Socket>()
  let turn = 0
  const server = createServer({ allowHalfOpen: true }, (caller) => {
    sockets.add(caller)
    caller.once('close', () => sockets.delete(caller)).on('error', () => undefined)
    turn += 1
    pass(caller, [...targets.slice(turn % targets.length), ...targets.slice(0, turn % targets.length)])
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening').catch(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : port}`,
    async close() {
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    },
  }
}

/** Connects a caller with the first target that answers; nothing was sent to those that don't. */
function pass(caller: Socket, [port, ...others]: readonly number[]): void {
  if (port === undefined) {
    caller.destroy()
    return
  }
  const instance = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const onRefused = (): void => pass(caller, others)
  instance.once('error', onRefused)
  instance.once('connect', () => {
    instance.off('error', onRefused).on('error', () => caller.destroy())
    caller.once('close', () => instance.destroy())
    caller.pipe(instance).pipe(caller)
  })
}
