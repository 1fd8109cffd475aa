/** How soon one refresh follows another: where the owner API refuses every token, and where a stored clock was wrong. */
import { describe, expect, it } from '@jest/globals'
import type { TokenManager } from '../../src/index.ts'
import { account, bench, type Bench, hours, signedIn } from './harness.ts'

const minute = 60_000

/** What a client of the owner API does that refuses every token: tells the manager, and tries once more with what it gets. */
async function refusedTwice(tokens: TokenManager): Promise<void> {
  for (let time = 0; time < 2; time += 1) await tokens.invalidate(account, await tokens.getAccessToken(account))
}

async function signedInLongAgo(world: Bench, tokens: TokenManager | undefined): Promise<void> {
  await tokens?.save(account, world.tokens())
  await world.pass(hours(1))
}

/** The access token before the first refresh was refused: it can't take the place of the next. */
async function withoutWayBack(world: Bench): Promise<void> {
  await world.process().invalidate(account, 'a0')
}

describe('an owner API that refuses every token (H20)', () => {
  it.each([
    ['one process', 1, 30_000, 0],
    ['eight processes', 8, 60_000, 0],
    ['eight processes whose clocks are up to ten minutes off', 8, 60_000, 10 * minute],
  ])('costs %s eight refreshes in the first hour and one in each that follows', async (_, count, period, skew) => {
    const world = bench()
    const fleet = Array.from({ length: count }, (__, index) => world.process({}, (index % 3) * skew - skew))
    await signedInLongAgo(world, fleet[0])
    const refreshesOfAnHour = async (): Promise<number> => {
      const before = world.sent.length
      const end = world.now() + hours(1)
      while (world.now() < end) {
        for (const tokens of fleet) {
          await refusedTwice(tokens)
          await world.pass(period / count)
        }
      }
      return world.sent.length - before
    }
    expect(await refreshesOfAnHour()).toBeLessThanOrEqual(8)
    for (let hour = 1; hour < 3; hour += 1) expect(await refreshesOfAnHour()).toBeLessThanOrEqual(1)
  })

  it('costs no more where each call is a process of its own', async () => {
    const world = bench()
    await signedInLongAgo(world, world.process())
    for (const most of [8, 1, 1]) {
      const before = world.sent.length
      for (let time = 0; time < 60; time += 1) {
        await refusedTwice(world.process())
        await world.pass(minute)
      }
      expect(world.sent.length - before).toBeLessThanOrEqual(most)
    }
  })

  it('costs no more where the store takes no note of a refusal', async () => {
    const world = bench()
    const tokens = world.process()
    await signedInLongAgo(world, tokens)
    for (let time = 0; time < 60; time += 1) {
      const given = await tokens.getAccessToken(account)
      world.store.down = true
      await tokens.invalidate(account, given)
      world.store.down = false
      await world.pass(minute)
    }
    expect(world.sent.length).toBeLessThanOrEqual(8)
  })

  it('still gets another token where a person asks for one', async () => {
    const world = bench()
    const tokens = world.process()
    await signedInLongAgo(world, tokens)
    for (let time = 0; time < 60; time += 1) {
      await refusedTwice(tokens)
      await world.pass(minute)
    }
    const before = world.sent.length
    await tokens.refresh(account)
    await tokens.refresh(account)
    expect(world.sent.length - before).toBe(1)
  })

  it('gets a token at the first refusal again once one has lived for an hour, or was replaced unrefused', async () => {
    const world = bench()
    const tokens = world.process()
    await signedInLongAgo(world, tokens)
    for (let time = 0; time < 60; time += 1) {
      await refusedTwice(tokens)
      await world.pass(minute)
    }
    const revokedAfter = async (life: number): Promise<void> => {
      const revoked = await tokens.getAccessToken(account)
      tokens.accepted(account, revoked)
      await world.pass(life)
      await tokens.invalidate(account, revoked)
      expect(await tokens.getAccessToken(account)).not.toBe(revoked)
    }
    await revokedAfter(hours(1))
    await world.pass(hours(7))
    await tokens.getAccessToken(account)
    await world.pass(0)
    await revokedAfter(2 * minute)
    expect((await world.store.read(account))?.record).not.toHaveProperty('refusals')
  })
})

