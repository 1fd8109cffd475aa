/** `keepSignedIn`: no account of a store loses its session because nobody called (N3–N8). */
import { getEventListeners } from 'node:events'
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  FirewallChallengeError,
  type Keeper,
  type KeeperEvent,
  keepSignedIn,
  StoreError,
  sweepOnce,
  type TokenManager,
  TokenRejectedError,
  type TokenSet,
  type TokenStore,
  UnreachableError,
} from '../../src/index.ts'
import { type Bench, deferred, hours, idle } from '../refresh-protocol/harness.ts'
import { chance } from '../refresh-protocol/simulation/chance.ts'
import { days, filled, fleet, minutes, nameOf, peakOverMean } from './keeping.ts'

/** What a keeper tells of its sweeps. */
function sweepsOf(tokens: TokenManager): readonly KeeperEvent[] {
  const sweeps: KeeperEvent[] = []
  keepSignedIn(tokens, { onSweep: (event) => sweeps.push(event) })
  return sweeps
}

/** How many of a token manager's listeners were not taken back. */
function listenersOf(tokens: TokenManager): () => number {
  let count = 0
  const on = tokens.on.bind(tokens)
  Object.assign(tokens, {
    on: (...call: Parameters<typeof on>) => {
      const end = on(...call)
      count += 1
      return () => {
        count -= 1
        end()
      }
    },
  })
  return () => count
}

/** A store that can be read, and that refuses to write some records. */
function refusingWrites(
  { store }: Bench,
  isRefused: (name: string) => boolean,
): { store: TokenStore; refused: string[] } {
  const refused: string[] = []
  const swap: TokenStore['swap'] = async (name, ...rest) => {
    if (!isRefused(name)) return store.swap(name, ...rest)
    refused.push(name)
    throw new StoreError('write-failed', 'Not this one.')
  }
  return { store: { ...store, swap }, refused }
}

