/**
 * Moments in seconds since the epoch, told from those that somebody gives in milliseconds.
 */

/** The year 5138: what is later was meant in milliseconds. */
const latest = 100_000_000_000

export function isEpochSeconds(value: unknown): value is number {
  return Number.isFinite(value) && Number(value) < latest
}
