/**
 * Time limits that are fair to a process which was held up: stopped, frozen, suspended, or busy with work of its own.
 *
 * An event loop runs the timers that are due before it reads its sockets. A plain timer of a process that was held up for
 * longer than its limit therefore gives up on an answer that has been there all the time, and with it on a token set.
 * So the end of a limit is counted in turns of the event loop: however long one of them takes, the others follow, and in
 * each of them the sockets are read. That is time for what TLS, a decompression and an answer in many parts need.
 */

const turns = 25
/** Milliseconds that these turns take in a process that is not held up; a shorter limit is all turns. */
const ending = 250

/**
 * Calls back once when a time limit is over, and not before what has arrived until then could be read. Keeps the process
 * alive until it is over or ended: an event loop that has nothing else to do would never come to its last turns.
 *
 * @param milliseconds - at most 2³¹ − 1. A process that was held up past them has 25 turns of its event loop, a quarter of
 * a second, to read what came meanwhile
 * @returns ends the limit; it is never called back after that
 */
export function startTimeLimit(milliseconds: number, onOver: () => void): () => void {
  const last = Math.min(milliseconds, ending)
  let timer: NodeJS.Timeout
  let look: NodeJS.Immediate | undefined
  let left = turns
  const turn = (): void => {
    if (left === 0) return onOver()
    left -= 1
    // An immediate runs after the sockets were read, so that two timers can't share a turn.
    look = setImmediate(() => {
      timer = setTimeout(turn, last / turns)
    })
  }
  timer = setTimeout(turn, milliseconds - last)
  return () => {
    clearTimeout(timer)
    clearImmediate(look)
  }
}

/**
 * Runs `work` with a signal that is aborted with a `TimeoutError` when a time limit is over: `AbortSignal.timeout`, but as
 * fair as `startTimeLimit` is. The limit ends with the work.
 *
 * @param milliseconds - as for `startTimeLimit`
 * @returns what `work` returns
 * @throws whatever `work` throws; nothing ends work that does not heed the signal
 */
export async function withTimeLimit<Result>(
  milliseconds: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController()
  const over = (): void => controller.abort(new DOMException('The time limit is over.', 'TimeoutError'))
  const end = startTimeLimit(milliseconds, over)
  try {
    return await work(controller.signal)
  } finally {
    end()
  }
}

/** What an operation comes to, or the error of a time limit that is over before it. The operation itself goes on. */
export async function answeredInTime<Value>(
  milliseconds: number,
  operation: () => Promise<Value>,
  late: () => Error,
  limit: typeof startTimeLimit = startTimeLimit,
): Promise<Value> {
  let end: (() => void) | undefined
  const over = new Promise<never>((_resolve, reject) => {
    end = limit(milliseconds, () => reject(late()))
  })
  try {
    return await Promise.race([operation(), over])
  } finally {
    end?.()
  }
}
