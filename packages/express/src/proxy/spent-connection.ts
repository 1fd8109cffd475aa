/**
 * Connections whose next bytes are nobody's request: nobody can tell where the body of the last one ended.
 */
import type { Duplex } from 'node:stream'
import { property } from '../property.ts'

const spent = new WeakSet<Duplex>()

/** What a parser's `onIncoming` says of a message, so that the parser leaves the rest of the segment alone. */
const readNoFurther = 2

/**
 * Takes no more requests from a connection, which ends with the answer that it still gets.
 *
 * What came in the same segment as the refused request is parsed in this very turn, and Node has no public way to stop that:
 * neither `pause()` nor `destroy()` of the socket does. So the parser's own callback goes; where a Node has none of that name,
 * the proxy still refuses, and the application's other routes are not covered.
 */
export function endAfterAnswer(socket: Duplex): void {
  spent.add(socket)
  const parser = property(socket, 'parser')
  if (!isParser(parser)) return
  parser.onIncoming = (request) => {
    // Else Node hands the socket to the server's listeners of `upgrade` and `connect`.
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
