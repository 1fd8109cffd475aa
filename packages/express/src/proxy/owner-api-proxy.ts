/**
 * `ownerApiProxy`: a small, strict, streaming proxy to the owner API. Reads top to bottom as a call goes.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { answeredInTime, checkOptionNames, SignedOutError, startTimeLimit, verificationProblem } from '@owner-sso/core'
import { unsettledAnswer } from '../application-word.ts'
import { type Answer, rawAnswer, sendAnswer } from '../answers/problem.ts'
import { reported } from '../answers/problem-report.ts'
import { refusal } from '../answers/refusal.ts'
import { ssoErrorAnswer } from '../answers/sso-error.ts'
import { answerFault } from '../handler-fault.ts'
import { property } from '../property.ts'
import { tokenHistories } from '../refused-token.ts'
import { tokenAfter } from '../rejected-token.ts'
import { admission, hasPlainFraming } from './admission.ts'
import { runExchange } from './exchange.ts'
import { type OwnerApiProxyOptions, parseProxyOptions } from './options.ts'
import { ownLocation } from './own-location.ts'
import { closeWithConnection } from './queued-response.ts'
import { requestBody } from './request-body.ts'
import { upstreamHeaders } from './request-headers.ts'
import { answerHeaders } from './response-headers.ts'
import { endAfterAnswer, isSpent } from './spent-connection.ts'
import { ExchangeError, failureAnswer } from './upstream-failure.ts'
import { upstreamPool } from './upstream-pool.ts'

/** A handler for Express, Connect and bare `node:http`; nothing of Express is in it. */
export interface OwnerApiProxy<Request extends IncomingMessage = IncomingMessage> {
  /** `next` gets what `authorize` or `account` throw, unless it is an `SsoError`. Everything else is answered here. */
  (request: Request, response: ServerResponse, next?: (error?: unknown) => void): void
  /** Calls under way. */
  readonly active: () => number
  /**
   * For a server's event `connect`, which never reaches a handler: refuses with an answer. Not for `upgrade`, unless you would
   * listen to it anyway: upgrades reach the handler, which refuses them itself, and a server with a listener takes clients that
   * only offer HTTP/2 (`Upgrade: h2c`) for upgrades, too.
   */
  readonly refuse: (request: IncomingMessage, socket: Duplex) => void
  /**
   * Takes no more calls (503) and resolves when those under way have ended and the connections are closed.
   *
   * @param options - `timeout`: milliseconds after which calls still under way are cut. Default: none.
   */
  close(options?: { readonly timeout?: number | undefined }): Promise<void>
}

/**
 * A proxy to the owner API that carries the owner's token.
 *
 * @throws TypeError that names a wrong option, or says that this runtime (Bun) can’t run it
 */
