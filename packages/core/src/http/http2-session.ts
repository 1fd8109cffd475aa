/**
 * HTTP/2 for the requests of one login or refresh: `node:http2` over a socket that is connected and verified already, with the
 * parts that a transport for axios needs.
 *
 * axios has an HTTP/2 of its own. It shares sessions with everybody in the process, connects by itself, and leaves a request
 * without an end where its connection breaks: see `docs/internals/decisions.md`.
 */
import type { RequestOptions } from 'node:http'
import { type ClientHttp2Stream, connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { brokenConnection } from './broken-connection.ts'

/** An open HTTP/2 connection. */
export interface Http2 {
  /** The socket below it. */
  readonly socket: TLSSocket
  /** Whether a request may still be made on it. */
  isOpen(): boolean
  /**
   * Writes a request's headers at once.
   *
   * @param options - as `http.request` takes them
   * @param respond - gets the answer: the stream with `statusCode` and `headers`
   */
  request(options: RequestOptions, respond: (answer: Http2Answer) => void): ClientHttp2Stream
  close(): void
}

export type Http2Answer = ClientHttp2Stream & { readonly statusCode: number; readonly headers: IncomingHttpHeaders }

/** @param maxHeaderBytes - of an answer, all its headers together */
export async function openHttp2(origin: URL, socket: TLSSocket, maxHeaderBytes: number): Promise<Http2> {
  const session = connect(origin, {
    createConnection: () => socket,
    settings: { enablePush: false, maxHeaderListSize: maxHeaderBytes },
  })
  const isOpen = (): boolean => !session.closed && !session.destroyed && !socket.destroyed
  await new Promise<void>((resolve, reject) => {
    session
      .once('connect', () => resolve())
      .once('error', reject)
      .once('close', () => reject(brokenConnection()))
  })
  // An error of the session ends its streams as well, and those report it.
  session.on('error', () => undefined)
  return {
    socket,
    isOpen,
    request({ method = 'GET', path, headers = {} }, respond) {
      const stream = session.request({
        ':method': method,
        ':path': path ?? '/',
        ':scheme': 'https',
        ':authority': origin.host,
        ...lowerCased(headers),
      })
      let answered = false
      stream.once('response', (received) => {
        answered = true
        const { ':status': statusCode, ...rest } = received
        respond(Object.assign(stream, { statusCode: Number(statusCode), statusMessage: '', headers: rest }))
        failOnBrokenBody(stream, rest['content-length'])
      })
      // Where the connection breaks, Node closes its streams without an error.
      stream.once('close', () => {
        if (!answered) stream.emit('error', brokenConnection())
      })
      return stream
    },
    close() {
      session.destroy()
      socket.destroy()
    },
  }
}

/** HTTP/2 has names in lower case alone (RFC 9113 section 8.2.1). */
function lowerCased(headers: RequestOptions['headers'] & object): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

/** Node ends the body of a reset stream as if it were whole. This listener runs before those of the reader, and makes it an error. */
function failOnBrokenBody(stream: ClientHttp2Stream, length: string | undefined): void {
  let bytes = 0
  stream.on('data', (chunk: Buffer) => (bytes += chunk.length))
  stream.prependOnceListener('end', () => {
    const isWhole = stream.rstCode === 0 && (length === undefined || Number(length) === bytes)
    if (!isWhole) stream.emit('error', brokenConnection())
  })
}
