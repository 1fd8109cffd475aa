/** Clocks that jump and services that say odd things about time: no storm, no early end, no live intent killed (B-F). */
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { agesOf, assumedLifetime, jitterOf, freshnessAt } from '../../src/refresh-protocol/freshness.ts'
import { lineageOf } from '../../src/store/lineage.ts'
import { expiresAt } from '../../../core/src/steps/token-lifetime.ts'
import type { TokenSet } from '../../src/issuer/token-set.ts'
import { account, bench, type Bench, deferred, hours, idle } from './harness.ts'

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
      const world = bench()
      const tokens = world.process()
      await tokens.save(account, world.tokens())
      await world.pass(hours(1))
      await tokens.getAccessToken(account)
      world.jump(jump)
      expect(await live(world, tokens, hours(4))).toBeLessThanOrEqual(1)
      world.jump(-jump)
      expect(await live(world, tokens, hours(8))).toBeLessThanOrEqual(3)
    },
  )

  it('does not make an old token young: the other clock still counts', async () => {
    const world = bench()
    const tokens = world.process()
    await tokens.save(account, world.tokens())
    await world.pass(hours(5))
    await tokens.getAccessToken(account)
    world.jump(-day)
    await world.pass(hours(3))
    expect(await tokens.getAccessToken(account)).toBe('a1')
  })

  it('back by less than the token is old is noticed as well', async () => {
    const world = bench()
    const tokens = world.process()
    await tokens.save(account, world.tokens())
    await tokens.getAccessToken(account)
    await world.pass(hours(3))
    world.jump(-hours(2.9))
    expect(await tokens.getAccessToken(account)).toBe('a0')
    await world.pass(hours(5.2))
    expect(await tokens.getAccessToken(account)).toBe('a1')
  })

  it('of a suspended machine makes the token as old as it is', async () => {
    const world = bench()
    const tokens = world.process()
    await tokens.save(account, world.tokens())
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
  it.each([300, 45_000, 0, -1, 28_800, 1e12])('%i seconds: no storm', async (life) => {
    const world = bench()
    const tokens = world.process()
    await tokens.save(account, world.tokens())
    const answer = world.answer
    world.answer = async (...args) => {
      const expires_at = await expiresAt('opaque', life, 'expires_in', world.now() / 1000)
      return { ...(await answer(...args)), expires_at }
    }
    await tokens.refresh(account)
    expect(await live(world, tokens, hours(8))).toBeLessThanOrEqual(16)
  })

  it('is believed of a sign-in, which may be of an old token set', () => {
    const now = 1_800_000_000
    const lifetime = (expires_at: number, justIssued: boolean): number =>
      assumedLifetime({ ...bench().tokens(), expires_at }, now, justIssued)
    expect(lifetime(now + 300, false)).toBe(300)
    expect(lifetime(now - 5, false)).toBe(0)
    expect(lifetime(now + 1e9, false)).toBe(86_400)
    expect(lifetime(now + 300, true)).toBe(300)
    expect(lifetime(now - 1e9, true)).toBe(28_800)
    expect(lifetime(now + 1e9, true)).toBe(86_400)
    expect(lifetime(Number.NaN, true)).toBe(28_800)
  })

  it('never leads to ages that are out of order', () => {
    const record = { schema: 1, state: 'signed-in', generation: 1, refreshes: 0, obtained_at: 0 } as const
    const numbers = fc.record({
      lifetime: fc.double({ min: 0, max: 86_400, noNaN: true }),
      refreshAfter: fc.double({ min: 0.001, max: 1, noNaN: true }),
      lineage: fc.string(),
    })
    fc.assert(
      fc.property(numbers, ({ lifetime, refreshAfter, lineage }) => {
        const ages = agesOf({ ...record, lifetime, lineage, tokens: bench().tokens() }, refreshAfter)
        expect(ages.ageing).toBeLessThanOrEqual(ages.expired)
        expect(ages.expired).toBeLessThanOrEqual(lifetime * 1000)
        expect(freshnessAt(lifetime * 1000, ages)).toBe('expired')
      }),
    )
  })
})

/** Milliseconds from the sign-in to the refresh beside, where somebody asks every minute. */
async function firstRefresh(refreshToken: string, random: () => number): Promise<number> {
  const world = bench()
  const tokens = world.process({ cachedAccounts: 1 }, 0, random)
  await tokens.save(account, world.tokens({ refresh_token: refreshToken }))
  for (const began = world.now(); ; await world.pass(60_000)) {
    await tokens.getAccessToken(account)
    await idle()
    if (world.sent.length > 0) return world.now() - began
  }
}

describe('a fleet', () => {
  it('of eight processes finds the same moment for one account: the earliest of eight would be early for most', async () => {
    const instants = Array.from({ length: 8 }, (_, index) => firstRefresh('r0', () => index / 8))
    expect(new Set(await Promise.all(instants)).size).toBe(1)
  })

  it('refreshes 10,000 accounts at moments that are spread evenly over their tenth of a life and more', () => {
    const places = Array.from({ length: 10_000 }, (_, index) => jitterOf(lineageOf(`owner-${index}`, 'r0')))
    // 0.2 of `refreshAfter` is 0.15 of the life; each tenth of it holds a tenth of the accounts.
    for (let tenth = 0; tenth < 10; tenth += 1) {
      const inIt = places.filter((place) => Math.floor(place * 10) === tenth).length
      expect(Math.abs(inIt - 1000)).toBeLessThan(150)
    }
  })

  it('that was started together spreads its refreshes over more than a twentieth of a life (F4)', async () => {
    const instants: number[] = []
    for (let index = 0; index < 200; index += 1) {
      instants.push(await firstRefresh(`r${index}`, Math.random))
    }
    const spread = Math.max(...instants) - Math.min(...instants)
    expect(spread).toBeGreaterThan(hours(8) / 20)
    expect(Math.min(...instants)).toBeGreaterThan(hours(8) / 2)
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
    const world = bench()
    await world.process().save(account, world.tokens())
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
    const { answer } = world
    world.answer = async (...args) => {
      down = true
      return answer(...args)
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
    const world = bench()
    const [first, other] = [world.process(), world.process()]
    await first.save(account, world.tokens())
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
})
