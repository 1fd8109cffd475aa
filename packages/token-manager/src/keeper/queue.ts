/**
 * Whose turn it is, and when: the soonest first, one in each slot, except where the service is in trouble or its firewall
 * blocks us.
 */
import type { Context } from '../kernel/context.ts'
import { elapsed, type Instant, instantOf } from '../support/runtime.ts'
import type { KeeperSettings } from './keeper-options.ts'
import type { Need } from './survey.ts'

/** Milliseconds between two tries where the service fails, at the least and at the most; twice as long after each. */
const leastPause = 15_000
const longestPause = 8 * 60_000

export interface Queue {
  isEmpty(): boolean
  /** Whose turn it is; or milliseconds until it may be somebody's. */
  next(): Need | number
  /** Its host may not be asked before: seconds since the epoch. It keeps its turn. */
  putBack(need: Need, nextAttemptAt: number): void
  /** Nobody of its host gets a turn any more; of all hosts without one. Returns how many that are. */
  abandon(authUrl?: string): number
  /**
   * A refresh failed although it was its turn: the service may be in trouble, and is asked by one account at a time. Returns
   * how many failed in a row.
   */
  failed(): number
  succeeded(): void
}

/** @param gap - milliseconds of a slot; 0: one after the other */
export function createQueue(soonest: readonly Need[], gap: number, runtime: Context['runtime']): Queue {
  const { wallClock, monotonicClock, random } = runtime
  let line = [...soonest]
  const closed = new Map<string, { readonly since: Instant; readonly wait: number }>()
  let slot = monotonicClock()
  let start = slot + gap * random()
  let failures = 0
  let pausedUntil = 0

  const now = (): Instant => instantOf(runtime)
  const closedFor = ({ authUrl }: Need): number => {
    const { since, wait } = closed.get(authUrl) ?? { since: now(), wait: 0 }
    return wait - elapsed(since, now())
  }

  return {
    isEmpty: () => line.length === 0,
    next() {
      const time = monotonicClock()
      const wait = Math.max(start, pausedUntil) - time
      if (wait > 0) return wait
      const index = line.findIndex((need) => closedFor(need) <= 0)
      const [need] = index < 0 ? [] : line.splice(index, 1)
      if (need === undefined) return Math.max(1000, Math.min(...line.map(closedFor)))
      // After a pause it goes on at the same pace: nothing is made up for.
      slot = Math.max(slot + gap, time - gap)
      start = slot + gap * random()
      // The next one only after the answer: succeeded() ends the pause, failed() makes it longer.
      if (failures > 0) pausedUntil = time + leastPause
      return need
    },
    putBack(need, nextAttemptAt) {
      closed.set(need.authUrl, { since: now(), wait: nextAttemptAt * 1000 - wallClock() })
      line.unshift(need)
    },
    abandon(authUrl) {
      const before = line.length
      line = authUrl === undefined ? [] : line.filter((need) => need.authUrl !== authUrl)
      return before - line.length
    },
    failed() {
      failures += 1
      pausedUntil = monotonicClock() + Math.min(leastPause * 2 ** (failures - 1), longestPause)
      return failures
    },
    succeeded() {
      failures = 0
      pausedUntil = 0
    },
  }
}

/**
 * Milliseconds between two refreshes of a sweep: so slow that the service hardly notices, and so fast that each account has its
 * turn by the middle of its window. What remains after it is for an outage.
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
