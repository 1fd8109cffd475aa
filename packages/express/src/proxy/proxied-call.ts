/**
 * One call of the owner API: the request goes out, the answer streams back to the caller as it comes.
 *
 * On undici's `dispatch`, whose callbacks run as the answer is parsed: no stream object, no promise and no copy in between.
 */
import { startTimeLimit } from '@owner-sso/core'
import type { Dispatcher } from 'undici'
import type { Answer } from '../answers/problem.ts'
import { ownerApiErrorAnswer, OwnerCallError } from '../answers/owner-api-error.ts'
import { OwnerApiTokenRefusedError, slowestRefusal, type TokenHistories, type Verdict } from '../refused-token.ts'
import type { RequestBody } from './upstream-request.ts'
import { type DeliveryOptions, deliveryTo, silenceLimit } from './delivery.ts'
import { callEnding, callOver, type Ending, type EndingOptions } from './ending.ts'
import { isLong, type KeptAnswer, refusalIn } from './kept-answer.ts'
import { tokenTrace } from './token-trace.ts'

export interface ProxiedCall extends DeliveryOptions, EndingOptions {
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** Names and values in turn, without the token. */
  readonly headers: readonly string[]
  readonly token: string
  /** Milliseconds from the request's last byte to the answer's headers. */
  readonly headersTimeout: number
  readonly account: string
  readonly histories: TokenHistories
  /** The answer where there is no next token. */
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
  const { account, content, histories } = call
  const canRepeat = content === undefined || Buffer.isBuffer(content)
  const ending = callEnding(call)
  send(call.token, 0)

  function send(token: string, repeats: number): void {
    sendRequest(dispatcher, call, token, ending, (refused) => void afterRefusal(refused, token, repeats))
  }

  /** The request goes out again with another token, or the refusal to the caller. */
  async function afterRefusal({ verdict, discard, deliver }: Refused, token: string, repeats: number): Promise<void> {
    try {
      const next = await histories.next({ account, token, verdict, canRepeat, repeats })
      if (ending.isOver()) return
      if (next === undefined) return deliver()
      discard()
      send(next, repeats + 1)
    } catch (error) {
      if (repeats > 0) deliver()
      else ending.end(call.answerTo(error), error)
    }
  }
}

/** An answer that refuses the token. What was not read of it waits. */
interface Refused {
  readonly verdict: Exclude<Verdict, 'call'>
  /** The request is sent again: nobody needs this answer. */
  readonly discard: () => void
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
  const { method, path, headers, content, account, histories, headersTimeout, bodyTimeout } = call
  const trace = tokenTrace(token)
  const silence = silenceLimit(() => ending.fail(new OwnerCallError('ERR_OWNER_API_TIMEOUT')))
  const delivery = deliveryTo(call, trace, ending.fail, silence)
  let answered: number | undefined
  let interim = 0
  let kept: KeptAnswer | undefined

  function countInterim(): void {
    interim += 1
    if (interim > maxInterim) ending.fail(new OwnerCallError('ERR_OWNER_API_UNREACHABLE'))
  }

  /** What a kept answer is about is clear now. A 403 that is long, slow or broken is about the call. */
  function judge(controller: Dispatcher.DispatchController, answer: KeptAnswer): void {
    answer.endWait?.()
    const of403 = answer.isWhole ? histories.judge(account, token, refusalIn(answer)) : 'call'
    const verdict = answer.status === 401 ? 'invalid' : of403
    if (ending.isOver() || verdict === 'call') return deliverKept(controller, answer)
    silence.lift()
    onRefused({
      verdict,
      deliver() {
        const isOfToken = answer.status === 403 && (verdict === 'invalid' || histories.isFresh(account, token))
        if (!isOfToken) return deliverKept(controller, answer)
        ending.end(ownerApiErrorAnswer('ERR_OWNER_API_TOKEN_REFUSED'), new OwnerApiTokenRefusedError())
      },
      discard() {
        if (answer.isWhole || answer.brokenBy) return
        // A short one is read to its end, so that the connection can be used again: the repeated request may wait for it.
        answer.endWait = startTimeLimit(slowestRefusal, () => controller.abort(callOver))
        controller.resume()
      },
    })
  }

  function deliverKept(controller: Dispatcher.DispatchController, answer: KeptAnswer): void {
    kept = undefined
    if (answer.brokenBy) return ending.fail(answer.brokenBy)
    silence.allow(bodyTimeout)
    delivery.start(answer.status, answer.headers)
    for (const piece of answer.pieces) delivery.data(controller, piece)
    if (answer.isWhole) delivery.end()
    else if (answer.status === 401) controller.resume()
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
      histories.note(account, token, status)
      if (status !== 401 && status !== 403) return delivery.start(status, answerHeaders)
      const answer: KeptAnswer = { status, headers: answerHeaders, pieces: [], isWhole: false }
      kept = answer
      if (status === 403) answer.endWait = startTimeLimit(slowestRefusal, () => judge(controller, answer))
      else {
        // Now, and not later: undici fails where a connection ends that was paused in the middle of a body.
        controller.pause()
        judge(controller, answer)
      }
    },
    onResponseData(controller, chunk) {
      if (kept?.status !== 401) silence.allow(bodyTimeout)
      if (kept === undefined) return delivery.data(controller, chunk)
      kept.pieces.push(chunk)
      if (!isLong(kept)) return
      if (kept.status === 403) judge(controller, kept)
      else controller.abort(callOver)
    },
    onResponseEnd(controller) {
      silence.end()
      if (kept === undefined) return delivery.end()
      kept.isWhole = true
      if (kept.status === 403) judge(controller, kept)
      else kept.endWait?.()
    },
    onResponseError(controller, error) {
      silence.end()
      if (kept) {
        kept.brokenBy = error
        if (kept.status === 403) judge(controller, kept)
        else kept.endWait?.()
      } else if (withoutBody.has(answered ?? 0)) delivery.end()
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
