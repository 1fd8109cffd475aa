/** Each limit at it and one beyond it, each row of a rule and each fact that is told, in the refresh protocol and what it sends through. */
import { describe, expect, it } from '@jest/globals'
import {
  FirewallChallengeError,
  ReauthenticationRequiredError,
  type SsoError,
  StoreError,
  TokenRejectedError,
  UnreachableError,
} from '../../src/index.ts'
import { opened, together, untouched } from '../../src/budget/places.ts'
import { createHostBudget } from '../../src/budget/host-budget.ts'
import { createRefreshBudget } from '../../src/budget/refresh-budget.ts'
import { windowsOf } from '../../src/budget/request-budget.ts'
import { ownMemory, shareWindows } from '../../src/budget/shared-windows.ts'
import { createWaitingLine, type Rank, type Waiter } from '../../src/budget/waiting-line.ts'
import { createSharedBreaker, type SharedBreaker } from '../../src/firewall/shared-breaker.ts'
import { claimDesk } from '../../src/keeper/claim.ts'
import { keepSignedIn, sweepOnce } from '../../src/keeper/keeper.ts'
import { manageTokens } from '../../src/refresh-protocol/manager.ts'
import type { TokenManagerOptions } from '../../src/tokens/token-manager.ts'
import type { TokenSet } from '../../src/issuer/token-set.ts'
import { jwtExpiry, needOf } from '../../src/keeper/need.ts'
import { parseKeeperOptions } from '../../src/keeper/keeper-options.ts'
import { survey } from '../../src/keeper/survey.ts'
import { createTold } from '../../src/keeper/told.ts'
import { createEvents } from '../../src/refresh-protocol/events.ts'
import { createQueue } from '../../src/keeper/queue.ts'
import { renew } from '../../src/keeper/renewal.ts'
import { contextOf } from '../../src/refresh-protocol/managed.ts'
import { spacing } from '../../src/keeper/spacing.ts'
import { agesOf } from '../../src/refresh-protocol/freshness.ts'
import { createRollCall, currentCall } from '../../src/refresh-protocol/roll-call.ts'
import {
  holdsResult,
  isBehind,
  isSameWrite,
  lineageOf,
  mayReplace,
  successorOf,
} from '../../src/refresh-protocol/lineage.ts'
import {
  firewallRecordName,
  isOwnRecordName,
  keeperRecordName,
  rollCallName,
} from '../../src/refresh-protocol/record-names.ts'
import { guardStore } from '../../src/refresh-protocol/guarded-store.ts'
import {
  acceptRecord,
  type AccountCache,
  accessTokenOf,
  ageOf,
  closeWindow,
  createAccountMemory,
  freshnessOf,
  isAsked,
  isUsable,
  openWindow,
  writeOf,
} from '../../src/refresh-protocol/account-memory.ts'
import { isDamaged, isOfOneRecord, mayBeOfOneRecord } from '../../src/refresh-protocol/account-list.ts'
import { backOff, isGivenUp, rejectionsAfter, throwIfBackingOff } from '../../src/refresh-protocol/back-off.ts'
import {
  bareTokenSet,
  isBare,
  isOfAnotherOwner,
  mayTakeThePlaceOf,
} from '../../src/refresh-protocol/bare-refresh-token.ts'
import { allSafe, backgroundOf, landingInCall } from '../../src/refresh-protocol/background.ts'
import { mostConflicts, untilSwapped } from '../../src/refresh-protocol/contention.ts'
import { inDoubt, isInGrace, isIntentAlive, openIntent, replayBackOffLeft } from '../../src/refresh-protocol/doubt.ts'
import { outcomeOf } from '../../src/refresh-protocol/outcome.ts'
import { withOwnIntent } from '../../src/refresh-protocol/own-intents.ts'
import { isUnused, noteRefusal, refusalsBefore } from '../../src/refresh-protocol/refusal.ts'
import { syncFromStore } from '../../src/refresh-protocol/read-record.ts'
import { statusOf } from '../../src/refresh-protocol/status.ts'
import { inDoubtAgain, restorationOf } from '../../src/refresh-protocol/restoration.ts'
import { type Decision, rules, type Situation } from '../../src/refresh-protocol/rules.ts'
import { hurry, leaveTurn, spendTurn, waitForTurn } from '../../src/refresh-protocol/turn.ts'
import { createUnderWay } from '../../src/refresh-protocol/under-way.ts'
import type { Context } from '../../src/refresh-protocol/context.ts'
import { elapsed, type Runtime, systemRuntime } from '../../src/refresh-protocol/runtime.ts'
import type { AccountRecord } from '../../src/tokens/token-record.ts'
import { mapStore } from '../map-store.ts'

const authUrl = 'https://auth.example.com'

/** A clock that only the test moves, as a runtime has it: milliseconds from the beginning. */
function slowClock(skew = 0): { now: number; wallOnly: number; random: number; runtime: Runtime } {
  let ids = 0
  const clock = { now: 0, wallOnly: 0, random: 0.5 }
  const runtime: Runtime = {
    ...systemRuntime,
    wallClock: () => start * 1000 + clock.now + clock.wallOnly + skew,
    monotonicClock: () => clock.now,
    random: () => clock.random,
    uniqueId: () => `${skew} ${(ids += 1)}`,
    holder: { pid: 1, boot: 'b' },
    livenessOf: () => 'unknown',
  }
  return Object.assign(clock, { runtime })
}
const start = 1_790_000_000

/** A store that takes its time: what is not awaited is not done yet. */
function slowly(memory: ReturnType<typeof mapStore>): ReturnType<typeof mapStore> {
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  return {
    ...memory,
    read: async (name) => {
      await turn()
      return memory.read(name)
    },
    swap: async (...call) => {
      await turn()
      return memory.swap(...call)
    },
  }
}

it('what has passed is the most that either clock says, and nothing where both went back', () => {
  const since = { wall: 100, monotonic: 100 }
  expect(
    [
      { wall: 110, monotonic: 105 },
      { wall: 90, monotonic: 105 },
      { wall: 101, monotonic: 120 },
      { wall: 99, monotonic: 99 },
    ].map((now) => elapsed(since, now)),
  ).toEqual([10, 5, 20, 0])
})

