/**
 * One call of the owner API: the request goes out, the answer streams back to the caller as it comes.
 *
 * On undici's `dispatch`, whose callbacks run as the answer is parsed: no stream object, no promise and no copy in between.
 */
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { startTimeLimit } from '@owner-sso/core'
import type { Dispatcher } from 'undici'
import { type Answer, sendAnswer } from '../answers/problem.ts'
import { refusal } from '../answers/refusal.ts'
import { OwnerApiTokenRefusedError } from '../refused-token.ts'
import type { RequestBody } from './request-body.ts'
import { deliveryTo } from './delivery.ts'
import { silenceLimit, type SilenceLimit } from './silence.ts'
import { tokenTrace, type TokenTrace } from './token-trace.ts'
import { ExchangeError, failureAnswer } from './upstream-failure.ts'

export interface Exchange {
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** Names and values in turn, without the token. */
  readonly headers: readonly string[]
  readonly content: RequestBody['content']
  readonly token: string
  readonly response: ServerResponse
  /** Milliseconds from the request's last byte to the answer's headers. */
  readonly headersTimeout: number
  /** Milliseconds between two pieces of the answer, and that the caller may leave one unread. */
  readonly bodyTimeout: number
  /** Milliseconds for all of it. */
  readonly maxDuration: number
  readonly answerHeaders: (status: number, upstream: IncomingHttpHeaders, trace: TokenTrace) => OutgoingHttpHeaders
  /** Whether an answer with this status refuses the token itself, and not this call. */
  readonly refusesToken: (token: string, status: number) => boolean
  /** Reports a token that got a 401; the one to send the request with once more, if there is one. */
  readonly tokenAfter: (rejected: string) => Promise<string | undefined>
  /** What to answer where no other token is to be had. */
  readonly answerTo: (error: unknown) => Answer
  /** Tells whoever keeps a log what an answer of ours leaves out, and gives the answer back. */
  readonly report: (answer: Answer, error: unknown) => Answer
}

/** Interim answers (1xx) that one request may get. */
const maxInterim = 10
/** Bytes of a 401's body that are read to keep its connection. */
const maxAside = 65_536
/** Milliseconds that the rest of it may take once the request goes out again, which may have to wait for this connection. */
const maxAsideTime = 500

/**
 * Answers that end with their heads (RFC 9112 section 6.3). They may tell the length that a body would have, whose bytes undici
 * then misses.
 */
const headsAlone: ReadonlySet<number> = new Set([204, 304])

/** Why a request to the owner API is broken off: its answer has nowhere to go. */
const ended = new Error('the exchange is over')

/** Runs an exchange to its end: the caller has an answer, or has gone. */
export function runExchange(dispatcher: Dispatcher, exchange: Exchange): void {
  const { response } = exchange
  let upstream: Dispatcher.DispatchController | undefined
  /** Of the attempt under way. */
  let silence: SilenceLimit | undefined
  let isOver = false

  /** Ends the exchange with an answer of our own, once. */
  const end = (answer: Answer, error: unknown): void => {
    if (isOver) return
    isOver = true
    sendAnswer(response, exchange.report(answer, error))
    upstream?.abort(ended)
    // Where there was no connection, nobody was handed it.
    if (!Buffer.isBuffer(exchange.content)) exchange.content?.destroy()
  }
  const fail = (error: unknown): void => end(failureAnswer(error), error)

  const failLate = (): void => fail(new ExchangeError('ERR_OWNER_API_TIMEOUT'))
  const endLimit = startTimeLimit(exchange.maxDuration, failLate)
  response.once('close', () => {
    endLimit()
    silence?.end()
    isOver = true
    if (!response.writableFinished) upstream?.abort(ended)
  })
  attempt(exchange.token, true)

  function attempt(token: string, isFirst: boolean): void {
    const trace = tokenTrace(token)
    const limit = silenceLimit(failLate)
    silence = limit
    const delivery = deliveryTo(exchange, trace, { fail, silence: limit })
    let isAnswered = false
    let isHeadAlone = false
    let interim = 0
    /** A 401 that is not, or not yet, for the caller. */
    let aside: Aside | undefined

    /** The 401 waits, unread, for another token; then the request goes out again, or the 401 to the caller. */
    const onUnauthorized = async (controller: Dispatcher.DispatchController, deliver: () => void): Promise<void> => {
      const held: Aside = { bytes: 0, hasEnded: false }
      aside = held
      controller.pause()
      limit.lift()
      try {
        const next = await exchange.tokenAfter(token)
        if (isOver) return
        if (next !== undefined) {
          if (!held.hasEnded) held.endLimit = startTimeLimit(maxAsideTime, () => controller.abort(ended))
          attempt(next, false)
        } else if (held.lost) fail(held.lost)
        else {
          aside = undefined
          limit.heard(exchange.bodyTimeout)
          deliver()
          // One without a body, to a HEAD: no pause holds its end up.
          if (held.hasEnded) delivery.end()
        }
      } catch (error) {
        end(exchange.answerTo(error), error)
      } finally {
        controller.resume()
      }
    }

    dispatcher.dispatch(
      {
        method: exchange.method,
        path: exchange.path,
        headers: [...exchange.headers, 'authorization', `Bearer ${token}`],
        body: exchange.content ?? null,
      },
      {
        onRequestStart(controller) {
          upstream = controller
          if (isOver) controller.abort(ended)
          else whenSent(exchange.content, () => isAnswered || limit.heard(exchange.headersTimeout))
        },
        onResponseStart(controller, status, headers) {
          isAnswered = status >= 200
          isHeadAlone = headsAlone.has(status)
          if (isAnswered) limit.heard(exchange.bodyTimeout)
          if (status < 200) {
            interim += 1
            if (interim > maxInterim) fail(new ExchangeError('ERR_OWNER_API_UNREACHABLE'))
          } else if (exchange.refusesToken(token, status)) {
            end(refusal('ERR_OWNER_API_TOKEN_REFUSED'), new OwnerApiTokenRefusedError())
          } else if (status === 401 && isFirst) {
            void onUnauthorized(controller, () => delivery.start(status, headers))
          } else delivery.start(status, headers)
        },
        onResponseData(controller, chunk) {
          if (!aside) {
            limit.heard(exchange.bodyTimeout)
            return delivery.data(controller, chunk)
          }
          aside.bytes += chunk.length
          if (aside.bytes > maxAside) controller.abort(ended)
        },
        onResponseEnd() {
          limit.end()
          if (aside) endAside(aside)
          else delivery.end()
        },
        onResponseError(_controller, error) {
          limit.end()
          if (aside) {
            aside.lost = error
            endAside(aside)
          } else if (isHeadAlone) delivery.end()
          else fail(error)
        },
      },
    )
  }
}

/** An answer whose body is thrown away, but for the case that no other comes. */
interface Aside {
  /** Thrown away so far. */
  bytes: number
  hasEnded: boolean
  /** What broke it off. */
  lost?: Error
  /** Ends the limit on what is left of it. */
  endLimit?: () => void
}

function endAside(aside: Aside): void {
  aside.hasEnded = true
  aside.endLimit?.()
}

/** Calls back once the last byte of a body was handed over. */
function whenSent(content: RequestBody['content'], callback: () => void): void {
  if (content === undefined || Buffer.isBuffer(content) || content.readableEnded) callback()
  else content.once('end', callback)
}
