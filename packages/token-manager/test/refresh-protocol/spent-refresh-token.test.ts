/** A refresh token works once. One that was spent, or may have been, is not taken again, whoever brings it back and when. */
import { describe, expect, it } from '@jest/globals'
import { ReauthenticationRequiredError, UnreachableError } from '../../src/index.ts'
import { account, type Bench, bench, deferred, hours, signedIn } from './harness.ts'

const spent = {
  code: 'ERR_SSO_REAUTHENTICATION_REQUIRED',
  reason: 'refresh_token_spent',
  message: expect.stringContaining('Sign in again'),
}

const auth_url = 'http://127.0.0.1:9'

/** The two ways to bring a refresh token back: alone, and with the token set that it came in. */
const ways = [
  ['alone', (_: Bench, refresh_token: string) => ({ refresh_token, auth_url })],
  ['in a token set', (world: Bench, refresh_token: string) => world.tokens({ refresh_token })],
] as const

describe.each(ways)('a spent refresh token that is saved again %s', (_, bring) => {
  it('is refused after a sign-out, for each that was saved and for the last that was spent (A10)', async () => {
    const { world, tokens } = await signedIn()
    for (let hour = 0; hour < 40; hour += 1) {
      await world.pass(hours(1))
      await tokens.refresh(account)
    }
    await tokens.forget(account)
    const sent = world.sent.length
    for (const token of ['r0', 'r39']) {
      await expect(tokens.save(account, bring(world, token))).rejects.toMatchObject(spent)
      await expect(world.process().save(account, bring(world, token))).rejects.toMatchObject(spent)
    }
    await expect(tokens.getAccessToken(account)).rejects.toMatchObject({ code: 'ERR_SSO_SIGNED_OUT' })
    expect(world.sent).toHaveLength(sent)
  })

  it('is refused where the sign-out came between its request and the answer, or the answer was lost', async () => {
    for (const isLost of [false, true]) {
      const { world, tokens } = await signedIn()
      const answer = deferred<never>()
      world.answer = async () => answer.promise
      const refresh = tokens.refresh(account).catch(() => 'failed')
      await world.pass(1000)
      const lost = new UnreachableError('no answer', { requestSent: true })
      if (isLost) answer.reject(lost)
      await world.pass(1000)
      await tokens.forget(account)
      answer.reject(lost)
      expect(await refresh).toBe('failed')
      await expect(world.process().save(account, bring(world, 'r0'))).rejects.toMatchObject(spent)
    }
  })

  it('is refused after sign-ins and sign-outs between, and under another account', async () => {
    const world = bench()
    const tokens = world.process()
    for (const round of ['one', 'two', 'three']) {
      await tokens.save(account, world.tokens({ refresh_token: round }))
      await world.pass(hours(1))
      await tokens.refresh(account)
      await tokens.forget(account)
    }
    await expect(tokens.save(account, bring(world, 'one'))).rejects.toMatchObject(spent)
    await expect(tokens.save('another', bring(world, 'three'))).rejects.toMatchObject(spent)
  })

  it('leaves the session alone that came of it, even where it is told to replace that', async () => {
    const { world, tokens } = await signedIn()
    await tokens.refresh(account)
    await expect(tokens.save(account, bring(world, 'r0'), { replace: true })).rejects.toMatchObject(spent)
    await world.pass(hours(8))
    expect(await tokens.getAccessToken(account)).toBe('a2')
    expect(world.sent).toEqual(['r0', 'r1'])
  })

  it('is taken where it was never sent: the sign-out spent nothing', async () => {
    const { world, tokens } = await signedIn()
    await tokens.forget(account)
    await tokens.save(account, bring(world, 'r0'))
    await world.pass(hours(8))
    expect(await tokens.getAccessToken(account)).toBe('a1')
    expect(world.sent).toEqual(['r0'])
  })

  it('is taken where the service keeps its refresh tokens', async () => {
    const world = bench()
    const tokens = world.process()
    world.answer = async () => world.tokens({ access_token: 'another' })
    await tokens.save(account, world.tokens())
    await tokens.refresh(account)
    await tokens.forget(account)
    await tokens.save(account, bring(world, 'r0'))
    await world.pass(hours(8))
    expect(await tokens.getAccessToken(account)).toBe('another')
  })
})

describe('a refresh token in doubt', () => {
  it('stays so when the token set that it came in is saved once more', async () => {
    const { world, tokens } = await signedIn()
    const answer = deferred<ReturnType<Bench['tokens']>>()
    world.answer = async () => answer.promise
    const refresh = tokens.refresh(account)
    await world.pass(1000)
    const other = world.process()
    await other.save(account, world.tokens())
    const waiting = other.refresh(account)
    await world.pass(1000)
    answer.resolve(world.tokens({ access_token: 'a1', refresh_token: 'r1' }))
    await world.pass(1000)
    await Promise.all([refresh, waiting])
    expect(await world.process().getAccessToken(account)).toBe('a1')
    expect(world.sent).toEqual(['r0'])
  })
})

describe('a refresh token that the service refused', () => {
  it('is not taken again with the token set that it came in', async () => {
    const { world, tokens } = await signedIn()
    world.answer = () =>
      Promise.reject(new ReauthenticationRequiredError('refresh_token_rejected', { step: 'refresh' }))
    await expect(tokens.refresh(account)).rejects.toMatchObject({ reason: 'refresh_token_rejected' })
    await expect(tokens.save(account, world.tokens())).rejects.toMatchObject({ reason: 'refresh_token_rejected' })
    await tokens.forget(account)
    await expect(tokens.save(account, world.tokens())).rejects.toMatchObject(spent)
  })
})
