/** The places of a budget, each limit at it and one beyond it, each row of a rule and each fact that is told. */
import { describe, expect, it } from '@jest/globals'
import { StoreError } from '../../src/index.ts'
import { opened, together, untouched, freePlace, takePlaces } from '../../src/budget/places.ts'
import { createHostBudget } from '../../src/budget/host-budget.ts'
import { windowsOf } from '../../src/budget/request-budget.ts'
import { ownMemory, shareWindows } from '../../src/budget/shared-windows.ts'
import { createWaitingLine, type Rank, type Waiter } from '../../src/budget/waiting-line.ts'
import { guardStore } from '../../src/store/guarded-store.ts'
import type { Runtime } from '../../src/support/runtime.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { slowClock, start, timersByHand, turns } from '../refresh-protocol/by-hand.ts'

describe('a budget', () => {
  it('begins before the first window, and counts the writes of a process’s own memory', async () => {
    expect(untouched).toEqual({ schema: 1, state: 'refresh-budget', window: 0, free: [0, 0] })
    const memory = ownMemory()
    const first = await memory.swap('b', undefined, untouched, 'w1')
    if ('conflict' in first) throw new Error('conflict')
    expect([first, await memory.swap('b', first, untouched, 'w2')]).toEqual([
      { version: 1, writeId: 'w1', record: untouched },
      { version: 2, writeId: 'w2', record: untouched },
    ])
  })

  it('is kept in windows: one less than a minute has of its bursts, and as long as they take with the life of a place', () => {
    expect(windowsOf({ perMinute: 60 })).toEqual({ places: 1, length: Math.ceil(63_000 / 59) })
    expect(windowsOf({ perMinute: 2 })).toEqual({ places: 1, length: 63_000 })
    expect(windowsOf({ perMinute: 119 })).toEqual({ places: 1, length: Math.ceil(63_000 / 118) })
    expect(windowsOf({ perMinute: 120 })).toEqual({ places: 2, length: Math.ceil(63_000 / 59) })
    expect(windowsOf({ perMinute: 100, burst: 50 })).toEqual({ places: 50, length: 63_000 })
  })

  it('has what two looks say together, and goes on to the next window', () => {
    const record = (window: number, ...free: [number, number]) => ({ ...untouched, window, free })
    expect(opened(record(3, 5, 1))).toEqual(record(4, 5, 1))
    expect(together(record(1, 2, 3), record(2, 1, 9))).toEqual(record(2, 2, 3))
    expect(together(record(2, 1, 9), record(1, 2, 3))).toEqual(record(2, 2, 3))
    expect(together(record(1, 2, 3), record(1, 2, 4))).toEqual(record(1, 2, 4))
    expect(together(record(1, 2, 4), record(1, 2, 3))).toEqual(record(1, 2, 4))
    expect(together(record(1, 3, 0), record(1, 2, 4))).toEqual(record(1, 3, 0))
  })

  it('sees a window for as long as its number stays, by the clock that never runs ahead', async () => {
    const clock = slowClock()
    const windows = shareWindows('b', ownMemory(), clock.runtime)
    expect([windows.age(), windows.known()]).toEqual([0, untouched])
    expect(await windows.read()).toEqual({ record: untouched, from: { wall: start * 1000, monotonic: 0 } })
    clock.now = 500
    clock.wallOnly = 900
    expect(windows.age()).toBe(500)
    const taken = { ...untouched, free: [0, 1] as const }
    expect(await windows.write(taken)).toEqual({ record: taken, from: { wall: start * 1000 + 1400, monotonic: 500 } })
    expect([windows.age(), windows.known()]).toEqual([500, taken])
    await windows.write(opened(taken))
    expect(windows.age()).toBe(0)
    clock.now = 600
    expect(await windows.read()).toMatchObject({ record: opened(taken), from: { monotonic: 600 } })
    expect(windows.age()).toBe(100)
  })

  it('writes over what it has read alone, and gives no place away again that it has seen taken', async () => {
    const { runtime } = slowClock()
    const [memory, other] = [mapStore(), slowClock(1)]
    const [one, two] = [runtime, other.runtime].map((each) => shareWindows('b', guardStore(memory, undefined), each))
    if (one === undefined || two === undefined) throw new Error('two')
    const taken = { ...untouched, free: [0, 3] as const }
    await Promise.all([one.read(), two.read()])
    expect(await one.write(taken)).toMatchObject({ record: taken })
    expect(await two.write(opened(untouched))).toBeUndefined()
    expect(two.known()).toEqual(untouched)
    expect(await two.read()).toMatchObject({ record: taken })
    expect(await two.write(opened(taken))).toMatchObject({ record: opened(taken) })
    memory.clear()
    expect(await two.read()).toMatchObject({ record: opened(taken) })
    expect(await two.write(taken)).toMatchObject({ record: taken })
  })

  it('serves by rank, then by who came first', () => {
    const line = createWaitingLine()
    const waiter = (name: string, rank: Rank): Waiter & { name: string } => ({
      name,
      key: { name },
      rank,
      serve: () => undefined,
      refuse: () => undefined,
    })
    const names = (): unknown[] => line.all().map((each) => Reflect.get(each, 'name'))
    const all = [
      waiter('b1', 'background'),
      waiter('t1', 'with a token'),
      waiter('n1', 'without a token'),
      waiter('a1', 'turned away before'),
      waiter('n2', 'without a token'),
    ]
    for (const each of all) line.add(each)
    expect(names()).toEqual(['a1', 'n1', 'n2', 't1', 'b1'])
    expect([line.count('callers'), line.count('background')]).toEqual([4, 1])
    const [b1, t1] = all
    if (b1 === undefined || t1 === undefined) throw new Error('five')
    expect([line.move(b1.key, 'background'), line.move({}, 'background')]).toEqual([undefined, undefined])
    expect(line.move(b1.key, 'without a token')).toBe(b1)
    expect([names(), b1.rank]).toEqual([['a1', 'n1', 'n2', 'b1', 't1'], 'without a token'])
    const anew = { ...waiter('t2', 'with a token'), key: t1.key }
    line.add(anew)
    line.remove(t1)
    expect(names()).toEqual(['a1', 'n1', 'n2', 'b1', 't2'])
    line.remove(anew)
    expect(Array.from({ length: 5 }, () => Reflect.get(Object(line.next()), 'name') as unknown)).toEqual([
      'a1',
      'n1',
      'n2',
      'b1',
      undefined,
    ])
  })
})

