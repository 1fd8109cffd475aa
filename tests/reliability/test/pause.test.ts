/** B-C: processes that are stopped, blocked or suspended around a refresh, and go on as if nothing had been. */
import { describe, expect, test } from '@jest/globals'
import { account, deploy, type Deployment, life } from './deployment/deployment.ts'
import { figure, gate, until } from './deployment/figures.ts'
import { storeRows } from './deployment/stores.ts'
import type { Worker } from './deployment/worker.ts'

const lost = 'ERR_SSO_REAUTHENTICATION_REQUIRED:rotated_token_lost'
/** Seconds: beyond the life of an intent, even of a holder that is known to run. */
const beyond = 130

describe.each(storeRows)('$name', (store) => {
  test('C1: a holder stopped beyond its intent, then continued: no replay, and a late success', async () => {
    const deployment = await deploy({ store, processes: 3, emulator: { reuse: 'revoke-family' } })
    const { counters } = deployment.emulator
    const [holder, ...others] = deployment.workers as [Worker, Worker, Worker]
    await deployment.signIn()
    const pauses = figure(4, 100)
    for (let pause = 0; pause < pauses; pause += 1) {
      const before = await deployment.ask(1)
      await deployment.pass(0.85 * life)
      await stopWithAnswer(deployment, holder)
      for (let step = 0; step < 4; step += 1) {
        for (const other of others) other.forget()
        await deployment.pass(beyond, [holder])
        for (const other of others) {
          const { tokens, failures } = await other.ask(account, 10)
          expect({ tokens: Object.keys(tokens), failures }).toEqual({
            tokens: Object.keys(before.tokens),
            failures: {},
          })
          // Each has looked at the record, and left it at that.
          await other.reached('read')
          await other.calm()
        }
      }
      holder.forget()
      await goOn(holder, 4 * beyond)
      await holder.reached('after-result')
      await everybodyHoldsOneOther(deployment, before.tokens)
      expect(counters).toMatchObject({ tokenRefreshes: pause + 1, refreshRequests: pause + 1, replays: 0 })
    }
  })

  test('C1: a sign-in that came while the holder was stopped stands, and so does a sign-out', async () => {
    const deployment = await deploy({ store, processes: 3, emulator: { reuse: 'revoke-family' } })
    const { counters } = deployment.emulator
    const [holder, other] = deployment.workers as [Worker, Worker, Worker]
    await deployment.signIn()
    const before = await deployment.ask(1)
    await deployment.pass(0.85 * life)
    await stopWithAnswer(deployment, holder)
    await deployment.pass(beyond, [holder])
    await other.signIn(account, await deployment.tokens('mfa@example.com'))
    await goOn(holder, beyond)
    await holder.reported(({ event }) => event === 'superseded')
    await everybodyHoldsOneOther(deployment, before.tokens)
    const { owners } = await deployment.ask(10)
    expect(owners).toHaveLength(1)
    expect(owners).not.toEqual(before.owners)

    await deployment.expire()
    await stopWithAnswer(deployment, holder)
    await other.signOut(account)
    await goOn(holder, 0)
    await holder.reported(({ event }) => event === 'superseded')
    expect((await deployment.ask(10)).failures).toEqual({ ERR_SSO_SIGNED_OUT: 30 })
    expect(counters).toMatchObject({ tokenRefreshes: 2, replays: 0 })
  })

  test('C2: the same with the access token expired: the others wait for the holder, then replay once', async () => {
    const deployment = await deploy({ store, processes: 2 })
    const { counters } = deployment.emulator
    const [holder, other] = deployment.workers as [Worker, Worker]
    await deployment.signIn()
    await deployment.expire()
    await stopWithAnswer(deployment, holder)
    const asked = other.ask(account, 10)
    await other.reached('read')
    await deployment.pass(118, [holder])
    other.forget()
    await other.reached('read')
    expect(counters).toMatchObject({ refreshRequests: 1 })
    await deployment.pass(10, [holder])
    expect((await asked).failures).toEqual({ [lost]: 10 })
    expect(counters).toMatchObject({ tokenRefreshes: 1, refreshRequests: 2, replays: 1 })
    // The holder has the new tokens after all. They are accepted: this service revoked nothing.
    await goOn(holder, 128)
    await holder.reached('after-result')
    expect((await holder.ask(account, 10)).failures).toEqual({})
    expect((await other.ask(account, 10)).failures).toEqual({})
    expect(counters).toMatchObject({ tokenRefreshes: 1, replays: 1 })
  })

  test.each([
    { held: 'by a blocked event loop', clocks: { wall: beyond * 1000, monotonic: beyond * 1000 } },
    { held: 'by the suspension of its machine, which stops one clock', clocks: { wall: beyond * 1000 } },
    { held: 'by a clock correction as well', clocks: { wall: -3_600_000, monotonic: beyond * 1000 } },
  ])(
    'C3: a holder held up between its swap and its request $held does not send',
    async ({ clocks }) => {
      const deployment = await deploy({ store, processes: 2, emulator: { reuse: 'revoke-family' } })
      const { counters } = deployment.emulator
      const [holder, other] = deployment.workers as [Worker, Worker]
      await deployment.signIn()
      await deployment.expire()
      await holder.arm('after-intent', { kind: 'wait' })
      const asked = holder.ask(account)
      await holder.reached('after-intent')
      // The other respects the intent to its end, and then may send: nobody has.
      const took = other.ask(account)
      await other.reached('read')
      await deployment.pass(beyond, [holder])
      const { tokens } = await took
      await holder.move(clocks)
      await holder.release()
      expect(await asked).toMatchObject({ tokens, failures: {} })
      expect(counters).toMatchObject({ tokenRefreshes: 1, refreshRequests: 1, replays: 0 })
    },
    60_000,
  )

  test('C3: no request leaves more than 10 seconds after its swap, however long the event loop is blocked', async () => {
    const deployment = await deploy({ store, processes: 1 })
    const { emulator } = deployment
    await deployment.signIn()
    for (const milliseconds of process.env['OWNER_SSO_SOAK'] === '1' ? [3000, 9000, 11_000, 90_000] : [1000]) {
      await deployment.expire()
      await deployment.worker(0).arm('after-intent', { kind: 'block', milliseconds })
      const began = emulator.clock.now()
      expect((await deployment.ask(5)).failures).toEqual({})
      const swaps = deployment.worker(0).reports.filter(({ reached }) => reached === 'after-intent')
      expect(swaps).toHaveLength(milliseconds > 10_000 ? 2 : 1)
      expect((emulator.requests.at(-1)?.at ?? 0) - began).toBeGreaterThan(milliseconds / 1000)
    }
    expect(emulator.counters.replays).toBe(0)
  })
})

/** The service has refreshed for the holder, which is stopped; the answer waits in its socket. */
async function stopWithAnswer({ emulator }: Deployment, holder: Worker): Promise<void> {
  const { opened, open } = gate()
  const refreshes = emulator.counters.tokenRefreshes
  emulator.once('refresh', { hold: opened, commit: 'after' })
  void holder.ask(account)
  await until(() => emulator.counters.tokenRefreshes > refreshes)
  holder.stop()
  open()
}

async function goOn(holder: Worker, missed: number): Promise<void> {
  holder.continue()
  await holder.move({ wall: missed * 1000, monotonic: missed * 1000 })
}

/** They take over what another stored when they next look, which is a minute later at the latest. */
async function everybodyHoldsOneOther(deployment: Deployment, than: Readonly<Record<string, number>>): Promise<void> {
  for (;;) {
    await deployment.pass(30)
    const { tokens, failures } = await deployment.ask(5)
    expect(failures).toEqual({})
    const [token, ...more] = Object.keys(tokens)
    if (token !== undefined && more.length === 0 && !(token in than)) return
  }
}
