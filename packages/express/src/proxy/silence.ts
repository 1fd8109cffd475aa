/**
 * How long the owner API may be silent: until the headers of its answer, and then between two pieces of the body.
 */
import { startTimeLimit } from '@owner-sso/core'

/** The limit on a silence, which begins anew with whatever is heard. */
export interface SilenceLimit {
  /** Something was heard, or was asked for again. From now on, silence may last so many milliseconds. */
  heard(milliseconds: number): void
  /** No limit until something is heard again. */
  lift(): void
  /** No limit ever more. */
  end(): void
}

/** @param onSilence - called once, when a silence has lasted too long */
export function silenceLimit(onSilence: () => void): SilenceLimit {
  let stop: (() => void) | undefined
  let hasEnded = false
  let deadline: number
  /** When the timer looks. */
  let due: number
  const watch = (milliseconds: number): void => {
    stop = startTimeLimit(milliseconds, () => {
      // One timer for many pieces: it looks how much time there is since the last one.
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
    heard(milliseconds) {
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
