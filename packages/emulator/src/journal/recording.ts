/**
 * What becomes of one request, noted step by step in its exchange: masked.
 */
import type { IncomingMessage } from 'node:http'
import type { Endpoint, Fault } from '../faults/fault.ts'
import { mediaType, mediaTypeOf, readCookies } from '../http/service-request.ts'
import type { ServiceResponse } from '../http/service-response.ts'
import type { Exchange } from './exchange.ts'
import type { Flow, Flows, Traces } from './flows.ts'
import { answerFields, maskAnswerFields, maskAnswerHeaders, maskFields, requestFields } from './masking.ts'

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

/** @param tell what is to be seen has changed */
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

/** What a request shows of its login, apart from its body. */
function tracesOf({ url = '', headers }: IncomingMessage): Omit<Traces, 'fields'> {
  return {
    query: new URLSearchParams(url.split(/\?(.*)/su)[1]),
    cookies: readCookies(headers.cookie ?? ''),
    bearer: /^Bearer (.+)$/iu.exec(headers.authorization ?? '')?.[1],
  }
}

/** More of a body is not looked at. */
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
