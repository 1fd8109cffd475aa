/** Clocks that jump and services that say odd things about time: no storm, no early end, no live intent killed (B-F). */
import { describe, expect, it } from '@jest/globals'
import type { TokenSet } from '../../src/index.ts'
import { account, type Bench, bench, deferred, hours, idle, signedIn } from './harness.ts'

const day = hours(24)

/** A caller each minute of so many hours. Returns how many requests it came to. */
async function live(world: Bench, tokens: ReturnType<Bench['process']>, duration: number): Promise<number> {
  const before = world.sent.length
  for (let minute = 0; minute < duration / 60_000; minute += 1) {
    await tokens.getAccessToken(account)
    await world.pass(60_000)
  }
  return world.sent.length - before
}

describe('a clock that jumps (F1)', () => {
  it.each([hours(1), -hours(1), day, -day, 3652 * day, -3652 * day])(
    'by %i ms costs one refresh at most',
    async (jump) => {
      const { world, tokens } = await signedIn(hours(1))
      await tokens.getAccessToken(account)
      world.jump(jump)
      expect(await live(world, tokens, hours(4))).toBeLessThanOrEqual(1)
      world.jump(-jump)
      expect(await live(world, tokens, hours(8))).toBeLessThanOrEqual(3)
    },
  )

  it('does not make an old token young: the other clock still counts', async () => {
    const { world, tokens } = await signedIn(hours(5))
    await tokens.getAccessToken(account)
    world.jump(-day)
    await world.pass(hours(3))
    expect(await tokens.getAccessToken(account)).toBe('a1')
  })

  it('back by less than the token is old is noticed as well', async () => {
    const { world, tokens } = await signedIn()
    await tokens.getAccessToken(account)
    await world.pass(hours(3))
    world.jump(-hours(2.9))
    expect(await tokens.getAccessToken(account)).toBe('a0')
    await world.pass(hours(5.2))
    expect(await tokens.getAccessToken(account)).toBe('a1')
  })

  it('of a suspended machine makes the token as old as it is', async () => {
    const { world, tokens } = await signedIn()
    await tokens.getAccessToken(account)
    world.jump(hours(8))
    expect(await tokens.getAccessToken(account)).toBe('a1')
  })

  it.each([600_000, -600_000, day, -day])('or is off by %i ms on another host kills no live intent', async (skew) => {
    const world = bench()
    const [holder, other] = [world.process(), world.process({}, skew)]
    await holder.save(account, world.tokens())
    await world.pass(hours(8) + Math.max(0, -skew))
    const reply = deferred<TokenSet>()
    world.answer = () => reply.promise
    const call = holder.getAccessToken(account)
    await idle()
    const waiting = other.getAccessToken(account)
    await world.pass(29_000)
    world.jump(day)
    await world.pass(1000)
    expect(world.sent).toEqual(['r0'])
    reply.resolve(world.tokens({ access_token: 'new', refresh_token: 'new' }))
    await world.pass(1000)
    expect([await call, await waiting]).toEqual(['new', 'new'])
  })

  it('or is off by ten minutes on another host costs no further refresh', async () => {
    const world = bench()
    const processes = [world.process(), world.process({}, 600_000), world.process({}, -600_000)]
    await processes[0]?.save(account, world.tokens())
    for (let minute = 0; minute < 24 * 60; minute += 1) {
      for (const tokens of processes) await tokens.getAccessToken(account)
      await world.pass(60_000)
    }
    expect(world.sent.length).toBeLessThanOrEqual(4)
  })
})

describe('what a service says about the life of its tokens (F2)', () => {
  it.each([2700, 45_000, 0, -1, 28_800, 1e12])('%i seconds: no storm', async (life) => {
    const { world, tokens } = await signedIn()
    world.answer = async (...args) => ({ ...(await world.newTokens(...args)), expires_at: world.now() / 1000 + life })
    await tokens.refresh(account)
    expect(await live(world, tokens, hours(8))).toBeLessThanOrEqual(16)
  })
})

