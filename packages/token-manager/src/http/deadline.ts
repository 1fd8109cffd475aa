/**
 * The wall-clock limit of one request: ends it at a moment, whatever trickles in, or when the caller says so.
 */
import { onAbort } from '../support/abort.ts'
import { startTimeLimit } from '../support/time-limit.ts'

/** A running deadline. */
export interface Deadline {
  /** Aborted when the time is up or the caller's own signal was. */
  readonly signal: AbortSignal
  /** Stops the clock; the caller's signal is let go of. */
  end(): void
}

/** @param milliseconds - from now; `signal` ends it sooner */
export function startDeadline(milliseconds: number, signal: AbortSignal | undefined): Deadline {
  // AbortSignal.any would do the same, but keeps a trace on a long-lived signal for every request.
  const controller = new AbortController()
  const abort = (): void => controller.abort()
  const endLimit = startTimeLimit(milliseconds, abort)
  const letGo = onAbort(signal, abort)
  return {
    signal: controller.signal,
    end() {
      endLimit()
      letGo()
    },
  }
}