describe('the budget of a host', () => {
  /** Windows of a second, with two places each. */
  function host(memory: Parameters<typeof shareWindows>[1] = ownMemory(), skew = 0) {
    const clock = slowClock(skew)
    const { timers, after } = timersByHand()
    const runtime: Runtime = {
      ...clock.runtime,
      after,
    }
    const leaving = { is: false }
    const budget = createHostBudget({
      windows: shareWindows('b', memory, runtime),
      figures: { places: 2, length: 1000 },
      runtime,
      isEnding: () => leaving.is,
    })
    const patience = 33_000
    const outcomes: string[] = []
    return {
      clock,
      leaving,
      budget,
      outcomes,
      ask: (name: string, rank: Rank = 'without a token', key: object = {}): object => {
        budget.place(key, rank, patience).then(
          ({ monotonic }) => outcomes.push(`${name} at ${monotonic}`),
          (error: unknown) =>
            outcomes.push(`${name} not before ${Number(Reflect.get(Object(error), 'nextAttemptAt')) - start}`),
        )
        return key
      },
      /** The next look at the windows: the milliseconds until it. */
      look: async (): Promise<number[]> => {
        const looks = [...timers].filter(([, { milliseconds }]) => milliseconds !== patience)
        for (const [key, { milliseconds, callback }] of looks) {
          timers.delete(key)
          clock.now += milliseconds
          callback()
        }
        await turns()
        return looks.map(([, { milliseconds }]) => milliseconds)
      },
      impatient: async (): Promise<void> => {
        for (const [key, { callback }] of [...timers].filter(([, { milliseconds }]) => milliseconds === patience)) {
          timers.delete(key)
          callback()
        }
        await turns()
      },
      timers: () => timers.size,
    }
  }

  it('hands out the places of 31 windows, and sends who comes later to places of their own', async () => {
    const { ask, look, outcomes, timers } = host()
    const keys = Array.from({ length: 70 }, (_, index) => ask(String(index)))
    await turns()
    const late = [1, 1, 2, 2, 3, 3, 4, 4].map((seconds, index) => `${62 + index} not before ${seconds}`)
    expect(outcomes.toSorted()).toEqual(['0 at 0', '1 at 0', ...late].toSorted())
    // Who asks again before its time is told the same, and who is new comes behind.
    outcomes.length = 0
    ask('again', 'turned away before', keys[65])
    await turns()
    ask('new')
    await turns()
    expect(outcomes).toEqual(['again not before 2', 'new not before 5'])
    // The first window may be about to be opened by another process; the next one is our own.
    outcomes.length = 0
    expect(await look()).toEqual([1025])
    expect(outcomes).toEqual(['2 at 1025', '3 at 1025'])
    expect(await look()).toEqual([1000])
    expect(outcomes.slice(2)).toEqual(['4 at 2025', '5 at 2025'])
    for (let window = 3; window <= 30; window += 1) expect(await look()).toEqual([1000])
    expect(outcomes).toHaveLength(60)
    expect([await look(), timers()]).toEqual([[], 0])
  })

  it('serves by rank, and what nobody waits for with what is left of a window', async () => {
    const { ask, look, outcomes, budget, leaving, clock } = host()
    ask('b1', 'background')
    const b2 = ask('b2', 'background')
    ask('b3', 'background')
    ask('t1', 'with a token')
    await turns()
    expect(outcomes).toEqual(['t1 at 0', 'b1 at 0'])
    budget.move(b2, 'without a token')
    budget.move({}, 'without a token')
    await turns()
    await look()
    expect(outcomes.slice(2)).toEqual(['b2 at 1025', 'b3 at 1025'])
    ask('b4', 'background')
    await turns()
    expect(outcomes).toHaveLength(4)
    leaving.is = true
    clock.now += 1000
    await look()
    ask('b5', 'background')
    ask('b6', 'background')
    ask('b7', 'background')
    await turns()
    // A window's places for the first two of them; the others are turned away, since nobody waits for them.
    expect(outcomes.slice(4)).toEqual(['b4 at 3050', 'b5 at 3050', 'b6 not before 5', 'b7 not before 5'])
  })

  it('serves at once who asks the moment that another was served', async () => {
    const { ask, outcomes, budget } = host()
    await budget.place({}, 'without a token', 1000)
    ask('next')
    await turns()
    expect(outcomes).toEqual(['next at 0'])
  })

  it('hands out a place that it has without asking the store', async () => {
    const memory = ownMemory()
    let isDown = false
    const { ask, outcomes, budget } = host({
      ...memory,
      read: (name) => (isDown ? Promise.reject(new StoreError('unavailable', 'x')) : memory.read(name)),
    })
    budget.giveBack(await budget.place({}, 'without a token', 1000))
    isDown = true
    ask('next')
    await turns()
    expect(outcomes).toEqual(['next at 0'])
  })

  it('takes a place back, for whoever is next, as long as it lives', async () => {
    const { ask, outcomes, budget, clock, impatient, timers } = host()
    const place = await budget.place({}, 'without a token', 1000)
    await turns()
    for (const name of ['0', '1', '2']) ask(name)
    await turns()
    expect(outcomes).toEqual(['0 at 0'])
    budget.giveBack(place)
    await turns()
    expect(outcomes).toEqual(['0 at 0', '1 at 0'])
    clock.now = 2999
    budget.giveBack({ wall: start * 1000, monotonic: 0 })
    await turns()
    expect(outcomes.at(-1)).toBe('2 at 0')
    clock.now = 3000
    budget.giveBack({ wall: start * 1000, monotonic: 0 })
    ask('3')
    await turns()
    for (let count = 4; count < 9; count += 1) ask(String(count))
    await turns()
    expect(outcomes.slice(3)).toEqual(['3 at 3000', '4 at 3000'])
    await impatient()
    expect(outcomes.slice(5)).toEqual([5, 6, 7, 8].map((name) => `${name} not before 4`))
    expect(timers()).toBe(1)
  })

  it('fails those who wait where the store does, and takes no more than 16 places at once', async () => {
    const memory = ownMemory()
    const taken: number[] = []
    const state = { conflicts: 1, down: false }
    const { ask, look, outcomes } = host({
      read: (name) => (state.down ? Promise.reject(new StoreError('unavailable', 'x')) : memory.read(name)),
      swap: async (name, over, next, writeId) => {
        if (state.conflicts > 0) {
          state.conflicts -= 1
          return { conflict: true }
        }
        taken.push(...('free' in next ? [next.free[0] * 2 + next.free[1]] : []))
        return memory.swap(name, over, next, writeId)
      },
    })
    for (let index = 0; index < 40; index += 1) ask(String(index))
    await turns()
    // Another process was faster: it is looked again after a moment.
    expect(outcomes).toEqual([])
    expect(await look()).toEqual([10])
    expect(outcomes).toEqual(['0 at 10', '1 at 10'])
    expect(taken).toEqual([16, 32, 40])
    state.down = true
    await look()
    expect(outcomes.slice(2)).toEqual(Array.from({ length: 38 }, (_, index) => `${index + 2} not before NaN`))
  })
})

describe('the places of a budget', () => {
  const record = (window: number, free: readonly [number, number]) => ({ ...untouched, window, free })

  it.each<[number, readonly [number, number], readonly [number, number]]>([
    [0, [0, 4], [0, 4]],
    [0, [0, 5], [1, 0]],
    [2, [1, 4], [2, 0]],
    [1, [1, 4], [1, 4]],
    [1, [3, 1], [3, 1]],
  ])('in window %i with %j free: the next is %j, where a window has five', (window, free, next) => {
    expect(freePlace(record(window, free), 5)).toEqual(next)
  })

  it('are taken one after the other, up to the last window', () => {
    const taken = takePlaces(record(0, [0, 1]), 9, 2, 2)
    expect(taken).toEqual({ windows: [0, 1, 1, 2, 2], record: record(0, [3, 0]) })
    const full = record(0, [2, 2])
    expect(takePlaces(full, 1, 2, 2)).toEqual({ windows: [], record: full })
    expect(takePlaces(record(0, [0, 0]), 1, 2, 2)).toEqual({ windows: [0], record: record(0, [0, 1]) })
  })
})
