/** A store that is emptied under processes whose clocks are ten minutes apart: what they hold comes back by itself. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { hasPostgres, startPostgres } from '../../support/postgres-server.ts'
import { hasRedis, startRedis } from '../../support/redis-server.ts'
import { account, atEnd, deploy, type Deployment } from './deployment/deployment.ts'
import { until } from './deployment/figures.ts'
import { fileRow, postgresOn, redisOn, type StoreRow, type StoreSettings } from './deployment/stores.ts'
import type { Worker } from './deployment/worker.ts'

interface EmptiedRow {
  readonly name: string
  /** A store, and what empties it under all who use it. */
  readonly make: () => Promise<{ readonly store: StoreRow; readonly empty: (settings: StoreSettings) => Promise<void> }>
}

const rows: EmptiedRow[] = [
  {
    name: 'a folder whose content is removed',
    make: async () => ({
      store: fileRow,
      empty: async (settings) => {
        const path = settings.kind === 'file' ? settings.path : ''
        for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true, force: true })
      },
    }),
  },
  ...(hasRedis
    ? [
        {
          name: 'Redis, and FLUSHALL',
          make: async () => {
            const redis = await startRedis()
            atEnd(redis.stop)
            return { store: redisOn(redis), empty: async () => void (await redis.command('FLUSHALL')) }
          },
        },
      ]
    : []),
  ...(hasPostgres
    ? [
        {
          name: 'PostgreSQL, and TRUNCATE',
          make: async () => {
            const postgres = await startPostgres()
            atEnd(postgres.stop)
            return {
              store: postgresOn(postgres),
              empty: async () => void (await postgres.query('TRUNCATE owner_sso_tokens')),
            }
          },
        },
      ]
    : []),
]

describe.each(rows)('$name', ({ make }) => {
  test('E5: an idle process puts the newest back before an older refresh token is sent', async () => {
    const { deployment, slow, exact, fast, empty } = await deployed()
    const { emulator } = deployment
    await fast.signIn(account, await deployment.tokens())
    await deployment.ask(1)
    await deployment.expire()
    const { tokens: newest } = await fast.ask(account)
    await empty()
    // Both hold the token before, which has expired. They wait until the idle one answers the roll call.
    const answers = await Promise.all([slow.ask(account, 10), exact.ask(account, 10)])
    for (const { tokens, failures } of answers) {
      expect({ held: Object.keys(tokens), failures }).toEqual({ held: Object.keys(newest), failures: {} })
    }
    expect(emulator.counters).toMatchObject({ tokenRefreshes: 1, refreshRequests: 1, replays: 0 })
  })

  test.each(['sign-in', 'sign-out'])(
    'E5: an older %s of a process whose clock is ahead does not replace a newer sign-in',
    async (older) => {
      const { deployment, slow, exact, fast, empty } = await deployed()
      await fast.signIn(account, await deployment.tokens())
      if (older === 'sign-out') await fast.signOut(account)
      await empty()
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
    const { deployment, fast, empty } = await deployed()
    const { emulator } = deployment
    await fast.signIn(account, await deployment.tokens())
    await deployment.ask(1)
    await deployment.expire()
    await empty()
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

  async function deployed() {
    const { store, empty } = await make()
    const deployment: Deployment = await deploy({ store, processes: 3, emulator: { reuse: 'revoke-family' } })
    const [slow, exact, fast] = deployment.workers as [Worker, Worker, Worker]
    await slow.move({ wall: -600_000 })
    await fast.move({ wall: 600_000 })
    return { deployment, slow, exact, fast, empty: () => empty(deployment.store) }
  }
})