describe('what is kept (N3)', () => {
  it('keeps all sessions while nobody calls for three lives of a refresh token; without it all of them are lost', async () => {
    const life = days(3)
    const [kept, left] = [await fleet(life), await fleet(life)]
    for (const world of [kept, left]) await world.fill(10)
    const tokens = kept.process()
    keepSignedIn(tokens, { within: 86_400, every: 21_600, refreshTokenLifetime: life / 1000 })
    await kept.pass(days(9))
    await left.pass(days(9))
    for (let index = 0; index < 10; index += 1) {
      expect(await tokens.getAccessToken(nameOf(index))).toMatch(/^a/u)
      await expect(left.process().getAccessToken(nameOf(index))).rejects.toMatchObject({
        code: 'ERR_SSO_REAUTHENTICATION_REQUIRED',
      })
    }
    expect(kept.replays).toBe(0)
    // Two days apart: what is not needed is not asked for. The last one is the call's own.
    expect(Math.max(...kept.refreshes.values())).toBeLessThanOrEqual(6)
  })

  it('goes by the access token where the life of refresh tokens is not told', async () => {
    const world = await filled(20)
    keepSignedIn(world.process())
    await world.pass(hours(5.9))
    expect(world.sent).toHaveLength(0)
    await world.pass(hours(1.5))
    expect(world.refreshes.size).toBe(20)
    expect(world.sent).toHaveLength(20)
  })

  it('goes by the refresh token’s own word where it is a JWT', async () => {
    const world = await fleet()
    const jwt = (exp: number, index: number): string =>
      [{ alg: 'none' }, { exp, index }]
        .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
        .join('.') + `./0`
    await world.fill(4, (index) => ({
      refresh_token: jwt(Math.floor(world.now() / 1000) + (index < 2 ? 3600 : 30 * 86_400), index),
    }))
    keepSignedIn(world.process())
    await world.pass(minutes(50))
    // Due at once, but so young that new ones would change nothing yet.
    expect(world.sent).toHaveLength(0)
    await world.pass(hours(6))
    expect([...world.refreshes.keys()].toSorted()).toEqual([nameOf(0), nameOf(1)])
  })

  it('refreshes tokens that seem to be of the future by more than five minutes: nobody knows how old they are', async () => {
    for (const [ahead, sent] of [
      [minutes(5), 0],
      [minutes(5) + 1000, 1],
    ] as const) {
      const world = await fleet()
      await world.process({}, ahead).save(nameOf(0), world.tokens())
      const run = sweepOnce(world.process())
      await world.pass(1000)
      expect(await run).toMatchObject({ refreshed: sent })
    }
  })

  it('takes those whose session ends first before the others', async () => {
    const world = await fleet()
    await world.fill(40, (index) => ({
      expires_at: Math.floor(world.now() / 1000) + 8 * 3600 - ((index * 17) % 40) * 60,
    }))
    await world.pass(hours(7))
    const sent: string[] = []
    const answer = world.answer
    world.answer = async (tokens, options) => {
      sent.push(tokens.refresh_token)
      return answer(tokens, options)
    }
    keepSignedIn(world.process())
    await world.pass(hours(1))
    const order = sent.map((token) => (Number(/owner-(\d+)/u.exec(token)?.[1]) * 17) % 40)
    expect(order).toEqual(order.toSorted((one, other) => other - one))
    expect(order).toHaveLength(40)
  })

  it('leaves alone what others refresh, and who signs out; notices who signs in', async () => {
    const world = await filled(30)
    const tokens = world.process()
    const sweeps = sweepsOf(tokens)
    await world.pass(hours(5.95))
    const other = world.process()
    for (let index = 0; index < 10; index += 1) await other.refresh(nameOf(index))
    for (let index = 10; index < 20; index += 1) await other.forget(nameOf(index))
    await other.save('new@example.com', world.tokens({ access_token: 'n', refresh_token: 'r-new/0' }))
    await world.pass(hours(1.4))
    expect(Math.max(...world.refreshes.values())).toBe(1)
    expect(world.replays).toBe(0)
    expect(sweeps.at(-1)).toMatchObject({ accounts: 21 })
  })

  it('takes any name for what it is, and passes over what it can’t read', async () => {
    const world = await fleet()
    const names = ['__proto__', 'constructor', 'a\nb', '\u202e', ' ', 'ä'.repeat(500), '../../etc', '*', 'owner:x']
    const saver = world.process()
    for (const [index, name] of names.entries())
      await saver.save(name, world.tokens({ access_token: `x${index}`, refresh_token: `r-x${index}/0` }))
    world.store.put('broken', { version: 1, record: JSON.parse('{"schema":1,"state":"signed-in"}') })
    const sweeps = sweepsOf(world.process())
    await world.pass(hours(7.2))
    expect(world.sent).toHaveLength(names.length)
    expect(sweeps.at(-1)).toMatchObject({ accounts: names.length, unreadable: 1 })
  })
})

