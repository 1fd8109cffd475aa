/**
 * One call of the owner API: the request goes out, the answer streams back to the caller as it comes.
 *
 * On undici's `dispatch`, whose callbacks run as the answer is parsed: no stream object, no promise and no copy in between.
 */
import type { Dispatcher } from 'undici'
import type { Answer } from '../answers/problem.ts'
import { ownerApiErrorAnswer } from '../answers/owner-api-error.ts'
import { OwnerApiTokenRefusedError, type Refusal, type Verdict } from '../refused-token.ts'
import type { RequestBody } from './request-body.ts'
import { type DeliveryOptions, deliveryTo } from './delivery.ts'
import { callEnding, type Ending, type EndingOptions } from './ending.ts'
import { type Forbidden, forbidden } from './forbidden.ts'
import { type HeldAnswer, holdAnswer } from './held-answer.ts'
import { silenceLimit } from './silence.ts'
import { tokenTrace } from './token-trace.ts'
import { ProxyError } from './upstream-failure.ts'

export interface ProxiedCall extends DeliveryOptions, EndingOptions {
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** Names and values in turn, without the token. */
  readonly headers: readonly string[]
  readonly token: string
  /** Milliseconds from the request's last byte to the answer's headers. */
  readonly headersTimeout: number
  /** Hears of every answer. */
  readonly note: (token: string, status: number) => void
  /** What a 403 is about. */
  readonly judge: (token: string, refusal: Refusal) => Verdict
  readonly isFresh: (token: string) => boolean
  /** Reports a refused token; the one to send the request with again, if there is one and it may be. */
  readonly nextToken: (token: string, verdict: Exclude<Verdict, 'call'>, repeats: number) => Promise<string | undefined>
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

/** Runs a call to its end: the caller has an answer, or has gone. */
export function runProxiedCall(dispatcher: Dispatcher, call: ProxiedCall): void {
  const ending = callEnding(call)
  send(call.token, 0)

  function send(token: string, repeats: number): void {
    sendRequest(dispatcher, call, token, ending, (refused) => void afterRefusal(refused, token, repeats))
  }

  /** The request goes out again with another token, or the refusal to the caller. */
  async function afterRefusal({ verdict, held, deliver }: Refused, token: string, repeats: number): Promise<void> {
    try {
      const next = await call.nextToken(token, verdict, repeats)
      if (ending.isOver()) return
      if (next !== undefined) {
        held?.discard()
        send(next, repeats + 1)
      } else deliver()
    } catch (error) {
      if (repeats > 0) deliver()
      else ending.end(call.answerTo(error), error)
    } finally {
      held?.readOn()
    }
  }
}

/** An answer that refuses the token. A 401 waits, unread; a 403 was read. */
interface Refused {
  readonly verdict: Exclude<Verdict, 'call'>
  readonly held?: HeldAnswer
  /** There is no other token: the caller gets this answer, or hears that the token is refused. */
  readonly deliver: () => void
}

/**
 * Sends the request with a token, and delivers the answer.
 *
 * @param onRefused - gets an answer that refuses the token in place of the caller
 */
function sendRequest(
  dispatcher: Dispatcher,
  call: ProxiedCall,
  token: string,
  ending: Ending,
  onRefused: (refused: Refused) => void,
): void {
  const { method, path, headers, content, headersTimeout, bodyTimeout } = call
  const trace = tokenTrace(token)
  const silence = silenceLimit(() => ending.fail(new ProxyError('ERR_OWNER_API_TIMEOUT')))
  const delivery = deliveryTo(call, trace, { fail: ending.fail, silence })
  let answered: number | undefined
  let interim = 0
  let held: HeldAnswer | undefined
  let kept: Forbidden | undefined

  function countInterim(): void {
    interim += 1
    if (interim > maxInterim) ending.fail(new ProxyError('ERR_OWNER_API_UNREACHABLE'))
  }

  function deliverKept(controller: Dispatcher.DispatchController): void {
    if (kept === undefined) return
    const { headers: ofKept, pieces } = kept
    kept?.end()
    kept = undefined
    delivery.start(403, ofKept)
    for (const piece of pieces) delivery.data(controller, piece)
  }

  /** All of a short 403 is there. */
  function concludeKept(controller: Dispatcher.DispatchController, all: Forbidden): void {
    all.end()
    const verdict = call.judge(token, all.refusal())
    const deliver = (): void => {
      if (verdict === 'invalid' || (verdict === 'suspect' && call.isFresh(token))) {
        return ending.end(ownerApiErrorAnswer('ERR_OWNER_API_TOKEN_REFUSED'), new OwnerApiTokenRefusedError())
      }
      deliverKept(controller)
      delivery.end()
    }
    if (verdict === 'call') deliver()
    else onRefused({ verdict, deliver })
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
      call.note(token, status)
      if (status === 403) kept = forbidden(answerHeaders, () => deliverKept(controller))
      else if (status === 401) {
        held = holdAnswer(controller, answerHeaders, { delivery, silence, bodyTimeout, fail: ending.fail })
        onRefused({ verdict: 'invalid', held, deliver: held.deliver })
      } else delivery.start(status, answerHeaders)
    },
    onResponseData(controller, chunk) {
      if (held?.isHeld()) return held.drop(chunk)
      silence.allow(bodyTimeout)
      if (kept === undefined) delivery.data(controller, chunk)
      else if (!kept.keep(chunk)) deliverKept(controller)
    },
    onResponseEnd(controller) {
      silence.end()
      if (held?.isHeld()) held.finish()
      else if (kept) concludeKept(controller, kept)
      else delivery.end()
    },
    onResponseError(_controller, error) {
      silence.end()
      kept?.end()
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
