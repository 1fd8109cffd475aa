/** A fleet of the real token manager and keeper, simulated: at an even pace within its budget, and after an outage. */
import { afterEach, expect, it } from '@jest/globals'
import { type Fleet, startFleet } from './fleet.ts'

const hours = 3600
const isLong = process.env['OWNER_SSO_SOAK'] === '1'
const figures = isLong
  ? { accounts: 20_000, used: 4000, processes: 64, life: 8 * hours, perMinute: 75, pollEvery: 600 }
  : { accounts: 500, used: 100, processes: 8, life: 1200, perMinute: 44, pollEvery: 60 }
const times = isLong ? { steady: 3 * 24 * hours, outage: 4 * hours } : { steady: 1800, outage: 1800 }
const { perMinute, life, accounts } = figures
let fleet: Fleet | undefined
afterEach(async () => {
  await fleet?.close()
  fleet = undefined
})

/** Requests of each whole minute between two times. */
function minutes(sent: readonly number[], from: number, to: number): number[] {
  const counts = Array.from({ length: Math.floor((to - from) / 60) }, () => 0)
  for (const at of sent) {
    const minute = Math.floor((at - from) / 60)
    if (counts[minute] !== undefined) counts[minute] += 1
  }
  return counts
}

/** The most in any minute, wherever it begins. */
function mostInAMinute(sent: readonly number[]): number {
  let [most, last] = [0, 0]
  for (const [first, from] of sent.entries()) {
    while ((sent[last] ?? Number.POSITIVE_INFINITY) < from + 60) last += 1
    most = Math.max(most, last - first)
  }
  return most
}

it(
  `${accounts} accounts in ${figures.processes} processes: an even pace, no replay, nobody signed out, and after an outage all work again in time`,
  async () => {
    fleet = await startFleet({ ...figures, requestBudget: { perMinute } })
    const { sent, issued, isUsed } = fleet
    // The first life is the time in which they sign in.
    await fleet.run(2 * life)
    const from = fleet.now()
    fleet.outcomes()
    await fleet.run(times.steady)
    const counts = minutes(sent, from, fleet.now())
    const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length
    expect(mean).toBeGreaterThan(accounts / (life / 60))
    expect(Math.max(...counts) / mean).toBeLessThanOrEqual(1.3)
    // No caller was kept from a token, and no session that nobody uses came to its end.
    expect(Object.keys(fleet.outcomes())).toEqual(['token'])
    const oldest = Math.min(...issued.values())
    expect(fleet.now() - oldest).toBeLessThan(life)

    // An outage: all tokens end.
    fleet.isAway = true
    await fleet.run(times.outage)
    expect(fleet.outcomes()['ERR_SSO_UNREACHABLE']).toBeGreaterThan(0)
    fleet.isAway = false
    const back = fleet.now()
    const waits = (some: (account: string) => boolean): number[] =>
      [...issued].flatMap(([account, at]) => (some(account) ? [at - back] : [])).toSorted((one, other) => one - other)
    const isUnused = (account: string): boolean => !isUsed(account)
    await fleet.run((accounts / perMinute) * 60 * 1.1)
    expect(waits(isUsed)[0]).toBeGreaterThan(0)
    // What nobody uses is found by the keeper's next sweep.
    await fleet.run(fleet.sweepEvery)
    expect(waits(isUnused)[0]).toBeGreaterThan(0)
    // Those in use first.
    const half = (sorted: readonly number[]): number => sorted[sorted.length >> 1] ?? 0
    expect(half(waits(isUsed))).toBeLessThan(half(waits(isUnused)) / 2)

    expect(mostInAMinute(sent)).toBeLessThanOrEqual(perMinute)
    expect(fleet.replays()).toBe(0)
  },
  isLong ? 24 * 3_600_000 : 300_000,
)
