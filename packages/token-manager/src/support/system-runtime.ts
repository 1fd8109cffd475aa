/**
 * The system's own clocks, timers and randomness, and this process.
 */
import { randomUUID } from 'node:crypto'
import { currentHolder, livenessOf } from './holder.ts'
import type { Runtime } from './runtime.ts'
import { startTimeLimit } from './time-limit.ts'

/** Each is looked up when it is asked for: a test of an application may put others in their place, and take them out again. */
export const systemRuntime: Runtime = {
  wallClock: () => Date.now(),
  monotonicClock: () => performance.now(),
  random: Math.random,
  uniqueId: randomUUID,
  after: (milliseconds, callback) => {
    const timer = setTimeout(callback, Math.min(milliseconds, longestTimer))
    timer.unref()
    return () => clearTimeout(timer)
  },
  limit: startTimeLimit,
  every: (milliseconds, callback) => {
    const timer = setInterval(callback, milliseconds)
    timer.unref()
    return () => clearInterval(timer)
  },
  keepAlive: () => {
    const timer = setInterval(() => undefined, longestTimer)
    return () => clearInterval(timer)
  },
  get holder() {
    return currentHolder()
  },
  livenessOf: livenessOf,
}

/** A longer delay would fire at once: setTimeout keeps it in 31 bits. */
const longestTimer = 2 ** 31 - 1
