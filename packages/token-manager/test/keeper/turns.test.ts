/** Whose turn it is, and when: each limit at it and one beyond it. */
import { describe, expect, it } from '@jest/globals'
import { StoreError } from '../../src/index.ts'
import { jwtExpiry, needOf } from '../../src/keeper/need.ts'
import { parseKeeperOptions } from '../../src/keeper/keeper-options.ts'
import { survey } from '../../src/keeper/survey.ts'
import { createAnnouncements } from '../../src/keeper/announcements.ts'
import { createEvents } from '../../src/driver/event-source.ts'
import { createQueue } from '../../src/keeper/queue.ts'
import { spacing } from '../../src/keeper/spacing.ts'
import { guardStore } from '../../src/store/guarded-store.ts'
import type { SignedIn } from '../../src/store/token-record.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { authUrl, slowClock, start, signedIn } from '../refresh-protocol/by-hand.ts'

describe('the need of an account', () => {
  type Figures = Parameters<typeof needOf>[2]
  const window: Figures = { within: 7_200_000, refreshTokenLifetime: undefined }
  const now = start * 1000
  const record = (age: number, lifetime = 28_800): SignedIn => signedIn({ obtained_at: start - age, lifetime })
  const endOf = (given: SignedIn, figures: Figures = window, expiry?: number): number | undefined => {
    const need = needOf('ann', given, figures, () => expiry, now)
    if (need !== undefined) expect(need).toMatchObject({ account: 'ann', authUrl })
    return need && (need.end - now) / 1000
  }

  it('is there from two hours before the end on, and not before half of that has passed', () => {
    expect([endOf(record(21_600)), endOf(record(21_599)), endOf(record(30_000))]).toEqual([7200, undefined, -1200])
    expect([endOf(record(3600, 10_000)), endOf(record(3599, 10_000))]).toEqual([6400, undefined])
    expect([endOf(record(50, 100)), endOf(record(49, 100))]).toEqual([50, undefined])
  })

  it('goes by the token’s own end, or by the life of refresh tokens, before that of the access token', () => {
    const days = { ...window, refreshTokenLifetime: 86_400_000 }
    expect([endOf(record(79_200), days), endOf(record(79_199), days)]).toEqual([7200, undefined])
    expect(endOf(record(79_200), days, now + 7_200_001)).toBeUndefined()
    expect(endOf(record(4000), window, now + 60_000)).toBe(60)
  })

  it('is there at once for tokens of more than five minutes in the future', () => {
    expect([endOf(record(-301)), endOf(record(-300))]).toEqual([7200, undefined])
    expect(needOf('ann', record(-300), window, () => undefined, now - 1)).toMatchObject({ end: now - 1 + 7_200_000 })
  })

  it('reads the end of a JWT, and of nothing else', async () => {
    const expiryOf = await jwtExpiry()
    expect(await jwtExpiry()).toBe(expiryOf)
    const jwt = (claims: object): string =>
      [{ alg: 'none' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
    const ends = [jwt({ exp: 7 }), `${jwt({ exp: 7 })}.`, `${jwt({ exp: 7 })}.s`, `${jwt({})}.s`, 'a.b.c', 'opaque']
    expect(ends.map(expiryOf)).toEqual([undefined, 7000, 7000, undefined, undefined, undefined])
    expect([expiryOf(` ${jwt({ exp: 7 })}.s`), expiryOf(`${jwt({ exp: 7 })}.s.t`)]).toEqual([undefined, undefined])
  })
})

describe('the pace of a keeper', () => {
  const need = (account: string, end: number, url = authUrl) => ({ account, end, authUrl: url })

  it('has each one’s turn by the middle of its window, and takes a sweep’s time at the least', () => {
    const window = { within: 1000, every: 100 }
    expect(spacing([], 0, window, 0)).toBe(500)
    expect(spacing([], 4, window, 0)).toBe(125)
    expect(spacing([], 4, { within: 100, every: 60 }, 0)).toBe(15)
    expect(spacing([need('a', 700)], 1, window, 50)).toBe(150)
    expect(spacing([need('a', 700), need('b', 760)], 2, window, 0)).toBe(130)
    expect(spacing([need('a', 700)], 4, window, 0)).toBe(50)
    expect(spacing([need('a', 0), need('b', 0)], 2, window, 0)).toBe(50)
    expect(spacing([need('a', 550), need('b', 1500)], 2, window, 0)).toBe(100)
  })

  it('gives turns in slots, each at its own moment, and makes up for nothing', () => {
    const clock = slowClock()
    const queue = createQueue([need('a', 1), need('b', 2), need('c', 3), need('d', 4)], 100, clock.runtime)
    expect([queue.isEmpty(), queue.next()]).toEqual([false, 50])
    clock.now = 49
    expect(queue.next()).toBe(1)
    clock.now = 50
    expect(queue.next()).toMatchObject({ account: 'a' })
    expect(queue.next()).toBe(100)
    clock.now = 1000
    expect(queue.next()).toMatchObject({ account: 'b' })
    // The slot of b begins a gap ago, that of c now.
    clock.random = 0.25
    expect(queue.next()).toMatchObject({ account: 'c' })
    expect(queue.next()).toBe(25)
    clock.now = 1025
    expect(queue.next()).toMatchObject({ account: 'd' })
    expect(queue.isEmpty()).toBe(true)
  })

  it('asks a service in trouble after 15 seconds, twice as long after each failure, eight minutes at the most', () => {
    const clock = slowClock()
    const queue = createQueue([need('a', 1), need('b', 2), need('c', 3)], 0, clock.runtime)
    const unpaused = createQueue([need('a', 1)], 0, clock.runtime)
    unpaused.failed()
    unpaused.succeeded()
    expect(unpaused.next()).toMatchObject({ account: 'a' })
    const pauses = Array.from({ length: 7 }, () => [queue.failed(), queue.next()])
    expect(pauses).toEqual([15, 30, 60, 120, 240, 480, 480].map((seconds, index) => [index + 1, seconds * 1000]))
    clock.now = 480_000
    expect(queue.next()).toMatchObject({ account: 'a' })
    // One at a time until that one is answered.
    expect(queue.next()).toBe(15_000)
    queue.succeeded()
    expect(queue.next()).toMatchObject({ account: 'b' })
    expect([queue.failed(), queue.next()]).toEqual([1, 15_000])
    clock.now = 495_000
    expect(queue.next()).toMatchObject({ account: 'c' })
    expect(queue.next()).toBe(15_000)
  })

  it('passes over a host that may not be asked yet, and leaves out those that it is told to', () => {
    const clock = slowClock()
    const needs = [need('a', 1), need('b', 2, 'https://b'), need('c', 3), need('d', 4, 'https://b')]
    const queue = createQueue(needs, 0, clock.runtime)
    const first = queue.next() as (typeof needs)[0]
    queue.putBack(first, start + 60)
    expect(queue.next()).toMatchObject({ account: 'b' })
    clock.now = 50_000
    expect(queue.next()).toMatchObject({ account: 'd' })
    expect(queue.next()).toBe(10_000)
    clock.now = 59_999
    expect(queue.next()).toBe(1000)
    clock.now = 60_000
    expect(queue.next()).toMatchObject({ account: 'a' })
    const abandoned = createQueue([...needs, need('e', 5)], 0, clock.runtime)
    expect([abandoned.abandon('https://b'), abandoned.abandon('https://b'), abandoned.abandon()]).toEqual([2, 0, 3])
    expect(abandoned.isEmpty()).toBe(true)
  })
})

describe('the accounts that a keeper knows', () => {
  it('are fifty thousand that it told of, each once for the same tokens', () => {
    const events = createEvents()
    const { state: _state, ...held } = signedIn()
    const heard: string[] = []
    events.on('reauthentication-required', ({ account }) => void heard.push(account))
    const told = createAnnouncements(events.emit, events)
    const tell = (account: string, lineage = 'l'): boolean => {
      heard.length = 0
      told.once(account, { ...held, lineage, state: 'reauthentication-required', reason: 'other_owner' })
      return heard.length === 1
    }
    expect([tell('a'), tell('a'), tell('a', 'm'), tell('a', 'm')]).toEqual([true, false, true, false])
    events.emit('reauthentication-required', { account: 'b', reason: 'other_owner' })
    expect([tell('b'), tell('b', 'm')]).toEqual([false, true])
    for (let count = 0; count < 49_998; count += 1) tell(`x${count}`)
    expect(tell('a', 'm')).toBe(false)
    tell('new')
    expect([tell('a', 'm'), tell('b', 'm')]).toEqual([false, true])
    expect([tell('d'), tell('d', 'm')]).toEqual([true, true])
    told.end()
    events.emit('reauthentication-required', { account: 'c', reason: 'other_owner' })
    expect(tell('c')).toBe(true)
  })

  it('are ten thousand that are due, and whatever is wrong with one keeps no other from being looked at', async () => {
    const { runtime } = slowClock()
    const record = signedIn({ obtained_at: start - 28_000 })
    const surveyed = async (accounts: readonly string[], failure?: Error) => {
      let unreadable = 0
      const store = {
        ...guardStore(mapStore(), undefined),
        read: async (account: string) => {
          if (account === 'broken' && failure) throw failure
          return { version: 1, record }
        },
        async *accounts() {
          yield* accounts
        },
      }
      const sightings = {
        signedIn: () => undefined,
        signInAgain: () => undefined,
        unreadable: () => void (unreadable += 1),
      }
      const settings = parseKeeperOptions({})
      const soonest = await survey({ store, runtime }, settings, sightings, async () => true)
      return [soonest.length, unreadable]
    }
    expect(await surveyed(Array.from({ length: 10_001 }, (_, index) => `a${index}`))).toEqual([10_000, 0])
    expect(await surveyed(['', 'broken', 'ann'], new StoreError('corrupt', 'x'))).toEqual([1, 2])
    await expect(surveyed(['ann', 'broken'], new StoreError('unavailable', 'x'))).rejects.toMatchObject({
      reason: 'unavailable',
    })
  })
})

describe('the options of a keeper', () => {
  it('come to milliseconds, with a sweep every quarter of an hour', () => {
    expect(parseKeeperOptions({})).toMatchObject({ within: 7_200_000, every: 900_000, refreshTokenLifetime: undefined })
    expect(parseKeeperOptions({ within: 8, every: 2, refreshTokenLifetime: 9 })).toMatchObject({
      within: 8000,
      every: 2000,
      refreshTokenLifetime: 9000,
    })
  })

  it.each([
    [{ within: 0 }, 'within'],
    [{ within: Infinity }, 'within'],
    [{ every: 0 }, 'every'],
    [{ within: 8, every: 2.1 }, 'every'],
    [{ refreshTokenLifetime: 0 }, 'refreshTokenLifetime'],
    [{ refreshTokenLifetime: Infinity }, 'refreshTokenLifetime'],
    [{ onSweep: 7 as never }, 'onSweep'],
    [{ within: 8, refreshTokenLifetime: 8 }, 'refreshTokenLifetime'],
  ])('are not %j', (wrong, name) => {
    expect(() => parseKeeperOptions(wrong)).toThrow(TypeError)
    expect(() => parseKeeperOptions(wrong)).toThrow(name)
  })
})
