/**
 * The limits of an answer: its body, its headers, the interim answers before it, and all other bytes on the wire, such as a
 * chunk's extensions or a frame's padding. Each of them could be sent without end.
 */
import type { ClientRequest } from 'node:http'
import type { ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2'
import type { Socket } from 'node:net'

/** The most that is read of a body, after decompression. The service's pages have about 8 KiB. */
export const mostBodyBytes: number = 256 * 1024
export const mostHeaderBytes: number = 16 * 1024
/** Interim answers (1xx). The service sends none. */
const mostInterim = 10
/** Bytes on the wire, headers and chunk sizes included: four times the largest body. */
const mostWireBytes = 1024 * 1024
/** Milliseconds between two looks at how much came over an HTTP/2 connection: there is no event for it. */
const lookEvery = 50

/** Why an answer was given up. `HPE_HEADER_OVERFLOW` is what node:http says of headers. */
export type ExcessCode =
  | 'ANSWER_TOO_LARGE'
  | 'TOO_MANY_INTERIM_ANSWERS'
  | 'ANSWER_TOO_LONG_ON_THE_WIRE'
  | 'HPE_HEADER_OVERFLOW'
  | 'SWITCHED_PROTOCOLS'

/** What the system says of a connection that was cut, for requests of which it does not. Not in `http2-session.ts`, which loads slowly. */
export function brokenConnection(): Error {
  return Object.assign(new Error('The connection broke.'), { code: 'ECONNRESET', syscall: 'read' })
}

/** Watches the answer to a request until its end. @param giveUp - called at most once; has to end the request */
export function boundAnswer(request: ClientRequest, giveUp: (code: ExcessCode) => void): void {
  let bytes = 0
  const count = (chunk: Buffer): void => {
    bytes += chunk.length
    if (bytes > mostWireBytes) stop('ANSWER_TOO_LONG_ON_THE_WIRE')
  }
  const countInterim = counter(() => stop('TOO_MANY_INTERIM_ANSWERS'))
  const { socket } = request
  const letGo = (): void => void socket?.off('data', count)
  const stop = (code: ExcessCode): void => {
    request.off('information', countInterim)
    letGo()
    giveUp(code)
  }
  request.on('information', countInterim).once('close', letGo)
  socket?.on('data', count)
}

/** The same over HTTP/2. */
export function boundHttp2Answer(
  stream: ClientHttp2Stream,
  { socket }: { readonly socket: Socket },
  giveUp: (code: ExcessCode) => void,
): void {
  const before = socket.bytesRead
  const look = setInterval(() => {
    if (socket.bytesRead - before > mostWireBytes) stop('ANSWER_TOO_LONG_ON_THE_WIRE')
  }, lookEvery)
  const countInterim = counter(() => stop('TOO_MANY_INTERIM_ANSWERS'))
  const stop = (code: ExcessCode): void => {
    stream.off('headers', countInterim)
    clearInterval(look)
    giveUp(code)
  }
  // The limit in HTTP/2's settings is only advice to the other side.
  stream.once('response', (headers) => {
    if (sizeOf(headers) > mostHeaderBytes) stop('HPE_HEADER_OVERFLOW')
  })
  stream.on('headers', countInterim).once('close', () => clearInterval(look))
}

function sizeOf(headers: IncomingHttpHeaders): number {
  const sizes = Object.entries(headers).map(([name, value]) => name.length + String(value).length)
  return sizes.reduce((sum, size) => sum + size, 0)
}

function counter(tooMany: () => void): () => void {
  let count = 0
  return () => {
    count += 1
    if (count > mostInterim) tooMany()
  }
}