describe('the breaker of a fleet', () => {
  const name = firewallRecordName(authUrl)
  const nextAttemptOf = async (breaker: SharedBreaker): Promise<unknown> =>
    Promise.resolve(breaker.enter(authUrl)).then(
      (probe) => (probe === undefined ? 'free' : 'probe'),
      (error: unknown) => {
        expect(error).toMatchObject({ step: 'token-manager', requestSent: false })
        return Reflect.get(Object(error), 'nextAttemptAt')
      },
    )
  const challenge = (seconds: number, requestSent = true): never =>
    ({ nextAttemptAt: start + seconds, requestSent }) as never

  function world() {
    const clock = slowClock()
    const memory = mapStore()
    const slow = slowly(memory)
    let isDown = false
    const guarded = guardStore(
      { ...slow, swap: (...call) => (isDown ? Promise.reject(new Error('down')) : slow.swap(...call)) },
      undefined,
    )
    return {
      clock,
      memory,
      breaker: () => createSharedBreaker(guarded, clock.runtime),
      record: async () => (await memory.read(name))?.record,
      fail: (down: boolean) => void (isDown = down),
    }
  }
  const block = (challenges: number, noted: number, wait: number): object => ({
    schema: 1,
    state: 'firewall',
    challenges,
    noted_at: start + noted,
    wait,
  })

  it('blocks for what the service asked for, to the millisecond, and lets one process probe for a minute', async () => {
    const { clock, breaker, record, memory } = world()
    const [one, other] = [breaker(), breaker()]
    expect([one.isBlocked(authUrl), await nextAttemptOf(one), await record()]).toEqual([false, 'free', undefined])
    expect(await one.challenged(authUrl, challenge(900))).toBe(start + 900)
    expect(await record()).toEqual(block(1, 0, 900))
    await other.sync(authUrl)
    clock.now = 899_999
    for (const each of [one, other]) {
      expect([each.isBlocked(authUrl), await nextAttemptOf(each)]).toEqual([true, start + 900])
    }
    expect((await memory.read(name))?.version).toBe(1)
    clock.now = 900_000
    expect([one.isBlocked(authUrl), other.isBlocked(authUrl)]).toEqual([false, false])
    const probe = await one.enter(authUrl)
    expect(await record()).toEqual(block(1, 900, 60))
    // The other one meets the claim, and waits for its end.
    expect(await nextAttemptOf(other)).toBe(start + 960)
    clock.now = 905_000
    await probe?.giveBack()
    expect(await record()).toEqual(block(1, 905, 0))
    await probe?.giveBack()
    expect((await memory.read(name))?.version).toBe(3)
    await other.sync(authUrl)
    expect(other.isBlocked(authUrl)).toBe(false)
    expect(await nextAttemptOf(other)).toBe('probe')
    await other.passed(authUrl)
    expect(await record()).toEqual(block(0, 905, 0))
    expect(await nextAttemptOf(other)).toBe('free')
    await other.passed(authUrl)
    expect((await memory.read(name))?.version).toBe(5)
  })

  it.each([
    [0, [800, 1440, 2880, 5760, 11_520, 11_520]],
    [0.5, [900, 1800, 3600, 7200, 14_400, 14_400]],
  ])('waits twice as long after each further challenge, up to four hours (by chance %d)', async (random, expected) => {
    const { clock, breaker } = world()
    clock.random = random
    const one = breaker()
    const waits: number[] = []
    for (let count = 0; count < 6; count += 1) {
      const now = clock.now / 1000
      const next = await one.challenged(authUrl, challenge(now + 900))
      waits.push(next - start - now)
      clock.now += (next - start - now) * 1000
      expect(await nextAttemptOf(one)).toBe('probe')
    }
    expect(waits).toEqual([Math.max(900, expected[0] ?? 0), ...expected.slice(1)])
    expect((await one.challenged(authUrl, challenge(clock.now / 1000 + 20_000))) - start - clock.now / 1000).toBe(
      Math.max(20_000, 20_000 * (0.8 + 0.4 * random)),
    )
  })

  it('counts what was sent before the block, or was not sent at all, as one with it', async () => {
    const { clock, breaker, record } = world()
    const one = breaker()
    await one.challenged(authUrl, challenge(100, false))
    expect(await record()).toEqual(block(1, 0, 100))
    clock.now = 40_000
    // 60 s are left of the block; asked for less, it stays as it was.
    expect(await one.challenged(authUrl, challenge(50))).toBe(start + 100)
    expect(await record()).toEqual(block(1, 40, 60))
    clock.now = 99_999
    await one.passed(authUrl)
    expect(await record()).toEqual(block(1, 40, 60))
    clock.now = 100_000
    expect(await one.challenged(authUrl, challenge(0))).toBe(start + 102)
    expect(await record()).toEqual(block(2, 100, 2))
    clock.now = 102_000
    await one.passed(authUrl)
    expect(await record()).toEqual(block(0, 102, 0))
  })

  it('is remembered by the process itself where the store is down', async () => {
    const { clock, breaker, fail, record } = world()
    const one = breaker()
    fail(true)
    expect(await one.challenged(authUrl, challenge(30.5))).toBe(start + 31)
    expect([one.isBlocked(authUrl), await nextAttemptOf(one)]).toEqual([true, start + 31])
    clock.now = 31_000
    expect(one.isBlocked(authUrl)).toBe(false)
    await expect(one.enter(authUrl)).rejects.toMatchObject({ code: 'ERR_SSO_STORE' })
    await one.passed(authUrl)
    fail(false)
    expect(await nextAttemptOf(one)).toBe('probe')
    expect(await record()).toEqual(block(1, 31, 60))
  })

  it('is told in whole seconds, never too early', async () => {
    const { clock, breaker, memory, record } = world()
    const one = breaker()
    await one.challenged(authUrl, challenge(100))
    clock.now = 39_970
    await one.challenged(authUrl, challenge(50))
    expect(await record()).toEqual(block(1, 39, 61))
    // What says nothing of challenges blocks nobody.
    memory.put(name, { version: 9, record: block(0, 39, 600) as never })
    await one.sync(authUrl)
    expect([one.isBlocked(authUrl), await nextAttemptOf(one)]).toEqual([false, 'free'])
    memory.clear()
    const other = breaker()
    await other.sync(authUrl)
    expect([other.isBlocked(authUrl), await nextAttemptOf(other)]).toEqual([false, 'free'])
  })

  it('by a clock of the future is noted again by ours, where that is ahead by more than four hours', async () => {
    for (const [ahead, isNoted] of [
      [14_400, false],
      [14_401, true],
    ] as const) {
      const { clock, breaker, memory, record } = world()
      memory.put(name, { version: 1, record: block(3, ahead, 600) as never })
      const one = breaker()
      await one.sync(authUrl)
      clock.now = 500
      expect(await nextAttemptOf(one)).toBe(start + 600)
      expect(await record()).toEqual(isNoted ? block(3, 0, 600) : block(3, ahead, 600))
    }
  })

  it('is as old as the clock of who wrote it says, but no older than the look before', async () => {
    const { clock, breaker, memory } = world()
    memory.put(name, { version: 1, record: block(1, -100, 600) as never })
    const [early, late] = [breaker(), breaker()]
    await early.sync(authUrl)
    expect(await nextAttemptOf(early)).toBe(start + 500)
    clock.now = 10_000
    await early.sync(authUrl)
    clock.now = 20_000
    memory.put(name, { version: 2, record: block(1, -3600, 600) as never })
    await Promise.all([early.sync(authUrl), late.sync(authUrl)])
    // Written within the last ten seconds, whatever its clock says.
    expect(await nextAttemptOf(early)).toBe(start + 610)
    expect(late.isBlocked(authUrl)).toBe(false)
    // A store that went back says nothing of that kind.
    memory.put(name, { version: 1, record: block(1, -100, 600) as never })
    await early.sync(authUrl)
    expect(await nextAttemptOf(early)).toBe(start + 500)
    // Seen before, it ages by our own clocks, whichever way the wall clock jumps.
    clock.now = 30_000
    clock.wallOnly = -80_000
    await early.sync(authUrl)
    expect(await nextAttemptOf(early)).toBe(start - 50 + 470)
    clock.wallOnly = 0
    // Of the same version, and yet another write.
    memory.put(name, { version: 1, writeId: 'another', record: block(1, -300, 600) as never })
    await early.sync(authUrl)
    expect(await nextAttemptOf(early)).toBe(start + 300)
    memory.clear()
    await early.sync(authUrl)
    expect(await nextAttemptOf(early)).toBe('free')
  })

  it('gives up after three probes that others claimed before', async () => {
    const clock = slowClock()
    let swaps = 0
    const record = block(1, -600, 0)
    const store = guardStore(
      {
        read: async () => ({ version: 1 + swaps, writeId: `w${swaps}`, record: record as never }),
        swap: async () => ((swaps += 1), { conflict: true }),
      },
      undefined,
    )
    const one = createSharedBreaker(store, clock.runtime)
    await one.sync(authUrl)
    expect([await nextAttemptOf(one), swaps]).toEqual([start + 60, 3])
    clock.now = 1
    expect([await nextAttemptOf(one), swaps]).toEqual([start + 61, 6])
  })
})

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
    const told = createTold(events.emit, events)
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

describe('what may take a record’s place', () => {
  const tokens = (access_token: string) => ({ access_token, refresh_token: 'r' })
  const held = (more: object = {}): never =>
    ({
      schema: 1,
      state: 'signed-in',
      generation: 1,
      session: 's',
      lineage: 'l1',
      refreshes: 3,
      tokens: tokens('a1'),
      ...more,
    }) as never
  const result = (next: object) => ({ derivedFrom: held(), next: held(next) })
  const out: never = { schema: 1, state: 'signed-out', generation: 2, session: 'o' } as never

  it('is the result that was derived from its refresh token', () => {
    const rotated = result({ lineage: 'l2', refreshes: 4 })
    expect([mayReplace(held(), rotated), mayReplace(held({ refreshes: 9 }), rotated)]).toEqual([true, true])
    expect([mayReplace(held({ lineage: 'l0' }), rotated), mayReplace(out, rotated)]).toEqual([false, false])
    const kept = result({ refreshes: 4 })
    expect([2, 3, 4].map((refreshes) => mayReplace(held({ refreshes }), kept))).toEqual([true, true, false])
    expect(mayReplace(held({ refreshes: 4, session: 'other' }), kept)).toBe(true)
  })

  it('is nothing where the record has it already', () => {
    const next = result({ lineage: 'l2', tokens: tokens('a2') })
    expect(holdsResult(held({ lineage: 'l2', tokens: tokens('a2') }), next)).toBe(true)
    for (const other of [
      held({ lineage: 'l2' }),
      held({ tokens: tokens('a2') }),
      held({ lineage: 'l2', tokens: tokens('a2'), state: 'reauthentication-required' }),
      out,
    ])
      expect(holdsResult(other, next)).toBe(false)
  })

  it('counts one refresh more, unless it is the end', () => {
    const over = (refreshes: number, next: object): unknown => successorOf(held({ refreshes }), result(next))
    expect(over(3, { refreshes: 4 })).toMatchObject({ refreshes: 4 })
    expect(over(7, { refreshes: 4, session: 'x', generation: 9 })).toMatchObject({
      refreshes: 8,
      session: 's',
      generation: 1,
    })
    expect(over(2, { refreshes: 9 })).toMatchObject({ refreshes: 9 })
    expect(over(7, { refreshes: 4, state: 'reauthentication-required' })).toMatchObject({ refreshes: 7 })
  })

  it('is what stands behind it, where the store went back', () => {
    const at = (version: number, record: never, writeId?: string) => ({ version, writeId, record })
    const intent = { intent: { id: 'i' } }
    const ended = held({ state: 'reauthentication-required' })
    const rows: [ReturnType<typeof at>, ReturnType<typeof at>, boolean][] = [
      [at(1, held({ refreshes: 2 })), at(2, held()), true],
      [at(3, held({ refreshes: 4 })), at(2, held()), false],
      [at(9, held()), at(2, ended), true],
      [at(1, ended), at(2, held()), false],
      [at(1, held()), at(2, held(intent)), true],
      [at(2, held(), 'a'), at(2, held(intent), 'b'), true],
      [at(2, held(), 'a'), at(2, held(intent), 'a'), false],
      [at(3, held()), at(2, held(intent)), false],
      [at(1, held(intent)), at(2, held(intent)), false],
      [at(1, held()), at(2, held()), false],
      [at(9, held({ session: 'old' })), at(2, held({ replaces: ['old'] })), true],
      [at(1, held({ session: 'other' })), at(2, held()), false],
      [at(1, out), at(2, held({ replaces: ['o'] })), true],
    ]
    expect(rows.map(([stored, seen]) => isBehind(stored, seen))).toEqual(rows.map(([, , isIt]) => isIt))
    expect([
      isSameWrite({ version: 1 }, { version: 1 }),
      isSameWrite({ version: 1 }, { version: 2 }),
      isSameWrite({ version: 1, writeId: 'a' }, { version: 1 }),
    ]).toEqual([true, false, false])
  })
})

