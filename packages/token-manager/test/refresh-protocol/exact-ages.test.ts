/** Each limit at it and one beyond it: how fresh a token is, when the next refresh is due, and where a record stands. */
import { describe, expect, it } from '@jest/globals'
import { agesOf, assumedLifetime, freshnessAt, jitterOf } from '../../src/refresh-protocol/freshness.ts'
import { ancestryOf, ancestryOver, descends, sessionOf } from '../../src/refresh-protocol/ancestry.ts'
import { createEvents } from '../../src/refresh-protocol/events.ts'
import { callRoll, createRollCall } from '../../src/refresh-protocol/roll-call.ts'
import { rollCallName } from '../../src/refresh-protocol/record-names.ts'
import { guardStore } from '../../src/refresh-protocol/guarded-store.ts'
import { acceptRecord, createAccountMemory } from '../../src/refresh-protocol/account-memory.ts'
import type { Context } from '../../src/refresh-protocol/context.ts'
import { isJustRefreshed } from '../../src/refresh-protocol/pace.ts'
import { systemRuntime } from '../../src/refresh-protocol/runtime.ts'
import type { AccountRecord } from '../../src/tokens/token-record.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'

describe('how fresh a token is', () => {
  const record = (lifetime: number, state = 'signed-in') => ({ state, lifetime, lineage: 'l' }) as AccountRecord
  const spread = 0.9 + 0.2 * jitterOf('l')

  it('by its age: the last ten seconds and two minutes of a long life, a twentieth and a tenth of a short one', () => {
    expect(agesOf(record(28_800), 0.75)).toEqual({
      ageing: 28_800_000 * 0.75 * spread,
      expiring: 28_680_000,
      expired: 28_790_000,
    })
    expect(agesOf(record(1200), 0.5)).toEqual({ ageing: 600_000 * spread, expiring: 1_080_000, expired: 1_190_000 })
    expect(agesOf(record(100), 1)).toMatchObject({ expiring: 90_000, expired: 95_000 })
    expect(agesOf(record(100), 1).ageing).toBe(Math.min(100_000 * spread, 95_000))
    expect(agesOf(record(100, 'signed-out'), 1)).toEqual({ ageing: 0, expiring: 0, expired: 0 })
  })

  it('changes at each of these ages', () => {
    const ages = { ageing: 10, expiring: 20, expired: 30 }
    expect([9, 10, 19, 20, 29, 30].map((age) => freshnessAt(age, ages))).toEqual([
      'fresh',
      'ageing',
      'ageing',
      'expiring',
      'expiring',
      'expired',
    ])
  })

  it('is the same in every process, and another for each account', () => {
    expect(jitterOf('l')).toBe(jitterOf('l'))
    const many = Array.from({ length: 200 }, (_, index) => jitterOf(String(index)))
    expect(Math.min(...many)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...many)).toBeLessThan(1)
    expect(Math.max(...many) - Math.min(...many)).toBeGreaterThan(0.9)
  })

  it('what it lives is a day at the most, and eight hours where a new one seems to have ended', () => {
    const lives = (left: number, isNew: boolean): number =>
      assumedLifetime({ expires_at: 1000 + left } as never, 1000, isNew)
    expect([86_400, 86_401, 1].map((left) => lives(left, true))).toEqual([86_400, 86_400, 1])
    expect([lives(0, true), lives(-1, true), lives(0, false), lives(-1, false)]).toEqual([28_800, 28_800, 0, 0])
  })
})

