/** The budget for refreshes: never over it in any minute, whatever happens to the processes that share it, and who comes first. */
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { RefreshBudgetError, refreshBudgetRecordName } from '../../src/index.ts'
import { placeLife } from '../../src/gates/budget/request-budget.ts'
import { type Rank, ranks } from '../../src/gates/budget/refresh-budget.ts'
import { chance } from '../refresh-protocol/simulation/chance.ts'
import { budgetWorld, mostWithin, type WorldProcess } from './budget-world.ts'

const host = 'http://127.0.0.1:9'
const minutes = 60_000

/** Somebody in a process wants a place, and sends after a while if it still may. */
async function send(process: WorldProcess, rank: Rank, delay: number, sent: () => void): Promise<void> {
  const place = await process.budget.place(host, {}, rank)
  await new Promise<void>((resolve) => process.runtime.after(delay, resolve))
  if (process.budget.isUsable(place)) sent()
}

const worlds = fc.record({
  seed: fc.integer({ min: 1, max: 1e6 }),
  perMinute: fc.integer({ min: 2, max: 30 }),
  burst: fc.integer({ min: 1, max: 8 }),
  slow: fc.constantFrom(1, 50, 800),
  lostAnswers: fc.constantFrom(0, 0.1),
  faults: fc.integer({ min: 0, max: 12 }),
  processes: fc.integer({ min: 1, max: 6 }),
})

describe('the requests of any minute', () => {
  it('are never more than the budget: with frozen, sleeping and killed processes, any clocks, and a store that loses answers (N9)', async () => {
    await fc.assert(
      fc.asyncProperty(worlds, async ({ seed, perMinute, burst, slow, lostAnswers, faults, processes }) => {
        const random = chance(seed)
        const world = budgetWorld(random, { slow, lostAnswers })
        const budget = { perMinute, burst: Math.min(burst, Math.floor(perMinute / 2)) }
        const fleet = Array.from({ length: processes }, () => world.process(budget))
        const sent: number[] = []
        /** Until when a process sleeps. If its clock is set back meanwhile, nothing tells it that it slept. */
        const asleep = new Map<WorldProcess, number>()
        const end = 4 * minutes
        const wish = (): void => {
          const process = fleet[Math.floor(random() * fleet.length)]
          const rank = ranks[Math.floor(random() * ranks.length)]
          if (process === undefined || rank === undefined) return
          const delay = random() < 0.3 ? random() * 20 * placeLife : random() * 200
          send(process, rank, delay, () => sent.push(world.now())).catch((error: unknown) => {
            if (error instanceof Error && !('code' in error)) throw error
          })
        }
        // A herd now and then, and a steady stream that is more than the budget.
        for (let count = 0; count < 5 * perMinute; count += 1) world.at(random() * end, wish)
        for (let herd = 0; herd < 2; herd += 1) {
          const at = random() * end
          for (let count = 0; count < 2 * perMinute; count += 1) world.at(at, wish)
        }
        for (let fault = 0; fault < faults; fault += 1) {
          world.at(random() * end, () => {
            const index = Math.floor(random() * fleet.length)
            const process = fleet[index]
            const kind = random()
            if (process === undefined) return
            if (kind < 0.4) {
              const [length, isSleep] = [random() * 90_000, random() < 0.5]
              if (isSleep) asleep.set(process, world.now() + length)
              process.freeze(length, isSleep)
            } else if (kind < 0.7) {
              const change = (random() - 0.5) * 1e11
              process.jump((asleep.get(process) ?? 0) > world.now() ? Math.abs(change) : change)
            } else {
              process.kill()
              fleet[index] = world.process(budget)
            }
          })
        }
        await world.run(end)
        expect(mostWithin(sent)).toBeLessThanOrEqual(perMinute)
      }),
      { numRuns: process.env['OWNER_SSO_SOAK'] === '1' ? 1000 : 25 },
    )
  }, 120_000)

  it('come close to it while there is enough to do, from one process and from several', async () => {
    for (const processes of [1, 5]) {
      const world = budgetWorld(chance(processes), { slow: 5, lostAnswers: 0 })
      const budget = { perMinute: 240, burst: 4 }
      const fleet = Array.from({ length: processes }, () => world.process(budget))
      let sent = 0
      const again = (process: WorldProcess): void => {
        const done = send(process, 'without a token', 0, () => (sent += 1))
        const later = (): void => void world.at(world.now() + 1000, () => again(process))
        done.then(() => again(process), later)
      }
      for (const process of fleet) for (let callers = 0; callers < 30; callers += 1) again(process)
      await world.run(3 * minutes)
      expect(sent).toBeGreaterThan(3 * 240 * 0.9)
    }
  }, 60_000)
})

