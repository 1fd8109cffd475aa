/**
 * How a server ends without cutting anybody short: answers under way, however long they stream, and what arrives meanwhile
 * on a connection that is there already, get their end.
 */
import type { Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'

/**
 * Has to be called before the server listens.
 *
 * `server.close()` of `node:http` is not enough: it cuts a connection whose answer was handed over but not yet read by a
 * slow caller, and leaves open one whose answer ends later.
 *
 * @returns what ends it: takes no new connections, and resolves when the last one is closed
 */
export function drainOf(server: Server): () => Promise<void> {
  /** Answers under way on each connection. */
  const connections = new Map<Socket, number>()
  let isDraining = false

  const count = (socket: Socket, change: number): void => {
    const answers = (connections.get(socket) ?? 0) + change
    if (connections.has(socket)) connections.set(socket, answers)
    if (isDraining && answers === 0) socket.destroySoon()
  }
  server.on('connection', (socket) => {
    connections.set(socket, 0)
    socket.once('close', () => connections.delete(socket))
  })
  server.prependListener('request', ({ socket }, response) => {
    if (isDraining) response.setHeader('connection', 'close')
    count(socket, 1)
    response.once('close', () => count(socket, -1))
  })

  return () =>
    new Promise((resolve) => {
      isDraining = true
      NetServer.prototype.close.call(server, () => resolve())
      for (const socket of connections.keys()) count(socket, 0)
    })
}