describe('the pace (N4)', () => {
  it('is even for any number of accounts and any chance: at most 1.3 times the mean, over half of the window', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 90, max: 150 }), fc.integer({ min: 1, max: 1e9 }), async (count, seed) => {
        const world = await fleet()
        await world.fill(count)
        keepSignedIn(world.process({}, 0, chance(seed)))
        await world.pass(hours(7.6))
        expect(world.refreshes.size).toBe(count)
        expect(peakOverMean(world.sentAt, minutes(10))).toBeLessThanOrEqual(1.3)
        expect((Math.max(...world.sentAt) - Math.min(...world.sentAt)) / minutes(1)).toBeGreaterThan(50)
      }),
      { numRuns: 3 },
    )
  })

  it('where more are due than the ten thousand that a sweep knows by name, it leaves the rest to the next, which is due at once', async () => {
    const world = await filled(1)
    const { record } = (await world.store.read(nameOf(0))) ?? {}
    await world.pass(hours(6.5))
    // Each is due when it is first looked at, and was refreshed elsewhere by its turn.
    const seen = new Set<string>()
    const store: TokenStore = {
      ...world.store,
      async read(name) {
        if (name.startsWith('owner-sso:') || record?.state !== 'signed-in') return world.store.read(name)
        const obtained_at = seen.has(name) ? world.now() / 1000 : record.obtained_at
        seen.add(name)
        return { version: 1, record: { ...record, obtained_at } }
      },
      async *accounts() {
        for (let index = 0; index < 10_001; index += 1) yield nameOf(index)
      },
    }
    expect(await sweepOnce(world.process({ store }))).toMatchObject({ due: 10_001, spared: 10_000 })
    seen.clear()
    const phases: string[] = []
    await using _ = keepSignedIn(world.process({ store }), { onSweep: ({ phase }) => phases.push(phase) })
    await idle()
    expect(phases.slice(0, 2)).toEqual(['started', 'surveyed'])
  })

  it('makes no storm of a clock that jumps by a day and back', async () => {
    const world = await filled(40)
    keepSignedIn(world.process())
    await world.pass(hours(1))
    world.jump(days(1))
    await world.pass(hours(1))
    world.jump(-days(1))
    await world.pass(hours(5))
    expect(Math.max(...world.refreshes.values())).toBeLessThanOrEqual(2)
    expect(peakOverMean(world.sentAt.slice(0, 40), minutes(2))).toBeLessThanOrEqual(1.5)
  })

  it('asks a service in trouble by one account at a time, with growing pauses, and goes on when it is well', async () => {
    const world = await filled(60)
    const { answer } = world
    let failed = 0
    world.answer = async () => {
      failed += 1
      throw new UnreachableError('No answer.', { step: 'refresh', requestSent: false })
    }
    keepSignedIn(world.process())
    await world.pass(hours(7))
    expect(failed).toBeGreaterThan(2)
    expect(failed).toBeLessThan(25)
    world.answer = answer
    await world.pass(hours(1.5))
    expect(world.refreshes.size).toBe(60)
    expect(world.replays).toBe(0)
  })

  it('stays inside the request budget, behind those who wait', async () => {
    const world = await filled(40, hours(9))
    const tokens = world.process({ requestBudget: { perMinute: 6, burst: 1 } })
    keepSignedIn(tokens, { within: 60, every: 15 })
    await world.pass(minutes(1))
    const caller = tokens.getAccessToken(nameOf(39))
    await world.pass(minutes(1))
    expect(await caller).toMatch(/^a\d/u)
    await world.pass(minutes(10))
    expect(world.refreshes.size).toBe(40)
    for (const from of world.sentAt) {
      expect(world.sentAt.filter((at) => at >= from && at < from + minutes(1)).length).toBeLessThanOrEqual(6)
    }
  })

  it.each([
    [0, 50],
    [-days(1), 40],
  ])('waits while the firewall blocks, as long as that says, though the clock jumps by %i ms', async (jump, least) => {
    const world = await filled(50)
    const { answer } = world
    let asked = 0
    world.answer = async () => {
      asked += 1
      throw new FirewallChallengeError(Math.ceil(world.now() / 1000) + 3600, { step: 'refresh', requestSent: true })
    }
    keepSignedIn(world.process())
    await world.pass(hours(6.9))
    expect(asked).toBe(1)
    world.answer = answer
    world.jump(jump)
    await world.pass(hours(2))
    expect(world.refreshes.size).toBeGreaterThanOrEqual(least)
  })
})

it.each([0, 1])(
  'a sweep that lasts until the next one is due is followed by it at once (clock: %i ms)',
  async (skew) => {
    const world = await filled(1, hours(7))
    world.answer = () =>
      Promise.reject(
        new FirewallChallengeError(Math.ceil(world.now() / 1000) + 3600, { step: 'refresh', requestSent: true }),
      )
    const events: (KeeperEvent & { readonly at: number })[] = []
    keepSignedIn(world.process({}, skew), { onSweep: (event) => events.push({ ...event, at: world.now() }) })
    await world.pass(minutes(16))
    const [started, , ended] = events
    expect(ended).toMatchObject({ phase: 'ended', at: (started?.at ?? 0) + minutes(15) })
    expect(ended?.next_sweep_at).toBe(Math.ceil(((ended?.at ?? 0) + skew) / 1000))
  },
)

