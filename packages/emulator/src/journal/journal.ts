/**
 * What happened, one exchange a request: what arrived, what was decided and why, what was answered, to which login it
 * belongs.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../service/clock.ts'
import { faultWords } from '../faults/fault-words.ts'
import type { Endpoint, Fault } from '../faults/fault.ts'
import { createFlows, type Flow } from './flows.ts'
import type { Region } from '../service/instances.ts'
import { masked, unmasked, type Fields, type Headers } from './masking.ts'
import { clipped, createRawExchanges, type ExchangeSecrets, type RawExchange } from './raw-exchanges.ts'
import type { ServiceResponse } from '../http/service-response.ts'
import { createRequestReader, type LoggedRequest } from './request-log.ts'
import { mediaType, mediaTypeOf, readCookies } from '../http/service-request.ts'

const maxExchanges = 10_000

/** Who was asked. */
export type Place = Region | 'owner-api'

/** One request and its answer. It grows until `duration` is known. */
export interface Exchange {
  /** From 1, in the order of arrival. */
  readonly id: number
  /** Of all exchanges the one that changed last has the highest. */
  version: number
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

/** Notes what becomes of one request. */
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

export interface Journal {
  /** The last 10,000, oldest first. */
  readonly exchanges: readonly Exchange[]
  /** The requests alone. */
  readonly requests: readonly LoggedRequest[]
  open(request: IncomingMessage, response: ServerResponse, place: Place): Recording
  recordingOf(request: IncomingMessage): Recording
  /** What is behind the masks of an exchange, while it is kept. */
  secretsOf(id: number): ExchangeSecrets | undefined
  /** Tokens that were issued without a login begin one. */
  adopt(identity: string, tokens: Fields): void
  /** Calls back for each exchange that is new or changed, and with undefined when all were forgotten. */
  subscribe(listener: (exchange: Exchange | undefined) => void): () => void
  clear(): void
}

export function createJournal(clock: Clock): Journal {
  const exchanges: Exchange[] = []
  const requests: LoggedRequest[] = []
  const raws = createRawExchanges()
  const flows = createFlows()
  const readRequest = createRequestReader()
  const recordings = new WeakMap<IncomingMessage, Recording>()
  const listeners = new Set<(exchange: Exchange | undefined) => void>()
  let lastId = 0
  let lastVersion = 0

  function changed(exchange: Exchange): void {
    lastVersion += 1
    exchange.version = lastVersion
    for (const listener of listeners) listener(exchange)
  }

  function add(exchange: Exchange): void {
    exchanges.push(exchange)
    requests.push(exchange.request)
    if (exchanges.length <= maxExchanges) return
    raws.drop(exchanges.shift()?.id ?? 0)
    requests.shift()
  }

  function record(exchange: Exchange, raw: RawExchange): Recording {
    let flow: Flow | undefined
    const belongsTo = (found: Flow | undefined): void => {
      flow = found
      exchange.flow = found?.number
      exchange.identity = found?.identity
    }
    return {
      asked(endpoint, body, fault) {
        raw.body = clipped(body)
        const { query, cookies, bearer } = tracesOf(raw)
        const fields = unmasked.requestBody(raw.contentType, body)
        exchange.request.body = masked.requestBody(raw.contentType, body)
        exchange.endpoint = endpoint
        exchange.fault = faultWords(fault)
        exchange.challenged = Boolean(fault.firewall)
        belongsTo(flows.of({ query, cookies, bearer, fields }))
        raws.keep(exchange.id, raw)
        changed(exchange)
      },
      challenged() {
        exchange.challenged = true
      },
      decided(reply) {
        exchange.decision = reply.decision
        exchange.refused = reply.refused === true || reply.status >= 400
        belongsTo(flows.learn(flow, reply.headers, jsonOf(reply)))
      },
      answered(reply) {
        const [contentType, body] = textOf(reply)
        const { status, headers } = reply
        raw.answer = { headers, contentType, body }
        exchange.answer = { status, headers: masked.answerHeaders(headers), body: masked.answerBody(contentType, body) }
        raws.keep(exchange.id, raw)
      },
    }
  }

  return {
    exchanges,
    requests,
    open(request, response, place) {
      const began = performance.now()
      const exchange: Exchange = {
        id: (lastId += 1),
        version: 0,
        place,
        endpoint: undefined,
        flow: undefined,
        identity: undefined,
        started: Date.now(),
        duration: undefined,
        request: readRequest(request, clock.now()),
        answer: undefined,
        decision: undefined,
        refused: false,
        fault: undefined,
        challenged: false,
      }
      const { url = '', headers } = request
      const recording = record(exchange, { url, headers, contentType: mediaTypeOf(request), body: '' })
      recordings.set(request, recording)
      add(exchange)
      changed(exchange)
      response.once('close', () => {
        exchange.request.status = response.headersSent ? response.statusCode : 0
        exchange.duration = performance.now() - began
        changed(exchange)
      })
      return recording
    },
    recordingOf(request) {
      const recording = recordings.get(request)
      if (!recording) throw new Error('This request was never opened')
      return recording
    },
    secretsOf: (id) => raws.read(id),
    adopt(identity, tokens) {
      const flow = flows.learn(undefined, {}, tokens)
      if (flow) flow.identity = identity
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    clear() {
      exchanges.length = 0
      requests.length = 0
      raws.clear()
      flows.clear()
      for (const listener of listeners) listener(undefined)
    },
  }
}

/** What a request shows of its login, apart from its body. */
function tracesOf({ url, headers }: RawExchange): {
  readonly query: URLSearchParams
  readonly cookies: ReadonlyMap<string, string>
  readonly bearer: string | undefined
} {
  return {
    query: new URLSearchParams(url.split(/\?(.*)/su)[1]),
    cookies: readCookies(headers.cookie ?? ''),
    bearer: /^Bearer (.+)$/iu.exec(headers.authorization ?? '')?.[1],
  }
}

/** Fields of a JSON answer: what hands out tokens. */
function jsonOf(reply: ServiceResponse): Fields {
  const [contentType, text] = textOf(reply)
  return contentType === 'application/json' ? unmasked.answerBody(contentType, text) : {}
}

/** Media type and text of an answer; a streamed body has none to show. */
function textOf({ headers, body }: ServiceResponse): [contentType: string, text: string] {
  const contentType = [headers['content-type']].flat()[0] ?? ''
  return [mediaType(contentType), typeof body === 'string' ? clipped(body) : '']
}
