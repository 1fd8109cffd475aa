/** One refresh token saved under two accounts: told at the second save, before the service ends the session. */
import { describe, expect, test } from '@jest/globals'
import { account, deploy } from './deployment/deployment.ts'
import { storesOf } from './deployment/stores.ts'

describe.each(storesOf(2))('$name', (store) => {
  test('the second account is rejected in every process, and the first goes on', async () => {
    const deployment = await deploy({ store, processes: 2, emulator: { reuse: 'revoke-family' } })
    const { emulator } = deployment
    const tokens = await deployment.tokens()
    await deployment.worker(0).signIn(account, tokens)
    for (const worker of deployment.workers) {
      await expect(worker.signIn('bob', tokens)).rejects.toThrow('ERR_SSO_STORE:duplicate')
    }
    await deployment.expire()
    await expect(deployment.worker(1).signIn('bob', tokens)).rejects.toThrow('ERR_SSO_STORE:duplicate')
    expect((await deployment.ask(5)).failures).toEqual({})
    expect((await deployment.ask(5, 'bob')).failures).toEqual({ ERR_SSO_SIGNED_OUT: 10 })
    expect(emulator.counters).toMatchObject({ tokenRefreshes: 1, refreshRequests: 1, replays: 0 })
    await deployment.worker(0).signOut(account)
    await deployment.worker(0).signIn('bob', await deployment.tokens())
  })
})
