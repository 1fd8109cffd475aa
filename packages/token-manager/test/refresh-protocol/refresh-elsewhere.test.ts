/** A process that leaves refreshes to others: it sends nothing, waits a while, and tells in time that nobody refreshes. */
import { describe, expect, it } from '@jest/globals'
import { keepSignedIn, RefreshElsewhereError, sweepOnce, type TokenManager } from '../../src/index.ts'
import { account, type Bench, bench, heardBy, hours, idle } from './harness.ts'

const minutes = (count: number): number => count * 60_000
/** When the access token of a sign-in at the beginning ends, in seconds of its life. */
const end = 8 * 3600

/** Signed in at home; both know it. */
async function homeAndServer(): Promise<{ world: Bench; home: TokenManager; server: TokenManager; start: number }> {
  const world = bench()
  const [home, server] = [world.process(), world.process({ refresh: 'elsewhere' })]
  const start = world.now() / 1000
  await home.save(account, world.tokens())
  expect(await server.getAccessToken(account)).toBe('a0')
  return { world, home, server, start }
}

/** When the refresh is due, by the account's own place in its span: milliseconds from now. */
async function untilDue(world: Bench, tokens: TokenManager): Promise<number> {
  const { refresh_due_at = 0 } = await tokens.status(account)
  return refresh_due_at * 1000 - world.now()
}

describe('a process that leaves refreshes to others', () => {
  it('serves a token that is due, and the next one once somebody has refreshed', async () => {
    const { world, home, server } = await homeAndServer()
    await world.pass(hours(7))
    expect(await server.getAccessToken(account)).toBe('a0')
    await world.pass(minutes(2))
    expect(world.sent).toEqual([])
    await home.getAccessToken(account)
    await world.pass(minutes(2))
    await server.getAccessToken(account)
    await idle()
    expect(await server.getAccessToken(account)).toBe('a1')
    expect(world.sent).toEqual(['r0'])
  })

  it('waits for somebody else’s refresh where no token works', async () => {
    const { world, home, server } = await homeAndServer()
    await world.pass(hours(8))
    const asked = server.getAccessToken(account)
    await world.pass(20_000)
    await home.refresh(account)
    await world.pass(1000)
    expect(await asked).toBe('a1')
    expect(world.sent).toEqual(['r0'])
  })

  it('says after half a minute that nobody has refreshed since when, and then at once, until somebody has', async () => {
    const { world, home, server, start } = await homeAndServer()
    await world.pass(hours(9))
    const asked = server.getAccessToken(account).catch((error: unknown) => error)
    await world.pass(29_000)
    expect(await Promise.race([asked, idle()])).toBeUndefined()
    await world.pass(2000)
    const error = await asked
    expect(error).toBeInstanceOf(RefreshElsewhereError)
    expect(error).toMatchObject({
      code: 'ERR_SSO_REFRESH_ELSEWHERE',
      since: start,
      requestSent: false,
      message: expect.stringMatching(/^Nobody has refreshed since 2026-01-01T00:00:00\.000Z, /u),
    })
    await expect(server.getAccessToken(account)).rejects.toThrow(RefreshElsewhereError)
    await home.refresh(account)
    expect(await server.getAccessToken(account)).toBe('a1')
    // The next wait is a new one.
    await world.pass(hours(8))
    const again = server.getAccessToken(account)
    await world.pass(1000)
    await home.refresh(account)
    await world.pass(1000)
    expect(await again).toBe('a2')
  })

  it('waits for a refresh under way as anybody does', async () => {
    const { world, home, server } = await homeAndServer()
    await world.pass(hours(8))
    world.answer = async (tokens) => {
      await world.after(29_000)
      return world.newTokens(tokens)
    }
    const refreshed = home.getAccessToken(account)
    await idle()
    await world.pass(25_000)
    const asked = server.getAccessToken(account)
    await world.pass(10_000)
    expect([await refreshed, await asked]).toEqual(['a1', 'a1'])
  })

  it('replays nothing where an answer was lost, and does not know when somebody will', async () => {
    const { world, home, server } = await homeAndServer()
    await world.pass(hours(7))
    world.answer = async () => {
      throw new Error('The connection broke.')
    }
    await home.getAccessToken(account)
    await idle()
    const status = await server.status(account)
    expect(status).toMatchObject({ state: 'in-doubt' })
    expect(status).not.toHaveProperty('next_attempt_at')
    await world.pass(hours(1))
    const asked = server.getAccessToken(account).catch((error: unknown) => error)
    await world.pass(minutes(1))
    expect(await asked).toBeInstanceOf(RefreshElsewhereError)
    expect(world.sent).toEqual(['r0'])
  })

  it('refuses refresh(), and gives a token that lives as long as it was asked for where there is one', async () => {
    const { world, home, server, start } = await homeAndServer()
    await expect(server.refresh(account)).rejects.toThrow(RefreshElsewhereError)
    await world.pass(hours(2))
    const asked = { minValidity: 7 * 3600 }
    await expect(server.getAccessToken(account, asked)).rejects.toMatchObject({
      code: 'ERR_SSO_SHORT_VALIDITY',
      expires_at: start + end,
    })
    await home.refresh(account)
    expect(await server.getAccessToken(account, asked)).toBe('a1')
    expect(world.sent).toEqual(['r0'])
  })

  it('stores tokens that somebody brings along, and waits for their first refresh', async () => {
    const world = bench()
    const [home, server] = [world.process(), world.process({ refresh: 'elsewhere' })]
    await server.save(account, { refresh_token: 'r0', auth_url: 'http://127.0.0.1:9' })
    const asked = server.getAccessToken(account)
    await world.pass(1000)
    expect(world.sent).toEqual([])
    expect(await home.getAccessToken(account)).toBe('a1')
    await world.pass(1000)
    expect(await asked).toBe('a1')
  })

  it('is not kept signed in', async () => {
    const tokens = bench().process({ refresh: 'elsewhere' })
    const words = /^tokens was created with refresh: 'elsewhere': keep accounts signed in where/u
    expect(() => keepSignedIn(tokens)).toThrow(words)
    await expect(sweepOnce(tokens)).rejects.toThrow(words)
  })

  it('takes no other word', () => {
    const refresh: 'here' = JSON.parse('"there"')
    expect(() => bench().process({ refresh })).toThrow('refresh must be here or elsewhere')
  })
})

