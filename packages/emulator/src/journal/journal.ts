/**
 * What happened, one exchange a request: what arrived, what was decided and why, what was answered, to which login it belongs;
 * secrets masked.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Endpoint, Fault } from '../faults/fault.ts'
import { connectionOf } from '../http/http2-bridge.ts'
import { mediaType, mediaTypeOf, readCookies } from '../http/service-request.ts'
import type { ServiceResponse } from '../http/service-response.ts'
import type { Clock } from '../state/clock.ts'
import type { Exchange, LoggedRequest, Place } from './exchange.ts'
import { createFlows, type Flow } from './flows.ts'
import {
  answerFields,
  maskAnswerFields,
  maskAnswerHeaders,
  maskFields,
  maskQuery,
  maskRequestHeaders,
  requestFields,
  type Fields,
} from './masking.ts'

const maxExchanges = 10_000
const maxBodyCharacters = 64 * 1024

/** Notes step by step what becomes of one request. */
export interface Recording {
  /** The body was read: it is known now who is asked, and which fault strikes. */
  asked(endpoint: Endpoint, body: string, fault: Fault): void
  /** The firewall's challenge page is the answer. */
  challenged(): void
  /** The service decided, whether or not anybody hears of it. */
  decided(reply: ServiceResponse): void
  /** This is about to be sent. */
  answered(reply: ServiceResponse): void
}

export type Journal = ReturnType<typeof createJournal>

export function createJournal(clock: Clock) {
  /** The last 10,000, oldest first; and the requests alone. */
  const exchanges: Exchange[] = []
  const requests: LoggedRequest[] = []
  const flows = createFlows()
  const recordings = new WeakMap<IncomingMessage, Recording>()
  const connections = new WeakMap<object, number>()
  const listeners = new Set<(exchange: Exchange | undefined) => void>()
  let lastId = 0
  let lastConnection = 0

  function tell(exchange: Exchange | undefined): void {
    for (const listener of listeners) listener(exchange)
  }

  function logged(request: IncomingMessage): LoggedRequest {
    const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/su)
    const { socket, tlsVersion, httpVersion } = connectionOf(request)
    const connection = connections.get(socket) ?? (lastConnection += 1)
    connections.set(socket, connection)
    return {
      at: clock.now(),
      host: request.headers.host ?? '',
      method: request.method ?? '',
      path,
      query: maskQuery(query),
      headers: maskRequestHeaders(request.headers),
      body: {},
      status: undefined,
      connection,
      tlsVersion,
      httpVersion,
    }
  }

  function recordingOf(request: IncomingMessage, exchange: Exchange): Recording {
    let flow: Flow | undefined
    const belongsTo = (found: Flow | undefined): void => {
      flow = found
      exchange.flow = found?.number
      exchange.identity = found?.identity
    }
    return {
      asked(endpoint, body, fault) {
        const { url = '', headers } = request
        const fields = requestFields(mediaTypeOf(request), body)
        exchange.request.body = maskFields(fields)
        exchange.endpoint = endpoint
        exchange.fault = faultWords(fault)
        exchange.challenged = Boolean(fault.firewall)
        const found = flows.of({
          query: new URLSearchParams(url.split(/\?(.*)/su)[1]),
          cookies: readCookies(headers.cookie ?? ''),
          bearer: /^Bearer (.+)$/iu.exec(headers.authorization ?? '')?.[1],
          fields: Object.fromEntries(fields),
        })
        belongsTo(found)
        tell(exchange)
      },
      challenged() {
        exchange.challenged = true
      },
      decided(reply) {
        exchange.decision = reply.decision
        exchange.refused = reply.refused === true || reply.status >= 400
        const [contentType, text] = textOf(reply)
        const tokens = contentType === 'application/json' ? answerFields(contentType, text) : {}
        belongsTo(flows.learn(flow, reply.headers, tokens))
      },
      answered(reply) {
        const { status, headers } = reply
        const body = maskAnswerFields(answerFields(...textOf(reply)))
        exchange.answer = { status, headers: maskAnswerHeaders(headers), body }
      },
    }
  }

  return {
    exchanges: exchanges as readonly Exchange[],
    requests: requests as readonly LoggedRequest[],
    open(request: IncomingMessage, response: ServerResponse, place: Place): void {
      const began = performance.now()
      const about = { id: (lastId += 1), place, started: Date.now(), request: logged(request) }
      const exchange: Exchange = { ...about, refused: false, challenged: false }
      recordings.set(request, recordingOf(request, exchange))
      exchanges.push(exchange)
      requests.push(exchange.request)
      if (exchanges.length > maxExchanges) {
        exchanges.shift()
        requests.shift()
      }
      tell(exchange)
      response.once('close', () => {
        exchange.request.status = response.headersSent ? response.statusCode : 0
        exchange.duration = performance.now() - began
        tell(exchange)
      })
    },
    recordingOf(request: IncomingMessage): Recording {
      const recording = recordings.get(request)
      if (!recording) throw new Error('This request was never opened')
      return recording
    },
    /** Tokens that were issued without a login begin one. */
    adopt(identity: string, tokens: Fields): void {
      const flow = flows.learn(undefined, {}, tokens)
      if (flow) flow.identity = identity
    },
    /** Calls back for each exchange that is new or changed, and with undefined when all were forgotten. */
    subscribe(listener: (exchange: Exchange | undefined) => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    clear(): void {
      exchanges.length = 0
      requests.length = 0
      flows.clear()
      tell(undefined)
    },
  }
}

/** Media type and text of an answer; a streamed body has none to show. */
function textOf({ headers, body }: ServiceResponse): [contentType: string, text: string] {
  const contentType = [headers['content-type']].flat()[0] ?? ''
  return [mediaType(contentType), typeof body === 'string' ? body.slice(0, maxBodyCharacters) : '']
}

/**
 * A fault in words: `drop: after-commit, delay: 500`; undefined where there is none. Nothing of the headers and the body that it
 * answers with.
 */
function faultWords(fault: Fault): string | undefined {
  const words = Object.entries(fault).flatMap(([name, value]: [string, unknown]) => {
    if (value === undefined || value === false) return []
    const isShown = (typeof value === 'string' || typeof value === 'number') && name !== 'body'
    return [isShown ? `${name}: ${value}` : name]
  })
  return words.length > 0 ? words.join(', ') : undefined
}
