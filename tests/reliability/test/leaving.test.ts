/** A process that is told to end while something of it is half-way: `settled()` lets it exit, and nothing is lost. */
import { rmSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { account, deploy, life } from './deployment/deployment.ts'
import { gate, until } from './deployment/figures.ts'
import { fileRow, storesOf } from './deployment/stores.ts'

describe.each(storesOf(3))('$name', (store) => {
  test('B9: SIGTERM while a refresh in the background still reads the store: it is made and saved before the end', async () => {
    const deployment = await deploy({ store, processes: 2 })
    const { emulator } = deployment
    await deployment.signIn()
    const [staying, leaving] = [deployment.worker(0), deployment.worker(1)]
    await leaving.ask(account)
    await deployment.pass(0.85 * life)
    await leaving.arm('before-read', { kind: 'wait' })
    expect((await leaving.ask(account)).failures).toEqual({})
    await leaving.reached('before-read')
    const ended = leaving.signal('SIGTERM')
    // Lost where it has gone by now.
    await leaving.release().catch(() => undefined)
    expect(await ended).toBe(0)
    expect(emulator.counters).toMatchObject({ tokenRefreshes: 1, refreshRequests: 1 })
    expect((await staying.ask(account, 10)).failures).toEqual({})
    expect(emulator.counters).toMatchObject({ tokenRefreshes: 1, refreshRequests: 1, replays: 0 })
  })
})

test('SIGTERM after the folder of the file store was removed: it is made anew, with the new tokens in it', async () => {
  const deployment = await deploy({ store: fileRow, processes: 2 })
  const { emulator } = deployment
  const { opened, open } = gate()
  await deployment.signIn()
  const [staying, leaving] = [deployment.worker(0), deployment.worker(1)]
  await deployment.expire()
  emulator.once('refresh', { hold: opened, commit: 'after' })
  const asked = leaving.ask(account)
  await until(() => emulator.counters.tokenRefreshes === 1)
  if (deployment.store.kind === 'file') rmSync(deployment.store.path, { recursive: true })
  const ended = leaving.signal('SIGTERM')
  open()
  expect(await ended).toBe(0)
  await asked.catch(() => undefined)
  expect((await staying.ask(account, 10)).failures).toEqual({})
  expect(emulator.counters).toMatchObject({ tokenRefreshes: 1, refreshRequests: 1, replays: 0 })
})
