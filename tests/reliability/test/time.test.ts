/** B-F: clocks that jump, clocks that differ, lives that make no sense, and fleets that start together. */
import { describe, expect, test } from '@jest/globals'
import { account, deploy, life } from './deployment/deployment.ts'
import { figure, gate, isLong, until } from './deployment/figures.ts'
import { fileRow, storesOf } from './deployment/stores.ts'

const hour = 3600
const day = 24 * hour
const year = 365 * day

describe.each(storesOf(1))('$name', (store) => {
  test('F1: clocks ten minutes apart: each expiry is one refresh, and a living intent is respected', async () => {
    const deployment = await deploy({ store, processes: 3, emulator: { reuse: 'revoke-family' } })
    const { emulator } = deployment
    await deployment.signIn()
    await deployment.worker(0).move({ wall: -600_000 })
    await deployment.worker(2).move({ wall: 600_000 })
    const expiries = figure(4, 100)
    for (let expiry = 0; expiry < expiries; expiry += 1) {
      const { opened, open } = gate()
      emulator.once('refresh', { hold: opened, commit: 'after' })
      // For the slowest of the clocks as well.
      await deployment.pass(600)
      await deployment.expire()
      const asked = deployment.ask(20)
      await until(() => emulator.counters.tokenRefreshes === expiry + 1)
      const holder = await deployment.holder()
      for (const worker of deployment.workers) worker.forget()
      const waiting = deployment.workers.filter((worker) => worker !== holder)
      await Promise.all(waiting.map((worker) => worker.reached('read')))
      open()
      const { tokens, failures } = await asked
      expect({ held: Object.values(tokens), failures }).toEqual({ held: [60], failures: {} })
    }
    expect(emulator.counters).toMatchObject({ tokenRefreshes: expiries, refreshRequests: expiries, replays: 0 })
  })
})

/** None of these touches the store in a way of its own: one row is enough. */
describe('whatever the store', () => {
  test.each([
    { jump: 'an hour ahead', seconds: hour },
    { jump: 'a day ahead', seconds: day },
    { jump: 'ten years ahead', seconds: 10 * year },
    { jump: 'an hour back', seconds: -hour },
    { jump: 'a day back', seconds: -day },
    { jump: 'ten years back', seconds: -10 * year },
  ])('F1: one clock jumps $jump: one refresh too many at most, and no storm', async ({ seconds }) => {
    const deployment = await deploy({ store: fileRow, processes: 3 })
    const { emulator } = deployment
    await deployment.signIn()
    await deployment.ask(5)
    const jumper = deployment.worker(1)
    const url = new URL('/api/1/vehicles', emulator.ownerApiUrl)
    // There and back (twice in the long form), with an hour of calls in between.
    for (const direction of isLong ? [1, -1, 1, -1] : [1, -1]) {
      await jumper.move({ wall: direction * seconds * 1000 })
      for (let minute = 0; minute < 60; minute += figure(12, 1)) {
        expect((await deployment.ask(5)).failures).toEqual({})
        await deployment.calm()
        await deployment.pass(figure(12, 1) * 60)
      }
    }
    expect(emulator.counters.tokenRefreshes).toBeLessThanOrEqual(4)
    // A token issued in what is the future now may be taken for younger than it is: a 401 puts that right in a minute.
    for (let lives = 0; lives < 2; lives += 1) {
      await deployment.pass(life)
      for (const worker of deployment.workers) {
        await worker.useOwnerApi(account, url, 1)
        await deployment.pass(60)
        expect(await worker.useOwnerApi(account, url, 1)).toEqual({ 200: 1 })
      }
    }
    expect(emulator.counters.tokenRefreshes).toBeLessThanOrEqual(6)
    expect(emulator.counters).toMatchObject({ refreshRequests: emulator.counters.tokenRefreshes, replays: 0 })
  })

  /** What a token set's expiry comes to by each is in the tests of core; here it is how often a fleet asks. */
  test.each([
    { says: '300', expiresIn: 300 },
    { says: '-1', expiresIn: -1 },
    { says: '10¹²', expiresIn: 1e12 },
    { says: 'nothing', expiresIn: null },
    ...(isLong
      ? [
          { says: '45000', expiresIn: 45_000 },
          { says: '0', expiresIn: 0 },
          { says: '"28800"', expiresIn: '28800' },
        ]
      : []),
  ])('F2: expires_in says $says: at most 17 refreshes in eight hours, a minute apart', async ({ expiresIn }) => {
    const deployment = await deploy({
      store: fileRow,
      processes: 3,
      emulator: { expiresIn, accessTokenFormat: 'opaque' },
      service: { accessTokenLifetime: 'expires_in' },
    })
    const { emulator } = deployment
    await deployment.signIn()
    // From the first refresh on, the service's own word counts.
    await deployment.expire()
    for (let passed = 0; passed < life; passed += figure(600, 10)) {
      expect((await deployment.ask(5)).failures).toEqual({})
      await deployment.calm()
      await deployment.pass(figure(600, 10))
    }
    expect(emulator.requests.length).toBeLessThanOrEqual(17)
    expect(emulator.counters).toMatchObject({ tokenRefreshes: emulator.requests.length, replays: 0 })
    const pauses = emulator.requests.slice(1).map(({ at }, index) => at - (emulator.requests[index]?.at ?? 0))
    expect(Math.min(...pauses, Infinity)).toBeGreaterThanOrEqual(60)
  })

  test('F4: processes whose tokens were issued together refresh over a twentieth of their life', async () => {
    const deployment = await deploy({ store: fileRow, processes: 4 })
    const { emulator } = deployment
    // Each account stands for a process: its jitter is that of its own lineage.
    const names = Array.from({ length: figure(60, 200) }, (_, index) => `owner-${index}`)
    for (const name of names) await deployment.signIn(name)
    const askAll = (): Promise<unknown> =>
      Promise.all(names.map((name, index) => deployment.worker(index % 4).ask(name)))
    await askAll()
    const issued = emulator.clock.now()
    await deployment.pass(0.66 * life)
    while (emulator.counters.tokenRefreshes < names.length) {
      await deployment.pass(0.01 * life)
      await askAll()
      await deployment.calm()
    }
    const instants = emulator.requests.map(({ at }) => at - issued)
    expect(Math.max(...instants) - Math.min(...instants)).toBeGreaterThanOrEqual(0.05 * life)
    expect(Math.max(...instants)).toBeLessThan(0.85 * life)
    expect(emulator.counters).toMatchObject({ tokenRefreshes: names.length, refreshRequests: names.length })
    expect((await deployment.worker(0).status(account)).state).toBe('signed-out')
  })
})
