/**
 * How a server ends without cutting anybody short: responses under way, however long they stream, and what arrives meanwhile
 * on a connection that is there already, get their end.
 */
import type { Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { closeWithConnection } from './queued-response.ts'

/**
 * Has to be called before the server listens.
 *
 * `server.close()` of `node:http` is not enough: it cuts a connection whose answer was handed over but not yet read by a
 * slow caller, and leaves open one whose answer ends later.
 *
 * @returns what ends it: takes no new connections, and resolves when the last one is closed
 */
export function drainOf(server: Server): () => Promise<void> {
  /** The responses under way on each connection. */
  const connections = new Map<Socket, Set<ServerResponse>>()
  let isDraining = false

  server.on('connection', (socket) => {
    connections.set(socket, new Set())
    socket.once('close', () => connections.delete(socket))
  })
  server.prependListener('request', (request, response) => {
    const { socket } = request
    closeWithConnection(request, response)
    const responses = connections.get(socket)
    responses?.add(response)
    response.once('close', () => {
      responses?.delete(response)
      if (isDraining && responses?.size === 0) socket.destroySoon()
    })
  })

  return () =>
    new Promise((resolve) => {
      isDraining = true
      NetServer.prototype.close.call(server, () => resolve())
      for (const [socket, responses] of connections) {
        if (responses.size === 0) socket.destroySoon()
        // So that the caller sends no other request on a connection that is about to close. Node closes it behind the response
        // that says so, and drops those that wait behind that one: so it is the last that says it.
        const last = [...responses].at(-1)
        if (last?.headersSent === false) last.setHeader('connection', 'close')
      }
    })
}