describe('the requests of any second', () => {
  it('are never more than the burst, also where two windows meet (N10)', async () => {
    for (let seed = 1; seed <= 7; seed += 1) {
      const random = chance(seed)
      const world = budgetWorld(random, { slow: 20, lostAnswers: 0 })
      const fleet = Array.from({ length: 3 }, () => world.process({ perMinute: 60, burst: 2 }))
      const sent: number[] = []
      // One now and then, which finds a window that has places left, and then a few at once.
      for (let at = 0; at < 3 * minutes; at += 2000 + 6000 * random()) {
        for (const moment of [0, 1500 + 1000 * random()]) {
          world.at(at + moment, () => {
            for (const process of fleet)
              send(process, 'without a token', 0, () => sent.push(world.now())).catch(() => undefined)
          })
        }
      }
      await world.run(3 * minutes)
      expect(sent.length).toBeGreaterThan(60)
      expect(mostWithin(sent, 1000)).toBeLessThanOrEqual(2)
    }
  })
})

describe('the places of a process that is killed', () => {
  it('are used by the others within seconds: with a kill every six seconds, most of the budget is (N11)', async () => {
    const world = budgetWorld(chance(9), { slow: 20, lostAnswers: 0 })
    const budget = { perMinute: 60, burst: 2 }
    const sent: number[] = []
    const begin = (): WorldProcess => {
      const process = world.process(budget)
      const again = (): void =>
        void send(process, 'without a token', 0, () => sent.push(world.now()))
          .catch(() => new Promise<void>((resolve) => process.runtime.after(500, resolve)))
          .then(again)
      for (let callers = 0; callers < 20; callers += 1) again()
      return process
    }
    const fleet = Array.from({ length: 4 }, begin)
    for (let kills = 0; kills < 20; kills += 1) {
      world.at(6000 * (kills + 1), () => {
        fleet[kills % 4]?.kill()
        fleet[kills % 4] = begin()
      })
    }
    await world.run(2 * minutes)
    expect(mostWithin(sent)).toBeLessThanOrEqual(60)
    expect(sent.length / 2).toBeGreaterThan(40)
  })
})

describe('who comes first', () => {
  it('callers without a token, those before all who were turned away already, then callers who have one, then the rest', async () => {
    const world = budgetWorld(chance(1), { slow: 5, lostAnswers: 0 })
    const process = world.process({ perMinute: 30, burst: 1 })
    const served: string[] = []
    const ask = (rank: Rank, name = rank): void =>
      void send(process, rank, 0, () => served.push(name)).catch(() => served.push(`${name}: refused`))
    // The first takes what is at hand; all others wait.
    ask('background', 'at once' as Rank)
    world.at(100, () => ranks.toReversed().forEach((rank) => ask(rank)))
    world.at(110, () => ranks.toReversed().forEach((rank) => ask(rank, `${rank} 2` as Rank)))
    await world.run(minutes)
    const callers = ranks.slice(0, 3).flatMap((rank) => [rank, `${rank} 2`])
    expect(served).toEqual(['at once', ...callers, 'background', 'background 2'])
  })

  it('the order of arrival counts in all processes, and background takes what callers leave', async () => {
    const world = budgetWorld(chance(2), { slow: 5, lostAnswers: 0 })
    const fleet = Array.from({ length: 4 }, () => world.process({ perMinute: 60, burst: 1 }))
    const served: string[] = []
    const ask = (index: number, rank: Rank, name: string): void => {
      const process = fleet[index % fleet.length]
      if (process !== undefined) void send(process, rank, 0, () => served.push(name)).catch(() => undefined)
    }
    for (let index = 0; index < 8; index += 1) ask(index, 'background', 'background')
    for (let index = 0; index < 12; index += 1) {
      world.at(2000 + 200 * index, () => ask(index, 'without a token', String(index)))
    }
    await world.run(minutes)
    const callers = served.filter((name) => name !== 'background')
    expect(callers).toEqual(callers.toSorted((one, other) => Number(one) - Number(other)))
    const [first, last] = [served.indexOf('0'), served.indexOf('11')]
    expect(served.slice(first, last)).not.toContain('background')
    expect(served.filter((name) => name === 'background')).toHaveLength(8)
  })

  it('who hurries overtakes', async () => {
    const world = budgetWorld(chance(3), { slow: 5, lostAnswers: 0 })
    const process = world.process({ perMinute: 30, burst: 1 })
    const served: string[] = []
    const keys = ['a', 'b', 'c', 'd'].map((name) => ({ name }))
    for (const key of keys) {
      void process.budget.place(host, key, 'background').then(() => served.push(key.name))
    }
    world.at(500, () => {
      const last = keys.at(-1)
      if (last !== undefined) process.budget.move(host, last, 'without a token')
    })
    await world.run(30_000)
    expect(served).toEqual(['a', 'd', 'b', 'c'])
  })
})

