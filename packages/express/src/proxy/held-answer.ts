/**
 * A 401 that is held back while another token is fetched: nothing of it is read until then.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { startTimeLimit } from '@owner-sso/core'
import type { Dispatcher } from 'undici'
import type { Delivery } from './delivery.ts'
import { callOver } from './ending.ts'
import type { SilenceLimit } from './silence.ts'

/** Bytes of a discarded body that are read, so that its connection can be used again. */
const maxDiscarded = 65_536
/** Milliseconds for that: the repeated request may have to wait for this connection. */
const maxDiscardTime = 500

export interface HeldAnswer {
  /** Whether its events are for this, and not for the caller. */
  readonly isHeld: () => boolean
  /** Throws a piece of its body away. */
  readonly drop: (chunk: Buffer) => void
  /** Its end, or the error that broke it off. */
  readonly finish: (error?: Error) => void
  /** There is no other token: the caller gets this answer. */
  readonly deliver: () => void
  /** The request is sent again: what is left of this answer is thrown away. */
  readonly discard: () => void
  /** Ends the pause in reading. */
  readonly readOn: () => void
}

export function holdAnswer(
  controller: Dispatcher.DispatchController,
  headers: IncomingHttpHeaders,
  { delivery, silence, bodyTimeout, fail }: HeldAnswerTies,
): HeldAnswer {
  let isHeld = true
  let bytes = 0
  let hasEnded = false
  let brokenBy: Error | undefined
  let endLimit: (() => void) | undefined
  controller.pause()
  silence.lift()
  return {
    isHeld: () => isHeld,
    drop(chunk) {
      bytes += chunk.length
      if (bytes > maxDiscarded) controller.abort(callOver)
    },
    finish(error) {
      hasEnded = true
      brokenBy = error
      endLimit?.()
    },
    deliver() {
      if (brokenBy) return fail(brokenBy)
      isHeld = false
      silence.allow(bodyTimeout)
      delivery.start(401, headers)
      // The end of an answer without a body, as to a HEAD, has come in spite of the pause.
      if (hasEnded) delivery.end()
    },
    discard() {
      if (!hasEnded) endLimit = startTimeLimit(maxDiscardTime, () => controller.abort(callOver))
    },
    readOn: () => controller.resume(),
  }
}

/** What a held answer is part of. */
export interface HeldAnswerTies {
  readonly delivery: Delivery
  readonly silence: SilenceLimit
  readonly bodyTimeout: number
  /** Ends the whole call with this error. */
  readonly fail: (error: unknown) => void
}