describe('a store in the protocol’s hands', () => {
  const record: never = { schema: 1, state: 'roll-call', call: 'c' } as never

  it('is given up after ten seconds, and no timer stays of a call that it answered', async () => {
    const limits: [number, () => void][] = []
    const ended: number[] = []
    const limit = (milliseconds: number, onOver: () => void): (() => void) => {
      limits.push([milliseconds, onOver])
      return () => void ended.push(milliseconds)
    }
    const never = new Promise<never>(() => undefined)
    let returned = 0
    const silent = guardStore(
      {
        read: () => never,
        swap: () => never,
        accounts: () => ({
          [Symbol.asyncIterator]: () => ({ next: () => never, return: async () => ((returned += 1), never) }),
        }),
      },
      limit,
    )
    const outcomes = [
      silent.read('a'),
      silent.swap('a', undefined, record, 'w'),
      (async () => {
        for await (const name of silent.accounts?.() ?? []) throw new Error(name)
      })(),
    ].map((call) => call.then(undefined, (error: unknown) => error))
    await new Promise((resolve) => setImmediate(resolve))
    // The list began within its limit, and its first step has one of its own.
    expect([limits.map(([milliseconds]) => milliseconds), ended]).toEqual([[10_000, 10_000, 10_000, 10_000], [10_000]])
    for (const [, onOver] of limits) onOver()
    const late = { code: 'ERR_SSO_STORE', message: expect.stringContaining('ten seconds') }
    expect(await Promise.all(outcomes)).toMatchObject([
      { ...late, reason: 'unavailable' },
      { ...late, reason: 'write-failed' },
      { ...late, reason: 'unavailable' },
    ])
    expect([ended.length, returned]).toEqual([4, 1])
  })

  it('is told what is written over, and has its own errors passed on, others wrapped', async () => {
    const swaps: unknown[] = []
    const failing = { error: new Error('secret') as Error | undefined }
    const base = {
      read: async () => {
        if (failing.error) throw failing.error
        return undefined
      },
      swap: async (...call: unknown[]) => {
        swaps.push(call.slice(1))
        return { conflict: true as const }
      },
    }
    const store = guardStore(base, undefined)
    expect(await store.read('a').catch((error: unknown) => error)).toMatchObject({
      reason: 'unavailable',
      message: expect.not.stringContaining('secret'),
    })
    failing.error = new StoreError('busy', 'x')
    expect(await store.read('a').catch((error: unknown) => error)).toBe(failing.error)
    failing.error = undefined
    expect(await store.read('a')).toBeUndefined()
    await store.swap('a', undefined, record, 'w1')
    await store.swap('a', { version: 3 }, record, 'w2', { forgetOlder: true })
    await store.swap('a', { version: 3, writeId: 'o' }, record, 'w3')
    await store.swap('a', { version: 3, writeId: 'o' }, record, 'w4', { forgetOlder: true })
    expect(swaps).toEqual([
      [0, record, 'w1', undefined],
      [3, record, 'w2', { forgetOlder: true }],
      [3, record, 'w3', { expectedWriteId: 'o' }],
      [3, record, 'w4', { forgetOlder: true, expectedWriteId: 'o' }],
    ])
    // All of a record's fields can be enumerated: not every store writes JSON.
    await store.swap('a', undefined, signedIn(), 'w5')
    const written: unknown = (swaps.at(-1) as unknown[])[1]
    expect(Object.keys(Object(Reflect.get(Object(written), 'tokens')))).toContain('refresh_token')
    const hinted = { ...base, hints: 0, watch: watchOnce }
    function watchOnce(this: typeof hinted): () => void {
      this.hints += 1
      return () => undefined
    }
    guardStore(hinted, undefined).watch?.('a', () => undefined)
    expect(hinted.hints).toBe(1)
    expect([store.accounts, store.watch]).toEqual([undefined, undefined])
    expect(['accounts' in store, 'watch' in store]).toEqual([false, false])
  })

  it('is asked to end a list that is left early, and no other', async () => {
    let returned = 0
    const accounts = async function* (): AsyncGenerator<string> {
      try {
        yield 'a'
        yield 'b'
      } finally {
        returned += 1
      }
    }
    const store = guardStore({ ...mapStore(), accounts }, undefined)
    const names: string[] = []
    for await (const name of store.accounts?.() ?? []) names.push(name)
    expect([names, returned]).toEqual([['a', 'b'], 1])
    for await (const name of store.accounts?.() ?? []) if (name === 'a') break
    await new Promise((resolve) => setImmediate(resolve))
    expect(returned).toBe(2)
  })
})

/** What a process knows of an account that has such a record, as of its first sight at the clock's time. */
function known(clock: ReturnType<typeof slowClock>, record: object = {}) {
  const store = mapStore()
  const context = {
    runtime: clock.runtime,
    rules,
    store: guardStore(store, undefined),
    minRefreshInterval: 60_000,
    rotationGrace: 0,
    refreshAfter: 0.75,
    memory: createAccountMemory(4),
  } as unknown as Context
  const cache = context.memory.of('ann')
  const whole = signedIn(record)
  store.put('ann', { version: 3, writeId: 'w3', record: whole })
  acceptRecord(cache, { version: 3, writeId: 'w3', record: whole }, clock.runtime, 0.75)
  return { cache, context, store, record: whole }
}
const signedIn = (more: object = {}): AccountRecord =>
  ({
    schema: 1,
    state: 'signed-in',
    generation: 1,
    session: 's',
    replaces: [],
    refreshes: 1,
    lineage: 'l1',
    obtained_at: start,
    lifetime: 28_800,
    tokens: { access_token: 'a1', refresh_token: 'r1', token_type: 'Bearer', expires_at: start, auth_url: authUrl },
    ...more,
  }) as unknown as AccountRecord
const thrown = (call: () => unknown): unknown => {
  try {
    call()
    return undefined
  } catch (error) {
    return error
  }
}

describe('what is known of an account', () => {
  it('is the newest record; tokens that were known keep their first sight, an intent its own', () => {
    const clock = slowClock()
    const { cache } = known(clock)
    const firstSeen = { wall: start * 1000, monotonic: 0 }
    expect(cache).toMatchObject({
      version: 3,
      writeId: 'w3',
      seen: firstSeen,
      sawReplaced: false,
      intentSeen: undefined,
    })
    expect(writeOf(cache)).toEqual({ version: 3, writeId: 'w3' })
    cache.backgroundBackOff = { since: firstSeen, wait: 1 }
    cache.turns = { refused: true, missed: true }
    clock.now = 5000
    const accept = (version: number, record: object): void =>
      acceptRecord(cache, { version, writeId: undefined, record: signedIn(record) }, clock.runtime, 0.5)
    accept(4, { intent: { id: 'i' } })
    const seenAt = { wall: start * 1000 + 5000, monotonic: 5000 }
    expect(cache).toMatchObject({
      version: 4,
      writeId: undefined,
      seen: firstSeen,
      sawReplaced: false,
      intentSeen: { id: 'i', at: seenAt, knewBefore: true },
      turns: { refused: true, missed: true },
      backgroundBackOff: { wait: 1 },
    })
    clock.now = 6000
    accept(5, { intent: { id: 'i' } })
    expect(cache.intentSeen).toMatchObject({ at: seenAt })
    accept(6, { intent: { id: 'j' } })
    expect(cache.intentSeen).toMatchObject({ id: 'j', at: { monotonic: 6000 } })
    accept(7, { tokens: { access_token: 'a2' } })
    expect(cache).toMatchObject({
      intentSeen: undefined,
      seen: { monotonic: 6000 },
      sawReplaced: true,
      turns: { refused: false, missed: false },
      backgroundBackOff: undefined,
      ages: agesOf(signedIn(), 0.5),
    })
    clock.now = 7000
    accept(8, { tokens: { access_token: '' } })
    expect([cache.seen.monotonic, accessTokenOf(cache.record)]).toEqual([7000, undefined])
    clock.now = 8000
    accept(9, { tokens: { access_token: '' } })
    expect(cache).toMatchObject({ seen: { monotonic: 8000 }, sawReplaced: false })
    const other = createAccountMemory(1).of('bob')
    acceptRecord(other, { version: 1, record: signedIn({ intent: { id: 'i' } }) }, clock.runtime, 0.5)
    expect(other.intentSeen).toMatchObject({ knewBefore: false })
  })

  it('has an age: by the writer’s clock at first sight, then by the faster of ours; none once signed out', () => {
    const clock = slowClock()
    const { cache, context } = known(clock, { obtained_at: start - 10 })
    const age = (): number => ageOf(cache, { wall: clock.runtime.wallClock(), monotonic: clock.now })
    expect(age()).toBe(10_000)
    clock.now = 500
    clock.wallOnly = 700
    expect(age()).toBe(11_200)
    clock.wallOnly = -90_000
    expect(age()).toBe(10_500)
    expect(
      ageOf(known(slowClock(), { obtained_at: start + 100 }).cache, { wall: start * 1000 + 5, monotonic: 0 }),
    ).toBe(5)
    cache.record = { schema: 1, state: 'signed-out', generation: 1 } as never
    expect([age(), accessTokenOf(cache.record)]).toEqual([Infinity, undefined])
    expect([ageOf(context.memory.of('new'), { wall: 0, monotonic: 0 }), accessTokenOf(undefined)]).toEqual([
      Infinity,
      undefined,
    ])
  })

  it('is usable until it has expired, unless the owner API refused it', () => {
    const at = (milliseconds: number) => ({ wall: start * 1000 + milliseconds, monotonic: milliseconds })
    const { cache } = known(slowClock())
    expect([isUsable(cache, at(28_789_999)), isUsable(cache, at(28_790_000))]).toEqual([true, false])
    expect([freshnessOf(cache, at(0)), freshnessOf(cache, at(28_680_000))]).toEqual(['fresh', 'expiring'])
    cache.rejected = { accessToken: 'a0', unused: false }
    expect(isUsable(cache, at(0))).toBe(true)
    cache.rejected = { accessToken: 'a1', unused: false }
    expect(isUsable(cache, at(0))).toBe(false)
    expect(isUsable(known(slowClock(), { tokens: { access_token: '' } }).cache, at(0))).toBe(false)
    expect([undefined, 'a1', 'a0', ''].map((unwanted) => isAsked({ ...cache, unwanted }))).toEqual([
      false,
      true,
      false,
      false,
    ])
    expect(isAsked({ ...cache, record: undefined, unwanted: '' })).toBe(true)
  })

  it('is served in windows of whole seconds, a minute at the most, until the account signs out', () => {
    const { cache, context } = known(slowClock())
    const now = { wall: start * 1000 + 900, monotonic: 0 }
    expect(context.memory.served('ann')).toBeUndefined()
    closeWindow(cache)
    for (const [milliseconds, seconds] of [
      [60_099, 60],
      [60_100, 60],
      [59_100, 60],
      [59_099, 59],
      [99, 0],
    ] as const) {
      openWindow(cache, now, milliseconds, context.memory)
      expect(context.memory.served('ann')).toEqual({ accessToken: 'a1', from: start, until: start + seconds })
    }
    expect(context.memory.served('ann')).toBe(cache.served)
    closeWindow(cache)
    expect(context.memory.served('ann')).toEqual({ accessToken: '', from: start, until: 0 })
  })

  it('is forgotten where others take its place, once nothing of it is under way', () => {
    const memory = createAccountMemory(2)
    const [ann, bob] = [memory.of('ann'), memory.of('bob')]
    memory.serve(ann, { accessToken: 'a', from: 0, until: 1 })
    expect([memory.of('ann') === ann, [...memory.all()]]).toEqual([true, [ann, bob]])
    memory.of('cid')
    expect([...memory.all()].map(({ account }) => account)).toEqual(['ann', 'cid'])
    ann.inFlight = { synced: Promise.resolve(), done: Promise.resolve() }
    memory.of('dan')
    memory.of('eve')
    expect([...memory.all()].map(({ account }) => account)).toEqual(['ann', 'dan', 'eve'])
    expect(memory.served('ann')).toBe(ann.served)
    memory.release(ann)
    expect(memory.served('ann')).toBe(ann.served)
    ann.inFlight = undefined
    memory.release({ ...ann })
    expect(memory.served('ann')).toBe(ann.served)
    memory.release(ann)
    expect([memory.served('ann'), [...memory.all()].map(({ account }) => account)]).toEqual([undefined, ['dan', 'eve']])
    const dan = memory.of('dan')
    memory.release(dan)
    expect(memory.of('dan')).toBe(dan)
    dan.unsaved = { result: {} as never, error: undefined, safe: undefined }
    memory.of('fay')
    memory.of('gus')
    expect([...memory.all()].map(({ account }) => account)).toEqual(['dan', 'fay', 'gus'])
  })
})

