/** A store's call that is never answered: when it is given up, by a clock that nobody waits for. */
import { setImmediate } from 'node:timers/promises'
import { expect, jest } from '@jest/globals'

/** What such a call ends with, after 1,250 milliseconds of a timer and a quarter of a second in turns of the event loop. */
export async function givenUpInTime(call: (never: () => Promise<never>) => Promise<unknown>): Promise<string> {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] })
  try {
    const outcomes: string[] = []
    const ended = call(() => new Promise(() => undefined)).catch((error: Error) => outcomes.push(error.message))
    jest.advanceTimersByTime(1249)
    expect(jest.getTimerCount()).toBe(1)
    jest.advanceTimersByTime(1)
    expect(jest.getTimerCount()).toBe(0)
    while (outcomes.length === 0) {
      await setImmediate()
      jest.advanceTimersByTime(10)
      await setImmediate()
    }
    await ended
    return outcomes.join()
  } finally {
    jest.useRealTimers()
  }
}
