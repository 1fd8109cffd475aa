/** B-E: the store's server dies, stops, loses what it knew, or is replaced by one that lags behind. A file of tests for each kind. */
import { expect, test } from '@jest/globals'
import { account, atEnd, deploy, type Deployment, life } from './deployment/deployment.ts'
import { figure, gate, until } from './deployment/figures.ts'
import { startSwitchboard } from './deployment/switchboard.ts'
import type { StoreRow } from './deployment/stores.ts'
import type { Worker } from './deployment/worker.ts'

const unavailable = 'ERR_SSO_STORE:unavailable'

/** A server of the test's own, which keeps on disk what it acknowledged. */
export interface OwnServer {
  readonly port: number
  /** SIGKILL. */
  readonly kill: () => Promise<void>
  /** Another process on the same port, with what the last one left on disk. */
  readonly start: () => Promise<void>
  readonly freeze: () => void
  readonly thaw: () => void
  /** Forgets every record. */
  readonly empty: () => Promise<unknown>
  /** What takes its place in a failover: a replica that has heard of everything until now, and hears of nothing more. */
  readonly successor: () => Promise<Pick<OwnServer, 'port'>>
}

export interface ServerKind {
  /** It is stopped at the end of the test, and so is its successor. */
  readonly start: () => Promise<OwnServer>
  readonly storeOn: (port: number) => StoreRow
}