it('the status of an account without an access token names no time for one', async () => {
  const { context } = known(slowClock(), { tokens: { access_token: '', refresh_token: 'r1', auth_url: authUrl } })
  expect(await statusOf('ann', context)).toEqual({ state: 'expired', auth_url: authUrl, obtained_at: start })
})

describe('what one look leads to', () => {
  const intent = { id: 'i', holder: { pid: 1 }, replay: 0, at: 0 }
  const base: Situation = {
    record: signedIn(),
    freshness: 'ageing',
    unwanted: false,
    justRefreshed: false,
    intent: undefined,
    intentAlive: false,
    inGrace: false,
    replayBackedOff: true,
  }
  const doubt = { intent, freshness: 'expiring' } as const
  const ended = signedIn({ state: 'reauthentication-required', reason: 'refresh_token_rejected' })

  it.each<[Decision, Partial<Situation>]>([
    ['not-signed-in', { record: undefined }],
    ['not-signed-in', { record: { schema: 1, state: 'signed-out', generation: 1 } as never, freshness: 'fresh' }],
    ['reauthenticate', { record: ended, freshness: 'fresh' }],
    ['serve', { freshness: 'fresh' }],
    ['serve', { freshness: 'fresh', intent }],
    ['send', { freshness: 'fresh', unwanted: true }],
    ['serve', { freshness: 'fresh', unwanted: true, justRefreshed: true }],
    ['serve', { justRefreshed: true, intent }],
    ['send', {}],
    ['send', { freshness: 'expired' }],
    ['wait', { intent, intentAlive: true }],
    ['wait', { ...doubt, intentAlive: true }],
    ['defer', { intent }],
    ['replay', doubt],
    ['replay', { intent, freshness: 'expired' }],
    ['replay', { intent, unwanted: true }],
    ['replay', { intent, freshness: 'fresh', unwanted: true }],
    ['replay', { intent, inGrace: true }],
    ['defer', { ...doubt, replayBackedOff: false }],
    ['defer', { intent, inGrace: true, replayBackedOff: false }],
  ])('%s: %j', (decision, situation) => {
    expect(rules.decide({ ...base, ...situation })).toBe(decision)
  })

  it('an intent lives 45 seconds, two minutes where its holder runs or it was put back, and not once it is given up', () => {
    const lives = (more: object, observed: number, liveness: 'dead' | 'running' | 'unknown' = 'unknown'): boolean =>
      rules.isAlive({ ...intent, ...more }, observed, liveness)
    expect([lives({}, 44_999), lives({}, 45_000)]).toEqual([true, false])
    expect([lives({}, 119_999, 'running'), lives({}, 120_000, 'running')]).toEqual([true, false])
    expect(lives({}, 0, 'dead')).toBe(false)
    const restored = { restored: true }
    expect([lives(restored, 119_999, 'dead'), lives(restored, 120_000, 'running')]).toEqual([true, false])
    expect([lives({ answerLost: true }, 0, 'running'), lives({ ...restored, answerLost: true }, 0)]).toEqual([
      false,
      false,
    ])
  })

  it('a request goes out within ten seconds of its swap, and nobody waits for another’s longer than two and a half minutes', () => {
    expect([rules.maySend(10_000), rules.maySend(10_001)]).toEqual([true, false])
    expect([rules.afterWaiting(149_999), rules.afterWaiting(150_000)]).toEqual(['wait', 'defer'])
    expect(rules.withIntent(signedIn() as never, intent)).toEqual({ ...signedIn(), intent })
  })
})

describe('after a refresh that failed', () => {
  const failure = new UnreachableError('x', { requestSent: false })
  const invalidRequest = (description?: string) => new TokenRejectedError('invalid_request', {}, description)

  /** Milliseconds until the next request may be made. */
  function pause(cache: AccountCache, context: Context, clock: ReturnType<typeof slowClock>): number {
    const began = clock.now
    let [early, late] = [-1, 1_000_000]
    while (late - early > 1) {
      const middle = Math.floor((early + late) / 2)
      clock.now = began + middle
      if (thrown(() => throwIfBackingOff(cache, context)) === undefined) late = middle
      else early = middle
    }
    clock.now = began
    return late
  }

  it('the next one waits a minute, twice as long after each further failure, eight minutes at the most', () => {
    const clock = slowClock()
    const { cache, context } = known(clock)
    expect(pause(cache, context, clock)).toBe(0)
    const pauses = Array.from({ length: 5 }, () => {
      backOff(cache, failure, context)
      return pause(cache, context, clock)
    })
    expect(pauses).toEqual([60_000, 120_000, 240_000, 480_000, 480_000])
    expect(thrown(() => throwIfBackingOff(cache, context))).toBe(failure)
    cache.unwanted = 'a1'
    expect(pause(cache, context, clock)).toBe(60_000)
    expect(pause(cache, { ...context, minRefreshInterval: 900_000 }, clock)).toBe(480_000)
  })

  it('as a wrong request counts in the record, with what the service said', () => {
    const after = (rejections: object | undefined, error: SsoError): unknown =>
      rejectionsAfter(signedIn(rejections && { rejections }) as never, error, start * 1000 + 999)
    expect(after(undefined, invalidRequest())).toStrictEqual({ rejections: { inARow: 1, at: start } })
    expect(after({ inARow: 3, at: 1, description: 'old' }, invalidRequest('try again'))).toStrictEqual({
      rejections: { inARow: 4, at: start, description: 'try again' },
    })
    const before = { inARow: 3, at: 1 }
    expect(after(before, new TokenRejectedError('invalid_client'))).toStrictEqual({ rejections: before })
    expect(after(before, failure)).toStrictEqual({ rejections: before })
    expect(after(undefined, failure)).toStrictEqual({})
    expect([undefined, 4, 5].map((inARow) => isGivenUp(inARow ? { rejections: { inARow, at: 0 } } : {}))).toEqual([
      false,
      false,
      true,
    ])
  })

  it.each([
    [1, 60_000],
    [2, 120_000],
    [4, 480_000],
    [9, 480_000],
  ])('that was the rejection number %i, every process waits %i ms', (inARow, milliseconds) => {
    const clock = slowClock()
    const { cache, context } = known(clock, { rejections: { inARow, at: start, description: 'no' } })
    expect(pause(cache, context, clock)).toBe(milliseconds)
    expect(thrown(() => throwIfBackingOff(cache, context))).toMatchObject({
      error: 'invalid_request',
      step: 'refresh',
      requestSent: false,
      description: 'no',
    })
    // A clock that differs by more than the back-off must not stretch it.
    clock.wallOnly = -milliseconds
    expect(thrown(() => throwIfBackingOff(cache, context))).toBeUndefined()
    clock.wallOnly = 1 - milliseconds
    expect(thrown(() => throwIfBackingOff(cache, context))).toBeDefined()
    clock.wallOnly = 0
    cache.unwanted = 'a1'
    expect(pause(cache, context, clock)).toBe(60_000)
  })
})

describe('a token that the owner API refused', () => {
  it('was never accepted where it is younger than a minute, and came of a refresh', () => {
    const isUnusedAfter = (milliseconds: number, record: object = {}): boolean => {
      const clock = slowClock()
      const { cache, context } = known(clock, record)
      clock.now = milliseconds
      return isUnused(cache, context)
    }
    expect([isUnusedAfter(59_999), isUnusedAfter(60_000)]).toEqual([true, false])
    expect(isUnusedAfter(0, { refreshes: 0 })).toBe(false)
    expect(isUnusedAfter(0, { state: 'reauthentication-required' })).toBe(false)
  })

  it('is counted in the record, once, where nobody is at it and it was never accepted', async () => {
    const noted = async (
      record: object,
      change: Partial<AccountCache> = {},
      unused = true,
    ): Promise<readonly [unknown, number | undefined]> => {
      const { cache, context, store } = known(slowClock(), record)
      cache.rejected = { accessToken: 'a1', unused }
      Object.assign(cache, change)
      await noteRefusal(cache, context)
      const stored = await store.read('ann')
      expect([cache.version, cache.record]).toEqual([stored?.version, stored?.record])
      return [Reflect.get(Object(stored?.record), 'refusals'), stored?.version]
    }
    expect(await noted({})).toEqual([{ inARow: 1, thisOne: true }, 4])
    expect(await noted({ refusals: { inARow: 2, thisOne: false } })).toEqual([{ inARow: 3, thisOne: true }, 4])
    expect(await noted({ refusals: { inARow: 2, thisOne: true } })).toEqual([{ inARow: 2, thisOne: true }, 3])
    expect(await noted({}, {}, false)).toEqual([undefined, 3])
    expect(await noted({}, { rejected: undefined })).toEqual([undefined, 3])
    expect(await noted({ intent: { id: 'i', holder: { pid: 1 }, replay: 0, at: 0 } })).toEqual([undefined, 3])
    expect(await noted({}, { inFlight: {} as never })).toEqual([undefined, 3])
    expect(await noted({}, { unsaved: {} as never })).toEqual([undefined, 3])
    expect(await noted({ state: 'reauthentication-required', reason: 'other_owner' })).toEqual([undefined, 3])
    // Another process was faster.
    expect(await noted({}, { writeId: 'another' })).toEqual([undefined, 3])
  })

  it('is noted at the next refresh where it could not be before', () => {
    const { cache } = known(slowClock())
    const before = (refusals?: object): unknown => refusalsBefore(cache, signedIn(refusals && { refusals }) as never)
    expect(before()).toStrictEqual({})
    expect(before({ inARow: 2, thisOne: true })).toStrictEqual({ refusals: { inARow: 2, thisOne: false } })
    expect(before({ inARow: 2, thisOne: false })).toStrictEqual({})
    cache.rejected = { accessToken: 'a1', unused: true }
    expect(before()).toStrictEqual({ refusals: { inARow: 1, thisOne: false } })
    expect(before({ inARow: 2, thisOne: false })).toStrictEqual({ refusals: { inARow: 3, thisOne: false } })
    expect(before({ inARow: 2, thisOne: true })).toStrictEqual({ refusals: { inARow: 2, thisOne: false } })
    cache.rejected = { accessToken: 'a0', unused: true }
    expect(before()).toStrictEqual({})
    cache.rejected = { accessToken: 'a1', unused: false }
    expect(before()).toStrictEqual({})
  })
})

