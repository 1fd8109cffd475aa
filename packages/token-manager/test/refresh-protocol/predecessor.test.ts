/** The way back from a refreshed access token that the owner API refuses. */
import { describe, expect, it } from '@jest/globals'
import type { TokenManagerEvents } from '../../src/kernel/events.ts'
import type { TokenManager } from '../../src/manager/token-manager.ts'
import { account, bench, type Bench, hours } from './harness.ts'

const minute = 60_000
/** When the access token of a sign-in at the beginning ends, in seconds after it. */
const eightHours = 8 * 3600

async function signedIn(world: Bench, tokens: TokenManager): Promise<void> {
  await tokens.save(account, world.tokens())
}

/** Signed in, and refreshed at three quarters of the access token's life. */
async function refreshed(world: Bench, tokens: TokenManager): Promise<void> {
  await signedIn(world, tokens)
  await world.pass(hours(7))
  await tokens.getAccessToken(account)
  await world.pass(0)
}

/** What an adapter does: it calls the owner API, tells what that said, and tries once more after a refusal. */
async function call(tokens: TokenManager, accepts: (token: string) => boolean): Promise<boolean> {
  for (const _ of ['first', 'second']) {
    const token = await tokens.getAccessToken(account)
    if (accepts(token)) {
      tokens.accepted(account, token)
      return true
    }
    await tokens.invalidate(account, token)
  }
  return false
}

const ofSignIn = (token: string): boolean => token.startsWith('a0') || token.startsWith('s')

describe('an access token of a refresh that the owner API refuses', () => {
  it('gives its place back to the one before it, for all processes and without a request', async () => {
    const world = bench()
    const [one, other, later] = [world.process(), world.process(), world.process()]
    await refreshed(world, one)
    expect(await one.getAccessToken(account)).toBe('a1')
    expect(await other.getAccessToken(account)).toBe('a1')
    await one.invalidate(account, 'a1')
    expect(await one.getAccessToken(account)).toBe('a0')
    expect(await later.getAccessToken(account)).toBe('a0')
    await other.invalidate(account, 'a1')
    expect(await other.getAccessToken(account)).toBe('a0')
    expect(world.sent).toEqual(['r0'])
  })

  it('is told once, with the time until which the other works', async () => {
    const world = bench()
    const [one, other] = [world.process(), world.process()]
    const told: TokenManagerEvents['refreshed-token-refused'][] = []
    for (const tokens of [one, other]) tokens.on('refreshed-token-refused', (event) => told.push(event))
    const end = world.now() / 1000 + eightHours
    await refreshed(world, one)
    await other.getAccessToken(account)
    for (const tokens of [one, other, one]) await tokens.invalidate(account, 'a1')
    expect(told).toEqual([{ account, expires_at: end, in_a_row: 1 }])
    expect(await other.status(account)).toMatchObject({
      state: 'valid',
      expires_at: end,
      refreshed_tokens_refused: 1,
    })
  })

  it('is handed on with its true end', async () => {
    const world = bench()
    const tokens = world.process()
    const end = world.now() / 1000 + eightHours
    await refreshed(world, tokens)
    await tokens.invalidate(account, 'a1')
    expect(await tokens.getTokens(account)).toMatchObject({ access_token: 'a0', expires_at: end })
  })

  it('is followed by no refresh until the one before it nears its end, and by one at that time', async () => {
    const world = bench()
    const tokens = world.process()
    await refreshed(world, tokens)
    await tokens.invalidate(account, 'a1')
    for (let time = 0; time < 57; time += 1) {
      await world.pass(minute)
      await tokens.getAccessToken(account)
    }
    expect(world.sent).toEqual(['r0'])
    await world.pass(2 * minute)
    await tokens.getAccessToken(account)
    await world.pass(0)
    expect(world.sent).toEqual(['r0', 'r1'])
  })

  it('is followed by no refresh of a process that served the one before it all along', async () => {
    const world = bench()
    const [one, other] = [world.process(), world.process()]
    await signedIn(world, one)
    await world.pass(hours(5))
    expect(await other.getAccessToken(account)).toBe('a0')
    await world.pass(hours(2))
    await one.getAccessToken(account)
    await world.pass(0)
    await one.invalidate(account, 'a1')
    for (let time = 0; time < 45; time += 5) {
      await world.pass(5 * minute)
      expect(await other.getAccessToken(account)).toBe('a0')
      await world.pass(0)
    }
    expect(world.sent).toEqual(['r0'])
  })

  it('is followed by one at once where somebody asks by refresh()', async () => {
    const world = bench()
    const tokens = world.process()
    await refreshed(world, tokens)
    await world.pass(2 * minute)
    await tokens.invalidate(account, 'a1')
    await tokens.refresh(account)
    expect(world.sent).toEqual(['r0', 'r1'])
    expect(await tokens.getAccessToken(account)).toBe('a2')
    await tokens.invalidate(account, 'a2')
    expect(await tokens.getAccessToken(account)).toBe('a0')
  })

  it('gives its place back while the store is down, and in the store once that is back', async () => {
    const world = bench()
    const tokens = world.process()
    await refreshed(world, tokens)
    world.store.down = true
    await tokens.invalidate(account, 'a1')
    expect(await tokens.getAccessToken(account)).toBe('a0')
    world.store.down = false
    await tokens.status(account)
    expect(await tokens.getAccessToken(account)).toBe('a0')
    expect(await world.process().getAccessToken(account)).toBe('a0')
    expect(world.sent).toEqual(['r0'])
  })

  it('gives its place back before the store has taken it', async () => {
    const world = bench()
    const tokens = world.process()
    await signedIn(world, tokens)
    await world.pass(hours(7))
    world.answer = async () => {
      world.store.down = true
      return world.tokens({ access_token: 'a1', refresh_token: 'r1' })
    }
    await tokens.getAccessToken(account)
    await world.pass(0)
    expect(await tokens.getAccessToken(account)).toBe('a1')
    await tokens.invalidate(account, 'a1')
    expect(await tokens.getAccessToken(account)).toBe('a0')
    world.store.down = false
    await world.pass(minute)
    expect(await tokens.getAccessToken(account)).toBe('a0')
    expect(await world.process().getAccessToken(account)).toBe('a0')
    expect((await world.store.read(account))?.record).toMatchObject({ tokens: { refresh_token: 'r1' } })
  })

  it('is not given back its place by a refresh of a sibling that came late', async () => {
    const world = bench()
    const tokens = world.process()
    await refreshed(world, tokens)
    await tokens.invalidate(account, 'a1')
    await world.pass(59 * minute)
    expect(await call(tokens, ofSignIn)).toBe(true)
    await world.pass(5 * minute)
    expect(await tokens.getAccessToken(account)).not.toBe('a1')
  })
})

