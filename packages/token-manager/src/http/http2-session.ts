/**
 * HTTP/2 for the requests of one login or refresh: `node:http2` over a socket that is connected and verified already.
 *
 * axios has an HTTP/2 of its own. It shares sessions with everybody in the process, connects by itself, and leaves a request
 * without an end where its connection breaks: see `docs/internals/decisions.md`.
 */
import { type ClientHttp2Stream, connect } from 'node:http2'
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { brokenConnection } from './answer-bounds.ts'

/** All of a request but its body. */
export interface RequestHead {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
}

/** Is given the head of an answer, and its body, which is still to come. */
export type Respond = (status: number, headers: IncomingHttpHeaders, body: Readable) => void

/** Cookies that its requests carry, where no agent does. */
export interface CarriedByHttp2 {
  /** The `Cookie` header of a request; `undefined` where no cookie belongs to the address. */
  readonly headerFor: (url: URL) => string | undefined
  /** Keeps the `Set-Cookie` headers of this address's answer. */
  readonly keep: (headers: readonly string[], url: URL) => void
}

export interface Http2 {
  readonly socket: TLSSocket
  isOpen(): boolean
  /** Writes a request's headers at once. */
  request(head: RequestHead, respond: Respond): ClientHttp2Stream
  close(): void
}

export async function openHttp2(
  origin: URL,
  socket: TLSSocket,
  maxHeaderBytes: number,
  cookies?: CarriedByHttp2,
): Promise<Http2> {
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
    request({ method, url, headers }, respond) {
      const cookie = cookies?.headerFor(url)
      const stream = session.request({
        ':method': method,
        ':path': url.pathname + url.search,
        ':scheme': 'https',
        ':authority': origin.host,
        ...lowerCased(headers),
        ...(cookie !== undefined && { cookie }),
      })
      const isEnded = endIsSeen(stream)
      let answered = false
      stream.once('response', ({ ':status': status, ...received }) => {
        answered = true
        cookies?.keep(received['set-cookie'] ?? [], url)
        respond(Number(status), received, stream)
        failOnBrokenBody(stream, isEnded, received['content-length'])
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
function lowerCased(headers: RequestHead['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

/**
 * Whether the service has ended a stream: a reset one, also one that was reset without an error, Node ends as well. Then it is
 * closed already.
 */
function endIsSeen(stream: ClientHttp2Stream): () => boolean {
  let isEnded = false
  const push = stream.push.bind(stream)
  stream.push = (chunk: unknown, encoding) => {
    if (chunk === null && !stream.closed) isEnded = true
    return push(chunk, encoding)
  }
  return () => isEnded
}

/** Makes a body an error that lacks its end. This listener runs before those of the reader. */
function failOnBrokenBody(stream: ClientHttp2Stream, isEnded: () => boolean, length: string | undefined): void {
  let bytes = 0
  stream.on('data', (chunk: Buffer) => (bytes += chunk.length))
  stream.prependOnceListener('end', () => {
    const isWhole = isEnded() && stream.rstCode === 0 && (length === undefined || Number(length) === bytes)
    if (!isWhole) stream.emit('error', brokenConnection())
  })
}
