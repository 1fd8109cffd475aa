/** A minute by a clock that nobody waits for, for what waits on a promise that never settles. */
import { setImmediate } from 'node:timers/promises'
import { jest } from '@jest/globals'

/** What an operation comes to within a minute; `undefined` where it has come to nothing. */
export async function withinAMinute<Outcome>(operation: () => Promise<Outcome>): Promise<Outcome | undefined> {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate', 'performance'] })
  try {
    const nothing = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 60_000))
    const passing = new AbortController()
    const outcome = Promise.race([operation(), nothing]).finally(() => passing.abort())
    while (!passing.signal.aborted) {
      // Real sockets are read in each turn, and as many turns as one call takes are not a tenth of a second.
      for (let turns = 0; turns < 5; turns += 1) await setImmediate()
      jest.advanceTimersByTime(100)
    }
    return await outcome
  } finally {
    jest.useRealTimers()
  }
}
