/**
 * `ownerApiProxy`: a small, strict, streaming proxy to the owner API.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { answeredInTime, checkOptions, kinds, startTimeLimit } from '@owner-sso/core'
import { callErrorAnswer, ownerApiErrorAnswer, OwnerCallError } from '../answers/owner-api-error.ts'
import { sendAnswer } from '../answers/problem.ts'
import { answerFault, reported } from '../answers/problem-report.ts'
import { ssoErrorAnswer } from '../answers/sso-error.ts'
import { letIn, rejecter } from '../door/entry.ts'
import { traceCall } from './call-trace.ts'
import { forwarder } from './forward.ts'
import { type OwnerApiProxyOptions, parseProxyOptions } from './options.ts'
import { upstreamPool } from './upstream-pool.ts'

/** A handler for Express, Connect and bare `node:http`; nothing of Express is in it. */
export interface OwnerApiProxy<Request extends IncomingMessage = IncomingMessage> {
  /** `next` gets what `authorize`, `account` or `tokens` throw, unless it is an `SsoError`. Everything else is answered here. */
  (request: Request, response: ServerResponse, next?: (error?: unknown) => void): void
  /** Calls under way. */
  readonly active: () => number
  /**
   * For a server's event `connect`, which never reaches a handler: rejects with an answer. Not for `upgrade`, unless you would
   * listen to it anyway: upgrades reach the handler, which rejects them itself, and a server with a listener takes clients that
   * only offer HTTP/2 (`Upgrade: h2c`) for upgrades, too.
   */
  readonly reject: (request: IncomingMessage, socket: Duplex) => void
  /**
   * Takes no more calls (503) and resolves when those under way have ended and the connections are closed.
   *
   * @param options - `timeout`: milliseconds after which calls still under way are cut. Default: none.
   */
  close(options?: { readonly timeout?: number | undefined }): Promise<void>
}

type Handler<Request> = (request: Request, response: ServerResponse, next?: (error?: unknown) => void) => void

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
  const { onProblem, maxConcurrent, maxDuration } = settings
  const pool = upstreamPool(settings)
  const forward = forwarder(settings, pool)
  let active = 0

  const proxy: Handler<Request> = (request, response, next) => {
    if (!letIn(request, response, malformed)) return
    if (pool.closed) return sendAnswer(response, ownerApiErrorAnswer('ERR_OWNER_API_CLOSING'))
    if (active >= maxConcurrent) return sendAnswer(response, ownerApiErrorAnswer('ERR_OWNER_API_BUSY'))
    active += 1
    response.once('close', () => {
      active -= 1
    })
    traceCall(request, response, (traced) => {
      answeredInTime(maxDuration, () => forward(request, response, traced), tooLong)
        .then(
          (answer) => answer && sendAnswer(response, answer),
          (error: unknown) => fail(error, request, response, next),
        )
        .catch((error: unknown) => answerFault('ownerApiProxy: a handler behind it', error, response))
    })
  }

  /** Answers an error that came before the call went out; one of the application's own goes to its error handler. */
  function fail(...[error, request, response, next]: [unknown, ...Parameters<Handler<Request>>]): void {
    const answer = callErrorAnswer(error) ?? ssoErrorAnswer(error)
    if (!answer && next && !response.destroyed) return next(error)
    const own = answer ?? ownerApiErrorAnswer('ERR_OWNER_API_INTERNAL')
    sendAnswer(response, reported(own, error, request, onProblem, settings.target.host))
  }

  async function close(closing: { readonly timeout?: number | undefined } = {}): Promise<void> {
    const { timeout } = checkOptions('close', closing, { timeout: kinds.milliseconds(0) })
    if (pool.destroyed) return
    const endLimit = timeout === undefined ? undefined : startTimeLimit(timeout, () => void pool.destroy())
    await pool.close()
    endLimit?.()
  }

  return Object.assign(proxy, { active: () => active, reject, close })
}

const malformed = ownerApiErrorAnswer('ERR_OWNER_API_MALFORMED_REQUEST')
const reject = rejecter(
  ownerApiErrorAnswer('ERR_OWNER_API_METHOD_NOT_ALLOWED'),
  ownerApiErrorAnswer('ERR_OWNER_API_UPGRADE_REJECTED'),
)

const tooLong = (): Error => new OwnerCallError('ERR_OWNER_API_TIMEOUT')

/** Bun puts an `undici` of its own in place of the package, and that one can't send a request. */
function requireDispatcher(): void {
  if (process.versions['bun'] === undefined) return
  throw new TypeError('ownerApiProxy does not run on Bun, whose undici sends no request: run it on Node.js or Deno')
}
