/**
 * The door of a server: which requests come in, told by their first lines.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type Answer, rawAnswer, sendAnswer } from '../answers/problem.ts'
import { property } from '../property.ts'
import { closeWithConnection } from './queued-response.ts'
import { endAfterAnswer, isSpent } from './spent-connection.ts'

/**
 * Lets a request in. One that two servers could read in two ways is answered, and its connection takes no other; one whose caller
 * has gone is not.
 *
 * @returns whether it is in. If it is, its response is certain to emit `close`
 */
export function letIn(request: IncomingMessage, response: ServerResponse, malformed: Answer): boolean {
  // A caller may be gone before the handlers in front have let its request through: there is no event for that.
  if (isOver(response) || request.socket.destroyed || isSpent(request.socket)) return false
  closeWithConnection(request, response)
  if (hasPlainFraming(request) && !namesTwoHosts(request)) return true
  // At once, and not in a promise: the parser goes on with the next bytes in this very turn.
  endAfterAnswer(request)
  sendAnswer(response, malformed)
  return false
}

/** The caller has an answer, or has gone: nothing is to be sent any more. */
export function isOver({ destroyed, writableEnded }: ServerResponse): boolean {
  return destroyed || writableEnded
}

/**
 * One way to tell where the body ends (RFC 9112 section 6.3), also on servers that were told to parse leniently. Where there
 * is another, what follows on the connection may be a body to whoever sent it, and is a request to this server.
 */
export function hasPlainFraming(request: IncomingMessage): boolean {
  const { method, headers } = request
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || headers['content-length'] !== undefined))
    return false
  return !declaresBody(request) || (method !== 'GET' && method !== 'HEAD')
}

/** Which of them counts differs from server to server (RFC 9112 section 3.2). */
function namesTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length > 1
}

/** Whether the caller sends a body. */
export function declaresBody(request: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers
  if (length !== undefined) return coding !== undefined || Number(length) !== 0
  // Over HTTP/2, no header says that a body follows: the stream stays open behind the headers (RFC 9113 section 8.1).
  return coding !== undefined || property(property(request, 'stream'), 'endAfterHeaders') === false
}

/**
 * Whether a request asks for a connection that speaks another protocol, such as WebSocket. An offer of HTTP/2 (`Upgrade: h2c`) asks
 * for nothing: clients that know HTTP/2 make it with their requests over plain http, and go on in HTTP/1.1 where nobody takes it
 * up (RFC 9110 section 7.8).
 */
export function asksForUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined && headers.upgrade.split(',').some((name) => name.trim().toLowerCase() !== 'h2c')
}

/** For a server's event `connect`, and `upgrade` where a server listens to that: gives an answer, and ends the connection. */
export function rejecter(connect: Answer, upgrade: Answer): (request: IncomingMessage, socket: Duplex) => void {
  return ({ method }, socket) => {
    socket.on('error', () => {})
    socket.end(rawAnswer(method === 'CONNECT' ? connect : upgrade), () => socket.destroy())
  }
}