describe('a token that nobody refreshes', () => {
  it('is told within a minute of the time at which its refresh is due, once, though nobody asks for it', async () => {
    const { world, server, start } = await homeAndServer()
    const heard = heardBy(server, 'not-refreshed')
    await world.pass(await untilDue(world, server))
    await world.rollCall()
    expect(heard).toEqual([])
    expect(await server.status(account)).not.toHaveProperty('not_refreshed_since')
    for (let time = 0; time < 60; time += 15) {
      await world.pass(15_000)
      await world.rollCall()
    }
    expect(heard).toEqual([{ account, since: start, expires_at: start + end }])
    expect(await server.status(account)).toMatchObject({ state: 'valid', not_refreshed_since: start })
    await world.pass(hours(1))
    await world.rollCall()
    await server.getAccessToken(account)
    await world.pass(0)
    expect(heard).toHaveLength(1)
  })

  // Each is due at a place of its own in its span.
  it.each(['r0', 'r1', 'r2', 'r3', 'r4', 'r5'])(
    'is told while it works, of one that lives for three minutes and is asked for all the time: %s',
    async (refresh_token) => {
      const world = bench()
      const [home, server] = [world.process(), world.process({ refresh: 'elsewhere' })]
      await home.save(account, { ...world.tokens({ refresh_token }), expires_at: world.now() / 1000 + 180 })
      const heard = heardBy(server, 'not-refreshed')
      for (let second = 0; second < 171; second += 1) {
        await server.getAccessToken(account)
        await idle()
        if (second % 15 === 0) await world.rollCall()
        await world.pass(1000)
      }
      expect(heard).toHaveLength(1)
    },
  )

  it('is told by a caller’s own look where no timer runs', async () => {
    const { world, home, start } = await homeAndServer()
    const server = world.process({ refresh: 'elsewhere', background: false })
    const heard = heardBy(server, 'not-refreshed')
    await world.pass((await untilDue(world, home)) + minutes(1))
    expect(await server.getAccessToken(account)).toBe('a0')
    expect(heard).toEqual([{ account, since: start, expires_at: start + end }])
  })

  it('is told by a call where the store can’t be read either', async () => {
    const { world, server, start } = await homeAndServer()
    const heard = heardBy(server, 'not-refreshed')
    world.store.down = true
    await world.pass((await untilDue(world, server)) + minutes(1))
    expect(await server.getAccessToken(account)).toBe('a0')
    await idle()
    expect(heard).toEqual([{ account, since: start, expires_at: start + end }])
    expect(await server.status(account)).toMatchObject({ not_refreshed_since: start })
  })

  it('is told anew of each token, and of none that was refreshed in time', async () => {
    const { world, home, server } = await homeAndServer()
    const heard = heardBy(server, 'not-refreshed')
    const rounds = [true, false, true]
    for (const isRefreshed of rounds) {
      await world.pass(await untilDue(world, server))
      if (isRefreshed) await home.getAccessToken(account)
      await world.pass(minutes(1))
      await world.rollCall()
      if (!isRefreshed) await home.getAccessToken(account)
      await world.pass(minutes(2))
      await world.rollCall()
      expect(await server.status(account)).not.toHaveProperty('not_refreshed_since')
    }
    expect(heard).toHaveLength(1)
  })

  it('is told two minutes before its end at the latest where the owner API refuses refreshed ones', async () => {
    const world = bench()
    const [home, server] = [world.process(), world.process({ refresh: 'elsewhere' })]
    await home.save(account, world.tokens())
    await world.pass(minutes(2))
    await home.refresh(account)
    const refused = await server.getAccessToken(account)
    await server.invalidate(account, refused)
    expect(await server.getAccessToken(account)).toBe('a0')
    const heard = heardBy(server, 'not-refreshed')
    const { expires_at = 0 } = await server.status(account)
    await world.pass(expires_at * 1000 - world.now() - minutes(4))
    await world.rollCall()
    expect(heard).toEqual([])
    for (let time = 0; time < 120; time += 15) {
      await world.pass(15_000)
      await world.rollCall()
    }
    expect(heard).toHaveLength(1)
  })
})

