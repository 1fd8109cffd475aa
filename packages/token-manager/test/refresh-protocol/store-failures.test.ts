/** A store that fails, goes back in time or loses everything: what was received is kept, and nothing old is spent. */
import { describe, expect, it } from '@jest/globals'
import { type TokenSet, type TokenStore, UnreachableError } from '../../src/index.ts'
import { account, bench, deferred, heardBy, hours, idle, signedIn } from './harness.ts'

describe('a store that takes its time', () => {
  it.each([
    ['in doubt', true],
    ['never sent', false],
  ])('is waited for where a request is %s: the caller hears of it once the record says so', async (_, requestSent) => {
    const world = bench()
    const written = deferred<void>()
    let isFailed = false
    const swap: TokenStore['swap'] = async (...call) => {
      if (isFailed) await written.promise
      return world.store.swap(...call)
    }
    const tokens = world.process({ store: { ...world.store, swap } })
    await tokens.save(account, world.tokens())
    await world.pass(hours(8))
    world.answer = async () => {
      isFailed = true
      throw new UnreachableError('No answer.', { step: 'refresh', requestSent })
    }
    let told: unknown
    const kept = world.keptAlive
    const call = tokens.getAccessToken(account).catch((error: unknown) => (told = error))
    await world.pass(1000)
    expect([told, world.keptAlive - kept]).toEqual([undefined, 1])
    written.resolve()
    expect(await call).toMatchObject({ code: expect.stringMatching(/^ERR_SSO_/u), requestSent })
    expect(world.keptAlive - kept).toBe(0)
    const { events } = await world.process().history(account)
    expect(events.at(-1)).toMatchObject({ what: requestSent ? 'in-doubt' : 'failed', code: 'UNREACHABLE' })
  })
})