describe('after a refresh, the next one', () => {
  const obtained = 1_790_000_000

  /** Milliseconds after which another refresh is made. */
  function pauseAfter(record: object): number {
    let now = obtained * 1000
    const runtime = { ...systemRuntime, wallClock: () => now, monotonicClock: () => now }
    const context = { runtime, minRefreshInterval: 60_000 } as Context
    const cache = createAccountMemory(1).of('ann')
    const tokens = { access_token: 'access', refresh_token: 'refresh' }
    const signedIn = { state: 'signed-in', refreshes: 1, lineage: 'l', obtained_at: obtained, lifetime: 28_800, tokens }
    acceptRecord(cache, { version: 1, writeId: 'one', record: { ...signedIn, ...record } as never }, runtime, 0.75)
    const isPausedAfter = (milliseconds: number): boolean => {
      now = obtained * 1000 + milliseconds
      return isJustRefreshed(cache, context)
    }
    let [tooEarly, lateEnough] = [-1, 5_000_000]
    while (lateEnough - tooEarly > 1) {
      const middle = Math.floor((tooEarly + lateEnough) / 2)
      if (isPausedAfter(middle)) tooEarly = middle
      else lateEnough = middle
    }
    return lateEnough
  }
  const refusals = (inARow: number, thisOne = true): object => ({ refusals: { inARow, thisOne } })
  const ageing = Math.ceil(agesOf({ state: 'signed-in', lifetime: 4000, lineage: 'l' } as AccountRecord, 0.75).ageing)

  it.each<[string, object, number]>([
    ['waits a minute', {}, 60_000],
    ['waits for nothing where there was none before', { refreshes: 0 }, 0],
    ['waits half the life of tokens that live less than two minutes', { lifetime: 100 }, 50_000],
    ['waits ten seconds at the least', { lifetime: 19 }, 10_000],
    ['waits as long after the first token that was refused', refusals(1), 60_000],
    ['waits twice as long after the second', refusals(2), 120_000],
    ['waits twice as long again after the third', refusals(3), 240_000],
    ['waits an hour at the most', refusals(7), 3_600_000],
    ['waits an hour after any number of them', refusals(50), 3_600_000],
    ['waits for a token that ages by then no longer than for others', { lifetime: 4000, ...refusals(7) }, ageing],
    ['waits a minute where this token was not refused', refusals(7, false), 60_000],
  ])('%s', (_words, record, milliseconds) => {
    expect(pauseAfter(record)).toBe(milliseconds)
  })
})

it('a listener is a function, is called as often as it was given, and each is ended alone', () => {
  const events = createEvents()
  expect(() => events.on('blocked', 'x' as never)).toThrow(new TypeError('listener must be a function'))
  const heard: unknown[] = []
  const listener = (event: unknown): void => void heard.push(event)
  const end = events.on('blocked', listener)
  events.on('blocked', listener)
  events.emit('blocked', 1 as never)
  end()
  end()
  events.emit('blocked', 2 as never)
  events.emit('refreshed', 3 as never)
  expect(heard).toEqual([1, 1, 2])
})

it('a process calls the roll once in 30 seconds, and again at once where the store did not take it', async () => {
  let now = 0
  const clock = (): number => now
  const memory = mapStore()
  let isDown = false
  const store = guardStore(
    { ...memory, swap: (...call) => (isDown ? Promise.reject(new Error('down')) : memory.swap(...call)) },
    undefined,
  )
  const surroundings = {
    rollCall: createRollCall(),
    runtime: { ...systemRuntime, wallClock: clock, monotonicClock: clock },
    store,
  }
  const calls = async (...times: number[]): Promise<unknown[]> => {
    const versions: unknown[] = []
    for (now of times) {
      await callRoll(surroundings)
      versions.push((await memory.read(rollCallName))?.version)
    }
    return versions
  }
  expect(await calls(0, 29_999, 30_000, 59_999)).toEqual([1, 1, 2, 2])
  isDown = true
  expect(await calls(60_000)).toEqual([2])
  isDown = false
  expect(await calls(60_000, 60_001)).toEqual([3, 3])
})

describe('where a record stands among sign-ins', () => {
  const place = (session: string | undefined, ...replaces: string[]) =>
    ({ schema: 1, generation: 3, ...(session !== undefined && { session }), replaces }) as unknown as AccountRecord

  it('is a name, and those of 16 before it, the newest first', () => {
    expect([sessionOf(place('a')), sessionOf(place(undefined))]).toEqual(['a', 'generation 3'])
    const many = Array.from({ length: 16 }, (_, index) => `s${index}`)
    expect(ancestryOver('new', place('a', ...many), undefined)).toEqual({
      schema: 1,
      generation: 4,
      session: 'new',
      replaces: ['a', ...many.slice(0, 15)],
    })
    expect(ancestryOver('new')).toEqual({ schema: 1, generation: 1, session: 'new', replaces: [] })
    expect(ancestryOver('new', place('a', 'new', 'b'), place('b', 'a')).replaces).toEqual(['a', 'b'])
    const { replaces: _none, ...plain } = place('a')
    expect(ancestryOf(plain as AccountRecord)).toEqual({ schema: 1, generation: 3, session: 'a', replaces: [] })
    expect([descends(place('a', 'b'), place('b')), descends(place('b'), place('a', 'b'))]).toEqual([true, false])
    expect(descends(plain as AccountRecord, place('b'))).toBe(false)
  })
})
