/** What `status()` tells of the past and the future of an account's refreshes; never a token. */
import { expect, it } from '@jest/globals'
import { account, bench, hours, signedIn } from './harness.ts'

it('tells when the tokens were refreshed, and when the next refresh is due', async () => {
  const { world, tokens } = await signedIn()
  const signedInAt = world.now() / 1000
  const first = await tokens.status(account)
  expect(first).not.toHaveProperty('refreshed_at')
  // Three quarters of eight hours, give or take a tenth; the same in every process.
  const due = (first.refresh_due_at ?? 0) - signedInAt
  expect(due).toBeGreaterThanOrEqual(6 * 3600 * 0.9)
  expect(due).toBeLessThanOrEqual(6 * 3600 * 1.1 + 1)
  expect(await world.process().status(account)).toEqual(first)
  await world.pass(hours(7))
  const refreshedAt = Math.floor(world.now() / 1000)
  const other = world.process({ minRefreshInterval: 0 })
  await other.refresh(account)
  const refreshed = await other.status(account)
  expect(refreshed).toMatchObject({ state: 'valid', refreshed_at: refreshedAt })
  expect(JSON.stringify([first, refreshed])).not.toMatch(/"[ar]\d"/u)
})

it('new tokens count from before their request: they may have been issued long before their answer was read', async () => {
  const { world, tokens } = await signedIn(hours(7))
  const asked = world.now() / 1000
  world.answer = async () => {
    await world.after(20_000)
    return world.tokens({ access_token: 'a1', refresh_token: 'r1' })
  }
  const refreshed = tokens.refresh(account)
  await world.pass(20_000)
  await refreshed
  expect(await tokens.status(account)).toMatchObject({ obtained_at: asked, expires_at: asked + 20 + 28_800 - 20 })
})

it('a sign-out leaves its time, and nothing of the tokens', async () => {
  const world = bench()
  const tokens = world.process()
  await tokens.forget('nobody')
  expect(await world.store.read('nobody')).toBeUndefined()
  await tokens.save(account, world.tokens())
  const session: unknown = Reflect.get((await world.store.read(account))?.record ?? {}, 'session')
  await world.pass(1900)
  await tokens.forget(account)
  expect((await world.store.read(account))?.record).toEqual({
    schema: 1,
    state: 'signed-out',
    generation: 2,
    session: expect.any(String),
    replaces: [session],
    spent: [],
    history: expect.stringMatching(/ signed-out - - :1 -$/u),
    signed_out_at: Math.floor(world.now() / 1000),
  })
  expect(await tokens.status(account)).toEqual({ state: 'signed-out' })
  await expect(tokens.getTokens(account)).rejects.toMatchObject({
    code: 'ERR_SSO_SIGNED_OUT',
    step: 'token-manager',
    requestSent: false,
  })
})