describe('who comes while the budget is looked at', () => {
  it('has a place of the same window, where there is one left', async () => {
    // At each moment of a look: before it reads, while it reads, and while it writes.
    for (let moment = 0; moment <= 1000; moment += 100) {
      const world = budgetWorld(chance(5), { slow: 300, lostAnswers: 0 })
      // Half a minute to the next window.
      const process = world.process({ perMinute: 60, burst: 20 })
      const served: string[] = []
      world.at(0, () => void send(process, 'with a token', 0, () => served.push('first')))
      world.at(moment, () => void send(process, 'with a token', 0, () => served.push('second')))
      await world.run(5000)
      expect(served).toEqual(['first', 'second'])
    }
  })

  it('makes nobody look more often: while many wait, the store is read a few times in each window', async () => {
    const world = budgetWorld(chance(6), { slow: 5, lostAnswers: 0 })
    const process = world.process({ perMinute: 6, burst: 1 })
    for (let index = 0; index < 20; index += 1) {
      world.at(50 * index, () => void send(process, 'background', 0, () => undefined).catch(() => undefined))
    }
    await world.run(2000)
    const read = world.store.read.bind(world.store)
    let reads = 0
    world.store.read = (name) => {
      reads += 1
      return read(name)
    }
    await world.run(50_000)
    expect(reads).toBeGreaterThan(0)
    expect(reads).toBeLessThan(10)
  })

  it('does not make another wait in its place: who was counted and has no place is turned away at once', async () => {
    for (let moment = 0; moment <= 600; moment += 100) {
      const world = budgetWorld(chance(6), { slow: 300, lostAnswers: 0 })
      const process = world.process({ perMinute: 2, burst: 1 })
      const outcomes: string[] = []
      const ask = (name: string): void =>
        void send(process, 'without a token', 0, () => outcomes.push(name)).catch(() =>
          outcomes.push(`${name} refused`),
        )
      for (const name of ['first', 'second']) ask(name)
      world.at(moment, () => ask('third'))
      await world.run(5000)
      expect(outcomes.toSorted()).toEqual(['first', 'second refused', 'third refused'])
    }
  })
})

