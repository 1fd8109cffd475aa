/** A keeper that is killed anywhere in its sweep, over every store: the next one goes on, and nothing is lost (N5). */
import { expect, test } from '@jest/globals'
import { deploy, life } from './deployment/deployment.ts'
import { figure, seededRandom, until } from './deployment/figures.ts'
import { storesOf } from './deployment/stores.ts'

const kills = figure(2, 100)
const accounts = ['ann', 'bob', 'cyd', 'dan']

test.each(storesOf(0))(
  'N5: kill -9 of the keeper, $name: each account is refreshed, and nobody signs in again',
  async (store) => {
    const random = seededRandom()
    // A killed process takes an answer with it that it has not saved: nothing but the service's own repetition brings it back.
    const emulator = { reuse: 'grace' } as const
    const deployment = await deploy({ store, processes: 1, emulator, manager: { minRefreshInterval: 0 } })
    for (const name of accounts) await deployment.signIn(name)
    for (let killed = 0; killed < kills; killed += 1) {
      await deployment.pass(life)
      const keeper = deployment.worker(0)
      await keeper.keepSignedIn({ within: 4, every: 1 })
      const refreshes = Math.floor(random() * accounts.length)
      const begun = deployment.emulator.counters.refreshRequests
      await until(() => deployment.emulator.counters.refreshRequests > begun + refreshes)
      const next = await deployment.replace(keeper)
      await next.keepSignedIn({ within: 4, every: 1 })
      await until(async () => {
        const states = await Promise.all(accounts.map(async (name) => (await next.status(name)).state))
        expect(states).not.toContain('reauthentication-required')
        return states.every((state) => state === 'valid')
      })
      // What is valid in its memory is in the store as well; then a new process for the next round, whose keeper begins at once.
      await next.calm()
      await deployment.replace(next)
    }
    const { counters } = deployment.emulator
    // An account is asked for once a round, and once more where the process died with its answer.
    expect(counters.tokenRefreshes).toBeGreaterThanOrEqual(kills * accounts.length)
    expect(counters.refreshRequests).toBeLessThanOrEqual(kills * (accounts.length + 8))
  },
)
