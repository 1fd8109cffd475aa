/**
 * Processes that share a budget over one store, on a virtual clock: each has clocks of its own, may be frozen or killed, and
 * the store is slow, and sometimes fails after it has written. Chance decides, and a seed decides chance.
 */
import { type RequestBudget, StoreError, type TokenStore } from '../../src/index.ts'
import type { Runtime } from '../../src/support.ts'
import { createRefreshBudget, type RefreshBudget } from '../../src/gates/budget/refresh-budget.ts'
import { guardStore } from '../../src/store/guarded-store.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { type VirtualTime, virtualTime } from '../virtual-time.ts'

export interface WorldProcess {
  readonly budget: RefreshBudget
  readonly runtime: Runtime
  /** Nothing of it runs for so many milliseconds; with `asleep`, its monotonic clock stands still as well. */
  freeze(milliseconds: number, asleep: boolean): void
  /** Its wall clock jumps. */
  jump(milliseconds: number): void
  kill(): void
  ending: boolean
}

export interface BudgetWorld extends VirtualTime {
  readonly store: ReturnType<typeof mapStore>
  process(budget: RequestBudget): WorldProcess
}

interface Faults {
  /** Milliseconds that a call of the store takes at the most. */
  readonly slow: number
  /** Share of the swaps that fail after they were carried out. */
  readonly lostAnswers: number
}

const begin = Date.UTC(2026, 0, 1)

export function budgetWorld(random: () => number, { slow, lostAnswers }: Faults): BudgetWorld {
  let serial = 0
  const time = virtualTime()
  const store = mapStore()
  const pass = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => void time.at(time.now() + milliseconds, resolve))

  function process(budget: RequestBudget): WorldProcess {
    let frozenUntil = 0
    let slept = 0
    let jumped = Math.round((random() - 0.5) * 1_200_000)
    let dead = false
    const offset = random() * 1e6
    /** What is told to a frozen process waits; a dead one hears nothing. */
    const hear = (event: () => void): void => {
      if (dead) return
      if (time.now() < frozenUntil) time.at(frozenUntil, () => hear(event))
      else event()
    }
    const told = <Value>(work: () => Promise<Value>): Promise<Value> =>
      new Promise((resolve, reject) => {
        void (async () => {
          await pass(random() * slow)
          const [result] = await Promise.allSettled([work()])
          await pass(random() * slow)
          hear(() => (result.status === 'fulfilled' ? resolve(result.value) : reject(result.reason)))
        })()
      })
    const own: TokenStore = {
      read: (name) => told(() => store.read(name)),
      swap: (...args) =>
        told(async () => {
          const swapped = await store.swap(...args)
          if (random() < lostAnswers) throw new StoreError('write-failed', 'The answer was lost.')
          return swapped
        }),
    }
    const runtime: Runtime = {
      wallClock: () => begin + time.now() + jumped,
      monotonicClock: () => offset + time.now() - slept,
      random,
      uniqueId: () => `id-${(serial += 1)}`,
      after(milliseconds, callback) {
        let cancelled = false
        time.at(time.now() + milliseconds, () => hear(() => void (cancelled || callback())))
        return () => void (cancelled = true)
      },
      keepAlive: () => () => undefined,
      holder: { pid: 1 },
      livenessOf: () => 'unknown',
    }
    const self: WorldProcess = {
      runtime,
      budget: createRefreshBudget(budget, guardStore(own, undefined), runtime, () => self.ending),
      ending: false,
      freeze(milliseconds, asleep) {
        frozenUntil = Math.max(frozenUntil, time.now() + milliseconds)
        // A machine that wakes up sets its wall clock right.
        if (asleep) slept += milliseconds
      },
      jump: (milliseconds) => void (jumped += milliseconds),
      kill: () => void (dead = true),
    }
    return self
  }

  return { ...time, store, process }
}

/** The most of these times that lie within one minute, or another span of so many milliseconds. */
export function mostWithin(times: readonly number[], span = 60_000): number {
  const sorted = times.toSorted((one, other) => one - other)
  return sorted.reduce((most, first, index) => {
    const within = sorted.slice(index).filter((time) => time < first + span)
    return Math.max(most, within.length)
  }, 0)
}