describe('who would wait longer than a request may take', () => {
  it('is turned away at once, with a time at which there is a place; those who can be served in time are', async () => {
    const world = budgetWorld(chance(4), { slow: 5, lostAnswers: 0 })
    const process = world.process({ perMinute: 60, burst: 1 })
    const outcomes: { at: number; next?: number }[] = []
    for (let index = 0; index < 100; index += 1) {
      send(process, 'without a token', 0, () => outcomes.push({ at: world.now() })).catch((error: unknown) => {
        if (!(error instanceof RefreshBudgetError)) throw error
        const next = error.nextAttemptAt * 1000 - process.runtime.wallClock()
        outcomes.push({ at: world.now(), next })
      })
    }
    await world.run(2 * minutes)
    const refused = outcomes.filter(({ next }) => next !== undefined)
    const served = outcomes.filter(({ next }) => next === undefined)
    expect(outcomes).toHaveLength(100)
    expect(served.length).toBeGreaterThanOrEqual(28)
    expect(served.every(({ at }) => at <= 33_000)).toBe(true)
    expect(refused.every(({ at, next = 0 }) => at < 2000 && next > 0 && next < 100_000)).toBe(true)
    // They are sent to different times: all at once would meet the same line again.
    expect(new Set(refused.map(({ next }) => next)).size).toBeGreaterThan(40)
  })

  it.each([
    [1, 2.5],
    [8, 10],
  ])('is told when to come back: with %d processes fewer than %d times on average', async (processes, most) => {
    const world = budgetWorld(chance(8), { slow: 5, lostAnswers: 0 })
    const fleet = Array.from({ length: processes }, () => world.process({ perMinute: 120, burst: 2 }))
    const tries: number[] = []
    let last = 0
    const ask = async (process: WorldProcess, key: object, before: number): Promise<void> => {
      try {
        await process.budget.place(host, key, before === 0 ? 'without a token' : 'turned away before')
        last = world.now()
        tries.push(before + 1)
      } catch (error) {
        if (!(error instanceof RefreshBudgetError)) throw error
        const wait = error.nextAttemptAt * 1000 - process.runtime.wallClock()
        world.at(world.now() + wait, () => void ask(process, key, before + 1))
      }
    }
    for (let index = 0; index < 1000; index += 1) void ask(fleet[index % processes] as WorldProcess, {}, 0)
    await world.run(15 * minutes)
    expect(tries).toHaveLength(1000)
    expect(tries.reduce((sum, each) => sum + each, 0) / 1000).toBeLessThan(most)
    // 120 a minute less the burst, and the first half minute's wait.
    expect(last).toBeLessThan(9.2 * minutes)
  })

  it('what nobody waits for gives up after that time, and at once where the process is leaving', async () => {
    const world = budgetWorld(chance(5), { slow: 5, lostAnswers: 0 })
    const process = world.process({ perMinute: 2, burst: 1 })
    const ended: number[] = []
    void process.budget.place(host, {}, 'background')
    for (const at of [1000, 64_100, 64_500]) {
      world.at(at, () => {
        process.budget.place(host, {}, 'background').catch(() => ended.push(world.now()))
      })
    }
    world.at(64_000, () => void (process.ending = true))
    await world.run(3 * minutes)
    expect(ended).toEqual([34_000, expect.any(Number)])
    expect(ended[1]).toBeLessThan(66_000)
  })
})

describe('the record of a budget', () => {
  it('that was lost or set back gives no place away again while a process lives that saw it taken', async () => {
    const world = budgetWorld(chance(6), { slow: 1, lostAnswers: 0 })
    const budget = { perMinute: 20, burst: 2 }
    const fleet = [world.process(budget), world.process(budget)]
    const sent: number[] = []
    const name = refreshBudgetRecordName(host)
    let earlier: Awaited<ReturnType<typeof world.store.read>>
    world.at(9500, () => void world.store.read(name).then((stored) => (earlier = stored)))
    for (let second = 0; second < 120; second += 1) {
      world.at(second * 1000, () => {
        for (const process of fleet) send(process, 'without a token', 0, () => sent.push(world.now())).catch(() => 0)
        if (second % 40 === 10) world.store.clear()
        if (second % 40 === 30 && earlier !== undefined) world.store.put(name, earlier)
      })
    }
    await world.run(2 * minutes)
    expect(sent.length).toBeGreaterThan(20)
    expect(mostWithin(sent)).toBeLessThanOrEqual(20)
  })

  it('is one an SSO host, and none where each process has a budget of its own', async () => {
    const world = budgetWorld(chance(7), { slow: 1, lostAnswers: 0 })
    const shared = world.process({ perMinute: 10, burst: 5 })
    await Promise.all([
      shared.budget.place(host, {}, 'background'),
      shared.budget.place('https://auth.example.com', {}, 'background'),
      world.process({ perMinute: 10, scope: 'process' }).budget.place('http://127.0.0.1:1', {}, 'background'),
      world.run(1000),
    ])
    const names: string[] = []
    for await (const name of world.store.accounts()) names.push(name)
    expect(names.toSorted()).toEqual([
      refreshBudgetRecordName(host),
      refreshBudgetRecordName('https://auth.example.com'),
    ])
  })
})
