/**
 * Everything the token manager takes from its surroundings except the store and the token issuer: two clocks, timers,
 * randomness, and what is known of other processes. A simulation hands in its own.
 */
import { randomUUID } from 'node:crypto'
import { currentHolder, type Holder, type Liveness, livenessOf } from './holder.ts'
import { startTimeLimit } from './time-limit.ts'

export interface Runtime {
  /** Milliseconds since the epoch. May jump. */
  readonly wallClock: () => number
  /** Milliseconds since some moment. Never jumps, but stands still while the machine is suspended. */
  readonly monotonicClock: () => number
  /** At least 0, less than 1. */
  readonly random: () => number
  readonly uniqueId: () => string
  /** Calls back once after so many milliseconds, without keeping the process alive. Returns a function that cancels it. */
  readonly after: (milliseconds: number, callback: () => void) => () => void
  /**
   * Calls back once when a time limit is over, and keeps the process alive until then. Returns a function that cancels
   * it. Without it, as in a simulation, no call of the store has a limit.
   */
  readonly limit?: (milliseconds: number, onOver: () => void) => () => void
  /**
   * Calls back again and again, every so many milliseconds, without keeping the process alive. Returns a function that
   * cancels it. Without it, no roll call is answered.
   */
  readonly every?: (milliseconds: number, callback: () => void) => () => void
  /** Keeps the process alive until the returned function is called: the timers alone would not. */
  readonly keepAlive: () => () => void
  readonly holder: Holder
  readonly livenessOf: (holder: Holder) => Liveness
}

export interface Instant {
  readonly wall: number
  readonly monotonic: number
}

export function instantOf(runtime: Pick<Runtime, 'wallClock' | 'monotonicClock'>): Instant {
  return { wall: runtime.wallClock(), monotonic: runtime.monotonicClock() }
}

/**
 * Milliseconds that may have passed: the most that either clock says. A suspended machine stops the monotonic clock, a
 * correction may turn the wall clock back; whoever asks here wants to be told "too old" rather than "still good".
 */
export function elapsed(since: Instant, now: Instant): number {
  return Math.max(0, now.wall - since.wall, now.monotonic - since.monotonic)
}

export const pause = ({ after }: Pick<Runtime, 'after'>, milliseconds: number): Promise<void> =>
  new Promise((resolve) => void after(milliseconds, resolve))

/** The same, and keeps it alive. */
export async function awaitedPause(runtime: Pick<Runtime, 'after' | 'keepAlive'>, milliseconds: number): Promise<void> {
  const release = runtime.keepAlive()
  await pause(runtime, milliseconds)
  release()
}

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
  livenessOf,
}

/** A longer delay would fire at once: setTimeout keeps it in 31 bits. */
const longestTimer = 2 ** 31 - 1