describe('one process of many (N5)', () => {
  it('sweeps: three keepers refresh each account once, and read no more than one would', async () => {
    const world = await filled(60)
    let reads = 0
    const read = world.store.read.bind(world.store)
    world.store.read = (name) => {
      if (!name.startsWith('owner-sso:')) reads += 1
      return read(name)
    }
    const keepers = [1, 2, 3].map(() => keepSignedIn(world.process()))
    await world.pass(hours(5.7))
    // A sweep each quarter of an hour, one read of each account.
    expect(reads).toBeLessThanOrEqual(60 * 24)
    await world.pass(hours(1.8))
    expect(world.refreshes.size).toBe(60)
    expect(Math.max(...world.refreshes.values())).toBe(1)
    await Promise.all(keepers.map((keeper) => keeper.stop()))
  })

  it.each(['dies', 'freezes'])(
    'another takes over when it %s in the middle, and nothing is sent twice',
    async (how) => {
      const world = await filled(100)
      const gone = { is: false, thaw: () => undefined as void }
      const thawed = new Promise<void>((resolve) => (gone.thaw = resolve))
      const whileThere = async <Value>(operation: () => Promise<Value>): Promise<Value> => {
        if (gone.is) await thawed
        return operation()
      }
      const store = {
        ...world.store,
        read: (name: string) => whileThere(() => world.store.read(name)),
        swap: (...args: Parameters<typeof world.store.swap>) => whileThere(() => world.store.swap(...args)),
      }
      await world.pass(hours(6))
      const holder = world.process({ store })
      const first = keepSignedIn(holder)
      await world.pass(minutes(10))
      const before = world.refreshes.size
      expect(before).toBeGreaterThan(5)
      expect(before).toBeLessThan(60)
      gone.is = true
      if (how === 'dies') world.liveness.set(2, 'dead')
      const second = sweepsOf(world.process())
      await world.pass(how === 'dies' ? minutes(1) : minutes(2))
      expect(second).toMatchObject([{ phase: 'started' }, { phase: 'surveyed' }, ...second.slice(2)])
      expect(second.at(-1)).toMatchObject({ phase: expect.not.stringContaining('ended') })
      await world.pass(hours(1.2))
      expect(world.refreshes.size).toBe(100)
      gone.is = false
      gone.thaw()
      await world.pass(hours(0.5))
      await first.stop()
      expect(Math.max(...world.refreshes.values())).toBe(1)
      expect(world.replays).toBe(0)
    },
  )

  it.each([2, -2, 0.1])('make one sweep each interval, with clocks that are %d hours apart', async (apart) => {
    const world = await filled(3)
    let sweeps = 0
    const onSweep = ({ phase }: KeeperEvent): void => void (sweeps += phase === 'started' ? 1 : 0)
    const first = keepSignedIn(world.process(), { onSweep })
    await world.pass(minutes(1))
    keepSignedIn(world.process({}, hours(apart)), { onSweep })
    await world.pass(hours(4))
    // One each quarter of an hour, and one where a process has just started and knows no better.
    expect(sweeps).toBeGreaterThanOrEqual(12)
    expect(sweeps).toBeLessThanOrEqual(18)
    // The other one goes on at the same pace.
    await first.stop()
    sweeps = 0
    await world.pass(hours(1))
    expect(sweeps).toBeGreaterThanOrEqual(3)
    expect(sweeps).toBeLessThanOrEqual(5)
  })
})

