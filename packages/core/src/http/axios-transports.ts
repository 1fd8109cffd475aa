/**
 * HTTP/1.1 and HTTP/2 in the form that axios takes a transport in. Both say when a request is about to be written on a
 * connection that stands, and both bound what its answer may cost.
 */
import http, { type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { boundAnswer, boundHttp2Answer, type ExcessCode, mostHeaderBytes } from './answer-bounds.ts'
import { brokenConnection } from './broken-connection.ts'
import type { Http2, Http2Answer } from './http2-session.ts'
import type { AgreedTransport } from './http-context.ts'

/** Who follows a request. */
export interface RequestWatch {
  /** Right before the request is written. Throwing keeps it unwritten. */
  readonly beforeWrite: (agreed: AgreedTransport) => void
  /** What `beforeWrite` threw: the outcome, whatever axios makes of it. */
  readonly refused: (error: unknown) => void
  /** The answer was too much. */
  readonly tooMuch: (code: ExcessCode) => void
}

/** `node:http` or `node:https`, whatever the address says, with a limit on headers. */
export function http1Transport({ beforeWrite, refused, tooMuch }: RequestWatch): object {
  return {
    request(options: RequestOptions, respond: (answer: IncomingMessage) => void): ClientRequest {
      const { protocol, hostname, port, path, method, headers, agent } = options
      const used = { protocol, hostname, port, path, method, headers, agent, maxHeaderSize: mostHeaderBytes, ...unused }
      const request = (protocol === 'https:' ? https : http).request(used, respond)
      // 101, which nobody asked for: without a listener node:http closes the connection, and tells the request nothing.
      request.once('upgrade', (_answer, socket) => {
        tooMuch('SWITCHED_PROTOCOLS')
        socket.destroy()
        request.destroy().emit('error', brokenConnection())
      })
      // node:http emits this right before it writes what was buffered; destroying the request here leaves it unwritten.
      return request.once('socket', (socket) => {
        try {
          beforeWrite({ tls: tlsVersion(socket), http: '1.1' })
        } catch (error) {
          refused(error)
          request.destroy()
        }
        boundAnswer(request, (code) => {
          tooMuch(code)
          // With an error: an answer that was read with what was too much would else keep its reader waiting.
          request.destroy(brokenConnection())
        })
      })
    },
  }
}

/**
 * Own values, so that nothing on Object.prototype is taken for an option. They stand last among those of a request: spread
 * before others, they would cost V8 a hundred times as much.
 */
const unused: RequestOptions = {
  auth: undefined,
  createConnection: undefined,
  family: undefined,
  insecureHTTPParser: false,
  socketPath: undefined,
  localAddress: undefined,
  lookup: undefined,
  timeout: undefined,
  setHost: undefined,
  defaultPort: undefined,
  signal: undefined,
}

/** A request of its own on an HTTP/2 connection. */
export function http2Transport(http2: Http2, { beforeWrite, refused, tooMuch }: RequestWatch): object {
  return {
    request(options: RequestOptions, respond: (answer: Http2Answer) => void): ReturnType<Http2['request']> {
      if (!http2.isOpen()) throw brokenConnection()
      try {
        beforeWrite({ tls: tlsVersion(http2.socket), http: '2' })
      } catch (error) {
        refused(error)
        throw error
      }
      const stream = http2.request(options, respond)
      boundHttp2Answer(stream, http2, (code) => {
        tooMuch(code)
        stream.destroy(brokenConnection())
      })
      return stream
    },
  }
}

function tlsVersion(socket: Socket): string | undefined {
  return socket instanceof TLSSocket ? (socket.getProtocol() ?? undefined) : undefined
}