describe('the way back', () => {
  it.each<[string, (world: Bench, tokens: TokenManager) => unknown]>([
    ['after the new one was accepted', (_, tokens) => tokens.accepted(account, 'a1')],
    ['after the old one was refused as well', async (_, tokens) => tokens.invalidate(account, 'a0')],
    ['after the old one has ended', async (world) => world.pass(hours(1))],
  ])('is gone %s: a refusal leads to one refresh', async (_name, happens) => {
    const world = bench()
    const tokens = world.process()
    await refreshed(world, tokens)
    await world.pass(2 * minute)
    await happens(world, tokens)
    for (const refused of ['a1', 'a1', 'a0']) await tokens.invalidate(account, refused)
    expect(await tokens.getAccessToken(account)).toBe('a2')
    expect(world.sent).toEqual(['r0', 'r1'])
  })

  it.each<[string, (world: Bench, tokens: TokenManager) => Promise<void>]>([
    ['a sign-out', async (_, tokens) => tokens.forget(account)],
    [
      'a new sign-in',
      async (world, tokens) => tokens.save(account, world.tokens({ access_token: 's1', refresh_token: 'rs' })),
    ],
  ])('is gone after %s, in the process that did not hear of it as well', async (_, happens) => {
    const world = bench()
    const [one, other] = [world.process(), world.process()]
    await refreshed(world, one)
    await other.getAccessToken(account)
    await happens(world, one)
    await other.invalidate(account, 'a1')
    expect(await other.getAccessToken(account).catch(({ code }) => code)).not.toBe('a0')
    expect(JSON.stringify(await world.store.read(account))).not.toContain('"a0"')
  })

  it('is not taken by a token that was never ours', async () => {
    const world = bench()
    const tokens = world.process()
    await refreshed(world, tokens)
    await tokens.invalidate(account, 'somebody else')
    tokens.accepted(account, 'somebody else')
    tokens.accepted('nobody@example.com', 'a1')
    expect(await tokens.getAccessToken(account)).toBe('a1')
    await tokens.invalidate(account, 'a1')
    expect(await tokens.getAccessToken(account)).toBe('a0')
  })

  it.each([[['a1', 'a0']], [['a0', 'a1']], [['a0', 'a1', 'a0', 'a1']], [['a1', 'a0', 'a1', 'a0']]])(
    'ends in one refresh where both are refused, by two processes, as %j',
    async (order) => {
      const world = bench()
      const fleet = [world.process(), world.process()]
      await refreshed(world, world.process())
      await world.pass(2 * minute)
      for (const tokens of fleet) await tokens.getAccessToken(account)
      for (const token of order) await Promise.all(fleet.map(async (tokens) => tokens.invalidate(account, token)))
      for (const tokens of fleet) expect(await tokens.getAccessToken(account)).toBe('a2')
      expect(world.sent).toEqual(['r0', 'r1'])
    },
  )

  it('does not lead to a token that was refused before its refresh', async () => {
    const world = bench()
    const tokens = world.process()
    await signedIn(world, tokens)
    await tokens.invalidate(account, 'a0')
    expect(await tokens.getAccessToken(account)).toBe('a1')
    await world.pass(2 * minute)
    await tokens.invalidate(account, 'a1')
    expect(await tokens.getAccessToken(account)).toBe('a2')
  })

  it('is all that a refusal leads to that may be about the call', async () => {
    const world = bench()
    const tokens = world.process()
    await refreshed(world, tokens)
    expect(await tokens.invalidate(account, 'a1', { refresh: false })).toBe(true)
    await world.pass(2 * minute)
    expect(await tokens.invalidate(account, 'a0', { refresh: false })).toBe(false)
    expect(await tokens.getAccessToken(account)).toBe('a0')
    expect(world.sent).toEqual(['r0'])
  })

  it('is not touched by a mistyped call', async () => {
    const world = bench()
    const tokens = world.process()
    await refreshed(world, tokens)
    const mistyped = JSON.parse('{"refresh":"no"}')
    const mistake = new TypeError('refresh must be true or false; text came')
    await expect(tokens.invalidate(account, 'a1', mistyped)).rejects.toThrow(mistake)
    expect(() => tokens.accepted(account, '')).toThrow(new TypeError('accessToken must be a non-empty string'))
    expect(await tokens.getAccessToken(account)).toBe('a1')
  })

  it('is not shown where a record is printed', async () => {
    const world = bench()
    const tokens = world.process()
    await refreshed(world, tokens)
    const { inspect } = await import('node:util')
    const { readRecord } = await import('../../src/store/read-record.ts')
    expect(inspect(await readRecord(account, { store: world.store }), { depth: 9 })).not.toMatch(/'a0'|'a1'/u)
  })
})

