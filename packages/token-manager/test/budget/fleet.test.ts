/** A fleet of the real token manager and keeper, simulated: at an even pace within its budget, and after an outage. */
import { expect, it } from '@jest/globals'
import { runFleet } from './fleet-course.ts'

const hours = 3600
const isLong = process.env['OWNER_SSO_SOAK'] === '1'
/** Two thirds of the budget are used on an everyday day. */
const fleet = isLong
  ? { accounts: 100_000, used: 90_000, processes: 64, life: 8 * hours, perMinute: 400, pollEvery: 1800 }
  : { accounts: 300, used: 250, processes: 6, life: 1200, perMinute: 27, pollEvery: 60 }
const course = isLong
  ? { settle: 8 * hours, steady: 24 * hours, outage: 4 * hours }
  : { settle: 1800, steady: 1800, outage: 1200 }

it(
  `${fleet.accounts} accounts in ${fleet.processes} processes: an even pace, no replay, nobody signed out, and after an outage all work again in time`,
  async () => {
    const { perMinute, accounts, life } = fleet
    const figures = await runFleet({ ...fleet, ...course, requestBudget: { perMinute } })
    expect(figures.mostInAMinute).toBeLessThanOrEqual(perMinute)
    expect(figures.mean).toBeGreaterThan(accounts / (life / 60))
    expect(figures.peak / figures.mean).toBeLessThanOrEqual(1.3)
    expect(figures).toMatchObject({ replays: 0, lost: 0 })
    // No caller was kept from a token, and no session that nobody uses came to its end.
    expect(Object.keys(figures.everyday)).toEqual(['token'])
    expect(figures.ended).toBe(0)

    expect(figures.away['ERR_SSO_UNREACHABLE']).toBeGreaterThan(0)
    expect(figures.working).toBeGreaterThan(0)
    expect(figures.working).toBeLessThanOrEqual(figures.need * 1.1)
    expect(figures.used.all).toBeLessThanOrEqual(figures.need * 1.1)
    // Those that nobody asks for are found by the keeper's sweeps, and come after those in use.
    expect(figures.unused.all).toBeLessThan(Number.POSITIVE_INFINITY)
    expect(figures.used.half).toBeLessThan(figures.unused.half / 2)
  },
  isLong ? 5 * 3_600_000 : 300_000,
)

it('keeps those that nobody uses by one request in each life of a refresh token, where that is known', async () => {
  const [life, session] = [1200, 12_000]
  const few = {
    accounts: 120,
    used: 20,
    processes: 4,
    life,
    session,
    pollEvery: 60,
    requestBudget: { perMinute: 20 },
  }
  const before: number[] = []
  const figures = await runFleet({ ...few, settle: session, steady: session, outage: 300 }, (_, { requests }) =>
    before.push(requests),
  )
  expect(figures).toMatchObject({ replays: 0, lost: 0, ended: 0, everyday: { token: expect.any(Number) } })
  const [, settled = 0, done = 0] = before
  // Those in use once in each life of an access token or sooner, the others once in nine tenths of a refresh token's.
  const [most, least] = [20 * (session / (life * 0.75)) + 100 * 1.4, 20 * (session / life) + 100]
  expect(done - settled).toBeLessThan(most)
  expect(done - settled).toBeGreaterThanOrEqual(least)
})
