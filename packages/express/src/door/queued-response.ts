/**
 * Responses that wait behind another one on their connection, because their caller sent its requests without waiting.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

const queues = new WeakMap<Duplex, Set<ServerResponse>>()

/**
 * Lets a response that waits its turn emit `close` when its connection closes, as every other one does.
 *
 * Node does so from version 24 on. Before, such a response got no event: work for it went on, and the place that it had taken
 * was never given back.
 */
export function closeWithConnection({ socket }: IncomingMessage, response: ServerResponse): void {
  // One whose turn it is has the socket, and Node tells it.
  if (response.socket !== null || response.destroyed) return
  const queue = queues.get(socket) ?? queueOf(socket)
  queue.add(response)
  response.once('close', () => queue.delete(response))
}

/** One listener for all: a caller may send any number of requests. */
function queueOf(socket: Duplex): Set<ServerResponse> {
  const queue = new Set<ServerResponse>()
  queues.set(socket, queue)
  // After Node's own listeners, which tell the response whose turn it was.
  socket.once('close', () => setImmediate(closeAll, queue))
  return queue
}

function closeAll(queue: ReadonlySet<ServerResponse>): void {
  for (const response of queue) response.destroy()
  // From Node 24 on each emits it by itself, a moment later, and is no longer here then.
  setImmediate(() => {
    for (const response of queue) response.emit('close')
  })
}
