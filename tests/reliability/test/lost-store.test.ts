/** A store that is emptied under processes whose clocks are ten minutes apart: what they hold comes back by itself. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import Database from 'libsql'
import { Client } from 'pg'
import { createClient } from 'redis'
import { account, deploy, type Deployment } from './deployment/deployment.ts'
import { until } from './deployment/figures.ts'
import { type StoreRow, storeRows, storesOf, type StoreSettings } from './deployment/stores.ts'
import type { Worker } from './deployment/worker.ts'

/** What empties a store under all who use it. */
async function empty(settings: StoreSettings): Promise<void> {
  if (settings.kind === 'file') {
    for (const name of readdirSync(settings.path)) rmSync(join(settings.path, name), { recursive: true, force: true })
  } else if (settings.kind === 'redis') {
    const client = await createClient({ url: settings.url }).connect()
    await client.flushAll()
    client.destroy()
  } else if (settings.kind === 'postgres') {
    const client = new Client({ connectionString: settings.url })
    await client.connect()
    await client.query(`TRUNCATE "${settings.tableName}"`)
    await client.end()
  } else {
    const client = new Database(settings.path)
    client.exec('DELETE FROM owner_sso_tokens')
    client.close()
  }
}

describe.each(storeRows)('$name', (store) => {
  test.each(['sign-in', 'sign-out'])(
    'E5: an older %s of a process whose clock is ahead does not replace a newer sign-in',
    async (older) => {
      const { deployment, slow, exact, fast } = await deployed(store)
      await fast.signIn(account, await deployment.tokens())
      if (older === 'sign-out') await fast.signOut(account)
      await empty(deployment.store)
      await slow.signIn(account, await deployment.tokens('regional@example.com'))
      const { tokens: newer } = await slow.ask(account)
      expect(await fast.status(account)).toMatchObject({
        state: 'valid',
        auth_url: deployment.emulator.regionalAuthUrl,
      })
      expect(Object.keys((await deployment.ask(5)).tokens)).toEqual(Object.keys(newer))
      expect(await exact.status(account)).toMatchObject({ auth_url: deployment.emulator.regionalAuthUrl })
      expect(deployment.emulator.counters).toMatchObject({ refreshRequests: 0, replays: 0 })
    },
  )

  test('E5: where all hold the same, its refresh waits two minutes, and is one', async () => {
    const { deployment, fast } = await deployed(store)
    const { emulator } = deployment
    await fast.signIn(account, await deployment.tokens())
    await deployment.ask(1)
    await deployment.expire()
    await empty(deployment.store)
    const asked = deployment.ask(10)
    // Each has seen what was put back, by itself or by another.
    const looks = ({ reports }: Worker): number => reports.filter(({ reached }) => reached === 'read').length
    await until(() => deployment.workers.every((worker) => looks(worker) >= 3))
    expect(emulator.counters.refreshRequests).toBe(0)
    await deployment.pass(125)
    const { tokens, failures } = await asked
    expect({ held: Object.values(tokens), failures }).toEqual({ held: [30], failures: {} })
    expect(emulator.counters).toMatchObject({ tokenRefreshes: 1, refreshRequests: 1, replays: 0 })
  })
})

/** It takes a quarter of a minute for an idle process to look. */
describe.each(storesOf(1))('$name', (store) => {
  test('E5: an idle process puts the newest back before an older refresh token is sent', async () => {
    const { deployment, slow, exact, fast } = await deployed(store)
    const { emulator } = deployment
    await fast.signIn(account, await deployment.tokens())
    await deployment.ask(1)
    await deployment.expire()
    const { tokens: newest } = await fast.ask(account)
    await empty(deployment.store)
    // Both hold the token before, which has expired. They wait until the idle one answers the roll call.
    const answers = await Promise.all([slow.ask(account, 10), exact.ask(account, 10)])
    for (const { tokens, failures } of answers) {
      expect({ held: Object.keys(tokens), failures }).toEqual({ held: Object.keys(newest), failures: {} })
    }
    expect(emulator.counters).toMatchObject({ tokenRefreshes: 1, refreshRequests: 1, replays: 0 })
  })
})

/** Three processes, whose clocks are ten minutes apart. */
async function deployed(store: StoreRow) {
  const deployment: Deployment = await deploy({ store, processes: 3, emulator: { reuse: 'revoke-family' } })
  const [slow, exact, fast] = deployment.workers as [Worker, Worker, Worker]
  await slow.move({ wall: -600_000 })
  await fast.move({ wall: 600_000 })
  return { deployment, slow, exact, fast }
}
