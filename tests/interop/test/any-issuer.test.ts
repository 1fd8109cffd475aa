/** `oauthIssuer` in several processes over one store, against `oidc-provider`: one refresh for each expiry, also where processes die. */
import { describe, expect, it, jest } from '@jest/globals'
import { isSoak } from '../../support/runs.ts'
import { type Child, deploy, places } from './any-issuer/children.ts'

jest.setTimeout(isSoak ? 4 * 60 * 60_000 : 120_000)

const hash = /^[\da-f]{64}$/u

describe.each(places)('another issuer, over $name', (place) => {
  it('has one refresh for each expiry, for 4 processes of 25 callers, and detects no reuse', async () => {
    const { provider, workers, signIn, ask, expire } = await deploy(place, 4)
    await signIn()
    const seen = new Set<string>()
    for (let expiry = 1; expiry <= 5; expiry += 1) {
      const answers = await ask(workers, 25)
      expect(answers).toHaveLength(100)
      expect(new Set(answers).size).toBe(1)
      expect(answers[0]).toMatch(hash)
      seen.add(String(answers[0]))
      expect(await provider.call('counters')).toMatchObject({ requests: expiry, refreshes: expiry, reuses: 0 })
      await expire()
    }
    expect(seen.size).toBe(5)
  })

  it.each([
    { moment: 'with the request on its way', drop: 'request', end: hash, refreshes: 2, reuses: 0 },
    { moment: 'with the response on its way', drop: 'response', end: /^rotated_token_lost$/u, refreshes: 2, reuses: 1 },
  ])('keeps the same promise at a kill -9 $moment', async ({ drop, end, refreshes, reuses }) => {
    const { provider, workers, signIn, ask, expire } = await deploy(place, 3)
    const others = workers.slice(0, 2)
    const victim = workers[2] as Child
    await signIn()
    await ask(workers, 1)
    await expire()
    await provider.call('drop', drop)
    const dropped = provider.heard('dropped')
    victim.call('ask', 1).catch(() => undefined)
    await dropped
    await victim.kill()
    const answers = await ask(others, 25)
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]).toMatch(end)
    // One request for the sign-in, one that was cut off, one replay.
    expect(await provider.call('counters')).toMatchObject({ requests: 3, refreshes, reuses })

    // A lost response costs one sign-in, and no more.
    if (reuses > 0) await signIn()
    expect((await ask(others, 1))[0]).toMatch(hash)
  })

  // The moments at which a kill can lose nothing: all but the one between the provider's response and the first write of it.
  const expiries = isSoak ? 1000 : 12
  it(`refreshes once for each of ${expiries} expiries of four instances under kills: no session is revoked`, async () => {
    const fleet = await deploy(place, 4)
    const { provider, workers, signIn, ask, expire } = fleet
    await signIn()
    await ask(workers, 1)
    const replace = async (...victims: readonly Child[]): Promise<void> => {
      await Promise.all(victims.map((victim) => victim.kill()))
      for (const victim of victims) workers.splice(workers.indexOf(victim), 1)
      await Promise.all(victims.map(() => fleet.add()))
    }
    let sentInVain = 0
    for (let expiry = 0; expiry < expiries; expiry += 1) {
      await expire()
      const moment = expiry % 4
      // At the first refresh of all who ask, one has sent its request, and the others wait for it.
      if (moment === 1 || moment === 2) {
        await provider.call('hold')
        const held = provider.heard('held')
        const asked = workers.map(async (worker) => worker.call('ask', 5).catch(() => []))
        const name = String(await held)
        const isHolder = ({ process }: Child): boolean => String(process.pid) === name
        const holder = workers.find(isHolder) as Child
        if (moment === 1) {
          // It dies with its request on the way: the provider has not seen it.
          await provider.call('release', 'drop')
          sentInVain += 1
          await replace(holder)
        } else {
          await replace(...workers.filter((worker) => worker !== holder).slice(0, 2))
          await provider.call('release')
        }
        await Promise.all(asked)
      }
      const answers = await ask(workers, 5)
      expect(new Set(answers).size).toBe(1)
      expect(answers[0]).toMatch(hash)
      if (moment === 3) await replace(workers[expiry % workers.length] as Child)
      const refreshes = expiry + 2
      expect(await provider.call('counters')).toEqual({
        requests: refreshes + sentInVain,
        refreshes,
        reuses: 0,
        revoked: 0,
      })
    }
  })
})
