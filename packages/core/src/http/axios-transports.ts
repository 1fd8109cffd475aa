/**
 * HTTP/1.1 and HTTP/2 as transports for axios. Both call back right before a request is written on an open connection, and both
 * limit the size of its answer.
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
  /** Is given what `beforeWrite` threw: that is the outcome, whatever error axios makes of it. */
  readonly onUnwritten: (error: unknown) => void
  /** The answer has exceeded a limit. */
  readonly onExcess: (code: ExcessCode) => void
}

/** `node:http` or `node:https`, whatever the address says, with a limit on headers. */
export function http1Transport({ beforeWrite, onUnwritten, onExcess }: RequestWatch): object {
  return {
    request(options: RequestOptions, respond: (answer: IncomingMessage) => void): ClientRequest {
      const { protocol, hostname, port, path, method, headers, agent } = options
      const used = { protocol, hostname, port, path, method, headers, agent, maxHeaderSize: mostHeaderBytes, ...unused }
      const request = (protocol === 'https:' ? https : http).request(used, respond)
      // An unasked 101: without a listener node:http closes the connection, and the request never ends.
      request.once('upgrade', (_answer, socket) => {
        onExcess('SWITCHED_PROTOCOLS')
        socket.destroy()
        request.destroy().emit('error', brokenConnection())
      })
      // node:http emits this right before it writes what was buffered; destroying the request here leaves it unwritten.
      return request.once('socket', (socket) => {
        try {
          beforeWrite({ tls: tlsVersion(socket), http: '1.1' })
        } catch (error) {
          onUnwritten(error)
          request.destroy()
        }
        boundAnswer(request, (code) => {
          onExcess(code)
          // With an error: without one, whoever reads the answer would wait for its end.
          request.destroy(brokenConnection())
        })
      })
    },
  }
}

/**
 * Own values, so that nothing on Object.prototype is taken for an option. Spread last: V8 takes a hundred times as long to add
 * other options after them.
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
export function http2Transport(http2: Http2, { beforeWrite, onUnwritten, onExcess }: RequestWatch): object {
  return {
    request(options: RequestOptions, respond: (answer: Http2Answer) => void): ReturnType<Http2['request']> {
      if (!http2.isOpen()) throw brokenConnection()
      try {
        beforeWrite({ tls: tlsVersion(http2.socket), http: '2' })
      } catch (error) {
        onUnwritten(error)
        throw error
      }
      const stream = http2.request(options, respond)
      boundHttp2Answer(stream, http2, (code) => {
        onExcess(code)
        stream.destroy(brokenConnection())
      })
      return stream
    },
  }
}

function tlsVersion(socket: Socket): string | undefined {
  return socket instanceof TLSSocket ? (socket.getProtocol() ?? undefined) : undefined
}
