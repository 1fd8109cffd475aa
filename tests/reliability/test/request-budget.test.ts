/** The budget for refreshes: a fleet whose tokens ended together, and a firewall that counts. */
import { describe, expect, test } from '@jest/globals'
import type { EmulatorOptions } from '@owner-sso/emulator'
import { type Deployment, deploy, together } from './deployment/deployment.ts'
import { figure, isLong, until } from './deployment/figures.ts'
import { stopOutsideOfLock } from './deployment/sqlite-lock.ts'
import { fileRow, redisRow, type StoreRow, storeRows } from './deployment/stores.ts'
import type { Answers, Worker } from './deployment/worker.ts'

/** In the long form the emulator's own limits, and the budget of `docs/guides/fleets.md`; in the short one a window that passes while a test waits. */
const firewall = isLong ? {} : { maxRequests: 150, windowSeconds: 5 }
const requestBudget = isLong ? { perMinute: 300, burst: 5 } : { perMinute: 1200 }
const accounts = figure(160, 10_000)
const processes = 8
const served = 'served'

async function fleetOf(
  store: StoreRow,
  manager: object,
  count = accounts,
  emulator: EmulatorOptions = { firewall },
): Promise<[Deployment, readonly string[]]> {
  const fleet = await deploy({ store, processes, emulator, manager: { ...manager } })
  const names = Array.from({ length: count }, (_, index) => `owner-${index}`)
  // One process signs them all in, and a call to a store has two seconds.
  for (let from = 0; from < count; from += 100) {
    await Promise.all(names.slice(from, from + 100).map((name) => fleet.signIn(name)))
  }
  await fleet.expire()
  return [fleet, names]
}

/** All accounts at once, each of its own process. Whose process died has no answer. */
async function askAll(fleet: Deployment, names: readonly string[]): Promise<Answers> {
  const { workers } = fleet
  const calls = await Promise.allSettled(names.map(async (name, index) => workers[index % workers.length]?.ask(name)))
  return together(calls.flatMap((call) => (call.status === 'fulfilled' && call.value ? [call.value] : [])))
}

/** Each comes back when it is told to. Returns how often it asked. */
async function askUntilServed(worker: Worker, name: string): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const { failures, comeBackIn } = await worker.ask(name)
    if (Object.keys(failures).length === 0) return tries
    expect(failures).toEqual({ ERR_SSO_REFRESH_BUDGET: 1 })
    await new Promise((resolve) => setTimeout(resolve, comeBackIn))
  }
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
    const began = performance.now()
    // In the short form each is served at once or after a wait; in the long one most come back when they are told to.
    const tries = await Promise.all(names.map((name, index) => askUntilServed(fleet.worker(index % processes), name)))
    const minutes = (performance.now() - began) / 60_000
    expect(fleet.emulator.counters).toMatchObject({ tokenRefreshes: accounts, replays: 0, challenges: 0 })
    expect(mostIn(60, fleet)).toBeLessThanOrEqual(requestBudget.perMinute)
    if (isLong) {
      const [most, busiest] = [Math.max(...tries), mostIn(60, fleet)]
      console.log(
        `${accounts} accounts in ${minutes.toFixed(1)} minutes, ${most} tries at most, ${busiest} a minute at most`,
      )
    }
  })
})

describe.each(isLong ? storeRows : [fileRow, redisRow])('$name', (store) => {
  test('the budget holds while processes are killed, frozen and replaced by one whose clock is a day ahead', async () => {
    const [fleet, names] = await fleetOf(store, { requestBudget: { perMinute: 600 } }, 56)
    const [killed, frozen] = fleet.workers
    const first = askAll(fleet, names)
    await until(() => fleet.emulator.requests.length >= 8)
    if (frozen) await stopOutsideOfLock(frozen, fleet.store)
    const replacement = killed && (await fleet.replace(killed))
    await replacement?.move({ wall: 86_400_000 })
    const second = askAll(fleet, names.slice(0, 40))
    await until(() => fleet.emulator.requests.length >= 24)
    frozen?.continue()
    await Promise.all([first, second])
    expect(fleet.emulator.requests.length).toBeGreaterThanOrEqual(40)
    // Ten a second, and what a process had at hand when it was stopped.
    expect(mostIn(2, fleet)).toBeLessThanOrEqual(2 * 10 + 2 * 10)
    expect(fleet.emulator.counters).toMatchObject({ challenges: 0 })
  })
})

test('without a budget, such a fleet is blocked', async () => {
  // A window that a slow machine's fleet does not outlast.
  const limits = { maxRequests: figure(150, 600), windowSeconds: 3600 }
  const [fleet, names] = await fleetOf(redisRow, {}, accounts, { firewall: limits })
  const answers = outcomesOf(await askAll(fleet, names))
  expect(answers['ERR_SSO_FIREWALL_CHALLENGE']).toBeGreaterThan(0)
  expect(answers[served]).toBeLessThan(accounts)
  expect(fleet.emulator.counters.challenges).toBeGreaterThan(0)
})
