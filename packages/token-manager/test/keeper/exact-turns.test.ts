/** The keeper’s turns, each limit at it and one beyond it, each row of a rule and each fact that is told. */
import { describe, expect, it } from '@jest/globals'
import { StoreError } from '../../src/index.ts'
import { claimDesk } from '../../src/keeper/claim.ts'
import { jwtExpiry, needOf } from '../../src/keeper/need.ts'
import { parseKeeperOptions } from '../../src/keeper/keeper-options.ts'
import { survey } from '../../src/keeper/survey.ts'
import { createAnnouncements } from '../../src/keeper/announcements.ts'
import { createEvents } from '../../src/driver/event-source.ts'
import { createQueue } from '../../src/keeper/queue.ts'
import { spacing } from '../../src/keeper/spacing.ts'
import { keeperRecordName } from '../../src/store/record-names.ts'
import { guardStore } from '../../src/store/guarded-store.ts'
import type { Runtime } from '../../src/support/runtime.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { authUrl, slowClock, start, slowly, signedIn } from '../refresh-protocol/by-hand.ts'

describe('the need of an account', () => {
  const window = { within: 7_200_000, refreshTokenLifetime: undefined }
  const now = start * 1000
  const record = (age: number, lifetime = 28_800, refresh_token = 'r') =>
    ({ obtained_at: start - age, lifetime, tokens: { auth_url: authUrl, refresh_token } }) as never
  const endOf = (...[given, figures = window, expiry]: [never, object?, number?]): number | undefined => {
    const need = needOf('ann', given, figures as typeof window, () => expiry, now)
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
    const heard: string[] = []
    events.on('reauthentication-required', ({ account }) => void heard.push(account))
    const told = createAnnouncements(events.emit, events)
    const tell = (account: string, lineage = 'l'): boolean => {
      heard.length = 0
      told.once(account, { lineage, reason: 'other_owner' } as never)
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

describe('the claim to sweep', () => {
  const every = 900_000
  function desks() {
    const clock = slowClock()
    const memory = mapStore()
    const slow = slowly(memory)
    const store = guardStore(
      {
        ...slow,
        swap: (...call) => {
          // Nobody needs what the record was before.
          expect(call[4]).toMatchObject({ forgetOlder: true })
          return slow.swap(...call)
        },
      },
      undefined,
    )
    const liveness = { value: 'unknown' as ReturnType<Runtime['livenessOf']> }
    const runtime = { ...clock.runtime, livenessOf: () => liveness.value }
    const desk = (interval = every) => claimDesk(interval, { store, runtime })
    const record = async () => (await memory.read(keeperRecordName))?.record
    return { clock, memory, desk, record, liveness }
  }
  const claimed = async (asked: ReturnType<ReturnType<typeof claimDesk>['ask']>) => {
    const claim = await asked
    if ('wait' in claim) throw new Error(`wait ${claim.wait}`)
    return claim
  }
  const idle = { schema: 1, state: 'keeper', signs: 0 }

  it('is one process’s, which shows that it lives every 15 seconds and tells when it has swept', async () => {
    const { clock, desk, record } = desks()
    const [one, other] = [desk(), desk()]
    const claim = await claimed(one.ask())
    const held = { ...idle, holder: { pid: 1, boot: 'b' }, at: start, swept_at: 0 }
    expect(await record()).toEqual(held)
    expect(await other.ask()).toEqual({ isSwept: true, wait: 15_000 })
    clock.now = 14_999
    expect([await claim.goesOn(), await record()]).toEqual([true, held])
    clock.now = 15_000
    expect([await claim.goesOn(), await record()]).toEqual([true, { ...held, signs: 1, at: start + 15 }])
    expect([await claim.goesOn(), await claim.goesOn(true)]).toEqual([true, true])
    expect(await record()).toEqual({ ...held, signs: 2, at: start + 15 })
    clock.now = 20_000
    await claim.release(true)
    expect(await record()).toEqual({ ...idle, swept_at: start })
    // The next one is due a quarter of an hour after the beginning; a look every five minutes until then.
    expect(await one.ask()).toEqual({ isSwept: false, wait: 300_000 })
    clock.now = 800_000
    expect([await one.ask(), await desk().ask()]).toEqual([
      { isSwept: false, wait: 100_000 },
      { isSwept: false, wait: 100_000 },
    ])
    // By the clock that never jumps as well.
    clock.wallOnly = -10_000_000
    expect(await one.ask()).toEqual({ isSwept: false, wait: 100_000 })
    clock.wallOnly = 0
    clock.now = 900_000
    const next = await claimed(other.ask())
    expect(await record()).toMatchObject({ at: start + 900, swept_at: start })
    await next.release(false)
    expect(await record()).toEqual({ ...idle, swept_at: start })
    await claimed(one.ask())
  })

  it('is taken over a minute after its last sign of life, or at once where its holder is dead', async () => {
    const { clock, desk, liveness, memory, record } = desks()
    const [one, other] = [desk(), desk()]
    const claim = await claimed(one.ask())
    clock.now = 1000
    expect(await other.ask()).toEqual({ isSwept: true, wait: 15_000 })
    clock.now = 60_999
    expect(await other.ask()).toEqual({ isSwept: true, wait: 15_000 })
    clock.now = 61_000
    await claimed(other.ask())
    expect([await claim.goesOn(), await claim.goesOn(), await claim.goesOn(true)]).toEqual([false, false, false])
    await claim.release(true)
    expect(await record()).toMatchObject({ at: start + 61, signs: 0, swept_at: 0 })
    liveness.value = 'dead'
    await claimed(desk().ask())
    memory.clear()
    await claim.release(true)
    expect(await record()).toBeUndefined()
  })

  it('is anybody’s where the store was emptied, whoever swept a moment ago', async () => {
    const { desk, memory, record } = desks()
    const one = desk()
    const claim = await claimed(one.ask())
    await claim.release(true)
    expect(await one.ask()).toMatchObject({ isSwept: false })
    memory.clear()
    await claimed(one.ask())
    expect(await record()).toMatchObject({ swept_at: 0 })
  })

  it('counts from now where the last sweep seems to have begun a moment later, by the faster clock from then on', async () => {
    const { clock, desk, memory } = desks()
    memory.put(keeperRecordName, { version: 1, record: { ...idle, swept_at: start + 30 } as never })
    const one = desk(60_000)
    expect(await one.ask()).toEqual({ isSwept: false, wait: 60_000 })
    memory.put(keeperRecordName, { version: 2, record: { ...idle, swept_at: start - 20 } as never })
    const other = desk(60_000)
    expect(await other.ask()).toEqual({ isSwept: false, wait: 40_000 })
    clock.now = 10_000
    clock.wallOnly = -100_000
    expect(await other.ask()).toEqual({ isSwept: false, wait: 30_000 })
    clock.wallOnly = 5000
    expect(await other.ask()).toEqual({ isSwept: false, wait: 25_000 })
  })

  it('for one sweep alone is held by the clock of its holder: a minute, and five that clocks may differ by', async () => {
    const { clock, desk } = desks()
    await claimed(desk(0).ask())
    for (const [wall, isHeld] of [
      [359_999, true],
      [-359_999, true],
      [360_000, false],
      [-360_000, false],
    ] as const) {
      clock.wallOnly = wall
      const asked = await desk(0).ask()
      const told = 'wait' in asked ? asked : 'claimed'
      expect([wall, told]).toEqual([wall, isHeld ? { isSwept: true, wait: 15_000 } : 'claimed'])
      if (!('wait' in asked)) {
        await asked.release(true)
        clock.wallOnly = 0
        await claimed(desk(0).ask())
      }
    }
  })

  it('is due an interval after the last sweep: by its clock, by our own looks, or at once where its clock was ahead', async () => {
    const due = async (told: number, looks: readonly number[] = []): Promise<number> => {
      const { clock, desk, memory } = desks()
      const one = desk()
      memory.put(keeperRecordName, { version: 1, record: { ...idle, swept_at: start - 10_000 } as never })
      for (clock.now of looks) {
        const claim = await claimed(one.ask())
        await claim.release(false)
      }
      clock.now += 10_000
      memory.put(keeperRecordName, { version: 100, record: { ...idle, swept_at: start + told } as never })
      const asked = await one.ask()
      if (!('wait' in asked)) return 0
      clock.now += asked.wait - 1
      expect(await one.ask()).toMatchObject({ isSwept: false })
      return asked.wait / 1000
    }
    expect([await due(-700), await due(-600), await due(-590), await due(-889), await due(-890)]).toEqual([
      190, 290, 300, 1, 0,
    ])
    expect([await due(910), await due(911)]).toEqual([300, 0])
    expect(await due(-889, [0])).toBe(300)
    expect(await due(-9, [0, 880_000])).toBe(300)
  })

  it('counts from its beginning by our own clocks where we swept, and from our first look where another did', async () => {
    const { clock, desk, memory } = desks()
    const one = desk()
    clock.now = 900
    const claim = await claimed(one.ask())
    await claim.release(true)
    clock.now = 800_900
    expect(await one.ask()).toEqual({ isSwept: false, wait: 100_000 })
    const other = desk()
    const holder = { pid: 2 }
    memory.put(keeperRecordName, { version: 90, record: { ...idle, holder, at: start, swept_at: start - 1 } as never })
    expect(await other.ask()).toMatchObject({ isSwept: true })
    clock.now += 700_000
    // By the other's clock it is due: that was behind ours.
    memory.put(keeperRecordName, { version: 91, record: { ...idle, swept_at: start } as never })
    expect(await other.ask()).toEqual({ isSwept: false, wait: 200_000 })
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
