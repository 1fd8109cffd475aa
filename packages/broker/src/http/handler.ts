/**
 * The broker as what a server calls: a handler for requests, and one for `connect`.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** For `node:http`, Connect and Express. What is not the broker's goes to `next`; without one it is a 404. */
export type BrokerHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void

/**
 * For a server's event `connect`, which never reaches a handler: rejects with an answer. It also answers an `upgrade`, but a server
 * that listens to that hands it clients that only offer HTTP/2, too.
 */
export type RejectUpgrade = (request: IncomingMessage, socket: Duplex) => void
