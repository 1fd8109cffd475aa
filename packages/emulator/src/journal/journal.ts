/**
 * What happened, one exchange a request: what arrived, what was decided and why, what was answered, to which login it
 * belongs.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../state/clock.ts'
import { createRequestReader, newExchange, type Exchange, type LoggedRequest, type Place } from './exchange.ts'
import { createFlows, type Flow, type Flows, type Traces } from './flows.ts'
import { answerFields, maskAnswerFields, maskAnswerHeaders, maskFields, requestFields, type Fields } from './masking.ts'
import type { Endpoint, Fault } from '../faults/fault.ts'
import { mediaType, mediaTypeOf, readCookies } from '../http/service-request.ts'
import type { ServiceResponse } from '../http/service-response.ts'

const maxExchanges = 10_000

export type Journal = ReturnType<typeof createJournal>

export function createJournal(clock: Clock) {
  /** The last 10,000, oldest first; and the requests alone. */
  const exchanges: Exchange[] = []
  const requests: LoggedRequest[] = []
  const flows = createFlows()
  const readRequest = createRequestReader()
  const recordings = new WeakMap<IncomingMessage, Recording>()
  const listeners = new Set<(exchange: Exchange | undefined) => void>()
  let lastId = 0

  function tell(exchange: Exchange): void {
    for (const listener of listeners) listener(exchange)
  }

  function add(exchange: Exchange): void {
    exchanges.push(exchange)
    requests.push(exchange.request)
    if (exchanges.length <= maxExchanges) return
    exchanges.shift()
    requests.shift()
  }

  function open(request: IncomingMessage, response: ServerResponse, place: Place): void {
    const began = performance.now()
    const exchange = newExchange((lastId += 1), place, readRequest(request, clock.now()))
    recordings.set(
      request,
      createRecording(request, exchange, flows, () => tell(exchange)),
    )
    add(exchange)
    tell(exchange)
    response.once('close', () => {
      exchange.request.status = response.headersSent ? response.statusCode : 0
      exchange.duration = performance.now() - began
      tell(exchange)
    })
  }

  return {
    exchanges: exchanges as readonly Exchange[],
    requests: requests as readonly LoggedRequest[],
    open,
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
      for (const listener of listeners) listener(undefined)
    },
  }
}

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

export function createRecording(
  request: IncomingMessage,
  exchange: Exchange,
  flows: Flows,
  tell: () => void,
): Recording {
  let flow: Flow | undefined
  const belongsTo = (found: Flow | undefined): void => {
    flow = found
    exchange.flow = found?.number
    exchange.identity = found?.identity
  }
  return {
    asked(endpoint, body, fault) {
      const fields = requestFields(mediaTypeOf(request), body)
      exchange.request.body = maskFields(fields)
      exchange.endpoint = endpoint
      exchange.fault = faultWords(fault)
      exchange.challenged = Boolean(fault.firewall)
      belongsTo(flows.of({ ...tracesOf(request), fields: Object.fromEntries(fields) }))
      tell()
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
      const [contentType, body] = textOf(reply)
      const { status, headers } = reply
      const shown = maskAnswerFields(answerFields(contentType, body))
      exchange.answer = { status, headers: maskAnswerHeaders(headers), body: shown }
    },
  }
}

function tracesOf({ url = '', headers }: IncomingMessage): Omit<Traces, 'fields'> {
  return {
    query: new URLSearchParams(url.split(/\?(.*)/su)[1]),
    cookies: readCookies(headers.cookie ?? ''),
    bearer: /^Bearer (.+)$/iu.exec(headers.authorization ?? '')?.[1],
  }
}

const maxBodyCharacters = 64 * 1024

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
    return typeof value === 'string' || typeof value === 'number' ? [wordsOf(name, value)] : [name]
  })
  return words.length > 0 ? words.join(', ') : undefined
}

function wordsOf(name: string, value: string | number): string {
  return name === 'body' ? name : `${name}: ${value}`
}