describe('trouble (N6)', () => {
  it('a store that is down in the middle of a sweep ends it with an error, and the next one does the rest', async () => {
    const world = await filled(50)
    const events: (KeeperEvent & { readonly at: number })[] = []
    keepSignedIn(world.process(), { onSweep: (event) => events.push({ ...event, at: world.now() / 1000 }) })
    await world.pass(hours(6.3))
    const [started, , ended] = events
    // The next one is told for what it is: a quarter of an hour after this one began, or a growing pause after an error.
    expect([started?.phase, ended?.phase]).toEqual(['started', 'ended'])
    expect(ended?.next_sweep_at).toBe(Math.ceil((started?.at ?? 0) + 900))
    world.store.down = true
    await world.pass(minutes(20))
    const failures = events.filter(({ phase, error }) => phase === 'ended' && error !== undefined)
    expect(failures[0]?.error).toMatchObject({ code: 'ERR_SSO_STORE' })
    const pauses = failures.map(({ at, next_sweep_at = 0 }) => next_sweep_at - Math.ceil(at))
    expect(pauses.slice(0, 6)).toEqual([5, 10, 20, 40, 60, 60])
    world.store.down = false
    await world.pass(hours(1.3))
    expect(world.refreshes.size).toBe(50)
    expect(world.replays).toBe(0)
  })

  it('one account whose record can’t be written keeps nobody else from its turn', async () => {
    const world = await filled(30, hours(6.2))
    const { store } = refusingWrites(world, (name) => name === nameOf(0) || name === nameOf(7))
    const events: KeeperEvent[] = []
    await using keeper = keepSignedIn(world.process({ store }), { onSweep: (event) => events.push(event) })
    await world.pass(hours(1.7))
    await keeper.stop()
    expect(world.refreshes.size).toBe(28)
    const failed = events.filter(({ phase, error }) => phase === 'progress' && error !== undefined)
    expect(new Set(failed.map(({ account }) => account))).toEqual(new Set([nameOf(0), nameOf(7)]))
    expect(failed[0]?.error).toMatchObject({ reason: 'write-failed' })
    expect(events.filter(({ phase, error }) => phase === 'ended' && error !== undefined)).toEqual([])
    const once = sweepOnce(world.process({ store }))
    await world.pass(minutes(1))
    expect(await once).toMatchObject({ swept: true, due: 2, failed: 2 })
  })

  it('nor does one whose new tokens can’t be stored; stop() waits for them', async () => {
    const world = await filled(30, hours(6.2))
    let isRefused = true
    const { store } = refusingWrites(world, (name) => {
      return isRefused && name === nameOf(0) && world.refreshes.has(name)
    })
    const tokens = world.process({ store })
    const keeper = keepSignedIn(tokens)
    await world.pass(hours(1.7))
    expect(world.refreshes.size).toBe(30)
    let isStopped = false
    const stopped = keeper.stop().then(() => (isStopped = true))
    await world.pass(minutes(1))
    expect(isStopped).toBe(false)
    isRefused = false
    await world.pass(minutes(1))
    await stopped
    expect(await world.process().status(nameOf(0))).toMatchObject({ state: 'valid' })
    expect(world.replays).toBe(0)
  })

  it('a store that takes no writes at all is given up after those that are under way', async () => {
    const world = await filled(100, hours(6.2))
    let isFull = false
    const { store, refused } = refusingWrites(world, () => isFull)
    const { answer } = world
    world.answer = (...call) => {
      isFull = true
      return answer(...call)
    }
    const run = sweepOnce(world.process({ store, background: false }))
    const [[ended]] = await Promise.all([Promise.allSettled([run]), world.pass(minutes(2))])
    expect(ended).toMatchObject({ status: 'rejected', reason: { code: 'ERR_SSO_STORE', reason: 'write-failed' } })
    expect(new Set(refused.filter((name) => !name.startsWith('owner-sso:'))).size).toBeLessThanOrEqual(16)
    expect(world.sent.length).toBeLessThanOrEqual(8)
  })

  it('who has to sign in again is told once, and asked no more', async () => {
    const world = await fleet(hours(1))
    await world.fill(3)
    const tokens = world.process()
    const accounts: string[] = []
    tokens.on('reauthentication-required', ({ account }) => accounts.push(account))
    const sweeps: KeeperEvent[] = []
    await using keeper = keepSignedIn(tokens, { onSweep: (event) => sweeps.push(event) })
    await world.pass(hours(12))
    expect(accounts.toSorted()).toEqual([0, 1, 2].map(nameOf))
    expect(world.sent).toHaveLength(3)
    expect(sweeps.at(-1)).toMatchObject({ signInAgain: 3, accounts: 0 })
    const elsewhere = world.process()
    const heard: string[] = []
    elsewhere.on('reauthentication-required', ({ account }) => heard.push(account))
    await keeper.stop()
    keepSignedIn(elsewhere)
    await world.pass(hours(3))
    expect(heard.toSorted()).toEqual([0, 1, 2].map(nameOf))
  })

  it('what is in doubt keeps its time: no replay while the access token works', async () => {
    const world = await filled(1)
    const { answer } = world
    world.answer = async (tokens, options) => {
      await answer(tokens, options)
      throw new UnreachableError('The answer is lost.', { step: 'refresh', requestSent: true })
    }
    keepSignedIn(world.process(), { within: 4 * 3600 })
    await world.pass(hours(7.5))
    expect(world.sent).toHaveLength(1)
    await world.pass(hours(1.2))
    expect(world.sent.length).toBeGreaterThan(1)
  })
})

