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
  // Never faster than all that are due in one sweep's time: a clock that jumps makes every account overdue at once.
  const time = ({ end }: Need): number => Math.max(end - within / 2 - now, every)
  const gaps = soonest.map((need, before) => time(need) / (before + 1))
  // Those that are not among them come after the last of them.
  const last = soonest.at(-1)
  if (last !== undefined) gaps.push(time(last) / due)
  return gaps.reduce((least, gap) => Math.min(least, gap), Math.max(within / 2, every) / Math.max(due, 1))
}
