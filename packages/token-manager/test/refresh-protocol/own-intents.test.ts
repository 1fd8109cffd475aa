/** Intents whose swap the store did not acknowledge: a process does not wait for itself. */
import { describe, expect, it } from '@jest/globals'
import { SsoTimeoutError, type TokenStore } from '../../src/index.ts'
import { account, bench, heardBy, hours } from './harness.ts'

type Hiccup = 'applied' | 'refused' | undefined

/** A store whose writes fail in turn: carried out with the acknowledgement lost, or not carried out. */
function hiccups(store: TokenStore, failures: Hiccup[]): TokenStore {
  return {
    ...store,
    async swap(...write) {
      const failure = failures.shift()
      if (failure === 'refused') throw new Error('no connection')
      const answer = await store.swap(...write)
      if (failure === 'applied') throw new Error('connection lost')
      return answer
    },
  }
}

describe('intents that were not acknowledged (E9)', () => {
  it('are remembered through a long outage that takes no writes', async () => {
    const world = bench()
    const failures: Hiccup[] = []
    const tokens = world.process({ store: hiccups(world.store, failures) })
    await tokens.save(account, world.tokens())
    await world.pass(hours(8))
    failures.push('applied', ...Array.from({ length: 100 }, () => 'refused' as const))
    for (let call = 0; call < 101; call += 1) {
      await expect(tokens.getAccessToken(account)).rejects.toMatchObject({ code: 'ERR_SSO_STORE' })
    }
    expect(await tokens.getAccessToken(account)).toBe('a1')
    expect(world.sent).toEqual(['r0'])
  })

  it('of a replay leave what was before: nothing was sent, so the next replay need not rest', async () => {
    const world = bench()
    const failures: Hiccup[] = []
    const tokens = world.process({ store: hiccups(world.store, failures) })
    await tokens.save(account, world.tokens())
    await world.pass(hours(8))
    world.answer = () => Promise.reject(new SsoTimeoutError('no answer', { requestSent: true }))
    await expect(tokens.getAccessToken(account)).rejects.toMatchObject({ code: 'ERR_SSO_REFRESH_IN_DOUBT' })
    world.answer = world.newTokens
    failures.push('applied', 'refused')
    await expect(tokens.getAccessToken(account)).rejects.toMatchObject({ code: 'ERR_SSO_STORE' })
    await expect(tokens.getAccessToken(account)).rejects.toMatchObject({ code: 'ERR_SSO_STORE' })
    const heard = heardBy(tokens, 'refreshed')
    expect(await tokens.getAccessToken(account)).toBe('a1')
    expect(world.sent).toEqual(['r0', 'r0'])
    expect(heard).toMatchObject([{ replay: true }])
  })

  it('are in doubt as any other once the token was sent under one that could not be marked', async () => {
    const world = bench()
    const failures: Hiccup[] = []
    const tokens = world.process({ store: hiccups(world.store, failures) })
    await tokens.save(account, world.tokens())
    await world.pass(hours(8))
    failures.push('applied', 'refused', undefined, 'refused')
    world.answer = () => Promise.reject(new SsoTimeoutError('no answer', { requestSent: true }))
    await expect(tokens.getAccessToken(account)).rejects.toMatchObject({ code: 'ERR_SSO_STORE' })
    await expect(tokens.getAccessToken(account)).rejects.toMatchObject({ code: 'ERR_SSO_STORE' })
    await expect(tokens.getAccessToken(account)).rejects.toMatchObject({ code: 'ERR_SSO_REFRESH_IN_DOUBT' })
    expect(await tokens.status(account)).toMatchObject({ state: 'in-doubt' })
    expect(world.sent).toEqual(['r0'])
  })
})