describe('what a request came to', () => {
  const previous = { refresh_token: 'r1', auth_url: authUrl } as never
  const of = (outcome: unknown): ReturnType<typeof outcomeOf> =>
    outcomeOf(() => (outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome as never)), previous)

  it.each<[string, Error]>([
    ['refused', new ReauthenticationRequiredError('refresh_token_rejected')],
    ['blocked', new FirewallChallengeError(1)],
    ['unspent', new TokenRejectedError('invalid_client')],
    ['unspent', new UnreachableError('x', { requestSent: false })],
    ['in-doubt', new UnreachableError('x')],
  ])('is %s for %s', async (kind, error) => {
    const outcome = await of(error)
    expect([outcome.kind, 'error' in outcome && outcome.error === error]).toEqual([kind, true])
  })

  it('is in doubt for any other error, which is not shown', async () => {
    const cause = Object.assign(new Error('secret'), { code: 'E_X' })
    expect(await of(cause)).toMatchObject({
      kind: 'in-doubt',
      error: { code: 'ERR_SSO_UNEXPECTED_RESPONSE', requestSent: true, cause: { code: 'E_X', message: 'E_X' } },
    })
  })

  it('is a token set as it came, or completed from the one before', async () => {
    const whole = {
      access_token: 'a2',
      refresh_token: 'r2',
      token_type: 'Bearer',
      expires_at: 7,
      auth_url: 'https://eu.example.com',
      state: 's',
    }
    const tokensOf = async (answer: object): Promise<object> => {
      const outcome = await of(answer)
      return outcome.kind === 'tokens' ? JSON.parse(JSON.stringify(outcome.tokens)) : outcome
    }
    expect(await tokensOf(whole)).toEqual(whole)
    const completed = {
      access_token: 'a2',
      refresh_token: 'r2',
      token_type: 'Bearer',
      expires_at: 7,
      auth_url: authUrl,
    }
    expect(await tokensOf({ ...whole, auth_url: 'nowhere' })).toEqual(completed)
    expect(await tokensOf({ access_token: 'a2', refresh_token: '', expires_at: 'x' })).toEqual({
      ...completed,
      refresh_token: 'r1',
      expires_at: 0,
    })
    expect(await tokensOf({ refresh_token: 'r2' })).toMatchObject({
      kind: 'in-doubt',
      error: { code: 'ERR_SSO_UNEXPECTED_RESPONSE', step: 'refresh' },
    })
  })
})

describe('an intent in the record', () => {
  const intent = (more: object = {}) => ({ id: 'i', holder: { pid: 1 }, replay: 0, at: start, ...more })

  it('is open, unless it is our own and nothing was spent under it', () => {
    const { cache } = known(slowClock(), { intent: intent() })
    const own = (more: object): unknown => openIntent({ ...cache, ownIntents: [{ id: 'i', ...more } as never] })
    const before = intent({ id: 'earlier' })
    expect(openIntent(cache)).toEqual(intent())
    expect(own({ spent: true, before: undefined })).toEqual(intent())
    expect(own({ spent: false, before: undefined })).toBeUndefined()
    expect(own({ spent: false, before })).toBe(before)
    expect(own({ id: 'other', spent: false, before })).toEqual(intent())
    expect(openIntent({ ...cache, record: { ...cache.record, state: 'reauthentication-required' } as never })).toBe(
      undefined,
    )
  })

  it('lives from our first sight of it, by the clock that never jumps, and not at all where it is our own', () => {
    const clock = slowClock()
    const { cache, context } = known(clock, { intent: intent() })
    const isAlive = (): boolean => isIntentAlive(cache, intent(), context)
    clock.wallOnly = 1_000_000
    clock.now = 44_999
    expect(isAlive()).toBe(true)
    clock.now = 45_000
    expect(isAlive()).toBe(false)
    cache.intentSeen = undefined
    expect(isAlive()).toBe(true)
    cache.ownIntents = [{ id: 'other', spent: false, before: undefined }]
    expect(isAlive()).toBe(true)
    cache.ownIntents = [{ id: 'i', spent: true, before: undefined }]
    expect(isAlive()).toBe(false)
  })

  it('is replayed at once the first time, then after a minute, twice as long each time, eight minutes at the most', () => {
    const left = (replay: number, change: Partial<AccountCache> = {}, at = start): number => {
      const clock = slowClock()
      const { cache, context } = known(clock, { intent: intent() })
      clock.now = 1000
      Object.assign(cache, change)
      return replayBackOffLeft(cache, intent({ replay, at }), context)
    }
    expect([0, 1, 2, 3, 4, 5].map((replay) => left(replay))).toEqual([0, 59_000, 119_000, 239_000, 479_000, 479_000])
    expect(left(4, { unwanted: 'a1' })).toBe(59_000)
    expect([left(1, {}, start - 30), left(1, {}, start + 31)]).toEqual([29_000, 30_000])
    const seen = { id: 'i', at: { wall: start * 1000, monotonic: 0 } }
    expect(left(1, { intentSeen: { ...seen, knewBefore: true } }, start - 30)).toBe(59_000)
    expect(left(1, { intentSeen: { ...seen, knewBefore: true }, unwanted: 'a1' }, start - 30)).toBe(29_000)
    expect(left(1, { intentSeen: undefined }, start)).toBe(59_000)
    expect(left(1, { intentSeen: undefined }, start + 1)).toBe(60_000)
  })

  it('is in its grace for as long as the service repeats a lost response, from the moment before it was sent', () => {
    const clock = slowClock()
    const { cache, context } = known(clock, { intent: intent() })
    const grace = { ...context, rotationGrace: 5000 }
    expect(isInGrace(cache, intent(), grace)).toBe(false)
    cache.lostResponse = { id: 'i', sentAt: { wall: start * 1000, monotonic: 0 } }
    clock.now = 4999
    expect([isInGrace(cache, intent(), grace), isInGrace(cache, intent({ id: 'j' }), grace)]).toEqual([true, false])
    clock.now = 5000
    expect(isInGrace(cache, intent(), grace)).toBe(false)
  })

  it('makes callers wait until the token is about to end, the next replay is due, or for a second', () => {
    const next = (age: number, replay?: number): unknown => {
      const clock = slowClock()
      const { cache, context } = known(clock, {
        obtained_at: start - age,
        ...(replay && { intent: intent({ replay }) }),
      })
      const cause = new Error('x')
      const error = inDoubt(cache, context, cause)
      expect(error).toMatchObject({ step: 'token-manager', requestSent: true, cause: { message: 'unknown cause' } })
      return error.nextAttemptAt - start
    }
    expect([next(28_000), next(28_670), next(28_679), next(30_000), next(30_000, 1), next(28_000, 1)]).toEqual([
      680, 10, 1, 1, 60, 680,
    ])
  })

  it('of our own is remembered with 16 others, and the one that stands in the record', () => {
    const own = (id: number) => ({ id: `i${id}`, spent: false, before: undefined })
    const twenty = Array.from({ length: 20 }, (_, index) => own(index))
    const ids = (...call: Parameters<typeof withOwnIntent>): string[] => withOwnIntent(...call).map(({ id }) => id)
    const last16 = twenty.slice(4).map(({ id }) => id)
    expect(ids(twenty, own(99), undefined)).toEqual([...last16, 'i99'])
    expect(ids(twenty, own(99), signedIn({ intent: { id: 'i2' } }) as never)).toEqual(['i2', ...last16, 'i99'])
    expect(ids(twenty.slice(0, 3), own(1), undefined)).toEqual(['i0', 'i2', 'i1'])
  })
})

describe('what the store has lost', () => {
  const out = { schema: 1, state: 'signed-out', generation: 2, session: 'o', signed_out_at: start } as never
  const restored = (session: string, obtained_at: number, more: object = {}) => ({
    version: 9,
    record: signedIn({
      session,
      obtained_at,
      intent: { id: 'r', holder: { pid: 2 }, replay: 0, at: 0, restored: true },
      ...more,
    }),
  })

  it('is put back as in doubt: with the replay that was open, or as of now', () => {
    const clock = slowClock()
    clock.now = 2900
    const { cache, context, record } = known(clock)
    const again = (replay: number, at: number): object => ({
      ...record,
      intent: { id: expect.any(String), holder: { pid: 1, boot: 'b' }, replay, at, restored: true },
    })
    expect(inDoubtAgain(record, cache, context)).toEqual(again(0, start + 2))
    expect(restorationOf(cache, undefined, context)).toEqual(again(0, start + 2))
    cache.record = { ...record, intent: { id: 'i', holder: { pid: 1 }, replay: 2, at: 7 } } as never
    expect(inDoubtAgain(record, cache, context)).toEqual(again(2, 7))
    expect(inDoubtAgain(out, cache, context)).toBe(out)
    cache.record = undefined
    expect(restorationOf(cache, undefined, context)).toBeUndefined()
  })

  it('is accepted as it was put back, unless a call of this process came in between', async () => {
    const { cache, context, store } = known(slowClock())
    Object.assign(context, {
      store: guardStore(slowly(store), undefined),
      emit: () => undefined,
      background: { outlivesCalls: false },
      rollCall: createRollCall(),
    })
    store.clear()
    expect(await syncFromStore(cache, context)).toBe(true)
    expect(cache).toMatchObject({ version: 1, record: { intent: { restored: true } } })
    store.clear()
    const synced = syncFromStore(cache, context)
    const ours = signedIn({ refreshes: 2 })
    await new Promise((resolve) => setImmediate(resolve))
    acceptRecord(cache, { version: 9, writeId: 'ours', record: ours }, context.runtime, 0.75)
    expect([await synced, cache.version, cache.record]).toEqual([true, 9, ours])
  })

  it('is what this process knows to be newer, and of two memories that know nothing of each other the later', () => {
    const clock = slowClock()
    const { cache, context } = known(clock)
    const puts = (stored: { version: number; record: unknown }): boolean =>
      restorationOf(cache, stored as never, context) !== undefined
    expect(puts({ version: 3, record: signedIn({ refreshes: 0 }) })).toBe(true)
    expect(puts({ version: 4, record: signedIn() })).toBe(false)
    expect([puts(restored('x', start - 1)), puts(restored('x', start)), puts(restored('x', start + 1))]).toEqual([
      true,
      false,
      false,
    ])
    expect(puts(restored('s', start - 1))).toBe(false)
    expect(puts(restored('x', start - 1, { replaces: ['s'] }))).toBe(false)
    expect(puts(restored('x', start - 1, { intent: { id: 'r', holder: { pid: 2 }, replay: 0, at: 0 } }))).toBe(false)
    expect(puts(restored('x', start - 1, { state: 'reauthentication-required' }))).toBe(false)
    // A day ahead is believed, and no second more.
    expect([puts(restored('x', start + 86_400)), puts(restored('x', start + 86_401))]).toEqual([false, true])
    cache.record = out
    expect([puts(restored('x', start - 1)), puts(restored('x', start))]).toEqual([true, false])
    cache.record = { ...(out as object), signed_out_at: undefined } as never
    expect(puts(restored('x', 1))).toBe(false)
    cache.record = { ...signedIn(), session: 'y' }
    expect(restorationOf(cache, restored('x', start - 1) as never, context)).toMatchObject({
      session: 'y',
      replaces: ['x'],
    })
  })
})