describe('a caller who asks again and again for what is always refused, while others use the token', () => {
  it.each([
    ['in one process', 1, 8 * 3600],
    ['in three processes', 3, 8 * 3600],
    ['in processes that live for one call', 0, 8 * 3600],
    ['where tokens live for an hour', 1, 3600],
  ])('costs eight refreshes and then one in an hour, %s', async (_, count, life) => {
    const world = bench()
    world.answer = async (...args) => ({ ...(await world.newTokens(...args)), expires_at: world.now() / 1000 + life })
    const fleet = Array.from({ length: count }, () => world.process())
    await signedInLongAgo(world, world.process())
    const inAnHour: number[] = []
    for (let hour = 0; hour < 24; hour += 1) {
      const before = world.sent.length
      for (let time = 0; time < 120; time += 1) {
        const tokens = fleet[time % count] ?? world.process()
        const token = await tokens.getAccessToken(account)
        tokens.accepted(account, token)
        await tokens.invalidate(account, token)
        await tokens.getAccessToken(account)
        await world.pass(minute / 2)
      }
      inAnHour.push(world.sent.length - before)
    }
    const [first = 0, ...later] = inAnHour
    expect(first).toBeGreaterThan(1)
    expect(first).toBeLessThanOrEqual(8)
    // Tokens of an hour are also refreshed because they age.
    expect(Math.max(...later)).toBeLessThanOrEqual(life === 3600 ? 2 : 1)
  })

  it('does not keep a token from being replaced at once when it is revoked for the first time', async () => {
    const { world, tokens } = await signedIn(hours(1))
    await tokens.refresh(account)
    await world.pass(2 * minute)
    tokens.accepted(account, 'a1')
    await tokens.invalidate(account, 'a1')
    expect(await tokens.getAccessToken(account)).toBe('a2')
  })

  it('does not do so either where this process first sees it hours after another one got it', async () => {
    const { world, tokens, other } = await signedIn(hours(5))
    await other.getAccessToken(account)
    await tokens.refresh(account)
    await world.pass(hours(4))
    expect(await other.getAccessToken(account)).toBe('a1')
    await other.invalidate(account, 'a1')
    expect(await other.getAccessToken(account)).toBe('a2')
  })
})

describe('a run with the clock a day ahead (F5)', () => {
  it.each([hours(24), hours(3), 5 * minute])(
    '(%i ms) leaves a refused token to be replaced at the second refusal at the latest, by processes that live for one call',
    async (ahead) => {
      const { world } = await signedIn(2 * minute)
      await world.process({}, ahead).refresh(account)
      await world.pass(2 * minute)
      await withoutWayBack(world)
      let refusals = 0
      while ((await world.process().getAccessToken(account)) === 'a1' && refusals < 9) {
        refusals += 1
        const shortLived = world.process()
        await shortLived.invalidate(account, await shortLived.getAccessToken(account))
        await shortLived.getAccessToken(account)
        await world.pass(minute)
      }
      expect(refusals).toBeGreaterThanOrEqual(1)
      expect(refusals).toBeLessThanOrEqual(2)
      expect(world.sent).toEqual(['r0', 'r1'])
    },
  )
})

describe('refresh() of a token that does not work, within the interval after the last refresh', () => {
  const tooSoon = (world: Bench, seconds: number) => ({
    code: 'ERR_SSO_REFRESH_BUDGET',
    limit: 'minRefreshInterval',
    nextAttemptAt: world.now() / 1000 + seconds,
    requestSent: false,
  })

  async function refusedAfterRefresh(world: Bench, tokens: TokenManager): Promise<void> {
    await tokens.save(account, world.tokens())
    await tokens.refresh(account)
    await withoutWayBack(world)
    await tokens.invalidate(account, 'a1')
  }

  it('says when it can be refreshed, to this process and to another, and does it then (H23)', async () => {
    const world = bench()
    const tokens = world.process()
    await refusedAfterRefresh(world, tokens)
    await world.pass(10_000)
    await expect(tokens.refresh(account)).rejects.toMatchObject(tooSoon(world, 50))
    await expect(world.process().refresh(account)).rejects.toMatchObject(tooSoon(world, 50))
    expect(world.sent).toEqual(['r0'])
    await world.pass(50_000)
    await tokens.refresh(account)
    expect(await tokens.getAccessToken(account)).toBe('a2')
  })

  it('says so where the token has expired already', async () => {
    const { world, tokens } = await signedIn()
    world.answer = async () => world.tokens({ access_token: 'brief', expires_at: world.now() / 1000 + 5 })
    await tokens.refresh(account)
    await world.pass(6000)
    await expect(tokens.refresh(account)).rejects.toMatchObject(tooSoon(world, 4))
  })
})
