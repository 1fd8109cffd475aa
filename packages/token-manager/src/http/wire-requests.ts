/**
 * A request of HTTP/1.1 and one of HTTP/2. Both call back right before the request is written on an open connection, and both limit
 * the size of its answer.
 */
import http, { type Agent, type ClientRequest, type RequestOptions } from 'node:http'
import type { ClientHttp2Stream } from 'node:http2'
import https from 'node:https'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { boundAnswer, boundHttp2Answer, brokenConnection, type ExcessCode, mostHeaderBytes } from './answer-bounds.ts'
import type { Http2, RequestHead, Respond } from './http2-session.ts'
import { withoutBrackets } from '../support/addresses.ts'

/** What a connection to the service agreed on. */
export interface AgreedTransport {
  /** `TLSv1.2` or `TLSv1.3`; `undefined` over plain http. */
  readonly tls: string | undefined
  readonly http: '1.1' | '2'
}

export interface RequestWatch {
  /** Right before the request is written. Throwing keeps it unwritten, and ends it with some error. */
  readonly beforeWrite: (agreed: AgreedTransport) => void
  readonly respond: Respond
  /** The answer has exceeded a limit. Has to destroy the request. */
  readonly giveUp: (code: ExcessCode) => void
}

export function http1Request(
  agent: Agent,
  { method, url, headers }: RequestHead,
  { beforeWrite, respond, giveUp }: RequestWatch,
): ClientRequest {
  const { protocol, hostname, port, pathname, search } = url
  const request = (protocol === 'https:' ? https : http).request({
    protocol,
    hostname: withoutBrackets(hostname),
    port,
    path: pathname + search,
    method,
    headers,
    agent,
    maxHeaderSize: mostHeaderBytes,
    ...unused,
  })
  // An unasked 101: without a listener node:http closes the connection, and the request never ends.
  request.once('upgrade', (_answer, socket) => {
    giveUp('SWITCHED_PROTOCOLS')
    socket.destroy()
  })
  request.once('response', (answer) => respond(answer.statusCode ?? 0, answer.headers, answer))
  // node:http emits this right before it writes what was buffered; destroying the request here leaves it unwritten.
  return request.once('socket', (socket) => {
    try {
      beforeWrite({ tls: tlsVersion(socket), http: '1.1' })
    } catch {
      request.destroy()
    }
    boundAnswer(request, giveUp)
  })
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

export function http2Request(
  http2: Http2,
  head: RequestHead,
  { beforeWrite, respond, giveUp }: RequestWatch,
): ClientHttp2Stream {
  if (!http2.isOpen()) throw brokenConnection()
  beforeWrite({ tls: tlsVersion(http2.socket), http: '2' })
  const stream = http2.request(head, respond)
  boundHttp2Answer(stream, http2, giveUp)
  return stream
}

function tlsVersion(socket: Socket): string | undefined {
  return socket instanceof TLSSocket ? (socket.getProtocol() ?? undefined) : undefined
}