describe('a write over what was read', () => {
  it('is tried 32 times, then after longer and longer pauses, which keep the process alive', async () => {
    const pauses: number[] = []
    const alive = { now: 0, most: 0 }
    const runtime = {
      after: (milliseconds: number, callback: () => void) => {
        pauses.push(milliseconds)
        alive.most = Math.max(alive.most, alive.now)
        queueMicrotask(callback)
        return () => undefined
      },
      keepAlive: () => ((alive.now += 1), () => void (alive.now -= 1)),
    }
    let tries = 0
    const never = untilSwapped(runtime, async () => ((tries += 1), undefined))
    await expect(never).rejects.toMatchObject({ reason: 'busy' })
    expect([tries, mostConflicts, pauses]).toEqual([38, 32, [50, 100, 200, 400, 800, 1600]])
    expect(alive).toEqual({ now: 0, most: 1 })
    expect(await untilSwapped(runtime, async () => 0)).toBe(0)
  })

  it('that fails may be the fault of one record: a damaged one, one that can’t be read, or perhaps one that can’t be written', () => {
    const told = (error: unknown): boolean[] => [isDamaged(error), isOfOneRecord(error), mayBeOfOneRecord(error)]
    const reasons = [
      'corrupt',
      'wrong-key',
      'read-failed',
      'write-failed',
      'unavailable',
      'permissions',
      'busy',
    ] as const
    expect(reasons.map((reason) => told(new StoreError(reason, 'x')))).toEqual([
      [true, true, true],
      [true, true, true],
      [false, true, true],
      [false, false, true],
      [false, false, false],
      [false, false, false],
      [false, false, false],
    ])
    expect(told({ reason: 'corrupt' })).toEqual([false, false, false])
  })

  it('of the roll call is one’s own, or another’s that was faster', async () => {
    const { runtime } = slowClock()
    const memory = mapStore()
    const surroundings = { rollCall: createRollCall(), runtime, store: guardStore(memory, undefined) }
    const call = await currentCall(surroundings)
    expect((await memory.read(rollCallName))?.record).toEqual({ schema: 1, state: 'roll-call', call })
    expect(await currentCall(surroundings)).toBe(call)
    let reads = 0
    const late = {
      ...surroundings.store,
      read: async (name: string) => ((reads += 1) > 1 ? memory.read(name) : undefined),
    }
    expect([await currentCall({ ...surroundings, store: late }), reads]).toEqual([call, 2])
    const blind = { ...surroundings.store, read: async () => undefined }
    await expect(currentCall({ ...surroundings, store: blind })).rejects.toMatchObject({ reason: 'busy' })
    memory.put(rollCallName, { version: 9, record: { schema: 1, state: 'notes', notes: {} } })
    const next = await currentCall(surroundings)
    expect(next).not.toBe(call)
    expect(await memory.read(rollCallName)).toMatchObject({ version: 10, record: { call: next } })
    // What others sealed is not ours to write over.
    const sealed = { schema: 1, state: 'sealed', key: 'k', nonce: 'n', sealed: 's' } as const
    memory.put(rollCallName, { version: 11, record: sealed })
    await expect(currentCall(surroundings)).rejects.toMatchObject({ reason: 'wrong-key' })
  })
})

describe('a refresh token that was brought along', () => {
  const lineage = lineageOf('ann', 'r1')
  const bare = bareTokenSet({ refresh_token: 'r1', auth_url: authUrl })

  it('stands as a token set without an access token, and gives way to the session that is there', () => {
    expect(JSON.parse(JSON.stringify(bare))).toEqual({
      access_token: '',
      refresh_token: 'r1',
      token_type: 'Bearer',
      expires_at: 0,
      auth_url: authUrl,
    })
    expect([isBare(bare), isBare({ ...bare, access_token: 'a' })]).toEqual([true, false])
    const may = (stored: AccountRecord | undefined): unknown => {
      try {
        return mayTakeThePlaceOf(stored, 'ann', bare)
      } catch (error) {
        return error
      }
    }
    const where = { step: 'token-manager', requestSent: false }
    const end = { state: 'reauthentication-required', reason: 'rotated_token_lost', description: 'gone' }
    expect([may(undefined), may({ schema: 1, state: 'signed-out', generation: 1 } as never)]).toEqual([true, true])
    expect([may(signedIn({ lineage })), may(signedIn(end))]).toEqual([false, true])
    expect(may(signedIn())).toMatchObject({ ...where, code: 'ERR_SSO_SESSION_EXISTS' })
    expect(may(signedIn({ ...end, lineage }))).toMatchObject({
      ...where,
      reason: 'rotated_token_lost',
      description: 'gone',
    })
  })

  it('is another owner’s only where the issuer says so', async () => {
    const says = (isOfAnother?: () => Promise<unknown>): Promise<boolean> =>
      isOfAnotherOwner('ann', bare, { sso: { isOfAnotherOwner: isOfAnother } } as never)
    expect([
      await says(async () => true),
      await says(async () => false),
      await says(async () => 'yes'),
      await says(() => Promise.reject(new Error('x'))),
      await says(),
    ]).toEqual([true, false, false, false, false])
  })
})

describe('what goes on after a call', () => {
  const never = new Promise<never>(() => undefined)

  it('is handed to the platform where there is one, which hears of no failure', async () => {
    const handed: Promise<unknown>[] = []
    const platform = backgroundOf(true, (work) => void handed.push(work))
    platform.handOver(() => Promise.reject(new Error('x')))
    expect(await Promise.all(handed)).toEqual([undefined])
    let begun = 0
    backgroundOf(true, undefined).handOver(async () => void (begun += 1))
    expect(begun).toBe(0)
    const facts = ([outlives, platformIs]: readonly [boolean, boolean]): boolean[] => {
      const { outlivesCalls, runsBetweenCalls } = backgroundOf(outlives, platformIs ? () => undefined : undefined)
      return [outlivesCalls, runsBetweenCalls]
    }
    expect([facts([true, false]), facts([true, true]), facts([false, false])]).toEqual([
      [true, true],
      [true, false],
      [false, false],
    ])
  })

  it('is waited for until it has landed, and for tokens that the store refused ten seconds', async () => {
    const waits: number[] = []
    let cancelled = 0
    let over: () => void = () => undefined
    const runtime = {
      after: (milliseconds: number, callback: () => void) => {
        waits.push(milliseconds)
        over = callback
        return () => void (cancelled += 1)
      },
    }
    const cache = createAccountMemory(1).of('ann')
    await landingInCall(cache, runtime)
    cache.inFlight = { synced: never, done: Promise.reject(new Error('x')) }
    await landingInCall(cache, runtime)
    expect(waits).toEqual([])
    cache.unsaved = { result: {} as never, error: undefined, safe: Promise.resolve() }
    await landingInCall(cache, runtime)
    expect([waits, cancelled]).toEqual([[10_000], 1])
    cache.unsaved.safe = never
    const landed = landingInCall(cache, runtime)
    await new Promise((resolve) => setImmediate(resolve))
    over()
    await landed
    expect([waits, cancelled]).toEqual([[10_000, 10_000], 2])
    let isAllSafe = false
    const safe = { resolve: (): void => undefined }
    cache.unsaved.safe = new Promise((resolve) => (safe.resolve = resolve))
    const all = allSafe({ all: () => [cache, createAccountMemory(1).of('bob')] }).then(() => (isAllSafe = true))
    await new Promise((resolve) => setImmediate(resolve))
    expect(isAllSafe).toBe(false)
    safe.resolve()
    await all
  })

  it('ends when all has ended, also what was begun meanwhile or failed', async () => {
    const underWay = createUnderWay()
    const ends: (() => void)[] = []
    const work = (): Promise<void> => new Promise((resolve) => ends.push(resolve))
    const first = underWay.track(work())
    let isSettled = false
    expect(underWay.isEnding()).toBe(false)
    const settled = underWay.settled((end) => end).then(() => (isSettled = true))
    expect(underWay.isEnding()).toBe(true)
    const failed = underWay.track(Promise.reject(new Error('x')))
    await failed.catch(() => undefined)
    const second = underWay.track(work())
    for (const end of ends) {
      expect(isSettled).toBe(false)
      end()
      await Promise.race([first, second])
      await new Promise((resolve) => setImmediate(resolve))
    }
    await settled
    expect(underWay.isEnding()).toBe(false)
    await expect(underWay.settled(() => Promise.reject(new Error('gave up')))).rejects.toThrow('gave up')
    expect(underWay.isEnding()).toBe(false)
  })
})

