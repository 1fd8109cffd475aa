/** A refresh whose answer was lost: the old token is served, the request is replayed once, and late news is welcome. */
import { describe, expect, it } from '@jest/globals'
import {
  ReauthenticationRequiredError,
  SsoTimeoutError,
  TokenRejectedError,
  type TokenSet,
  UnexpectedResponseError,
  UnreachableError,
} from '../../src/index.ts'
import { account, bench, deferred, heardBy, hours, idle, signedIn } from './harness.ts'

type Reply = ReturnType<typeof deferred<TokenSet>>

const lost = async (): Promise<TokenSet> => {
  throw new SsoTimeoutError('no answer', { requestSent: true })
}
const unavailable = async (): Promise<TokenSet> => {
  throw new UnexpectedResponseError('503', { requestSent: true })
}
const refused = async (): Promise<TokenSet> => {
  throw new ReauthenticationRequiredError('refresh_token_rejected')
}

describe('a lost answer', () => {
  it('is nobody’s trouble while the access token works, and is replayed once shortly before its end', async () => {
    const { world, tokens } = await signedIn()
    const heard = heardBy(tokens, 'in-doubt')
    world.answer = lost
    await world.pass(hours(6.1))
    await tokens.getAccessToken(account)
    await idle()
    world.answer = world.newTokens
    const replayAt = Math.floor(world.now() / 1000 + hours(8 - 6.1) / 1000 - 120)
    expect(heard).toEqual([{ account, nextAttemptAt: replayAt }])
    expect(await tokens.status(account)).toMatchObject({ state: 'in-doubt', next_attempt_at: replayAt })
    for (let minute = 0; minute < 110; minute += 1) {
      expect(await tokens.getAccessToken(account)).toBe('a0')
      await world.pass(60_000)
    }
    expect(world.sent).toEqual(['r0'])
    await world.pass(150_000)
    await tokens.getAccessToken(account)
    await idle()
    expect(await tokens.getAccessToken(account)).toBe('a1')
    expect(world.sent).toEqual(['r0', 'r0'])
  })

  it('ends the session with its reason when the replay is refused', async () => {
    const world = bench()
    const [tokens, other] = [world.process(), world.process()]
    const heard = heardBy(tokens, 'reauthentication-required')
    await tokens.save(account, world.tokens())
    await world.pass(hours(8))
    world.answer = lost
    await expect(tokens.getAccessToken(account)).rejects.toMatchObject({ code: 'ERR_SSO_REFRESH_IN_DOUBT' })
    world.answer = refused
    const rejection = { code: 'ERR_SSO_REAUTHENTICATION_REQUIRED', reason: 'rotated_token_lost' }
    await expect(tokens.getAccessToken(account)).rejects.toMatchObject(rejection)
    await expect(other.getAccessToken(account)).rejects.toMatchObject(rejection)
    expect(await other.status(account)).toMatchObject({
      state: 'reauthentication-required',
      reason: 'rotated_token_lost',
    })
    expect(heard).toEqual([{ account, reason: 'rotated_token_lost' }])
    expect(world.sent).toEqual(['r0', 'r0'])
    await tokens.save(account, world.tokens({ access_token: 'signed in again', refresh_token: 'another' }))
    expect(await other.getAccessToken(account)).toBe('signed in again')
  })

  it('is asked for again with growing pauses where the replay’s answer is lost as well', async () => {
    const { world, tokens } = await signedIn(hours(8))
    world.answer = lost
    const sentAt: number[] = []
    for (let second = 0; second < 1200; second += 1) {
      const before = world.sent.length
      await tokens.getAccessToken(account).catch(() => undefined)
      if (world.sent.length > before) sentAt.push(second)
      await world.pass(1000)
    }
    expect(sentAt).toEqual([0, 1, 61, 181, 421, 901])
  })

  it('comes within ten minutes once a service is well that was not for over an hour, at eleven requests in the first hour (H21)', async () => {
    const world = bench()
    const processes = [world.process(), world.process(), world.process()]
    await processes[0]?.save(account, world.tokens())
    await world.pass(hours(8))
    world.answer = unavailable
    const minuteOf = async (): Promise<boolean> => {
      let given = false
      for (const tokens of processes) {
        if ((await tokens.getAccessToken(account).catch(() => undefined)) === 'a1') given = true
      }
      await world.pass(60_000)
      return given
    }
    for (let minute = 0; minute < 70; minute += 1) expect(await minuteOf()).toBe(false)
    expect(world.sent.length).toBeLessThanOrEqual(12)
    world.answer = world.newTokens
    let late = 0
    while (!(await minuteOf())) late += 1
    expect(late).toBeLessThanOrEqual(10)
  })

  it('is asked for at once by refresh(), whatever the pause, but not twice within minRefreshInterval', async () => {
    for (const isSameProcess of [true, false]) {
      const { world, tokens } = await signedIn(hours(8))
      world.answer = unavailable
      for (let minute = 0; minute < 70; minute += 1) {
        await tokens.getAccessToken(account).catch(() => undefined)
        await world.pass(60_000)
      }
      const asking = isSameProcess ? tokens : world.process()
      await expect(asking.refresh(account)).rejects.toMatchObject({ code: 'ERR_SSO_REFRESH_IN_DOUBT' })
      world.answer = world.newTokens
      await expect(asking.refresh(account)).rejects.toMatchObject({ code: 'ERR_SSO_REFRESH_IN_DOUBT' })
      await world.pass(61_000)
      await asking.refresh(account)
      expect(await asking.getAccessToken(account)).toBe('a1')
    }
  })

  it('is asked for by refresh() although the old access token works: whoever calls it wants to know', async () => {
    const { world, tokens } = await signedIn()
    world.answer = lost
    await expect(tokens.refresh(account)).rejects.toMatchObject({ code: 'ERR_SSO_REFRESH_IN_DOUBT' })
    world.answer = world.newTokens
    await tokens.refresh(account)
    expect(await tokens.getAccessToken(account)).toBe('a1')
    expect(world.sent).toEqual(['r0', 'r0'])
  })

  it('is said to be tried again after the pause, not at the end of an access token that the owner API refused', async () => {
    const { world, tokens } = await signedIn()
    world.answer = lost
    await expect(tokens.refresh(account)).rejects.toMatchObject({ code: 'ERR_SSO_REFRESH_IN_DOUBT' })
    await expect(tokens.refresh(account)).rejects.toMatchObject({ code: 'ERR_SSO_REFRESH_IN_DOUBT' })
    await tokens.invalidate(account, 'a0')
    world.answer = world.newTokens
    const nextAttemptAt = world.now() / 1000 + 60
    await expect(tokens.getAccessToken(account)).rejects.toMatchObject({ nextAttemptAt })
    expect(await tokens.status(account)).toMatchObject({ state: 'in-doubt', next_attempt_at: nextAttemptAt })
    await world.pass(60_000)
    expect(await tokens.getAccessToken(account)).toBe('a1')
  })

  it('is asked for again in time although the clock was a day ahead when it was lost', async () => {
    const { world } = await signedIn(hours(8))
    world.answer = lost
    const ahead = world.process({}, hours(24))
    for (let time = 0; time < 2; time += 1) await ahead.getAccessToken(account).catch(() => undefined)
    expect(world.sent).toEqual(['r0', 'r0'])
    await world.pass(120_000)
    await world
      .process()
      .getAccessToken(account)
      .catch(() => undefined)
    expect(world.sent).toEqual(['r0', 'r0', 'r0'])
  })

  it('is known to all at once where its holder gave up, so that an expired token waits for nobody', async () => {
    const world = bench()
    const [holder, other] = [world.process(), world.process()]
    world.liveness.set(1, 'running')
    await holder.save(account, world.tokens())
    await world.pass(hours(8))
    world.answer = lost
    await holder.getAccessToken(account).catch(() => undefined)
    world.answer = world.newTokens
    expect(await other.getAccessToken(account)).toBe('a1')
  })

  it('stays in doubt when the replay can’t be sent or fails for another reason', async () => {
    for (const error of [
      new UnreachableError('no route', { requestSent: false }),
      new TokenRejectedError('invalid_client'),
    ]) {
      const { world, tokens } = await signedIn(hours(8), { minRefreshInterval: 0 })
      world.answer = lost
      await tokens.getAccessToken(account).catch(() => undefined)
      world.answer = async () => {
        throw error
      }
      await expect(tokens.getAccessToken(account)).rejects.toBe(error)
      expect(await tokens.status(account)).toMatchObject({ state: 'in-doubt' })
      world.answer = refused
      await expect(world.process().getAccessToken(account)).rejects.toMatchObject({ reason: 'rotated_token_lost' })
    }
  })
})

