/**
 * What the broker is to a server.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** For `node:http`, Connect and Express. What is not the broker's goes to `next`; without one it is a 404. */
export type BrokerHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void

/** For a server's events `connect` and `upgrade`, which never reach a handler: refuses with an answer. */
export type RefuseUpgrade = (request: IncomingMessage, socket: Duplex) => void