describe('a token that the owner API refuses to a process that leaves refreshes to others', () => {
  it('gives its place back to the one before it, as anywhere', async () => {
    const { world, home, server } = await homeAndServer()
    await world.pass(hours(7))
    await home.getAccessToken(account)
    await idle()
    await server.getAccessToken(account)
    await idle()
    expect(await server.getAccessToken(account)).toBe('a1')
    expect(await server.invalidate(account, 'a1')).toBe(true)
    expect(await server.getAccessToken(account)).toBe('a0')
    expect(await world.process().getAccessToken(account)).toBe('a0')
  })

  it.each([
    ['at once', 0],
    ['after it was accepted for an hour', hours(1)],
  ])('is refreshed by those who do as soon as they look: refused %s', async (_, after) => {
    const { world, home, server } = await homeAndServer()
    await world.pass(hours(7.9))
    await home.getAccessToken(account)
    await world.pass(hours(0.2))
    expect(await home.getAccessToken(account)).toBe('a1')
    expect(await server.getAccessToken(account)).toBe('a1')
    server.accepted(account, 'a1')
    await world.rollCall()
    await world.pass(after)
    expect(await server.invalidate(account, 'a1')).toBe(false)
    const asked = server.getAccessToken(account)
    await world.pass(1000)
    expect(world.sent).toEqual(['r0'])
    await world.rollCall()
    await world.pass(1000)
    expect(await asked).toBe('a2')
    expect(await home.getAccessToken(account)).toBe('a2')
    expect(world.sent).toEqual(['r0', 'r1'])
  })

  it('is refreshed as soon where that of another account was refused right before it', async () => {
    const { world, home, server } = await homeAndServer()
    const second = 'second@example.com'
    await home.save(second, world.tokens({ access_token: 'b0', refresh_token: 's0' }))
    expect(await server.getAccessToken(second)).toBe('b0')
    await world.rollCall()
    await world.pass(hours(1))
    expect(await server.invalidate(account, 'a0')).toBe(false)
    await world.rollCall()
    await world.pass(10_000)
    expect(world.sent).toEqual(['r0'])
    expect(await server.invalidate(second, 'b0')).toBe(false)
    const asked = server.getAccessToken(second)
    for (let time = 0; time < 30; time += 15) {
      await world.pass(15_000)
      await world.rollCall()
    }
    expect(world.sent).toEqual(['r0', 's0'])
    expect(await asked).toBe('a2')
  })

  it('is refreshed once the pause is over where it came just before, though nobody calls again', async () => {
    const { world, server } = await homeAndServer()
    await world.rollCall()
    await world.pass(hours(1))
    for (const token of ['a0', 'a1']) {
      expect(await server.getAccessToken(account)).toBe(token)
      expect(await server.invalidate(account, token)).toBe(false)
      await world.rollCall()
      await world.pass(1000)
    }
    expect(world.sent).toEqual(['r0'])
    for (let time = 0; time < 180; time += 15) {
      await world.pass(15_000)
      await world.rollCall()
    }
    expect(world.sent).toEqual(['r0', 'r1'])
    expect(await server.getAccessToken(account)).toBe('a2')
  })

  it('is told once a caller has waited in vain', async () => {
    const { world, server, start } = await homeAndServer()
    const heard = heardBy(server, 'not-refreshed')
    await world.pass(hours(1))
    await server.invalidate(account, 'a0')
    const asked = server.getAccessToken(account).catch((error: unknown) => error)
    await world.pass(10_000)
    expect(heard).toEqual([])
    await world.pass(25_000)
    expect(await asked).toBeInstanceOf(RefreshElsewhereError)
    expect(heard).toEqual([{ account, since: start, expires_at: start + end }])
    expect(await server.status(account)).toMatchObject({ refused: true, not_refreshed_since: start })
  })

  it('is refreshed by a keeper that has not served it', async () => {
    const { world, server } = await homeAndServer()
    await world.pass(hours(2))
    await server.invalidate(account, 'a0')
    expect(await sweepOnce(world.process(), { within: 7200 })).toMatchObject({ due: 1, refreshed: 1 })
    expect(await server.getAccessToken(account)).toBe('a1')
  })
})
