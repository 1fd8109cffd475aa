/**
 * Connections that take no more requests: it can't be told where the body of the last one ended, so the next bytes may be its.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { property } from '../property.ts'

const spent = new WeakSet<Duplex>()

/** Returned by a parser's `onIncoming`: the parser then reads nothing more of the segment. */
const readNoFurther = 2

/**
 * Takes no more requests from this one's connection, which ends with the answer that it still gets. HTTP/2 has no such doubt about
 * its bodies: there, the connection goes on.
 *
 * What came in the same segment as the rejected request is parsed in this very turn, and Node has no public way to stop that:
 * neither `pause()` nor `destroy()` of the socket does. So the parser's own callback goes; where a Node has none of that name,
 * the proxy still rejects, and the application's other routes are not covered.
 */
export function endAfterAnswer({ socket, httpVersionMajor }: IncomingMessage): void {
  if (httpVersionMajor >= 2) return
  spent.add(socket)
  const parser = property(socket, 'parser')
  if (!isParser(parser)) return
  parser.onIncoming = (request) => {
    // Otherwise Node hands the socket to the server's listeners of `upgrade` and `connect`.
    request.upgrade = false
    return readNoFurther
  }
}

/** What is used here of Node's own parser of a connection. */
interface Parser {
  onIncoming: (request: { upgrade?: boolean }) => number
}

function isParser(value: unknown): value is Parser {
  return typeof property(value, 'onIncoming') === 'function'
}

/** Whether a connection takes no more requests. */
export function isSpent(socket: Duplex): boolean {
  return spent.has(socket)
}
