/**
 * One call of the owner API: the request goes out, the answer streams back to the caller as it comes.
 *
 * On undici's `dispatch`, whose callbacks run as the answer is parsed: no stream object, no promise and no copy in between.
 */
import type { Dispatcher } from 'undici'
import type { Answer } from '../answers/problem.ts'
import { ownerApiErrorAnswer } from '../answers/owner-api-error.ts'
import { OwnerApiTokenRefusedError } from '../refused-token.ts'
import type { RequestBody } from './request-body.ts'
import { type DeliveryOptions, deliveryTo } from './delivery.ts'
import { type Ending, type EndingOptions, exchangeEnding } from './ending.ts'
import { type HeldAnswer, holdAnswer } from './held-answer.ts'
import { silenceLimit } from './silence.ts'
import { tokenTrace } from './token-trace.ts'
import { ExchangeError } from './upstream-failure.ts'

export interface Exchange extends DeliveryOptions, EndingOptions {
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** Names and values in turn, without the token. */
  readonly headers: readonly string[]
  readonly token: string
  /** Milliseconds from the request's last byte to the answer's headers. */
  readonly headersTimeout: number
  /** Whether an answer with this status refuses the token itself, and not this call. */
  readonly refusesToken: (token: string, status: number) => boolean
  /** Reports a token that got a 401; the one to send the request with once more, if there is one. */
  readonly nextToken: (invalid: string) => Promise<string | undefined>
  /** The answer to an error of `nextToken`. */
  readonly answerTo: (error: unknown) => Answer
}

/** Interim answers (1xx) that one request may get. */
const maxInterim = 10

/**
 * Answers that end with their headers (RFC 9112 section 6.3). They may state the length that a body would have; undici then
 * reports the missing bytes as an error.
 */
const withoutBody: ReadonlySet<number> = new Set([204, 304])

/** Runs an exchange to its end: the caller has an answer, or has gone. */
export function runExchange(dispatcher: Dispatcher, exchange: Exchange): void {
  const ending = exchangeEnding(exchange)
  sendRequest(dispatcher, exchange, exchange.token, ending, (held) => void afterUnauthorized(held))

  /** The first 401 waits, unread, for another token. Then the request goes out once more, or the 401 to the caller. */
  async function afterUnauthorized(held: HeldAnswer): Promise<void> {
    try {
      const next = await exchange.nextToken(exchange.token)
      if (ending.isOver()) return
      if (next === undefined) held.deliver()
      else {
        held.discard()
        sendRequest(dispatcher, exchange, next, ending)
      }
    } catch (error) {
      ending.end(exchange.answerTo(error), error)
    } finally {
      held.readOn()
    }
  }
}

/**
 * Sends the request with a token, and delivers the answer.
 *
 * @param onUnauthorized - gets a 401 in place of the caller
 */
function sendRequest(
  dispatcher: Dispatcher,
  exchange: Exchange,
  token: string,
  ending: Ending,
  onUnauthorized?: (held: HeldAnswer) => void,
): void {
  const { method, path, headers, content, headersTimeout, bodyTimeout } = exchange
  const trace = tokenTrace(token)
  const silence = silenceLimit(() => ending.fail(new ExchangeError('ERR_OWNER_API_TIMEOUT')))
  const delivery = deliveryTo(exchange, trace, { fail: ending.fail, silence })
  let answered: number | undefined
  let interim = 0
  let held: HeldAnswer | undefined

  function countInterim(): void {
    interim += 1
    if (interim > maxInterim) ending.fail(new ExchangeError('ERR_OWNER_API_UNREACHABLE'))
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(controller) {
      ending.follow(controller, silence)
      whenSent(content, () => answered === undefined && silence.allow(headersTimeout))
    },
    onResponseStart(controller, status, answerHeaders) {
      if (status < 200) return countInterim()
      answered = status
      silence.allow(bodyTimeout)
      if (exchange.refusesToken(token, status)) {
        ending.end(ownerApiErrorAnswer('ERR_OWNER_API_TOKEN_REFUSED'), new OwnerApiTokenRefusedError())
      } else if (status === 401 && onUnauthorized) {
        held = holdAnswer(controller, answerHeaders, { delivery, silence, bodyTimeout, fail: ending.fail })
        onUnauthorized(held)
      } else delivery.start(status, answerHeaders)
    },
    onResponseData(controller, chunk) {
      if (held?.isHeld()) return held.drop(chunk)
      silence.allow(bodyTimeout)
      delivery.data(controller, chunk)
    },
    onResponseEnd() {
      silence.end()
      if (held?.isHeld()) held.finish()
      else delivery.end()
    },
    onResponseError(_controller, error) {
      silence.end()
      if (held?.isHeld()) held.finish(error)
      else if (withoutBody.has(answered ?? 0)) delivery.end()
      else ending.fail(error)
    },
  }
  const authorization = ['authorization', `Bearer ${token}`]
  dispatcher.dispatch({ method, path, headers: [...headers, ...authorization], body: content ?? null }, handler)
}

/** Calls back once the last byte of a body was handed over. */
function whenSent(content: RequestBody['content'], callback: () => void): void {
  if (content === undefined || Buffer.isBuffer(content) || content.readableEnded) callback()
  else content.once('end', callback)
}