describe('what is tried again', () => {
  const day = 86_400
  const tokensOf = (name: string, expires_at = start + day): TokenSet => ({
    access_token: `a ${name}`,
    refresh_token: `r ${name}`,
    token_type: 'Bearer',
    expires_at,
    auth_url: authUrl,
  })
  const turns = async (): Promise<void> => {
    for (let count = 0; count < 12; count += 1) await new Promise((resolve) => setImmediate(resolve))
  }

  /** Managers over one store that can fail, whose timers the test goes through one by one. */
  function driven(random = 0.5) {
    const clock = slowClock()
    clock.random = random
    const timers = new Map<object, { readonly milliseconds: number; readonly callback: () => void }>()
    const intervals: number[] = []
    let beats: (() => void)[] = []
    const runtime: Runtime = {
      ...clock.runtime,
      after: (milliseconds, callback) => {
        const key = {}
        timers.set(key, { milliseconds, callback })
        return () => void timers.delete(key)
      },
      every: (milliseconds, callback) => {
        intervals.push(milliseconds)
        beats = [...beats, callback]
        return () => void (beats = beats.filter((beat) => beat !== callback))
      },
      keepAlive: () => () => undefined,
    }
    const { limit: _limit, ...unlimited } = runtime
    const memory = mapStore()
    const state = { down: undefined as string | undefined, sent: 0, reads: 0, most: 0 }
    const failing = async <Value>(operation: () => Promise<Value>): Promise<Value> => {
      if (state.down !== undefined) throw new StoreError(state.down as never, 'x')
      return operation()
    }
    const store = {
      ...memory,
      read: (name: string) =>
        failing(async () => {
          const isAccount = !isOwnRecordName(name)
          if (isAccount) state.reads += 1
          state.most = Math.max(state.most, state.reads)
          await new Promise((resolve) => setImmediate(resolve))
          if (isAccount) state.reads -= 1
          return memory.read(name)
        }),
      swap: (...call: Parameters<typeof memory.swap>) => failing(() => memory.swap(...call)),
    }
    const answers = { next: async (tokens: TokenSet): Promise<TokenSet> => tokensOf(`${tokens.refresh_token}+`) }
    const sso = {
      refresh: async (tokens: TokenSet): Promise<TokenSet> => {
        state.sent += 1
        return answers.next(tokens)
      },
    }
    return {
      clock,
      memory,
      store,
      state,
      answers,
      intervals,
      beat: () => beats.forEach((callback) => callback()),
      manager: (options: Partial<TokenManagerOptions> = {}) =>
        manageTokens({ sso, store, ...options }, unlimited, rules),
      /** The milliseconds of the next timers, each of which is over as soon as it is set. */
      pauses: async (count: number): Promise<number[]> => {
        const found: number[] = []
        for (; found.length < count; await turns()) {
          await turns()
          const [entry] = timers
          if (entry === undefined) return found
          timers.delete(entry[0])
          found.push(entry[1].milliseconds)
          clock.now += entry[1].milliseconds
          entry[1].callback()
        }
        return found
      },
    }
  }
  const doubled = [250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000]

  it.each([
    [0, 0.75],
    [0.5, 1],
  ])(
    'a commit, and what waits in the spool, after 250 ms, twice as long each time, up to 15 s (by chance %d: times %d)',
    async (random, times) => {
      const { manager, memory, state, answers, pauses } = driven(random)
      const spool = mapStore()
      const tokens = manager({ spool })
      await tokens.save('ann', tokensOf('0', start + 1))
      answers.next = async () => {
        state.down = 'unavailable'
        return tokensOf('1')
      }
      const told: unknown[] = []
      tokens.on('unsaved', ({ account, spooled }) => told.push([account, spooled]))
      await tokens.refresh('ann')
      expect(await pauses(8)).toEqual(doubled.map((pause) => pause * times))
      expect(told).toEqual([['ann', true]])
      state.down = undefined
      await pauses(1)
      expect((await memory.read('ann'))?.record).toMatchObject({ tokens: { access_token: 'a 1' } })
      expect(await pauses(1)).toEqual([])
      expect((await spool.read('ann'))?.record).toEqual({ schema: 1, state: 'spooled' })

      // The same of a process that begins with it.
      const before = await memory.read('ann')
      if (before === undefined) throw new Error('nothing is stored')
      const other = driven(random)
      const late = mapStore()
      const first = other.manager({ spool: late, background: false })
      await first.save('ann', tokensOf('0', start + 1))
      other.answers.next = async () => {
        other.state.down = 'unavailable'
        return tokensOf('1')
      }
      const refresh = first.refresh('ann')
      await turns()
      await refresh.catch(() => undefined)
      const next = driven(random)
      next.state.down = 'unavailable'
      next.memory.put('ann', (await other.memory.read('ann')) ?? before)
      const carrying = next.manager({ spool: late })
      const carried: string[] = []
      carrying.on('carried-over', ({ account }) => carried.push(account))
      expect(await next.pauses(8)).toEqual(doubled.map((pause) => pause * times))
      next.state.down = undefined
      await next.pauses(1)
      expect(carried).toEqual(['ann'])
      expect(await next.pauses(1)).toEqual([])
      expect((await next.memory.read('ann'))?.record).toMatchObject({ tokens: { access_token: 'a 1' } })
    },
  )

  it.each([
    [0, 0.75],
    [0.5, 1],
  ])(
    'a sweep after five seconds, twice as long each time, up to a minute (by chance %d: times %d)',
    async (random, times) => {
      const { manager, state, pauses, clock } = driven(random)
      // Loaded before the clock counts.
      await jwtExpiry()
      const told: { phase: string; next_sweep_at: number | undefined; reason: unknown }[] = []
      state.down = 'unavailable'
      const keeper = keepSignedIn(manager(), {
        onSweep: ({ phase, next_sweep_at, error }) =>
          told.push({ phase, next_sweep_at, reason: Reflect.get(Object(error), 'reason') as unknown }),
      })
      const waits = [5000, 10_000, 20_000, 40_000, 60_000, 60_000].map((pause) => pause * times)
      expect(await pauses(6)).toEqual(waits)
      const at = (count: number): number =>
        Math.ceil(start + waits.slice(0, count).reduce((sum, wait) => sum + wait, 0) / 1000)
      expect(told.slice(0, 3)).toEqual(
        [1, 2, 3].map((count) => ({ phase: 'ended', next_sweep_at: at(count), reason: 'unavailable' })),
      )
      const nothing = { accounts: 0, due: 0, refreshed: 0, spared: 0, failed: 0, signInAgain: 0, unreadable: 0 }
      expect(keeper.status()).toEqual({ ...nothing, state: 'waiting', sweeps: 0 })
      // It has swept then, and begins anew with the least.
      state.down = undefined
      told.length = 0
      const began = clock.now
      expect(await pauses(1)).toEqual([60_000 * times])
      await turns()
      expect(told.map(({ phase }) => phase)).toEqual(['started', 'surveyed', 'ended'])
      expect(keeper.status()).toEqual({ ...nothing, state: 'waiting', sweeps: 1 })
      expect(told.at(-1)?.next_sweep_at).toBe(Math.ceil(start + (began + 60_000 * times + 900_000) / 1000))
      state.down = 'unavailable'
      expect((await pauses(2)).at(-1)).toBe(5000 * times)
      state.down = undefined
      const stopped = keeper.stop()
      expect(keeper.stop()).toBe(stopped)
      await stopped
      expect(keeper.status()).toMatchObject({ state: 'stopped' })
    },
  )

  it('a keeper tells that another process sweeps, or that nothing is due yet', async () => {
    const { manager, memory, pauses, clock } = driven()
    await jwtExpiry()
    const record = { schema: 1, state: 'keeper', signs: 0, swept_at: start } as const
    memory.put(keeperRecordName, { version: 1, record: { ...record, holder: { pid: 7 }, at: start } })
    const keeper = keepSignedIn(manager())
    expect(await pauses(1)).toEqual([15_000])
    expect(keeper.status()).toMatchObject({ state: 'elsewhere', sweeps: 0 })
    memory.put(keeperRecordName, { version: 2, record })
    expect(await pauses(2)).toEqual([15_000, 300_000])
    expect(keeper.status()).toMatchObject({ state: 'waiting', sweeps: 0 })
    clock.now = 10_000_000
    await pauses(2)
    expect(keeper.status()).toMatchObject({ state: 'waiting', sweeps: 1 })
    await keeper.stop()
  })

  it('a background refresh that led to nothing after `minRefreshInterval`, 250 ms at the least and a minute at the most', async () => {
    for (const [minRefreshInterval, random, pause] of [
      [0, 0.5, 250],
      [0, 0, 187.5],
      [30, 0.5, 30_000],
      [600, 0.5, 60_000],
    ] as const) {
      const { manager, state, answers, clock, memory } = driven(random)
      const tokens = manager({ minRefreshInterval })
      await tokens.save('ann', tokensOf('0'))
      clock.now = 80_000_000
      answers.next = () => Promise.reject(new UnreachableError('x', { requestSent: false }))
      expect(await tokens.getAccessToken('ann')).toBe('a 0')
      await turns()
      expect([minRefreshInterval, state.sent]).toEqual([minRefreshInterval, 1])
      const read = memory.read.bind(memory)
      let reads = 0
      memory.read = (name) => {
        reads += name === 'ann' ? 1 : 0
        return read(name)
      }
      clock.now = 80_000_000 + Math.ceil(pause) - 1
      await tokens.getAccessToken('ann')
      await turns()
      expect([minRefreshInterval, reads]).toEqual([minRefreshInterval, 0])
      clock.now += 1
      await tokens.getAccessToken('ann')
      await turns()
      expect([minRefreshInterval, reads > 0]).toEqual([minRefreshInterval, true])
    }
  })

  it('the roll is called every 15 seconds, and answered by 16 accounts side by side', async () => {
    const { manager, intervals, beat, state, memory } = driven()
    const tokens = manager()
    expect(intervals).toEqual([15_000])
    for (let index = 0; index < 40; index += 1) await tokens.save(`owner-${index}`, tokensOf(String(index)))
    memory.clear()
    const restored: string[] = []
    tokens.on('restored', ({ account }) => restored.push(account))
    state.most = 0
    beat()
    await turns()
    await turns()
    await turns()
    expect([restored.length, new Set(restored).size]).toEqual([40, 40])
    expect(state.most).toBe(16)
    // Answered: nothing is read again until there is another call.
    const read = memory.read.bind(memory)
    const names: string[] = []
    memory.read = (name) => (names.push(name), read(name))
    beat()
    await turns()
    beat()
    await turns()
    expect(names.filter((name) => name !== rollCallName).length).toBeLessThanOrEqual(40)
    names.length = 0
    beat()
    await turns()
    expect(names).toEqual([rollCallName])
    // A damaged record keeps nobody from having answered; one that can't be read now is looked at again.
    const call = (word: string): void =>
      memory.put(rollCallName, { version: 99, record: { schema: 1, state: 'roll-call', call: word } })
    const looksAfter = async (word: string): Promise<readonly boolean[]> => {
      call(word)
      const looks: boolean[] = []
      for (let count = 0; count < 2; count += 1) {
        names.length = 0
        beat()
        await turns()
        await turns()
        looks.push(names.includes('owner-1'))
      }
      return looks
    }
    memory.put('owner-0', { version: 9, record: { schema: 1, state: 'signed-in' } as never })
    expect(await looksAfter('second')).toEqual([true, false])
    memory.read = async (name) => {
      names.push(name)
      if (name === 'owner-0') throw new StoreError('read-failed', 'x')
      return read(name)
    }
    expect(await looksAfter('third')).toEqual([true, true])
  })

  it('a renewal looks at the record again, and leaves alone what needs none', async () => {
    const { manager, memory } = driven()
    const tokens = manager()
    const renewed = async (isDue = true): Promise<unknown> =>
      renew('ann', () => isDue, contextOf(tokens)).catch((error: unknown) => Reflect.get(Object(error), 'code'))
    expect(await renewed()).toBe('spared')
    await tokens.save('ann', tokensOf('0'))
    expect([await renewed(false), await renewed()]).toEqual(['spared', 'refreshed'])
    expect((await memory.read('ann'))?.record).toMatchObject({ tokens: { access_token: 'a r 0+' } })
    await tokens.forget('ann')
    expect(await renewed()).toBe('spared')
    // Signed out right after that look.
    await tokens.save('bob', tokensOf('1'))
    const read = memory.read.bind(memory)
    let looks = 0
    memory.read = async (name) => {
      if (name === 'bob' && (looks += 1) === 2)
        memory.put('bob', { version: 50, record: { schema: 1, state: 'signed-out', generation: 9 } })
      return read(name)
    }
    expect([await renew('bob', () => true, contextOf(tokens)), looks]).toEqual(['spared', 2])
    const ended = signedIn({ state: 'reauthentication-required', reason: 'other_owner', generation: 9, refreshes: 9 })
    memory.put('ann', { version: 9, record: ended })
    expect(await renewed()).toBe('sign-in-again')
  })

  it.each<[string, Error, number[]]>([
    ['five failures in a row', new UnreachableError('x'), [1, 2, 3, 4, 17, 18, 19, 20]],
    ['one challenge', new FirewallChallengeError(start + 90_000), [13, 14, 15, 16, 17, 18, 19, 20]],
  ])('a single sweep makes eight refreshes at once, and gives up after %s', async (_what, error, failed) => {
    const { manager, clock, answers } = driven()
    const tokens = manager()
    for (let index = 0; index < 20; index += 1) await tokens.save(`a${index}`, tokensOf(String(index), start + 28_800))
    clock.now = 25_200_000
    const flights = { now: 0, most: 0 }
    answers.next = async () => {
      flights.now += 1
      flights.most = Math.max(flights.most, flights.now)
      await turns()
      flights.now -= 1
      throw error
    }
    const told: number[] = []
    await sweepOnce(tokens, { onSweep: (event) => void (event.phase === 'progress' && told.push(event.failed)) })
    expect([flights.most, told]).toEqual([8, failed])
  })

  it('a single sweep goes on at once after a failure where another succeeds', async () => {
    const { manager, clock, answers } = driven()
    const tokens = manager()
    for (let index = 0; index < 20; index += 1) await tokens.save(`a${index}`, tokensOf(String(index), start + 28_800))
    clock.now = 25_200_000
    let sent = 0
    answers.next = async ({ refresh_token }) => {
      if ((sent += 1) === 1) throw new UnreachableError('x')
      await turns()
      return tokensOf(`${refresh_token}+`, start + 54_000)
    }
    expect(await sweepOnce(tokens)).toMatchObject({ swept: true, refreshed: 19, failed: 1 })
  })

  it('a single sweep says what it came to, once for each phase', async () => {
    const { manager, clock, answers, memory } = driven()
    const tokens = manager()
    for (const name of ['ann', 'bob', 'cid', 'dan']) await tokens.save(name, tokensOf(name, start + 28_800))
    await tokens.forget('dan')
    memory.put('eve', { version: 1, record: { schema: 1, state: 'signed-in' } as never })
    clock.now = 25_200_000
    const spent: string[] = []
    answers.next = async ({ refresh_token }) => {
      spent.push(refresh_token)
      if (refresh_token === 'r bob') throw new ReauthenticationRequiredError('refresh_token_rejected')
      if (refresh_token === 'r cid') throw new TokenRejectedError('invalid_client')
      return tokensOf(`${refresh_token}+`, start + 54_000)
    }
    const told: object[] = []
    const result = await sweepOnce(tokens, { onSweep: (event) => told.push({ ...event, error: event.error?.name }) })
    const counts = { accounts: 3, due: 3, refreshed: 1, spared: 0, failed: 1, signInAgain: 1, unreadable: 1 }
    expect(result).toEqual({ swept: true, ...counts })
    expect(spent.toSorted()).toEqual(['r ann', 'r bob', 'r cid'])
    const nothing = { accounts: 0, due: 0, refreshed: 0, spared: 0, failed: 0, signInAgain: 0, unreadable: 0 }
    expect(told[0]).toEqual({ phase: 'started', ...nothing, error: undefined })
    expect(told[1]).toEqual({ phase: 'surveyed', ...nothing, accounts: 3, due: 3, unreadable: 1, error: undefined })
    const progress = told
      .slice(2, -1)
      .map((event) => ['phase', 'account', 'error'].map((field) => String(Reflect.get(event, field))).join(' '))
    expect(progress.toSorted()).toEqual([
      'progress ann undefined',
      'progress bob undefined',
      'progress cid TokenRejectedError',
    ])
    expect(told.at(-1)).toEqual({ phase: 'ended', ...counts, error: undefined })
  })
})