export function ownerApiProxy<Request extends IncomingMessage = IncomingMessage>(
  options: OwnerApiProxyOptions<Request>,
): OwnerApiProxy<Request> {
  requireDispatcher()
  const settings = parseProxyOptions(options)
  const { tokens, authorize, accountOf, onProblem, headersTimeout, bodyTimeout, maxDuration } = settings
  const pool = upstreamPool(settings)
  const histories = tokenHistories()
  let active = 0

  async function forward(request: Request, response: ServerResponse, began: number): Promise<Answer | undefined> {
    const path = admission(request, settings)
    if (typeof path !== 'string') return path
    const isAllowed: unknown = authorize === true || (await authorize(request))
    if (isAllowed !== true) return refusal('ERR_OWNER_API_FORBIDDEN')
    const account = await accountOf(request)
    if (account === undefined || account === '') throw new SignedOutError()
    const unverified = verificationProblem(settings.target)
    if (unverified !== undefined) {
      return reported(refusal('ERR_OWNER_API_INTERNAL'), new Error(`target ${unverified}`), request, onProblem)
    }
    const token = await tokens.getAccessToken(account)
    if (isOver(response)) return undefined
    const body = await requestBody(request, settings.replayLimit)
    if ('problem' in body) return body
    if (isOver(response)) return undefined
    const canRepeat = body.content === undefined || Buffer.isBuffer(body.content)
    runExchange(pool, {
      method: request.method ?? '',
      path,
      headers: upstreamHeaders(request, settings.requestHeaders, settings.transport.userAgent, body),
      content: body.content,
      token,
      response,
      headersTimeout,
      bodyTimeout,
      maxDuration: Math.max(1, began + maxDuration - performance.now()),
      answerHeaders: (status, headers, trace) =>
        answerHeaders(status, headers, {
          names: settings.responseHeaders,
          showsToken: trace.inText,
          own: response.getHeaders(),
          location: (value) => ownLocation(value, path, mountPathOf(request), settings),
        }),
      refusesToken: (sent, status) => histories.refused(account, sent, status),
      tokenAfter: (rejected) => tokenAfter(tokens, account, rejected, canRepeat),
      answerTo: (error) => ssoErrorAnswer(error) ?? refusal('ERR_OWNER_API_INTERNAL'),
      report: (answer, error) => reported(answer, error, request, onProblem),
    })
    return undefined
  }

  const proxy = (request: Request, response: ServerResponse, next?: (error?: unknown) => void): void => {
    // A caller may be gone before the handlers in front have let its request through: no event will tell.
    if (response.destroyed || response.writableEnded || request.socket.destroyed || isSpent(request.socket)) return
    closeWithConnection(request, response)
    if (!hasPlainFraming(request)) {
      // Now, and not in a promise: the parser goes on with what follows in this very turn. HTTP/2 knows what belongs to what.
      if (request.httpVersionMajor < 2) endAfterAnswer(request.socket)
      return sendAnswer(response, refusal('ERR_OWNER_API_MALFORMED_REQUEST'))
    }
    if (pool.closed) return sendAnswer(response, refusal('ERR_OWNER_API_CLOSING'))
    if (active >= settings.maxConcurrent) return sendAnswer(response, refusal('ERR_OWNER_API_BUSY'))
    active += 1
    response.once('close', () => {
      active -= 1
    })
    const began = performance.now()
    answeredInTime(maxDuration, () => forward(request, response, began), tooLong)
      .then(
        (answer) => answer && sendAnswer(response, answer),
        (error: unknown) => {
          const answer = knownAnswer(error)
          if (!answer && next && !response.destroyed) return next(error)
          return sendAnswer(response, reported(answer ?? refusal('ERR_OWNER_API_INTERNAL'), error, request, onProblem))
        },
      )
      .catch((error: unknown) => answerFault('ownerApiProxy: a handler behind it', error, response))
  }

  async function close(closing: { readonly timeout?: number | undefined } = {}): Promise<void> {
    checkOptionNames('close', closing, { timeout: true })
    const { timeout } = closing
    if (pool.destroyed) return
    const endLimit = timeout === undefined ? undefined : startTimeLimit(timeout, () => void pool.destroy())
    await pool.close()
    endLimit?.()
  }

  return Object.assign(proxy, { active: () => active, refuse, close })
}

function refuse(request: IncomingMessage, socket: Duplex): void {
  const code = request.method === 'CONNECT' ? 'ERR_OWNER_API_METHOD_NOT_ALLOWED' : 'ERR_OWNER_API_UPGRADE_REFUSED'
  socket.on('error', () => {})
  socket.end(rawAnswer(refusal(code)), () => socket.destroy())
}

/** The caller has an answer, or has gone: nothing is to be sent any more. */
function isOver({ destroyed, writableEnded }: ServerResponse): boolean {
  return destroyed || writableEnded
}

const tooLong = (): Error => new ExchangeError('ERR_OWNER_API_TIMEOUT')

/** The answer to what ends a call before it goes out; `undefined` for what the application has thrown. */
function knownAnswer(error: unknown): Answer | undefined {
  if (error instanceof ExchangeError) return failureAnswer(error)
  return ssoErrorAnswer(error) ?? unsettledAnswer(error)
}

/** Where Express has mounted the proxy. */
function mountPathOf(request: IncomingMessage): string {
  const baseUrl = property(request, 'baseUrl')
  return typeof baseUrl === 'string' ? baseUrl : ''
}

/** Bun puts an `undici` of its own in place of the package, and that one can't send a request. */
function requireDispatcher(): void {
  if (process.versions['bun'] === undefined) return
  throw new TypeError('ownerApiProxy does not run on Bun, whose undici sends no request: run it on Node.js or Deno')
}
