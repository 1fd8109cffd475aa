/** New tokens that Redis does not take: with a spool they outlive the instance that received them. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { account, atEnd, call, type Deployment, deploy, gate, letIn, life, metric, useRedis } from './deployment.ts'
import { describeWithRedis } from '../../../tests/support/redis-server.ts'

const encryptionKey = Buffer.alloc(32, 7).toString('base64')

function newSpool(): string {
  const folder = mkdtempSync(join(tmpdir(), 'owner-sso-gateway-spool-'))
  atEnd(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'spool')
}

/** An instance refreshes; Redis goes before the service answers. */
async function refreshWhileRedisGoes({ emulator, instance, redis, pass }: Deployment): Promise<void> {
  const { opened, open } = gate()
  emulator.once('refresh', { commit: 'after', hold: opened })
  atEnd(open)
  await pass(life)
  const answer = call(`${instance(0).url}/api/1/vehicles`)
  const ended = answer.then(({ status, body }) => Promise.reject(new Error(`no refresh, but ${status}: ${body}`)))
  while (emulator.counters.tokenRefreshes === 0) {
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 2))])
  }
  ended.catch(() => undefined)
  await redis.kill()
  open()
  expect(await answer).toMatchObject({ status: 200 })
}

describeWithRedis('a gateway with a spool', () => {
  useRedis()

  it('keeps what Redis does not take in the folder, sealed, and ends in order; the next instance carries it over', async () => {
    const spool = newSpool()
    const environment = { OWNER_SSO_SPOOL: spool }
    const deployment = await deploy({ environment, encryptionKey, emulator: { reuse: 'revoke-family' } })
    await refreshWhileRedisGoes(deployment)
    const [unsaved] = await deployment.instance(0).prints(/\{[^\n]*"event":"unsaved"[^\n]*/u)
    expect(JSON.parse(unsaved)).toMatchObject({ account, spooled: true })
    const written = readdirSync(spool, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    expect(written.join('\n')).not.toMatch(/_token/u)
    expect(await deployment.instance(0).signal('SIGTERM')).toBe(0)

    await deployment.redis.start()
    const next = await deployment.start()
    await next.prints(/"event":"carried-over"/u)
    expect(await metric(next, 'owner_sso_refresh_events_total{event="carried-over"}')).toBe(1)
    expect(await call(`${next.url}/api/1/vehicles`)).toMatchObject({ status: 200 })
    expect(deployment.emulator.counters).toMatchObject({ tokenRefreshes: 1, refreshRequests: 1, replays: 0 })
  })

  it('says in its log and its metrics that it put back what Redis had lost', async () => {
    const deployment = await deploy({ encryptionKey })
    const instance = deployment.instance(0)
    expect(await call(`${instance.url}/api/1/vehicles`)).toMatchObject({ status: 200 })
    await deployment.redis.command('FLUSHALL')
    await letIn(deployment.store)
    await deployment.pass(0.9 * life)
    expect(await call(`${instance.url}/api/1/vehicles`)).toMatchObject({ status: 200 })
    const [restored] = await instance.prints(/\{[^\n]*"event":"restored"[^\n]*/u)
    expect(JSON.parse(restored)).toMatchObject({ account })
    expect(await metric(instance, 'owner_sso_refresh_events_total{event="restored"}')).toBe(1)
  })
})