describe('the holder of an intent', () => {
  async function stopped(liveness?: 'dead' | 'running') {
    const { world, tokens: holder, other: waiter } = await signedIn(hours(8))
    const reply = deferred<TokenSet>()
    world.answer = () => reply.promise
    const call = holder.getAccessToken(account)
    await idle()
    if (liveness !== undefined) world.liveness.set(1, liveness)
    world.answer = world.newTokens
    const began = world.now()
    let waited = 0
    const waiting = waiter.getAccessToken(account).then(() => (waited = world.now() - began))
    return { world, holder, waiter, reply, call, waiting, waited: () => waited }
  }

  it.each<[string, 'dead' | 'running' | undefined, number]>([
    ['45 seconds where nothing is known about it', undefined, 45_000],
    ['two minutes where it is provably running (C2)', 'running', 120_000],
    ['no time where it is provably dead', 'dead', 0],
  ])('is waited for %s', async (_, liveness, life) => {
    const { world, waiting, waited } = await stopped(liveness)
    await world.pass(life + 300)
    await waiting
    expect(waited()).toBeGreaterThanOrEqual(life)
    expect(waited()).toBeLessThanOrEqual(life + 250)
    expect(world.sent).toEqual(['r0', 'r0'])
  })

  it('brings its late success home: nobody’s replay was needed', async () => {
    const { world, reply, call, waiter, waiting } = await stopped('running')
    await world.pass(100_000)
    reply.resolve(world.tokens({ access_token: 'late', refresh_token: 'late' }))
    expect(await call).toBe('late')
    await world.pass(300)
    await waiting
    expect(await waiter.getAccessToken(account)).toBe('late')
    expect(world.sent).toEqual(['r0'])
  })

  it('brings its late success home even over the refusal of a replay', async () => {
    const { world, reply, call, waiter, waiting } = await stopped()
    world.answer = refused
    const outcome = waiting.catch((error: unknown) => error)
    await world.pass(46_000)
    expect(await outcome).toMatchObject({ reason: 'rotated_token_lost' })
    reply.resolve(world.tokens({ access_token: 'late', refresh_token: 'late' }))
    expect(await call).toBe('late')
    expect(await waiter.getAccessToken(account)).toBe('late')
  })

  it.each<[string, (world: ReturnType<typeof bench>, reply: Reply) => void]>([
    ['success', (world, { resolve }) => resolve(world.tokens({ access_token: 'late' }))],
    ['refusal', (_, { reject }) => reject(new ReauthenticationRequiredError('refresh_token_rejected'))],
  ])(
    'brings a late %s too late where the service keeps the refresh token and another has refreshed',
    async (_, answer) => {
      const { world, reply, call, waiter, waiting } = await stopped()
      world.answer = async () => world.tokens({ access_token: 'newer' })
      await world.pass(46_000)
      await waiting
      answer(world, reply)
      expect(await call).toBe('newer')
      expect(await waiter.status(account)).toMatchObject({ state: 'valid' })
      expect(await world.process().getAccessToken(account)).toBe('newer')
    },
  )

  it('gives way to a newer sign-in, and says so', async () => {
    const { world, holder, reply, call, waiter, waiting } = await stopped('running')
    const heard = heardBy(holder, 'superseded')
    await waiter.save(account, world.tokens({ access_token: 'newer', refresh_token: 'newer' }))
    reply.resolve(world.tokens({ access_token: 'late', refresh_token: 'late' }))
    expect(await call).toBe('newer')
    await world.pass(300)
    await waiting
    expect(heard).toEqual([{ account }])
    expect(await world.process().getAccessToken(account)).toBe('newer')
  })

  it('never undoes a sign-out', async () => {
    const { world, reply, call, waiter, waiting } = await stopped('running')
    const outcomes = Promise.allSettled([call, waiting])
    await waiter.forget(account)
    reply.resolve(world.tokens({ access_token: 'late', refresh_token: 'late' }))
    await world.pass(300)
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'ERR_SSO_SIGNED_OUT' } })
    }
    expect(await world.process().status(account)).toEqual({ state: 'signed-out' })
  })
})

describe('the send guard (C3)', () => {
  it.each([
    ['an event loop that was blocked', (world: ReturnType<typeof bench>) => world.pass(10_001)],
    ['a machine that was suspended', async (world: ReturnType<typeof bench>) => world.jump(10_001)],
  ])('keeps %s from sending on an old intent, and tries anew', async (_, holdUp) => {
    const { world, tokens } = await signedIn(hours(8))
    const swap = world.store.swap.bind(world.store)
    let held = false
    world.store.swap = async (...args) => {
      const answer = await swap(...args)
      if (!held) {
        held = true
        await holdUp(world)
      }
      return answer
    }
    expect(await tokens.getAccessToken(account)).toBe('a1')
    expect(world.sent).toEqual(['r0'])
    // Intent, out again, intent, result, over the sign-in.
    expect((await world.store.read(account))?.version).toBe(5)
  })
})