describe('the end (N7)', () => {
  it('stop() waits for what is under way, and begins nothing more', async () => {
    const world = await filled(10)
    const tokens = world.process()
    const { answer } = world
    const slow = deferred<TokenSet>()
    const asked: Parameters<typeof answer>[] = []
    world.answer = (...args) => {
      asked.push(args)
      return slow.promise
    }
    const keeper = keepSignedIn(tokens)
    for (; asked[0] === undefined; await world.pass(minutes(1)));
    let stopped = false
    const end = keeper.stop().then(() => void (stopped = true))
    await world.pass(minutes(1))
    expect(stopped).toBe(false)
    slow.resolve(await answer(...asked[0]))
    await world.pass(1000)
    await end
    const sent = world.sent.length
    await world.pass(hours(3))
    expect(world.sent).toHaveLength(sent)
    // Its claim is given up: another process needs no minute to see that.
    expect(await Promise.race([sweepOnce(world.process()), world.pass(1000)])).toMatchObject({ swept: true })
  })

  it('stop() ends the look at the accounts too', async () => {
    const world = await filled(40)
    let reads = 0
    const read = world.store.read.bind(world.store)
    world.store.read = (name) => {
      if (!name.startsWith('owner-sso:')) reads += 1
      void keeper?.stop()
      return read(name)
    }
    const phases: string[] = []
    let keeper: Keeper | undefined
    const tokens = world.process()
    await world.pass(1000)
    const first = deferred<void>()
    const onSweep = ({ phase }: KeeperEvent): void => {
      phases.push(phase)
      first.resolve()
    }
    const kept = keepSignedIn(tokens, { onSweep })
    await first.promise
    keeper = kept
    await kept.stop()
    expect(phases).toEqual(['started', 'ended'])
    expect(reads).toBeLessThanOrEqual(16)
  })

  it('stop() leaves no listener behind, and keeps the process alive no longer; nor does a single sweep', async () => {
    const world = await filled(1)
    const tokens = world.process()
    const listeners = listenersOf(tokens)
    const before = world.keptAlive
    const keeper = keepSignedIn(tokens)
    await world.pass(minutes(1))
    expect([listeners(), world.keptAlive - before]).toEqual([1, 1])
    await keeper.stop()
    expect([listeners(), world.keptAlive - before]).toEqual([0, 0])
    const { signal } = new AbortController()
    const run = sweepOnce(tokens, { signal })
    expect([listeners(), world.keptAlive - before, getEventListeners(signal, 'abort').length]).toEqual([1, 1, 1])
    await world.pass(1000)
    await run
    expect([listeners(), world.keptAlive - before, getEventListeners(signal, 'abort').length]).toEqual([0, 0, 0])
  })

  it('settled() holds it back, and it goes on afterwards', async () => {
    const world = await filled(10)
    const tokens = world.process()
    const { answer } = world
    const slow = deferred<TokenSet>()
    const asked: Parameters<typeof answer>[] = []
    world.answer = (...args) => {
      asked.push(args)
      return slow.promise
    }
    keepSignedIn(tokens)
    for (; asked[0] === undefined; await world.pass(minutes(1)));
    const end = tokens.settled()
    await idle()
    const { length } = world.sent
    await world.pass(minutes(30))
    expect(world.sent).toHaveLength(length)
    world.answer = answer
    slow.resolve(await answer(...asked[0]))
    await end
    await world.pass(hours(1.5))
    expect(world.refreshes.size).toBe(10)
  })
})

