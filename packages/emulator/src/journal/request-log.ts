/**
 * One request as the log shows it: what arrived, secrets masked. Tests count requests and connections, people read it.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { masked } from './masking.ts'
import { connectionOf } from '../http/http2-bridge.ts'

/** A request as it arrived, secrets masked. */
export interface LoggedRequest {
  /** Seconds since the epoch by the emulator's clock. */
  readonly at: number
  /** The Host header: it tells the instances apart. */
  readonly host: string
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string | readonly string[]>>
  readonly headers: Readonly<Record<string, string>>
  /** Names and values of a form or JSON body; of any other body its text is not kept. */
  body: Readonly<Record<string, unknown>>
  /** Undefined until answered; 0 if the connection was cut before that, or a fault corrupted the response. */
  status: number | undefined
  /** A number for each connection, from 1. */
  readonly connection: number
  /** `TLSv1.2`, `TLSv1.3`; undefined over plain http. */
  readonly tlsVersion: string | undefined
  /** `1.1`, `2`. */
  readonly httpVersion: string
}

/** A reader of requests that numbers their connections; `at` in seconds since the epoch. */
export function createRequestReader(): (request: IncomingMessage, at: number) => LoggedRequest {
  const connections = new WeakMap<Socket, number>()
  let last = 0

  function numberOf(socket: Socket): number {
    const number = connections.get(socket) ?? (last += 1)
    connections.set(socket, number)
    return number
  }

  return (request, at) => {
    const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/su)
    const { socket, tlsVersion, httpVersion } = connectionOf(request)
    return {
      at,
      host: request.headers.host ?? '',
      method: request.method ?? '',
      path,
      query: masked.query(query),
      headers: masked.requestHeaders(request.headers),
      body: {},
      status: undefined,
      connection: numberOf(socket),
      tlsVersion,
      httpVersion,
    }
  }
}
