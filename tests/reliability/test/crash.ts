/** B-B: processes that are killed around a refresh. A file of tests for each store, so that a soak runs them side by side. */
import { expect, test } from '@jest/globals'
import { account, deploy, type Deployment, life, together } from './deployment/deployment.ts'
import { figure, gate, seededRandom, until } from './deployment/figures.ts'
import { type StoreRow, storesOf } from './deployment/stores.ts'
import type { Worker } from './deployment/worker.ts'

const lost = 'ERR_SSO_REAUTHENTICATION_REQUIRED:rotated_token_lost'
const random = seededRandom()

export function crashesOver(store: StoreRow): void {
  test('B1: kill -9 at a random moment of a refresh, strict rotation: only a lost answer costs a sign-in', async () => {
    const deployment = await deploy({ store, processes: 3 })
    const { counters } = deployment.emulator
    deployment.emulator.always('refresh', { delay: 20 })
    await deployment.signIn()
    const kills = figure(4, 1000)
    let losses = 0
    for (let kill = 0; kill < kills; kill += 1) {
      const before = { ...counters }
      const { survivors, saved } = await killOneWhileAllAsk(deployment)
      const { [lost]: failed = 0, ...otherFailures } = survivors.failures
      const replays = counters.replays - before.replays
      expect(otherFailures).toEqual({})
      // A replay is answered to by everybody's sign-in, and comes only where the service spent the token for nobody.
      expect({ replays, failed: failed > 0 }).toEqual(
        failed > 0 ? { replays: 1, failed: true } : { replays: 0, failed: false },
      )
      expect(counters.tokenRefreshes - before.tokenRefreshes).toBe(1)
      expect(saved && failed > 0).toBe(false)
      expect(Object.keys(survivors.tokens)).toHaveLength(failed > 0 ? 0 : 1)
      if (failed > 0) await deployment.signIn()
      losses += failed > 0 ? 1 : 0
    }
    expect(counters.replays).toBe(losses)
  })

  testInTurn(0, store)(
    'B2: the same where the service forgives a repeated refresh: nothing is lost, no call fails',
    async () => {
      const deployment = await deploy({ store, processes: 3, emulator: { reuse: 'grace' } })
      deployment.emulator.always('refresh', { delay: 20 })
      await deployment.signIn()
      const kills = figure(3, 500)
      for (let kill = 0; kill < kills; kill += 1) {
        const { survivors } = await killOneWhileAllAsk(deployment)
        expect(survivors.failures).toEqual({})
        expect(Object.keys(survivors.tokens)).toHaveLength(1)
      }
      expect(deployment.emulator.counters.tokenRefreshes).toBe(kills)
    },
  )

  test.each([
    { moment: 'before its intent is stored', at: 'before-intent', loses: false },
    { moment: 'with its intent stored and nothing sent', at: 'after-intent', loses: false },
    { moment: 'with the request on its way', fault: { drop: 'before-commit' }, loses: false },
    { moment: 'with the answer on its way', fault: { commit: 'after' }, loses: true },
    { moment: 'with the answer received and not saved', at: 'before-result', loses: true },
    { moment: 'with the answer saved', at: 'after-result', loses: false },
  ] as const)('B1: kill -9 $moment', async ({ loses, ...where }) => {
    const deployment = await deploy({ store, processes: 2 })
    const { counters } = deployment.emulator
    await deployment.signIn()
    const [victim, survivor] = [deployment.worker(0), deployment.worker(1)]
    for (let time = 0; time < figure(1, 50); time += 1) {
      const before = { ...counters }
      await deployment.expire()
      await killAt(deployment, time === 0 ? victim : await deployment.start(), where)
      // No time passes for the survivor: it notices the death, and does not wait for the end of the intent's life.
      await survivor.stopClocks()
      const { tokens, failures } = await survivor.ask(account, 5)
      expect({ tokens: Object.values(tokens), failures }).toEqual(
        loses ? { tokens: [], failures: { [lost]: 5 } } : { tokens: [5], failures: {} },
      )
      await survivor.startClocks()
      expect(counters.tokenRefreshes - before.tokenRefreshes).toBe(1)
      expect(counters.replays - before.replays).toBe(loses ? 1 : 0)
      if (loses) await survivor.signIn(account, await deployment.tokens())
    }
  })

  testInTurn(1, store)(
    'B3: the answer is lost while the access token works: it is served to its end, and no replay before',
    async () => {
      const deployment = await deploy({ store, processes: 3 })
      const { counters } = deployment.emulator
      await deployment.signIn()
      const { tokens: first } = await deployment.ask(1)
      await deployment.pass(0.85 * life)
      await killAt(deployment, deployment.worker(0), { fault: { commit: 'after' } })
      // To three minutes before the end.
      for (let step = 0; step < 14; step += 1) {
        const { tokens, failures } = await deployment.ask(20)
        expect({ tokens: Object.keys(tokens), failures }).toEqual({ tokens: Object.keys(first), failures: {} })
        await deployment.pass((0.15 * life - 180) / 14)
      }
      expect(await deployment.worker(0).status(account)).toMatchObject({ state: 'in-doubt' })
      expect(counters).toMatchObject({ tokenRefreshes: 1, replays: 0 })
      // The replay comes within the last two minutes, and its refusal still costs no call.
      await deployment.pass(90)
      expect((await deployment.ask(20)).failures).toEqual({})
      await until(() => counters.replays === 1)
      expect((await deployment.ask(20)).failures).toEqual({})
      await deployment.pass(90)
      expect((await deployment.ask(20)).failures).toEqual({ [lost]: 40 })
      expect(counters).toMatchObject({ tokenRefreshes: 1, replays: 1 })
    },
  )

  testInTurn(2, store)('B6: SIGTERM in a refresh: what was received is saved before the process ends', async () => {
    const deployment = await deploy({ store, processes: 2 })
    const { emulator } = deployment
    await deployment.signIn()
    const rounds = figure(2, 200)
    for (let round = 0; round < rounds; round += 1) {
      await deployment.expire()
      const { opened, open } = gate()
      emulator.once('refresh', { hold: opened, commit: 'after' })
      const leaving = await deployment.start()
      const asked = leaving.ask(account)
      await until(() => emulator.counters.tokenRefreshes === round + 1)
      const ended = leaving.signal('SIGTERM')
      open()
      expect(await ended).toBe(0)
      await asked.catch(() => undefined)
      const { failures } = await deployment.ask(5)
      expect(failures).toEqual({})
      expect(await deployment.worker(0).status(account)).toMatchObject({ state: 'valid' })
    }
    expect(emulator.counters).toMatchObject({ tokenRefreshes: rounds, refreshRequests: rounds, replays: 0 })
  })

  testInTurn(3, store)(
    'B7: a program that crashes again and again after its start asks the service for nothing',
    async () => {
      const deployment = await deploy({ store, processes: 1 })
      await deployment.signIn()
      let program = deployment.worker(0)
      for (let start = 0; start < figure(3, 100); start += 1) {
        await deployment.pass(6)
        program = await deployment.replace(program)
        expect((await program.ask(account, 10)).failures).toEqual({})
        await program.calm()
      }
      expect(deployment.emulator.requests).toHaveLength(0)
    },
  )
}

