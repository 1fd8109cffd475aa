/** B-I: how much a fleet asks of the service in a day, and how little while its firewall blocks. */
import { describe, expect, test } from '@jest/globals'
import { account, deploy } from './deployment/deployment.ts'
import { figure } from './deployment/figures.ts'
import { storesOf } from './deployment/stores.ts'

const day = 24 * 60 * 60
const processes = figure(4, 8)
const blocked = 'ERR_SSO_FIREWALL_CHALLENGE'

describe.each(storesOf(1))('$name', (store) => {
  test('I2: blocked for a day: the service hears from a fleet 12 times at most, however many callers it has', async () => {
    const deployment = await deploy({ store, processes })
    const { emulator } = deployment
    await deployment.signIn()
    await deployment.expire()
    emulator.always('refresh', { firewall: true })
    // All callers of a step ask at once: one flight in each process answers them.
    const step = figure(600, 10)
    const callers = figure(5, (10 * 100) / processes)
    for (let passed = 0; passed < day; passed += step) {
      const { tokens, failures } = await deployment.ask(callers)
      expect({ tokens, failures }).toEqual({ tokens: {}, failures: { [blocked]: processes * callers } })
      await deployment.calm()
      await deployment.pass(step)
    }
    expect(emulator.requests.length).toBeLessThanOrEqual(12)
    // Not for ever: it is tried again now and then.
    expect(emulator.requests.length).toBeGreaterThanOrEqual(6)
    expect(emulator.requests.every(({ path }) => path === '/oauth2/v3/token')).toBe(true)
    const pauses = emulator.requests.slice(1).map(({ at }, index) => at - (emulator.requests[index]?.at ?? 0))
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(15 * 60 * 0.8)

    // Once the firewall lets them through, they recover by themselves.
    emulator.always('refresh', undefined)
    await deployment.pass(5 * 60 * 60)
    // One of them probes, and the others still hear of the block; then all is well.
    await deployment.ask(callers)
    const { tokens, failures } = await deployment.ask(callers)
    expect({ held: Object.values(tokens), failures }).toEqual({ held: [processes * callers], failures: {} })
    expect(emulator.counters).toMatchObject({ tokenRefreshes: 1, replays: 0 })
  })
})

describe.each(storesOf(2))('$name', (store) => {
  test('I4: a healthy day of a fleet: 4 token requests at most, and no sign-in', async () => {
    const deployment = await deploy({ store, processes })
    const { emulator } = deployment
    await deployment.signIn()
    const step = figure(1200, 30)
    for (let passed = 0; passed < day; passed += step) {
      expect((await deployment.ask(5)).failures).toEqual({})
      await deployment.calm()
      await deployment.pass(step)
    }
    expect(emulator.requests.length).toBeLessThanOrEqual(4)
    expect(emulator.counters).toMatchObject({ tokenRefreshes: emulator.requests.length, replays: 0 })
    expect((await deployment.worker(0).status(account)).state).toBe('valid')
  })
})