export function outagesOver({ start, storeOn }: ServerKind): void {
  test('E1: killed and started again while a refresh is under way: nothing is lost, no call fails', async () => {
    const server = await start()
    const deployment = await deploy({ store: storeOn(server.port), processes: 3, emulator: { reuse: 'revoke-family' } })
    const { emulator } = deployment
    await deployment.signIn()
    const kills = figure(2, 100)
    for (let kill = 0; kill < kills; kill += 1) {
      const { tokens: before } = await deployment.ask(1)
      await deployment.pass(0.85 * life)
      const refreshed = await refreshHeld(deployment)
      await server.kill()
      refreshed()
      // In turn: the answer comes before the server is back, or after it.
      if (kill % 2 === 0) await deployment.worker(0).reported(({ event }) => event === 'unsaved')
      expect((await deployment.ask(10)).failures).toEqual({})
      await server.start()
      // It saves as soon as it has its connection again. That takes real time: the clocks, which the others go by, stand still meanwhile.
      await deployment.worker(0).reached('after-result')
      await everybodyHoldsOneOther(deployment, before)
      expect(emulator.counters).toMatchObject({ tokenRefreshes: kill + 1, refreshRequests: kill + 1, replays: 0 })
      for (const worker of deployment.workers) worker.forget()
    }
  })

  test('E1: the same with the access token expired: whoever got the answer serves it before it is saved', async () => {
    const server = await start()
    const deployment = await deploy({ store: storeOn(server.port), processes: 2, emulator: { reuse: 'revoke-family' } })
    const { emulator } = deployment
    const [holder, other] = deployment.workers as [Worker, Worker]
    await deployment.signIn()
    await deployment.expire()
    const refreshed = await refreshHeld(deployment)
    await server.kill()
    refreshed()
    await holder.reported(({ event }) => event === 'unsaved')
    const { tokens, failures } = await holder.ask(account, 10)
    expect({ held: Object.values(tokens), failures }).toEqual({ held: [10], failures: {} })
    expect((await other.ask(account, 10)).failures).toEqual({ [unavailable]: 10 })
    await server.start()
    await holder.reached('after-result')
    expect(Object.keys((await other.ask(account, 10)).tokens)).toEqual(Object.keys(tokens))
    expect(emulator.counters).toMatchObject({ tokenRefreshes: 1, refreshRequests: 1, replays: 0 })
  })

  test('E2: stopped: a token that works is served, nobody refreshes, every call ends, and all recovers alone', async () => {
    const server = await start()
    const deployment = await deploy({ store: storeOn(server.port), processes: 3 })
    const { emulator } = deployment
    await deployment.signIn()
    await deployment.ask(1)
    const pauses = process.env['OWNER_SSO_SOAK'] === '1' ? [3, 30] : [3]
    for (const [index, seconds] of pauses.entries()) {
      await deployment.pass(0.85 * life)
      server.freeze()
      const frozen = performance.now()
      expect((await deployment.ask(10)).failures).toEqual({})
      await deployment.calm()
      await deployment.pass(0.15 * life)
      do {
        const { tokens, failures } = await deployment.ask(10)
        expect({ tokens, failures }).toEqual({ tokens: {}, failures: { [unavailable]: 30 } })
      } while (performance.now() - frozen < seconds * 1000)
      expect(emulator.counters.refreshRequests).toBe(index)
      server.thaw()
      await everybodyHoldsOneOther(deployment, {})
      expect(emulator.counters).toMatchObject({ tokenRefreshes: index + 1, refreshRequests: index + 1, replays: 0 })
    }
  })

  test('E3: failed over to a replica that has not heard of the refresh: the newer tokens are written back', async () => {
    for (let failover = 0; failover < figure(2, 50); failover += 1) {
      const server = await start()
      const switchboard = await startSwitchboard(server.port)
      atEnd(switchboard.close)
      const deployment = await deploy({
        store: storeOn(switchboard.port),
        processes: 3,
        emulator: { reuse: 'revoke-family' },
      })
      const { emulator } = deployment
      await deployment.signIn()
      const { tokens: before } = await deployment.ask(1)
      const successor = await server.successor()

      await deployment.expire()
      const { tokens: after } = await deployment.worker(0).ask(account)
      expect(after).not.toEqual(before)
      await server.kill()
      switchboard.connectTo(successor.port)
      // The first to look at the store is one that knows the newer tokens: it puts them back.
      await deployment.pass(0.85 * life)
      await deployment.worker(0).ask(account)
      await deployment.calm()
      expect((await deployment.ask(10)).failures).toEqual({})
      await everybodyHoldsOneOther(deployment, { ...before, ...after })
      expect(emulator.counters).toMatchObject({ tokenRefreshes: 2, refreshRequests: 2, replays: 0 })
    }
  })

  test('E5: emptied: a working token is served to its end, the account comes back, and no old token is spent', async () => {
    const server = await start()
    const deployment = await deploy({ store: storeOn(server.port), processes: 3 })
    const { emulator } = deployment
    await deployment.signIn()
    await deployment.ask(1)
    await server.empty()
    await deployment.pass(0.85 * life)
    expect((await deployment.ask(10)).failures).toEqual({})
    await deployment.worker(0).reported(({ reached }) => reached === 'read')
    // What was put back is not sent while its access token works, however long ago it was.
    await deployment.pass(130)
    await deployment.calm()
    expect(emulator.requests).toHaveLength(0)
    await deployment.expire()
    const again = await deployment.ask(10)
    expect({ held: Object.values(again.tokens), failures: again.failures }).toEqual({ held: [30], failures: {} })
    expect(emulator.counters).toMatchObject({ tokenRefreshes: 1, refreshRequests: 1, replays: 0 })

    // Fresh tokens that nobody has saved are written without a doubt; and a new sign-in always.
    await deployment.signIn()
    await deployment.expire()
    const refreshed = await refreshHeld(deployment)
    await server.empty()
    refreshed()
    await deployment.worker(0).reported(({ event }) => event === 'refreshed')
    const { tokens, failures } = await deployment.ask(10)
    expect({ held: Object.values(tokens), failures }).toEqual({ held: [30], failures: {} })
    expect(emulator.counters).toMatchObject({ tokenRefreshes: 2, refreshRequests: 2, replays: 0 })
  })
}

/** The first worker's request is with the service, which has refreshed. Returns what lets it answer. */
async function refreshHeld({ emulator, worker }: Deployment): Promise<() => void> {
  const { opened, open } = gate()
  const { tokenRefreshes } = emulator.counters
  emulator.once('refresh', { hold: opened, commit: 'after' })
  void worker(0).ask(account)
  await until(() => emulator.counters.tokenRefreshes > tokenRefreshes)
  return open
}

/** Looking again now and then, they all come to the same new token, by themselves. */
async function everybodyHoldsOneOther(deployment: Deployment, than: Readonly<Record<string, number>>): Promise<void> {
  const heldBy = async (worker: Worker): Promise<string[]> => Object.keys((await worker.ask(account)).tokens)
  // The test's own limit ends it where they never do.
  for (;;) {
    await deployment.pass(15)
    const [token, ...others] = new Set((await Promise.all(deployment.workers.map(heldBy))).map(String))
    if (token !== undefined && token !== '' && others.length === 0 && !(token in than)) return
    await deployment.calm()
  }
}