/** `test`, where it is this store's turn. */
const testInTurn = (scenario: number, store: StoreRow): typeof test | (() => void) =>
  storesOf(scenario).includes(store) ? test : () => undefined

interface Where {
  readonly at?: string
  readonly fault?: { readonly commit?: 'after'; readonly drop?: 'before-commit' }
}

/** Lets one worker refresh, and kills it at a point of its writes, or while its request is with the service. */
async function killAt({ emulator }: Deployment, victim: Worker, { at, fault }: Where): Promise<void> {
  const { opened, open } = gate()
  const [requests, refreshes] = [emulator.requests.length, emulator.counters.tokenRefreshes]
  if (at !== undefined) await victim.arm(at, { kind: 'wait' })
  else emulator.once('refresh', { ...fault, hold: opened })
  const asked = victim.ask(account).catch(() => undefined)
  if (at !== undefined) await victim.reached(at)
  else if (fault?.commit === 'after') await until(() => emulator.counters.tokenRefreshes > refreshes)
  else await until(() => emulator.requests.length > requests)
  await victim.signal('SIGKILL')
  await asked
  open()
}

/** All ask; one of them, the holder if there is one by then, is killed at a random moment and replaced. */
async function killOneWhileAllAsk(
  deployment: Deployment,
): Promise<{ survivors: ReturnType<typeof together>; saved: boolean }> {
  await deployment.expire()
  const { workers } = deployment
  const asked = workers.map((worker) => worker.ask(account, 10))
  const outcomes = Promise.allSettled(asked)
  const delay = random() * 60 - 5
  const holder = delay < 0 ? undefined : await deployment.holder()
  if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay))
  const victim = holder ?? workers[Math.floor(random() * workers.length)] ?? deployment.worker(0)
  await deployment.replace(victim)
  const ended = await outcomes
  const survivors = ended.filter((_, index) => workers[index] !== victim)
  return {
    survivors: together(
      survivors.map((outcome) => {
        if (outcome.status === 'rejected') throw outcome.reason
        return outcome.value
      }),
    ),
    saved: victim.reports.some(({ reached }) => reached === 'after-result'),
  }
}