describe('a store that is down', () => {
  it('lets the working token be served, and no refresh be sent', async () => {
    const world = bench()
    const tokens = world.process()
    const failed: unknown[] = []
    tokens.on('refresh-failed', ({ account: name, error }) => failed.push([name, error.code]))
    await tokens.save(account, world.tokens())
    await world.pass(hours(7))
    world.store.down = true
    expect(await tokens.getAccessToken(account)).toBe('a0')
    await idle()
    // Told to the operator, though no caller sees it yet.
    expect(failed).toEqual([[account, 'ERR_SSO_STORE']])
    await world.pass(hours(1))
    await expect(tokens.getAccessToken(account)).rejects.toMatchObject({ code: 'ERR_SSO_STORE', reason: 'unavailable' })
    expect(world.sent).toEqual([])
    world.store.down = false
    expect(await tokens.getAccessToken(account)).toBe('a1')
    failed.length = 0
    await expect(tokens.getAccessToken('stranger')).rejects.toMatchObject({ code: 'ERR_SSO_SIGNED_OUT' })
    expect(failed).toEqual([])
  })

  it('is a store that fails, whatever error of ours it throws: no token set is lost', async () => {
    const world = bench()
    const store: TokenStore = {
      ...world.store,
      swap: async (...call) => {
        if (world.store.down) throw new UnreachableError('simulated')
        return world.store.swap(...call)
      },
    }
    const tokens = world.process({ store })
    await tokens.save(account, world.tokens())
    await world.pass(hours(8))
    world.answer = (...call) => {
      world.store.down = true
      return world.newTokens(...call)
    }
    expect(await tokens.getAccessToken(account)).toBe('a1')
    world.store.down = false
    await world.pass(20_000)
    expect((await world.store.read(account))?.record).toMatchObject({ tokens: { access_token: 'a1' } })
  })

  it('leaves new tokens in memory, where they are served and saved as soon as it is back', async () => {
    const world = bench()
    const [tokens, other] = [world.process(), world.process()]
    const events: string[] = []
    tokens.on('unsaved', ({ error }) => events.push(`unsaved ${error.reason}`))
    await tokens.save(account, world.tokens())
    await world.pass(hours(8))
    world.answer = (...args) => {
      world.store.down = true
      return world.newTokens(...args)
    }
    expect(await tokens.getAccessToken(account)).toBe('a1')
    expect(events).toEqual(['unsaved write-failed'])
    let settled = false
    void tokens.settled().then(() => (settled = true))
    await world.pass(600_000)
    expect(await tokens.getAccessToken(account)).toBe('a1')
    expect(settled).toBe(false)
    world.store.down = false
    // The other process's look counts the intent's life from here, so the commit comes first.
    const waiting = other.getAccessToken(account)
    await world.pass(20_000)
    expect(await waiting).toBe('a1')
    expect(settled).toBe(true)
    expect(world.sent).toEqual(['r0'])
  })

  it.each([
    [0, 0.75],
    [0.5, 1],
    [1, 1.25],
  ])('is tried again after 250 ms, then after twice as long, up to 15 s (random %d)', async (random, factor) => {
    const world = bench()
    const tokens = world.process({}, 0, () => random)
    await tokens.save(account, world.tokens())
    await world.pass(hours(8))
    const { answer, store } = world
    world.answer = (...args) => {
      store.down = true
      return answer(...args)
    }
    await tokens.getAccessToken(account)
    const tried = [world.now()]
    // Each try looks first whether the last one was carried out.
    const read = store.read.bind(store)
    store.read = (name) => {
      tried.push(world.now())
      return read(name)
    }
    await world.pass(70_000)
    const pauses = tried.slice(1).map((at, index) => at - (tried[index] ?? 0))
    expect(pauses.slice(0, 8)).toEqual([250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000].map((ms) => ms * factor))
  })

  it.each([
    [0, 0.5, 250],
    [10, 0, 7500],
    [10, 0.5, 10_000],
    [10, 1, 12_500],
    [120, 0.5, 60_000],
  ])(
    'is asked in the background again after minRefreshInterval %d (random %d), a quarter of a second at the least and a minute at the most',
    async (minRefreshInterval, random, pause) => {
      const world = bench()
      const { store } = world
      const tokens = world.process({ minRefreshInterval }, 0, () => random)
      await tokens.save(account, world.tokens())
      await world.pass(hours(7))
      store.down = true
      let reads = 0
      const read = store.read.bind(store)
      store.read = (name) => {
        reads += 1
        return read(name)
      }
      const readsOfACall = async (): Promise<number> => {
        reads = 0
        expect(await tokens.getAccessToken(account)).toBe('a0')
        await idle()
        return reads
      }
      expect(await readsOfACall()).toBeGreaterThan(0)
      await world.pass(pause - 1)
      expect(await readsOfACall()).toBe(0)
      await world.pass(1)
      expect(await readsOfACall()).toBeGreaterThan(0)
    },
  )

  it('does not use up the life of another process’s intent, which can’t be kept either', async () => {
    const { world, tokens: holder, other: waiter } = await signedIn(hours(8))
    const received = deferred<TokenSet>()
    world.answer = () => received.promise
    const call = holder.getAccessToken(account)
    await idle()
    const waiting = waiter.getAccessToken(account).catch((error: unknown) => error)
    await world.pass(1000)
    world.store.down = true
    received.resolve(world.tokens({ access_token: 'new', refresh_token: 'new' }))
    expect(await call).toBe('new')
    await world.pass(60_000)
    expect(await waiting).toMatchObject({ code: 'ERR_SSO_STORE' })
    world.store.down = false
    const again = waiter.getAccessToken(account)
    await world.pass(20_000)
    expect(await again).toBe('new')
    expect(world.sent).toEqual(['r0'])
  })

  it('is asked about a lost acknowledgement with the same write id', async () => {
    const { world, tokens } = await signedIn(hours(8))
    const swap = world.store.swap.bind(world.store)
    const writes: string[] = []
    world.store.swap = async (...args) => {
      const answer = await swap(...args)
      writes.push(args[3])
      if (writes.length === 2) throw new Error('connection lost')
      return answer
    }
    expect(await tokens.getAccessToken(account)).toBe('a1')
    await world.pass(1000)
    // The intent, the result, and nothing more: the record is found to hold the result already.
    expect(writes).toHaveLength(2)
    expect((await world.store.read(account))?.version).toBe(3)
  })

  it('may have taken a result whose acknowledgement was lost, even where another process went on from it', async () => {
    const world = bench()
    const [one, other] = [world.process({ minRefreshInterval: 0 }), world.process({ minRefreshInterval: 0 })]
    const heard = heardBy(one, 'superseded')
    await one.save(account, world.tokens())
    const swap = world.store.swap.bind(world.store)
    let writes = 0
    world.store.swap = async (...args) => {
      const answer = await swap(...args)
      if ((writes += 1) === 2) throw new Error('connection lost')
      return answer
    }
    await one.refresh(account)
    world.answer = () => new Promise(() => undefined)
    void other.refresh(account)
    await world.pass(1000)
    expect((await world.store.read(account))?.record).toMatchObject({ tokens: { access_token: 'a1' }, intent: {} })
    expect(heard).toEqual([])
    await one.settled()
  })

  it('never makes a process forget tokens that are only in its memory, however many accounts come along', async () => {
    const { world, tokens } = await signedIn(0, { cachedAccounts: 1 })
    world.answer = async (...args) => {
      world.store.down = true
      return world.newTokens(...args)
    }
    await tokens.refresh(account)
    await tokens.getAccessToken('another').catch(() => undefined)
    await tokens.getAccessToken('a third').catch(() => undefined)
    expect(await tokens.getAccessToken(account)).toBe('a1')
    world.store.down = false
    await world.pass(20_000)
    expect(await world.process().getAccessToken(account)).toBe('a1')
  })

  it('nor does a call that began before another account took its place', async () => {
    const { world, tokens } = await signedIn(0, { cachedAccounts: 1 })
    await tokens.save('another', world.tokens({ access_token: 'b0', refresh_token: 's0' }))
    await world.pass(hours(8))
    const read = world.store.read.bind(world.store)
    const late = deferred<void>()
    world.store.read = async (name) => {
      world.store.read = read
      const stored = await read(name)
      await late.promise
      return stored
    }
    const call = tokens.refresh(account).catch(() => undefined)
    await tokens.getAccessToken('another')
    world.answer = async (...args) => {
      world.store.down = true
      return world.newTokens(...args)
    }
    const newest = await tokens.getAccessToken(account)
    await tokens.status('another').catch(() => undefined)
    late.resolve()
    await call
    expect(await tokens.getAccessToken(account)).toBe(newest)
  })

  it('is a typed error without the store’s own words, which might hold a secret', async () => {
    const world = bench()
    const tokens = world.process()
    world.store.read = async () => {
      throw Object.assign(new Error('redis://:password@host refused r0'), { code: 'ECONNREFUSED' })
    }
    const error: unknown = await tokens.getAccessToken(account).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'ERR_SSO_STORE', cause: { code: 'ECONNREFUSED' } })
    expect(`${String(error)} ${JSON.stringify(error)}`).not.toMatch(/password|r0/u)
    await expect(tokens.save(account, world.tokens())).rejects.toMatchObject({ code: 'ERR_SSO_STORE' })
    await expect(tokens.status(account)).rejects.toMatchObject({ code: 'ERR_SSO_STORE' })
  })
})