describe('a fleet', () => {
  it('refreshes its accounts at moments that are spread evenly over a fifth of `refreshAfter` (F4)', async () => {
    const world = bench()
    const tokens = world.process()
    const accountsIn = Array<number>(10).fill(0)
    for (let index = 0; index < 500; index += 1) {
      const name = `owner-${index}@example.com`
      await tokens.save(name, world.tokens({ refresh_token: `r${index}` }))
      const { refresh_due_at = 0 } = await tokens.status(name)
      // Three quarters of eight hours, a tenth of that less at the least.
      const place = (refresh_due_at - world.now() / 1000 - 19_440) / 4320
      accountsIn[Math.floor(place * 10)] = (accountsIn[Math.floor(place * 10)] ?? 0) + 1
    }
    for (const count of accountsIn) expect(Math.abs(count - 50)).toBeLessThan(25)
  })

  it('of eight makes four token requests a day at the most (I4)', async () => {
    const world = bench()
    const fleet = Array.from({ length: 8 }, (_, index) => world.process({}, 0, () => index / 8))
    await fleet[0]?.save(account, world.tokens())
    for (let minute = 0; minute < 24 * 60; minute += 1) {
      await Promise.all(fleet.map(async (tokens) => tokens.getAccessToken(account)))
      await world.pass(60_000)
    }
    expect(world.sent.length).toBeLessThanOrEqual(4)
    expect(new Set(world.sent).size).toBe(world.sent.length)
  })

  it('that starts and dies a hundred times does not refresh a fresh token (B7)', async () => {
    const { world } = await signedIn()
    for (let start = 0; start < 100; start += 1) {
      expect(await world.process({ cachedAccounts: 1 }).getAccessToken(account)).toBe('a0')
      await world.pass(6000)
    }
    expect(world.sent).toEqual([])
  })
})

describe('a process whose clock is two hours ahead, where tokens live for an hour', () => {
  const ahead = hours(2)

  /** Tokens of an hour that another process refreshes at their end; its request is under way. */
  async function refreshUnderWay() {
    const world = bench()
    const anHour = (name: string) =>
      world.tokens({ access_token: name, refresh_token: name, expires_at: world.now() / 1000 + 3600 })
    const answer = deferred<TokenSet>()
    const [other, first] = [world.process({}, ahead), world.process()]
    await first.save(account, anHour('t0'))
    await world.pass(hours(1))
    world.answer = async () => answer.promise
    const refresh = first.getAccessToken(account)
    await world.pass(10)
    return { world, other, refresh, arrive: () => answer.resolve(anHour('t1')) }
  }

  it('takes those for new whose arrival it waited for, and refreshes them when they age (F7)', async () => {
    const { world, other, refresh, arrive } = await refreshUnderWay()
    const waiting = other.getAccessToken(account)
    await world.pass(1000)
    arrive()
    await world.pass(1000)
    expect(await Promise.all([refresh, waiting])).toEqual(['t1', 't1'])
    expect(await live(world, other, hours(0.6))).toBe(0)
    expect(world.sent).toEqual(['t0'])
    expect(await live(world, other, hours(0.4))).toBe(1)
  })

  it('does so where it knew the tokens before and found others in their place', async () => {
    const { world, other, refresh, arrive } = await refreshUnderWay()
    await other.status(account)
    arrive()
    await world.pass(1000)
    await refresh
    expect(await live(world, other, hours(0.6))).toBe(0)
    expect(world.sent).toEqual(['t0'])
  })
})

describe('tokens that were stored long after they were obtained', () => {
  it('count from when they were asked for, also by whoever looked in between', async () => {
    const world = bench()
    let down = false
    const cutOff = {
      ...world.store,
      swap: async (...args: Parameters<typeof world.store.swap>) => {
        if (down) throw new Error('cut off')
        return world.store.swap(...args)
      },
    }
    const [first, other] = [world.process({ store: cutOff }), world.process()]
    await first.save(account, world.tokens())
    await world.pass(hours(7))
    world.answer = async (...args) => {
      down = true
      return world.newTokens(...args)
    }
    await first.getAccessToken(account)
    await world.pass(1000)
    for (let minute = 0; minute < 50; minute += 1) {
      await other.status(account)
      await world.pass(60_000)
    }
    down = false
    await world.pass(60_000)
    await other.status(account)
    expect(await other.getAccessToken(account)).toBe('a1')
    await world.pass(hours(8) - 51 * 60_000)
    expect(await other.getAccessToken(account)).toBe('a2')
  })

  it('count from then as well where the store had lost them and got them back', async () => {
    const { world, tokens: first, other } = await signedIn()
    await other.getAccessToken(account)
    await first.refresh(account)
    await world.pass(hours(5))
    world.store.clear()
    await other.status(account)
    await first.status(account)
    await other.status(account)
    expect(await other.getAccessToken(account)).toBe('a1')
    await world.pass(hours(3))
    expect(await other.getAccessToken(account)).toBe('a2')
  })

  it('are as old as they say in a store that went back to an earlier sign-in, which this one was not made over', async () => {
    const world = bench()
    await world.process().save(account, world.tokens({ access_token: 'early', refresh_token: 'r-early' }))
    const early = await world.store.read(account)
    await world.pass(hours(9))
    world.store.clear()
    const tokens = world.process()
    await tokens.save(account, world.tokens())
    await tokens.status(account)
    world.store.clear()
    if (early !== undefined) await world.store.swap(account, 0, early.record, 'went back')
    expect(await tokens.status(account)).toMatchObject({ state: 'expired' })
  })
})
