/** Timers that a test moves by hand, while requests and answers go their way: `setTimeout` and `setInterval` alone are faked. */
import { jest } from '@jest/globals'

export function useTimersByHand(): void {
  const others = [
    'Date',
    'hrtime',
    'nextTick',
    'performance',
    'queueMicrotask',
    'setImmediate',
    'clearImmediate',
  ] as const
  jest.useFakeTimers({ doNotFake: [...others] })
}
