/** B-A: many processes, many callers, one expiry. */
import { describe, expect, test } from '@jest/globals'
import { account, deploy } from './deployment/deployment.ts'
import { figure, gate, until } from './deployment/figures.ts'
import { namespacesWork, startHost } from './deployment/hosts.ts'
import { storeRows, storesOf } from './deployment/stores.ts'

const onHosts = namespacesWork ? describe : describe.skip

describe.each(storeRows)('$name', (store) => {
  test('A1, A2: 8 processes × 200 callers: each expiry is one refresh, and every caller holds its token', async () => {
    const deployment = await deploy({ store, processes: 8 })
    const { emulator } = deployment
    emulator.always('refresh', { delay: 30 })
    await deployment.signIn()
    const expiries = figure(3, 100)
    for (let expiry = 0; expiry < expiries; expiry += 1) {
      await deployment.expire()
      const { tokens, failures } = await deployment.ask(200)
      expect(failures).toEqual({})
      expect(Object.values(tokens)).toEqual([8 * 200])
    }
    expect(emulator.counters).toMatchObject({ tokenRefreshes: expiries, refreshRequests: expiries, replays: 0 })
  })
})

onHosts('on two hosts', () => {
  describe.each(storesOf(0))('$name', (store) => {
    test('A3: the same, though neither host knows the other’s processes', async () => {
      const hosts = [await startHost(), await startHost()]
      const processes = figure(6, 32)
      const deployment = await deploy({ store, processes, hosts, emulator: { reuse: 'revoke-family' } })
      const { emulator } = deployment
      emulator.always('refresh', { delay: 30 })
      await deployment.signIn()
      const expiries = figure(3, 50)
      for (let expiry = 0; expiry < expiries; expiry += 1) {
        await deployment.expire()
        const { tokens, failures } = await deployment.ask(50)
        expect(failures).toEqual({})
        expect(Object.values(tokens)).toEqual([processes * 50])
      }
      expect(emulator.counters).toMatchObject({ tokenRefreshes: expiries, replays: 0 })
    })
  })
})

describe.each(storesOf(1))('$name', (store) => {
  test('A4: each account has a refresh of its own, and none waits for another', async () => {
    const deployment = await deploy({ store, processes: figure(4, 8) })
    const { emulator } = deployment
    const names = Array.from({ length: figure(40, 500) }, (_, index) => `owner-${index}`)
    for (const name of names) await deployment.signIn(name)
    await deployment.expire()
    // The first request to arrive is held up, whoever's it is; everybody else's account gets its token meanwhile.
    const { opened, open } = gate()
    emulator.once('refresh', { hold: opened })
    let ended = 0
    const waiting = names.values()
    const askInTurn = async (): Promise<void> => {
      for (const name of waiting) {
        const { tokens, failures } = await deployment.ask(2, name)
        expect(failures).toEqual({})
        expect(Object.values(tokens)).toEqual([2 * deployment.workers.length])
        ended += 1
        if (ended === names.length - 1) open()
      }
    }
    await Promise.all(Array.from({ length: 40 }, askInTurn))
    expect(emulator.counters).toMatchObject({ tokenRefreshes: names.length, replays: 0 })
  })
})

describe.each(storesOf(2))('$name', (store) => {
  test('A5: a token revoked early: 100 refusals of the owner API are one refresh', async () => {
    const deployment = await deploy({ store, processes: 4, manager: { minRefreshInterval: 0 } })
    const { emulator } = deployment
    await deployment.signIn()
    const url = new URL('/api/1/vehicles', emulator.ownerApiUrl)
    await deployment.ask(1)
    await Promise.all(deployment.workers.map((worker) => worker.keep(account, 'first')))
    emulator.revokeAccessTokens('plain@example.com')
    const refused = await Promise.all(deployment.workers.map((worker) => worker.useOwnerApi(account, url, 25)))
    expect(refused).toEqual(deployment.workers.map(() => ({ 401: 25 })))
    const { tokens, failures } = await deployment.ask(25)
    expect(failures).toEqual({})
    expect(Object.values(tokens)).toEqual([4 * 25])
    // Whoever used the old one meanwhile says so too late to matter.
    for (const worker of deployment.workers) expect(await worker.useOwnerApi(account, url, 5)).toEqual({ 200: 5 })
    await Promise.all(deployment.workers.map((worker) => worker.invalidate(account, 'first')))
    expect((await deployment.ask(25)).tokens).toEqual(tokens)
    await deployment.calm()
    expect(emulator.counters).toMatchObject({ tokenRefreshes: 1, replays: 0 })
  })
})

describe.each(storesOf(3))('$name', (store) => {
  test('A8: a slow service: nobody takes over while the request may still be answered', async () => {
    const deployment = await deploy({ store, processes: 4, emulator: { reuse: 'revoke-family' } })
    const { emulator } = deployment
    await deployment.signIn()
    const delays = process.env['OWNER_SSO_SOAK'] === '1' ? [3000, 20_000, 29_000] : [3000]
    for (const delay of delays) {
      emulator.once('refresh', { delay, commit: 'after' })
      await deployment.expire()
      const { tokens, failures } = await deployment.ask(10)
      expect(failures).toEqual({})
      expect(Object.values(tokens)).toEqual([4 * 10])
    }
    expect(emulator.counters).toMatchObject({ tokenRefreshes: delays.length, replays: 0 })
  })
})

describe.each(storesOf(0))('$name', (store) => {
  test('A8: 44 seconds later on the waiting processes’ clocks, the intent of another is still respected', async () => {
    const deployment = await deploy({ store, processes: 4, emulator: { reuse: 'revoke-family' } })
    const { emulator } = deployment
    await deployment.signIn()
    const { opened, open } = gate()
    emulator.once('refresh', { hold: opened, commit: 'after' })
    await deployment.expire()
    const asked = deployment.ask(10)
    const holder = await deployment.holder()
    await until(() => emulator.counters.tokenRefreshes === 1)
    const waiting = deployment.workers.filter((worker) => worker !== holder)
    await Promise.all(waiting.map((worker) => worker.reached('read')))
    for (let look = 0; look < 4; look += 1) {
      await deployment.pass(11, [holder])
      for (const worker of waiting) worker.forget()
      await Promise.all(waiting.map((worker) => worker.reached('read')))
    }
    open()
    expect((await asked).failures).toEqual({})
    expect(emulator.counters).toMatchObject({ tokenRefreshes: 1, refreshRequests: 1, replays: 0 })
  })
})