describe('a store that lost its last writes', () => {
  it('is given the newer tokens back by a process that holds them, and the older are not spent', async () => {
    const { world, tokens: one, other } = await signedIn()
    const before = await world.store.read(account)
    await world.pass(hours(8))
    expect(await one.getAccessToken(account)).toBe('a1')
    rollBack(world.store, before)
    await one.status(account)
    expect(await other.getAccessToken(account)).toBe('a1')
    expect(world.sent).toEqual(['r0'])
  })

  it('during a refresh still gets its result, though it went back to before the tokens that were sent', async () => {
    const { world, tokens } = await signedIn(0, { minRefreshInterval: 0 })
    const before = await world.store.read(account)
    await tokens.refresh(account)
    world.answer = async (...args) => {
      rollBack(world.store, before)
      return world.newTokens(...args)
    }
    await tokens.refresh(account)
    expect(await world.process().getAccessToken(account)).toBe('a2')
    expect(world.sent).toEqual(['r0', 'r1'])
  })

  it.each([
    ['', 0],
    [', nor where it has used the version of that again', 1],
  ])('is not believed about a refresh that another process was seen to begin%s', async (_, further) => {
    const { world, tokens: holder, other: witness } = await signedIn(hours(8))
    const before = await world.store.read(account)
    const received = deferred<TokenSet>()
    world.answer = () => received.promise
    const call = holder.getAccessToken(account)
    await idle()
    const waiting = witness.getAccessToken(account)
    await world.pass(500)
    rollBack(world.store, before && { ...before, version: before.version + further })
    await world.pass(500)
    received.resolve(world.tokens({ access_token: 'new', refresh_token: 'new' }))
    await world.pass(500)
    expect([await call, await waiting]).toEqual(['new', 'new'])
    expect(world.sent).toEqual(['r0'])
  })
})

describe('a store that lost everything', () => {
  it('is told from a sign-out, where it never takes the account back, while the working token is served', async () => {
    const { world, tokens } = await signedIn(hours(7))
    world.store.read = async () => undefined
    expect(await tokens.getAccessToken(account)).toBe('a0')
    await world.pass(hours(1))
    const call = tokens.getAccessToken(account).catch((error: unknown) => error)
    await world.pass(5000)
    expect(await call).toMatchObject({ code: 'ERR_SSO_STORE', reason: 'busy' })
    expect(world.sent).toEqual([])
  })
})

function rollBack(store: ReturnType<typeof bench>['store'], before: Awaited<ReturnType<typeof store.read>>): void {
  if (before !== undefined) store.put(account, before)
}
