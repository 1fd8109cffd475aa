/** The budget for refreshes: a fleet whose tokens ended together, and a firewall that counts. */
import { describe, expect, test } from '@jest/globals'
import { type Deployment, deploy, together } from './deployment/deployment.ts'
import { figure, until } from './deployment/figures.ts'
import { redisRow, storeRows } from './deployment/stores.ts'
import type { Answers } from './deployment/worker.ts'

/** In the long form the emulator's own limits; in the short one a window that passes while a test waits. */
const firewall = { maxRequests: figure(150, 600), windowSeconds: figure(5, 60), blockSeconds: 900 }
const requestBudget = { perMinute: figure(1200, 300) }
const accounts = figure(220, 10_000)
const processes = 8
const served = 'served'

async function fleetOf(
  store: (typeof storeRows)[number],
  manager: object,
  count = accounts,
): Promise<[Deployment, readonly string[]]> {
  const fleet = await deploy({ store, processes, emulator: { firewall }, manager: { ...manager } })
  const names = Array.from({ length: count }, (_, index) => `owner-${index}`)
  for (const name of names) await fleet.signIn(name)
  await fleet.expire()
  return [fleet, names]
}

/** All accounts at once, each of its own process. Whose process died has no answer. */
async function askAll(fleet: Deployment, names: readonly string[]): Promise<Answers> {
  const { workers } = fleet
  const calls = await Promise.allSettled(names.map(async (name, index) => workers[index % workers.length]?.ask(name)))
  return together(calls.flatMap((call) => (call.status === 'fulfilled' && call.value ? [call.value] : [])))
}

const outcomesOf = (answers: Answers): Record<string, number> => ({
  [served]: Object.values(answers.tokens).reduce((sum, one) => sum + one, 0),
  ...answers.failures,
})

function mostIn(seconds: number, { emulator }: Deployment): number {
  const times = emulator.requests.map(({ at }) => at).toSorted((one, other) => one - other)
  return Math.max(...times.map((from, index) => times.slice(index).filter((at) => at < from + seconds).length))
}

describe.each([redisRow])('$name', (store) => {
  test('with a budget, all of a fleet are refreshed, and the firewall never blocks', async () => {
    const [fleet, names] = await fleetOf(store, { requestBudget })
    const left = new Set(names)
    // In the short form the first round serves them all; in the long one each comes back when it is told to.
    for (let round = 0; left.size > 0 && round < figure(3, 200); round += 1) {
      const asked = [...left]
      const answers = await Promise.all(
        asked.map(async (name, index) => [name, await fleet.worker(index % processes).ask(name)] as const),
      )
      for (const [name, { failures }] of answers) {
        expect(Object.keys(failures).filter((code) => code !== 'ERR_SSO_REFRESH_BUDGET')).toEqual([])
        if (Object.keys(failures).length === 0) left.delete(name)
      }
    }
    expect(left.size).toBe(0)
    expect(fleet.emulator.counters).toMatchObject({ tokenRefreshes: accounts, replays: 0, challenges: 0 })
    expect(mostIn(60, fleet)).toBeLessThanOrEqual(requestBudget.perMinute)
  })
})

describe.each(storeRows)('$name', (store) => {
  test('the budget holds while processes are killed, frozen and replaced by one whose clock is a day ahead', async () => {
    const [fleet, names] = await fleetOf(store, { requestBudget: { perMinute: 300 } }, 56)
    const [killed, frozen] = fleet.workers
    const first = askAll(fleet, names)
    await until(() => fleet.emulator.requests.length >= 8)
    frozen?.stop()
    const replacement = killed && (await fleet.replace(killed))
    await replacement?.move({ wall: 86_400_000 })
    const second = askAll(fleet, names.slice(0, 40))
    await until(() => fleet.emulator.requests.length >= 24)
    frozen?.continue()
    await Promise.all([first, second])
    expect(fleet.emulator.requests.length).toBeGreaterThanOrEqual(40)
    expect(mostIn(60, fleet)).toBeLessThanOrEqual(300)
    expect(fleet.emulator.counters).toMatchObject({ challenges: 0 })
  })
})

test('without a budget, the same fleet is blocked', async () => {
  const [fleet, names] = await fleetOf(redisRow, {})
  const answers = outcomesOf(await askAll(fleet, names))
  expect(answers['ERR_SSO_FIREWALL_CHALLENGE']).toBeGreaterThan(0)
  expect(answers[served]).toBeLessThan(accounts)
  expect(fleet.emulator.counters.challenges).toBeGreaterThan(0)
})
