/** T: what the owner API makes of refreshed tokens. Real processes, a week of their clocks, and callers that see none of it. */
import { describe, expect, test } from '@jest/globals'
import type { EmulatorOptions } from '@owner-sso/emulator'
import { account, deploy, type Deployment, life } from './deployment/deployment.ts'
import { figure } from './deployment/figures.ts'
import { storeRows, storesOf } from './deployment/stores.ts'

const hour = 3600
const signIns = figure(3, 21)
const callers = figure(5, 25)

interface Mode {
  readonly name: string
  readonly emulator: EmulatorOptions
  /** Refreshes in a life of the access token of a sign-in, at the most, once the account is known. */
  readonly refreshes: number
}

const modes: readonly Mode[] = [
  { name: 'refuses them by 401', emulator: { refreshedTokens: { status: 401, after: 0 } }, refreshes: 1 },
  { name: 'refuses them by 403', emulator: { refreshedTokens: { status: 403, after: 0 } }, refreshes: 1 },
  { name: 'takes them for an hour', emulator: { refreshedTokens: { status: 401, after: hour } }, refreshes: 2 },
  { name: 'takes them, and the old one ends at a refresh', emulator: { oldAccessToken: 'ends' }, refreshes: 1 },
  { name: 'takes them beside the old one', emulator: {}, refreshes: 1 },
]

/** All processes call at once; how often callers saw what. */
async function calls({ workers, emulator }: Deployment): Promise<Record<string, number>> {
  const total: Record<string, number> = {}
  for (const statuses of await Promise.all(
    workers.map((worker) => worker.call(account, emulator.ownerApiUrl, callers)),
  )) {
    for (const [status, count] of Object.entries(statuses)) total[status] = (total[status] ?? 0) + count
  }
  return total
}

/** A life of the access token of a sign-in, with a person who signs in again before it ends. */
async function untilNextSignIn(deployment: Deployment): Promise<Record<string, number>[]> {
  await deployment.signIn()
  const seen = [await calls(deployment)]
  let passed = 0
  for (const at of [1, 2, 3, 4, 5, 6.7, 6.8, 7.5, 7.9, 7.975, 7.99]) {
    await deployment.pass(at * hour - passed)
    passed = at * hour
    seen.push(await calls(deployment))
    await deployment.calm()
  }
  await deployment.pass(life - passed - 20)
  return seen
}

const scenarios = modes.flatMap((mode, index) => storesOf(index).map((store) => ({ ...mode, store })))

test.each(scenarios)(
  'T1: an owner API that $name, $store.name: no call fails while a token works',
  async ({ emulator: mode, refreshes, store }) => {
    const deployment = await deploy({ store, processes: 4, emulator: mode })
    const { emulator } = deployment
    const seen: Record<string, number>[] = []
    for (let count = 0; count < signIns; count += 1) seen.push(...(await untilNextSignIn(deployment)))
    expect(seen).toEqual(seen.map(() => ({ 200: 4 * callers })))
    expect(emulator.counters.replays).toBe(0)
    // Twice at three quarters, until the account is known.
    expect(emulator.counters.tokenRefreshes).toBeLessThanOrEqual(2 + refreshes * signIns)
  },
)

describe.each(storeRows.slice(0, 3))('$name', (store) => {
  test('T2: a process that is killed, and one that is stopped, leave the others the token that works', async () => {
    const deployment = await deploy({ store, processes: 4, emulator: { refreshedTokens: { status: 401, after: 0 } } })
    const { emulator } = deployment
    await deployment.signIn()
    await calls(deployment)
    await deployment.pass(hour)
    await deployment.worker(1).refresh(account)
    const frozen = deployment.worker(3)
    await deployment.worker(1).arm('before-fall-back', { kind: 'wait' })
    const first = deployment
      .worker(1)
      .call(account, emulator.ownerApiUrl, 1)
      .catch(() => undefined)
    await deployment.worker(1).reached('before-fall-back')
    frozen.stop()
    await deployment.replace(deployment.worker(1))
    await first
    const living = deployment.workers.filter((worker) => worker !== frozen)
    for (const worker of living)
      expect(await worker.call(account, emulator.ownerApiUrl, callers)).toEqual({ 200: callers })
    frozen.continue()
    expect(await frozen.call(account, emulator.ownerApiUrl, callers)).toEqual({ 200: callers })
    expect(emulator.counters).toMatchObject({ tokenRefreshes: 1, replays: 0 })
  })
})
