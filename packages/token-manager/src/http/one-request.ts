/**
 * One request within its time limit. Its failure says whether it may have reached the service: "not sent", "answered" and "in
 * doubt" are told apart here.
 */
import { type SsoStep, UnreachableError } from '../errors.ts'
import { onAbort } from '../support/abort.ts'
import { startTimeLimit } from '../support/time-limit.ts'
import { verificationProblem } from '../support/addresses.ts'
import { httpFailure } from './http-failure.ts'
import { type HttpAnswer, isBareFailure, type Sending } from './round-trip.ts'
import type { AgreedTransport } from './wire-requests.ts'

/** When a request ends at the latest, and who is asked right before it is written. */
export interface RequestLimits {
  /** Milliseconds, answer included. */
  readonly timeout: number
  readonly signal?: AbortSignal | undefined
  /** Is told what the connection agreed on, right before `beforeSend`. */
  readonly onConnected?: ((agreed: AgreedTransport) => void) | undefined
  /** Throwing keeps the request unsent, and the thrown error is the outcome. */
  readonly beforeSend?: (() => void) | undefined
}

export interface RequestPlace {
  readonly step: SsoStep
  readonly url: URL
  /** The outbound proxy's address, where there is one. */
  readonly proxy: string | undefined
}

/** @throws SsoTimeoutError, UnreachableError, UnexpectedResponseError, each with `requestSent`; or what `beforeSend` threw */
export async function answerInTime(
  send: (sending: Sending) => Promise<HttpAnswer>,
  { step, url, proxy }: RequestPlace,
  { timeout, signal, onConnected, beforeSend }: RequestLimits,
): Promise<HttpAnswer> {
  requireVerification(url, step)
  // AbortSignal.any would do the same, but keeps a trace on a long-lived signal for every request.
  const controller = new AbortController()
  const abort = (): void => controller.abort()
  const ends = [startTimeLimit(timeout, abort), onAbort(signal, abort)]
  let requestSent = false
  const beforeWrite = (agreed: AgreedTransport): void => {
    onConnected?.(agreed)
    beforeSend?.()
    requestSent = true
  }
  try {
    return await send({ signal: controller.signal, beforeWrite })
  } catch (failure) {
    if (!isBareFailure(failure)) throw failure
    const isProxied = proxy !== undefined && url.protocol === 'https:'
    throw httpFailure(failure, { step, url, isProxied, requestSent, timedOut: controller.signal.aborted })
  } finally {
    for (const end of ends) end()
  }
}

/** Before every request: verification may have been turned off since the last one. Not a TypeError, which would count as sent. */
function requireVerification(url: URL, step: SsoStep): void {
  const problem = verificationProblem(url)
  if (problem === undefined) return
  throw new UnreachableError(`${url.origin} ${problem}. Nothing was sent.`, { step, requestSent: false })
}
