/**
 * The owner API's answer on its way to the caller: nothing is held back but what the caller is too slow to read. And how long either of
 * them may be silent.
 */
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { startTimeLimit } from '@owner-sso/core'
import type { Dispatcher } from 'undici'
import { OwnerCallError } from '../answers/owner-api-error.ts'
import type { TokenTrace } from './token-trace.ts'

type Controller = Dispatcher.DispatchController

export interface DeliveryOptions {
  readonly response: ServerResponse
  /** Milliseconds between two pieces of the answer, and that the caller may leave one unread. */
  readonly bodyTimeout: number
  readonly answerHeaders: (status: number, upstream: IncomingHttpHeaders, trace: TokenTrace) => OutgoingHttpHeaders
}

export interface Delivery {
  start(status: number, headers: IncomingHttpHeaders): void
  data(controller: Controller, chunk: Buffer): void
  end(): void
}

/**
 * @param fail - ends the whole call with this error
 * @param silence - starts again once the caller has read what was held back for it
 */
export function deliveryTo(
  { response, bodyTimeout, answerHeaders }: DeliveryOptions,
  trace: TokenTrace,
  fail: (error: unknown) => void,
  silence: SilenceLimit,
): Delivery {
  let head: { readonly status: number; readonly headers: IncomingHttpHeaders } | undefined

  /** Writes the head, once. It waits for the first piece of the body, which may show that nothing of it is to be sent. */
  const begin = (): boolean => {
    if (response.destroyed || response.writableEnded) return false
    if (!head) return true
    const { status, headers } = head
    head = undefined
    try {
      // The application's own, which is that of another body, would come before the owner API's Content-Disposition.
      response.removeHeader('content-length')
      response.writeHead(status, answerHeaders(status, headers, trace))
      return true
    } catch (error) {
      // A header that Node rejects, or another handler's listener that throws.
      fail(error)
      return false
    }
  }

  return {
    start(status, headers) {
      head = { status, headers }
      // A body that is there already is parsed in this very turn; one that is not must not keep the head waiting.
      process.nextTick(() => {
        if (head && begin()) response.flushHeaders()
      })
    },
    data(controller, chunk) {
      if (trace.inBody(chunk)) {
        fail(new OwnerCallError('ERR_OWNER_API_TOKEN_ECHOED'))
        return
      }
      if (!begin() || response.write(chunk)) return
      // The limit on silence, which has just started again, now limits how long the caller takes to read.
      controller.pause()
      const goOn = (): void => {
        response.off('drain', goOn).off('close', goOn)
        silence.allow(bodyTimeout)
        controller.resume()
      }
      response.once('drain', goOn).once('close', goOn)
    },
    end() {
      if (begin()) response.end()
    },
  }
}

/** The limit on a silence. It starts again with each piece of the answer. */
export interface SilenceLimit {
  /** From now on, silence may last so many milliseconds. */
  allow(milliseconds: number): void
  /** No limit until the next `allow`. */
  lift(): void
  /** No limit ever more. */
  end(): void
}

/** @param onSilence - called once, when a silence has lasted too long */
export function silenceLimit(onSilence: () => void): SilenceLimit {
  let stop: (() => void) | undefined
  let hasEnded = false
  let deadline: number
  /** When the timer fires. */
  let due: number
  const watch = (milliseconds: number): void => {
    stop = startTimeLimit(milliseconds, () => {
      // One timer for many pieces: it looks how long ago the last one came.
      const left = deadline - performance.now()
      if (left <= 0) return onSilence()
      due = deadline
      watch(left)
    })
  }
  const lift = (): void => {
    stop?.()
    stop = undefined
  }
  return {
    allow(milliseconds) {
      deadline = performance.now() + milliseconds
      if (hasEnded || (stop !== undefined && due <= deadline)) return
      lift()
      due = deadline
      watch(milliseconds)
    },
    lift,
    end() {
      hasEnded = true
      lift()
    },
  }
}
