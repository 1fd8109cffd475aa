/**
 * How long an answer is waited for, by a process that may be held up meanwhile: stopped, suspended, or busy.
 *
 * Timers run before sockets are read. A process that went on after its limit would give an answer up that has been there all
 * the time, and a recording would say that the service cut the connection. So the limit ends over some turns of the event
 * loop, in each of which what has arrived is read.
 */

const turnCount = 20
/** Milliseconds of a turn. */
const turnMilliseconds = 10

export interface ResponseLimit {
  /** Aborted when it has ended. */
  readonly signal: AbortSignal
  /** The answer is there: stops the clock. */
  end(): void
}

/** @param milliseconds - from now */
export function startResponseLimit(milliseconds: number): ResponseLimit {
  const controller = new AbortController()
  let timer = setTimeout(turn, Math.max(milliseconds - turnCount * turnMilliseconds, 0), turnCount)
  let reading: NodeJS.Immediate | undefined
  function turn(left: number): void {
    if (left === 0) return controller.abort()
    // Behind the sockets, so that however late it is, the next turn is another one.
    reading = setImmediate(() => {
      timer = setTimeout(turn, turnMilliseconds, left - 1)
    })
  }
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer)
      clearImmediate(reading)
    },
  }
}
