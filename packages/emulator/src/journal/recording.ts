/**
 * What becomes of one request, noted step by step in its exchange: masked there, and as it was behind the masks.
 */
import { faultWords } from '../faults/fault-words.ts'
import type { Endpoint, Fault } from '../faults/fault.ts'
import { mediaType, readCookies } from '../http/service-request.ts'
import type { ServiceResponse } from '../http/service-response.ts'
import type { Exchange } from './exchange.ts'
import type { Flow, Flows } from './flows.ts'
import { masked, unmasked, type Fields } from './masking.ts'
import { clipped, type RawExchange } from './raw-exchanges.ts'

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

/** @param journal `keep`: what is behind the masks has changed; `tell`: so has what is to be seen. */
export function createRecording(
  exchange: Exchange,
  raw: RawExchange,
  flows: Flows,
  journal: { readonly keep: () => void; readonly tell: () => void },
): Recording {
  let flow: Flow | undefined
  const belongsTo = (found: Flow | undefined): void => {
    flow = found
    exchange.flow = found?.number
    exchange.identity = found?.identity
  }
  return {
    asked(endpoint, body, fault) {
      raw.body = clipped(body)
      exchange.request.body = masked.requestBody(raw.contentType, body)
      exchange.endpoint = endpoint
      exchange.fault = faultWords(fault)
      exchange.challenged = Boolean(fault.firewall)
      belongsTo(flows.of({ ...tracesOf(raw), fields: unmasked.requestBody(raw.contentType, body) }))
      journal.keep()
      journal.tell()
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
      journal.keep()
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