describe('the budget of a host', () => {
  const turns = async (): Promise<void> => {
    for (let count = 0; count < 12; count += 1) await new Promise((resolve) => setImmediate(resolve))
  }

  /** Windows of a second, with two places each. */
  function host(memory: Parameters<typeof shareWindows>[1] = ownMemory(), skew = 0) {
    const clock = slowClock(skew)
    const timers = new Map<object, { readonly milliseconds: number; readonly callback: () => void }>()
    const runtime: Runtime = {
      ...clock.runtime,
      after: (milliseconds, callback) => {
        const key = {}
        timers.set(key, { milliseconds, callback })
        return () => void timers.delete(key)
      },
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

describe('the turn of an account', () => {
  const turns = async (): Promise<void> => {
    for (let count = 0; count < 12; count += 1) await new Promise((resolve) => setImmediate(resolve))
  }

  /** Two places in each 63 seconds. */
  function withBudget() {
    const clock = slowClock()
    let timers: { readonly milliseconds: number; readonly callback: () => void }[] = []
    clock.runtime = {
      ...clock.runtime,
      after: (milliseconds, callback) => {
        const timer = { milliseconds, callback }
        timers.push(timer)
        return () => void (timers = timers.filter((other) => other !== timer))
      },
    }
    const { cache, context } = known(clock)
    const asked: unknown[] = []
    const budget = createRefreshBudget({ perMinute: 4, burst: 2 }, context.store, clock.runtime, () => false)
    const told: unknown[] = []
    Object.assign(context, {
      emit: (...event: unknown[]) => told.push(event),
      background: { outlivesCalls: true },
      budget: {
        ...budget,
        place: (...call: Parameters<typeof budget.place>) => {
          asked.push(call.slice(2))
          return budget.place(...call)
        },
        move: (...call: Parameters<typeof budget.move>) => void asked.push(call),
      },
    })
    return {
      clock,
      cache,
      context,
      asked,
      told,
      taken: async (url = authUrl): Promise<string> => {
        const place = budget.place(url, {}, 'without a token', 5)
        const outcome = place.then(
          () => 'a place',
          () => 'none',
        )
        await turns()
        return outcome
      },
      /** What a place that is being renewed waits for. */
      renewals: () => timers.filter(({ milliseconds }) => milliseconds === 1000),
      nextSecond: async (): Promise<void> => {
        const due = timers.filter(({ milliseconds }) => milliseconds === 1000)
        timers = timers.filter((timer) => !due.includes(timer))
        clock.now += 1000
        for (const { callback } of due) callback()
        await turns()
      },
    }
  }

  it('is waited for once, is good for three seconds, and goes back where another host is asked', async () => {
    const { cache, context, clock, taken } = withBudget()
    const wait = (url = authUrl) => waitForTurn(cache, url, context)
    expect([await wait(), await wait()]).toEqual([true, false])
    expect(cache.turn).toMatchObject({ authUrl, place: { monotonic: 0 } })
    expect([await taken(), await taken()]).toEqual(['a place', 'none'])
    expect([await wait('https://b.example'), await taken(), await taken()]).toEqual([true, 'a place', 'none'])
    clock.now = 2999
    expect(await wait('https://b.example')).toBe(false)
    clock.now = 3000
    expect(await wait('https://b.example')).toBe(true)
    expect(cache.turn).toMatchObject({ authUrl: 'https://b.example', place: { monotonic: 3000 } })
    leaveTurn(cache, context)
    expect([cache.turn, await taken('https://b.example'), await taken('https://b.example')]).toEqual([
      undefined,
      'a place',
      'none',
    ])
    expect(await waitForTurn(cache, authUrl, { ...context, budget: undefined })).toBe(false)
  })

  it('is asked for by who waits, and how urgently', async () => {
    const { cache, context, clock, asked, told, taken } = withBudget()
    const hurried = (): unknown => {
      asked.length = 0
      hurry(cache, context)
      return asked.flat().at(-1)
    }
    cache.inFlight = {} as never
    expect(hurried()).toBe('background')
    cache.callers = 1
    expect(hurried()).toBe('with a token')
    expect(asked).toEqual([[authUrl, cache, 'with a token']])
    clock.now = 30_000_000
    expect(hurried()).toBe('without a token')
    cache.turns = { refused: true, missed: false }
    expect(hurried()).toBe('turned away before')
    cache.inFlight = undefined
    expect([hurried(), asked]).toEqual([undefined, []])

    cache.turns = { refused: false, missed: false }
    await waitForTurn(cache, authUrl, context)
    leaveTurn(cache, context)
    expect(asked).toEqual([['without a token', undefined]])
    cache.callers = 0
    asked.length = 0
    await waitForTurn(cache, authUrl, { ...context, background: { outlivesCalls: false } } as never)
    expect(asked).toEqual([['background', 1000]])
    leaveTurn(cache, context)
    cache.callers = 1
    await taken()
    await taken()
    expect(told).toEqual([])
    await expect(waitForTurn(cache, authUrl, context)).rejects.toMatchObject({ code: 'ERR_SSO_REFRESH_BUDGET' })
    expect([cache.turn, cache.turns.refused]).toEqual([undefined, true])
    expect(told).toEqual([['over-budget', { account: 'ann', auth_url: authUrl, nextAttemptAt: start + 30_000 + 33 }]])
  })

  it('is spent by one request, and has to be good when that is written', async () => {
    const { cache, context, clock, renewals } = withBudget()
    expect(spendTurn(cache, { ...context, budget: undefined }).isGood()).toBe(true)
    expect(spendTurn(cache, context).isGood()).toBe(false)
    for (const [age, isGood] of [
      [2999, true],
      [3000, false],
    ] as const) {
      cache.turns = { refused: false, missed: false }
      await waitForTurn(cache, authUrl, context)
      const spent = spendTurn(cache, context)
      expect([cache.turn, renewals()]).toEqual([undefined, []])
      clock.now += age
      expect([spent.isGood(), cache.turns.missed]).toEqual([isGood, !isGood])
    }
  })

  it('is renewed each second until the request is written, where a connection took too long before', async () => {
    const { cache, context, clock, asked, renewals, nextSecond, taken } = withBudget()
    const missed = async () => {
      cache.turns = { refused: false, missed: true }
      await waitForTurn(cache, authUrl, context)
      asked.length = 0
      return spendTurn(cache, context)
    }
    const spent = await missed()
    await nextSecond()
    expect([asked.length, renewals().length, await taken()]).toEqual([1, 1, 'none'])
    clock.now = 3999
    expect([spent.isGood(), cache.turns.missed]).toEqual([true, false])
    await nextSecond()
    expect([asked.length, renewals()]).toEqual([1, []])
    // Ended while it waits for the next place: whoever is next takes that.
    clock.now = 100_000
    const ended = await missed()
    renewals()[0]?.callback()
    while (asked.length === 0) await Promise.resolve()
    ended.end()
    await turns()
    expect([await taken(), await taken()]).toEqual(['a place', 'none'])
  })
})
