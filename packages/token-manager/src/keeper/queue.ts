/**
 * Whose turn it is, and when: the soonest first, one in each slot, except where the service is in trouble or its firewall
 * blocks us.
 */
import type { Context } from '../kernel/context.ts'
import { elapsed, type Instant } from '../support/runtime.ts'
import type { Need } from './need.ts'

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
export function createQueue(
  soonest: readonly Need[],
  gap: number,
  { wallClock, monotonicClock, random }: Pick<Context['runtime'], 'wallClock' | 'monotonicClock' | 'random'>,
): Queue {
  let line = [...soonest]
  const closed = new Map<string, { readonly since: Instant; readonly wait: number }>()
  let slot = monotonicClock()
  let start = slot + gap * random()
  let failures = 0
  let pausedUntil = 0

  const now = (): Instant => ({ wall: wallClock(), monotonic: monotonicClock() })
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
