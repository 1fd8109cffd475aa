/** What is tried again, and what goes on by itself, each limit at it and one beyond it, each row of a rule and each fact that is told. */
import { describe, expect, it } from '@jest/globals'
import {
  FirewallChallengeError,
  ReauthenticationRequiredError,
  StoreError,
  TokenRejectedError,
  UnreachableError,
} from '../../src/index.ts'
import { keepSignedIn, sweepOnce } from '../../src/keeper/keeper.ts'
import { manageTokens } from '../../src/refresh-protocol/manager.ts'
import type { TokenManagerOptions } from '../../src/tokens/token-manager.ts'
import type { TokenSet } from '../../src/issuer/token-set.ts'
import { jwtExpiry } from '../../src/keeper/need.ts'
import { renew } from '../../src/keeper/renewal.ts'
import { contextOf } from '../../src/refresh-protocol/managed.ts'
import { createRollCall, currentCall } from '../../src/refresh-protocol/roll-call.ts'
import { isOwnRecordName, keeperRecordName, rollCallName } from '../../src/refresh-protocol/record-names.ts'
import { guardStore } from '../../src/refresh-protocol/guarded-store.ts'
import { createAccountMemory } from '../../src/refresh-protocol/account-memory.ts'
import { isDamaged, isOfOneRecord, mayBeOfOneRecord } from '../../src/refresh-protocol/record-failure.ts'
import { allSafe, backgroundOf, landingInCall } from '../../src/refresh-protocol/background.ts'
import { mostConflicts, untilSwapped } from '../../src/refresh-protocol/contention.ts'
import { rules } from '../../src/refresh-protocol/rules.ts'
import { createUnderWay } from '../../src/refresh-protocol/under-way.ts'
import type { Runtime } from '../../src/refresh-protocol/runtime.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { authUrl, slowClock, start, signedIn, timersByHand, turns } from './by-hand.ts'

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
    // Nor can anybody read for ever what was sealed with a key that is gone.
    const sealed = { schema: 1, state: 'sealed', key: 'k', nonce: 'n', sealed: 's' } as const
    memory.put(rollCallName, { version: 11, record: sealed })
    const last = await currentCall(surroundings)
    expect(await memory.read(rollCallName)).toMatchObject({ version: 12, record: { call: last } })
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

  /** Managers over one store that can fail, whose timers the test goes through one by one. */
  function driven(random = 0.5) {
    const clock = slowClock()
    clock.random = random
    const { timers, after } = timersByHand()
    const intervals: number[] = []
    let beats: (() => void)[] = []
    const runtime: Runtime = {
      ...clock.runtime,
      after,
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
