/**
 * The clocks of each simulated process: one wall clock that may be off and may jump, one monotonic clock that counts from a
 * moment of its own and stands still while its machine sleeps. No two processes share one.
 */

/** How the clocks of a process stand to the time of the world, in milliseconds. */
export interface Clocks {
  /** That the wall clock is ahead. */
  readonly ahead: number
  /** That the monotonic clock stood still. */
  readonly slept: number
}

/** What its clocks tell a process. */
export interface Times {
  readonly wall: number
  readonly monotonic: number
}

/** When every simulated world begins: milliseconds since the epoch. */
export const start: number = Date.UTC(2026, 0, 1)

export function timesOf({ ahead, slept }: Clocks, index: number, now: number): Times {
  return { wall: now + ahead, monotonic: now - start - slept + 1_000_000 * (index + 1) }
}
