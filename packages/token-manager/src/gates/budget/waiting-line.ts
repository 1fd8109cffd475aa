/**
 * Who waits for a place in the budget, within one process: by rank, and within a rank who came first.
 */
import type { Instant } from '../../support/runtime.ts'

/**
 * Callers without a working token go first, those before all who were turned away already; then callers who have one; then
 * what nobody waits for.
 */
export const ranks = ['turned away before', 'without a token', 'with a token', 'background'] as const
export type Rank = (typeof ranks)[number]

/** A place in the budget: the moment from which `placeLife` counts. */
export type Place = Instant

export interface Waiter {
  /** Whom the place is for; it waits once at a time. */
  readonly key: object
  rank: Rank
  readonly serve: (place: Place) => void
  readonly refuse: (error: Error) => void
}

export interface WaitingLine {
  add(waiter: Waiter): void
  remove(waiter: Waiter): void
  /** Another rank, behind those who have it. Returns who was moved. */
  move(key: object, rank: Rank): Waiter | undefined
  /** Takes out whoever is next. */
  next(): Waiter | undefined
  /** Callers, and what nobody waits for. */
  count(which: 'callers' | 'background'): number
  /** All of them, in their order. */
  all(): Waiter[]
}

export function createWaitingLine(): WaitingLine {
  const byRank = new Map<Rank, Map<object, Waiter>>(ranks.map((rank) => [rank, new Map()]))
  const of = (rank: Rank): Map<object, Waiter> => byRank.get(rank) ?? new Map()
  const all = (): Waiter[] => ranks.flatMap((rank) => [...of(rank).values()])
  return {
    add: (waiter) => void of(waiter.rank).set(waiter.key, waiter),
    remove: (waiter) => {
      // The same key may wait anew by now.
      if (of(waiter.rank).get(waiter.key) === waiter) of(waiter.rank).delete(waiter.key)
    },
    move(key, rank) {
      for (const from of byRank.values()) {
        const waiter = from.get(key)
        if (waiter === undefined || waiter.rank === rank) continue
        from.delete(key)
        waiter.rank = rank
        of(rank).set(key, waiter)
        return waiter
      }
      return undefined
    },
    next() {
      for (const rank of byRank.values()) {
        for (const [key, waiter] of rank) {
          rank.delete(key)
          return waiter
        }
      }
      return undefined
    },
    count(which) {
      const background = of('background').size
      if (which === 'background') return background
      return ranks.reduce((sum, rank) => sum + of(rank).size, 0) - background
    },
    all,
  }
}