describe('sweepOnce (N8)', () => {
  it('refreshes what is due, also where nothing may go on in the background, and says what it came to', async () => {
    const world = await filled(40, hours(6.5))
    const run = sweepOnce(world.process({ background: false }))
    await world.pass(1000)
    expect(await run).toMatchObject({ swept: true, accounts: 40, due: 40, refreshed: 40, failed: 0 })
    expect(world.timers()).toBeLessThanOrEqual(1)
  })

  it('leaves it to another process that is at it, also where its clock is five minutes off', async () => {
    const world = await filled(40)
    keepSignedIn(world.process())
    await world.pass(hours(6.3))
    for (const off of [0, minutes(5), -minutes(5)]) {
      expect(await sweepOnce(world.process({}, off))).toMatchObject({ swept: false, accounts: 0 })
    }
  })

  it('takes over from a process that was killed on another host', async () => {
    const world = await filled(40, hours(6.5))
    let isGone = false
    const whileThere = async <Value>(operation: () => Promise<Value>): Promise<Value> => {
      if (isGone) await new Promise(() => undefined)
      return operation()
    }
    const store = {
      ...world.store,
      read: (name: string) => whileThere(() => world.store.read(name)),
      swap: (...args: Parameters<typeof world.store.swap>) => whileThere(() => world.store.swap(...args)),
    }
    keepSignedIn(world.process({ store }))
    await world.pass(1000)
    isGone = true
    await world.pass(hours(1))
    const run = sweepOnce(world.process())
    await world.pass(minutes(2))
    expect(await run).toMatchObject({ swept: true, accounts: 40 })
  })

  it('fails where the store can’t list its accounts, and goes on where one of them can’t be read', async () => {
    const world = await filled(3, hours(6.5))
    const listing = (reason: 'unavailable' | 'corrupt'): TokenStore => ({
      ...world.store,
      async *accounts() {
        yield nameOf(0)
        throw new StoreError(reason, 'This can’t be listed.')
      },
    })
    const ends: unknown[] = []
    for (const reason of ['unavailable', 'corrupt'] as const) {
      sweepOnce(world.process({ store: listing(reason) })).then(
        (result) => ends.push(result),
        (error: unknown) => ends.push(error),
      )
      await world.pass(minutes(2))
    }
    expect(ends).toMatchObject([
      { code: 'ERR_SSO_STORE', reason: 'unavailable' },
      { accounts: 1, refreshed: 1 },
    ])
  })

  it.each([
    ['nothing may outlive a call', { background: false }],
    ['the platform is handed what goes on', { waitUntil: () => undefined }],
  ])('where %s it waits ten seconds for the store, as every call does', async (_, options) => {
    const world = await filled(1, hours(6.5))
    const { answer } = world
    world.answer = (...call) => {
      world.store.down = true
      return answer(...call)
    }
    let ended: unknown
    sweepOnce(world.process(options)).then(
      (result) => (ended = result),
      (error: unknown) => (ended = error),
    )
    await world.pass(minutes(1))
    expect(ended).toMatchObject({ refreshed: 1 })
  })

  it.each([
    ['in doubt', new Error('503')],
    [
      'that was rejected',
      new TokenRejectedError('invalid_request', { step: 'refresh', requestSent: true, status: 400 }),
    ],
  ])('takes no account %s, whose next request has its time, for a service that fails', async (_state, error) => {
    const world = await filled(8)
    await world.pass(minutes(1))
    await world.process().save('one more', world.tokens({ refresh_token: 'one more' }))
    await world.pass(hours(6.7))
    const { answer } = world
    world.answer = () => Promise.reject(error)
    const first = world.process()
    for (let index = 0; index < 8; index += 1) await first.refresh(nameOf(index)).catch(() => undefined)
    world.answer = answer
    const run = sweepOnce(world.process())
    await world.pass(1000)
    expect(await run).toMatchObject({ due: 9, refreshed: 1, failed: 8 })
  })

  it('ends once the new tokens are safe', async () => {
    const world = await filled(1, hours(6.5))
    let isRefused = true
    const { store } = refusingWrites(world, (name) => isRefused && world.refreshes.has(name))
    let isEnded = false
    const run = sweepOnce(world.process({ store })).finally(() => (isEnded = true))
    await world.pass(minutes(1))
    expect([world.refreshes.size, isEnded]).toEqual([1, false])
    isRefused = false
    await world.pass(minutes(1))
    expect(await run).toMatchObject({ swept: true })
    expect(await world.process().status(nameOf(0))).toMatchObject({ state: 'valid' })
  })

  it('has eight requests under way at the most, and gives up after five failures in a row', async () => {
    const world = await filled(20, hours(6.5))
    const answers: ReturnType<typeof deferred<TokenSet>>[] = []
    world.answer = () => {
      const answer = deferred<TokenSet>()
      answers.push(answer)
      return answer.promise
    }
    const failing = async (count: number): Promise<number> => {
      for (const answer of answers.splice(0, count))
        answer.reject(new UnreachableError('No answer.', { step: 'refresh', requestSent: false }))
      await world.pass(minutes(5))
      return world.sent.length
    }
    const run = sweepOnce(world.process())
    expect([await failing(0), await failing(4), await failing(1), await failing(20)]).toEqual([8, 12, 12, 12])
    expect(await run).toMatchObject({ refreshed: 0, failed: 20 })
  })

  it('goes on at its pace once the service answers again', async () => {
    const world = await filled(40, hours(6.5))
    const { answer } = world
    world.answer = () => {
      world.answer = answer
      return Promise.reject(new UnreachableError('No answer.', { step: 'refresh', requestSent: false }))
    }
    const run = sweepOnce(world.process())
    await world.pass(minutes(1))
    expect(world.sent).toHaveLength(40)
    expect(await run).toMatchObject({ refreshed: 39, failed: 1 })
  })

  it('does not take who signed out meanwhile for an answer of the service', async () => {
    const world = await filled(40, hours(6.5))
    world.answer = () => Promise.reject(new UnreachableError('No answer.', { step: 'refresh', requestSent: false }))
    const other = world.process()
    let isSurveyed = false
    const read = async (name: string): ReturnType<TokenStore['read']> => {
      if (isSurveyed && /[13579]@/u.test(name)) await other.forget(name)
      return world.store.read(name)
    }
    const onSweep = ({ phase }: KeeperEvent): void => void (isSurveyed ||= phase === 'surveyed')
    const run = sweepOnce(world.process({ store: { ...world.store, read } }), { onSweep })
    await world.pass(hours(1))
    expect(await run).toMatchObject({ refreshed: 0 })
    expect(world.sent.length).toBeLessThanOrEqual(8)
  })

  it('waits for places in the budget, but not for a firewall that blocks for an hour', async () => {
    const world = await filled(20, hours(6.5))
    const { answer } = world
    world.answer = () =>
      Promise.reject(
        new FirewallChallengeError(Math.ceil(world.now() / 1000) + 3600, { step: 'refresh', requestSent: true }),
      )
    const blocked = sweepOnce(world.process())
    await world.pass(minutes(1))
    expect(await blocked).toMatchObject({ refreshed: 0, failed: 20 })
    expect(world.sent.length).toBeLessThanOrEqual(8)
    await world.pass(hours(1))
    world.answer = answer
    const run = sweepOnce(world.process({ requestBudget: { perMinute: 6, burst: 1 } }))
    await world.pass(minutes(6))
    expect(await run).toMatchObject({ refreshed: 20, failed: 0 })
  })

  it('reads sixteen accounts side by side, and no more', async () => {
    const world = await filled(40)
    let [open, most] = [0, 0]
    const read = world.store.read.bind(world.store)
    world.store.read = async (name) => {
      if (name.startsWith('owner-sso:')) return read(name)
      open += 1
      most = Math.max(most, open)
      return read(name).finally(() => (open -= 1))
    }
    const run = sweepOnce(world.process())
    await world.pass(1000)
    expect(await run).toMatchObject({ accounts: 40, due: 0 })
    expect(most).toBe(16)
  })
})

