/**
 * One request and its answer, as the journal has it: secrets masked. Tests count requests and connections, people read it.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Endpoint } from '../faults/fault.ts'
import type { Region } from '../options/account-options.ts'
import { connectionOf } from '../http/http2-bridge.ts'
import { maskQuery, maskRequestHeaders, type Fields, type Headers } from './masking.ts'

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

export type Place = Region | 'owner-api'

/** One request and its answer. It grows until `duration` is known. */
export interface Exchange {
  /** From 1, in the order of arrival. */
  readonly id: number
  readonly place: Place
  /** Undefined for an address that nobody serves. */
  endpoint: Endpoint | undefined
  /** The login it belongs to; undefined where nothing tells. */
  flow: number | undefined
  /** The e-mail of that login's account, once somebody named it. */
  identity: string | undefined
  /** Milliseconds since the epoch by the machine's clock, and from there to the end of the answer. */
  readonly started: number
  duration: number | undefined
  /** What arrived, secrets masked; its `status` is what the client got. */
  readonly request: LoggedRequest
  /** What was to be sent, secrets masked; undefined until then, and where nothing was. */
  answer: { readonly status: number; readonly headers: Headers; readonly body: Fields } | undefined
  /** What the service decided and why. */
  decision: string | undefined
  /** What was asked for was refused, whatever the status. */
  refused: boolean
  /** The fault that struck. */
  fault: string | undefined
  /** The firewall's challenge page was the answer. */
  challenged: boolean
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
      query: maskQuery(query),
      headers: maskRequestHeaders(request.headers),
      body: {},
      status: undefined,
      connection: numberOf(socket),
      tlsVersion,
      httpVersion,
    }
  }
}

export function newExchange(id: number, place: Place, request: LoggedRequest): Exchange {
  return {
    id,
    place,
    endpoint: undefined,
    flow: undefined,
    identity: undefined,
    started: Date.now(),
    duration: undefined,
    request,
    answer: undefined,
    decision: undefined,
    refused: false,
    fault: undefined,
    challenged: false,
  }
}
