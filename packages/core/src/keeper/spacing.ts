/**
 * The spacing of a sweep: refreshes at an even pace, so slow that the service hardly notices, and so fast that each account has
 * its turn by the middle of its window. What remains after it is for an outage.
 */
import type { Need } from './need.ts'
import type { KeeperSettings } from './keeper-options.ts'

/**
 * Milliseconds between two refreshes of a sweep.
 *
 * @param soonest - those that are due, the soonest first
 * @param due - how many are due, also those that are not among them
 */
export function spacing(
  soonest: readonly Need[],
  due: number,
  { within, every }: Pick<KeeperSettings, 'within' | 'every'>,
  now: number,
): number {
  let gap = Math.max(within / 2, every) / Math.max(due, 1)
  for (const [before, { end }] of soonest.entries()) {
    // Never faster than all that are due in one sweep's time: a clock that jumps makes every account overdue at once.
    gap = Math.min(gap, Math.max(end - within / 2 - now, every) / (before + 1))
  }
  return gap
}
