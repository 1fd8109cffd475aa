/**
 * Everything the token manager takes from its surroundings except the store and the token issuer: two clocks, timers,
 * randomness, and what is known of other processes. A simulation hands in its own.
 */
import type { Holder, Liveness } from './holder.ts'

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
  /** This process. */
  readonly holder: Holder
  readonly livenessOf: (holder: Holder) => Liveness
}

/** A moment on both clocks of this process. */
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
