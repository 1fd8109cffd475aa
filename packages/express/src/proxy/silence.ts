/**
 * How long the owner API may be silent: until the headers of its answer, and then between two pieces of the body.
 */
import { startTimeLimit } from '@owner-sso/core'

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
