/**
 * An answer that comes while the request is still being sent: too large a body, or a refused token. Who answers so often closes the
 * connection at once, and then the next piece of the request can't be written; Node throws away what it has not read of the
 * answer by then. So that error waits until all was read.
 */
import type { Socket } from 'node:net'
import type { buildConnector } from 'undici'
import { property } from './property.ts'

/** What a write fails with where the other side has closed the connection. */
const closed = new Set(['EPIPE', 'ECONNRESET'])

type Callback = (error?: Error | null) => void

/** A connector of connections that read all that there is of an answer before they fail for a request that can't be written. */
export function reading(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error !== null) return callback(error, null)
      readBeforeFailing(socket)
      callback(null, socket)
    })
}

function readBeforeFailing(socket: Socket): void {
  const afterReading =
    (callback: Callback): Callback =>
    (error) => {
      if (!closed.has(String(property(error, 'code'))) || socket.readableEnded || socket.destroyed)
        return callback(error)
      const fail = (): void => {
        socket.off('end', fail).off('close', fail)
        callback(error)
      }
      socket.once('end', fail).once('close', fail)
    }

  // What Node calls to write one piece, and several.
  const [write, writeMany] = [property(socket, '_write'), property(socket, '_writev')]
  Object.assign(
    socket,
    typeof write === 'function' && {
      _write: (piece: unknown, encoding: unknown, callback: Callback): void =>
        Reflect.apply(write, socket, [piece, encoding, afterReading(callback)]),
    },
    typeof writeMany === 'function' && {
      _writev: (pieces: unknown, callback: Callback): void =>
        Reflect.apply(writeMany, socket, [pieces, afterReading(callback)]),
    },
  )
}