describe('mistakes', () => {
  it.each([
    [{ within: 0 }, /within/u],
    [{ within: Number.NaN }, /within/u],
    [{ within: 3600, every: 1800 }, /every must be at most a quarter/u],
    [{ within: Infinity }, /within/u],
    [{ every: 0 }, /every/u],
    [{ refreshTokenLifetime: -1 }, /refreshTokenLifetime/u],
    [JSON.parse('{"onSweep":7}'), /onSweep/u],
    [{ within: 7200, refreshTokenLifetime: 3600 }, /within must be less than refreshTokenLifetime/u],
  ])('%j is a TypeError that names it', async (options, message) => {
    const world = await fleet()
    expect(() => keepSignedIn(world.process(), options)).toThrow(message)
  })

  it('so are a manager of somebody else’s, a store that can’t list, and one that nothing may go on in', async () => {
    const world = await fleet()
    const unlisted: TokenStore = { read: async () => undefined, swap: async () => ({ conflict: true }) }
    expect(() => keepSignedIn({ ...world.process() })).toThrow(/tokens must be/u)
    expect(() => keepSignedIn(world.process({ store: unlisted }))).toThrow(/cannot list/u)
    expect(() => keepSignedIn(world.process({ background: false }))).toThrow(/sweepOnce/u)
  })
})