describe('an account whose refreshed tokens were refused twice', () => {
  /** Refused at three quarters of its life, and again shortly before its end. */
  async function refusedTwice(world: Bench, tokens: TokenManager): Promise<void> {
    await signedIn(world, tokens)
    for (let time = 0; time < 8 * 60; time += 1) {
      await call(tokens, ofSignIn)
      await world.pass(minute)
    }
  }

  it('has had every call answered while any of its tokens worked, by two refreshes', async () => {
    const world = bench()
    const tokens = world.process()
    await signedIn(world, tokens)
    const answers: boolean[] = []
    for (let time = 0; time < 8 * 60 - 1; time += 1) {
      answers.push(await call(tokens, ofSignIn))
      await world.pass(minute)
    }
    expect(answers).not.toContain(false)
    expect(world.sent).toHaveLength(2)
  })

  it('is refreshed late after the next sign-in, once, and that is called off by a token that is accepted', async () => {
    const world = bench()
    const tokens = world.process()
    await refusedTwice(world, tokens)
    await tokens.save(account, world.tokens({ access_token: 's1', refresh_token: 'rs' }))
    const before = world.sent.length
    await world.pass(hours(7.9))
    await tokens.getAccessToken(account)
    await world.pass(0)
    expect(world.sent).toHaveLength(before)
    await world.pass(5 * minute)
    const everything = (): boolean => true
    await tokens.getAccessToken(account)
    await world.pass(0)
    expect(world.sent).toHaveLength(before + 1)
    expect(await call(tokens, everything)).toBe(true)
    expect(await tokens.status(account)).not.toHaveProperty('refreshed_tokens_refused')
    await world.pass(hours(7))
    await tokens.getAccessToken(account)
    await world.pass(0)
    expect(world.sent).toHaveLength(before + 2)
  })
})

it('status says of all processes that the current access token was refused, once no other is left', async () => {
  const world = bench()
  const [one, other] = [world.process(), world.process()]
  await refreshed(world, one)
  for (const token of ['a0', 'a1']) await one.invalidate(account, token)
  for (const tokens of [one, other]) expect(await tokens.status(account)).toMatchObject({ refused: true })
  await world.pass(2 * minute)
  expect(await one.getAccessToken(account)).toBe('a2')
  for (const tokens of [one, other]) expect(await tokens.status(account)).not.toHaveProperty('refused')
})

describe('a call that needs a token for some time', () => {
  it('gets the one that is there, or a newer one', async () => {
    const world = bench()
    const tokens = world.process()
    await signedIn(world, tokens)
    await world.pass(hours(4))
    expect(await tokens.getAccessToken(account, { minValidity: 3 * 3600 })).toBe('a0')
    expect(await tokens.getAccessToken(account, { minValidity: 5 * 3600 })).toBe('a1')
    expect(world.sent).toEqual(['r0'])
  })

  it('is told what there is, where none lives so long', async () => {
    const world = bench()
    const tokens = world.process()
    const end = world.now() / 1000 + eightHours
    await refreshed(world, tokens)
    await tokens.invalidate(account, 'a1')
    const error = { code: 'ERR_SSO_SHORT_VALIDITY', expires_at: end, requestSent: false }
    await expect(tokens.getAccessToken(account, { minValidity: 2 * 3600 })).rejects.toMatchObject(error)
    expect(await tokens.getAccessToken(account)).toBe('a0')
    expect(world.sent).toEqual(['r0'])
  })

  it.each([-1, Number.NaN, '60'])('refuses %p', async (minValidity) => {
    const tokens = bench().process()
    const answer = tokens.getAccessToken(account, { minValidity: minValidity as number })
    await expect(answer).rejects.toThrow(/^minValidity must be a number of seconds, 0 or more; /u)
  })
})
