/** What `status()` tells of the past and the future of an account's refreshes; never a token. */
import { expect, it } from '@jest/globals'
import { SsoTimeoutError, UnreachableError } from '../../src/errors.ts'
import { account, bench, hours, idle } from './harness.ts'

it('tells when the tokens were refreshed, when the next refresh is due, and how the last one failed', async () => {
  const world = bench()
  const tokens = world.process()
  await tokens.save(account, world.tokens())
  const signedInAt = world.now() / 1000
  const first = await tokens.status(account)
  expect(first).not.toHaveProperty('refreshed_at')
  expect(first).not.toHaveProperty('last_failure')
  // Three quarters of eight hours, give or take a tenth; the same in every process.
  const due = (first.refresh_due_at ?? 0) - signedInAt
  expect(due).toBeGreaterThanOrEqual(6 * 3600 * 0.9)
  expect(due).toBeLessThanOrEqual(6 * 3600 * 1.1 + 1)
  expect(await world.process().status(account)).toEqual(first)

  const answer = world.answer
  world.answer = async () => {
    throw new UnreachableError('no connection', { requestSent: false })
  }
  await world.pass(hours(7))
  const failedAt = Math.floor(world.now() / 1000)
  await tokens.getAccessToken(account)
  await idle()
  for (const each of [tokens, world.process()]) {
    expect(await each.status(account)).toMatchObject({
      state: 'valid',
      last_failure: { code: 'ERR_SSO_UNREACHABLE', at: failedAt },
    })
  }

  world.answer = answer
  const other = world.process({ minRefreshInterval: 0 })
  await other.refresh(account)
  const refreshed = await other.status(account)
  expect(refreshed).toMatchObject({ state: 'valid', refreshed_at: failedAt })
  expect(refreshed).not.toHaveProperty('last_failure')
  expect(JSON.stringify([first, refreshed])).not.toMatch(/"[ar]\d"/u)
})

it('tells since when a refresh is in doubt', async () => {
  const world = bench()
  const tokens = world.process()
  await tokens.save(account, world.tokens())
  await world.pass(hours(7))
  const sentAt = Math.floor(world.now() / 1000)
  world.answer = async () => {
    throw new SsoTimeoutError('no answer', { requestSent: true })
  }
  await tokens.getAccessToken(account)
  await idle()
  await world.pass(60_000)
  expect(await world.process().status(account)).toMatchObject({
    state: 'in-doubt',
    in_doubt_since: sentAt,
    last_failure: { code: 'ERR_SSO_TIMEOUT', at: sentAt },
  })
})
