/** Many callers on many instances while the access token ends, and instances that die meanwhile. */
import { expect, it } from '@jest/globals'
import {
  account,
  atEnd,
  call,
  callMany,
  type Deployment,
  deploy,
  gate,
  life,
  metric,
  underWay,
  useRedis,
} from './deployment.ts'
import type { Instance } from './instance.ts'
import { describeWithRedis } from '../../../tests/support/redis-server.ts'

const refreshed = 'owner_sso_refresh_events_total{event="refreshed"}'

/** The service carries the next refresh out, which is when `arrived` resolves, and answers once `open` is called. */
function holdRefresh({ emulator }: Deployment): { readonly open: () => void; readonly arrived: () => Promise<void> } {
  const { opened, open } = gate()
  emulator.once('refresh', { commit: 'after', hold: opened })
  atEnd(open)
  return {
    open,
    async arrived() {
      while (emulator.counters.tokenRefreshes === 0) await new Promise((resolve) => setTimeout(resolve, 2))
    },
  }
}

/** The instance that holds the refresh, and the others. */
async function holderAmong({ store, instances }: Deployment): Promise<{ holder: Instance; others: Instance[] }> {
  const stored = await store.read(account)
  const pid = stored?.record.state === 'signed-in' ? stored.record.intent?.holder.pid : undefined
  const holder = instances.find(({ child }) => child.pid === pid)
  if (!holder) throw new Error('nobody holds a refresh')
  return { holder, others: instances.filter((instance) => instance !== holder) }
}

describeWithRedis('several instances, while the access token ends', () => {
  useRedis()

  it('sends one refresh for 1,000 callers at once on 4 instances, and every one of them is answered', async () => {
    const deployment = await deploy({ instances: 4 })
    const { emulator, instances } = deployment
    for (const { url } of instances) expect(await call(`${url}/api/1/vehicles`)).toMatchObject({ status: 200 })

    await deployment.pass(life)
    const refresh = holdRefresh(deployment)
    const answers = instances.map(({ url }) => callMany(url, 250))
    await underWay(instances, 1000)
    refresh.open()

    expect(await Promise.all(answers)).toEqual(instances.map(() => ({ 200: 250 })))
    expect(emulator.counters).toMatchObject({
      refreshRequests: 1,
      tokenRefreshes: 1,
      replays: 0,
      ownerApiRejections: 0,
    })
    const served = await Promise.all(
      instances.map((each) => metric(each, 'owner_sso_call_duration_seconds_count{status="2xx"}')),
    )
    expect(served).toEqual([251, 251, 251, 251])
    const refreshes = await Promise.all(instances.map((instance) => metric(instance, refreshed)))
    expect(refreshes.toSorted((one, other) => one - other)).toEqual([0, 0, 0, 1])
  })

  it('loses no token when an instance that waits is killed: the others answer, and so does its successor', async () => {
    const deployment = await deploy({ instances: 3 })
    await deployment.pass(life)
    const refresh = holdRefresh(deployment)
    const answers = deployment.instances.map(async (instance) => ({
      instance,
      counts: await callMany(instance.url, 100),
    }))
    await underWay(deployment.instances, 300)
    await refresh.arrived()
    const { others } = await holderAmong(deployment)
    const killed = others[0]
    await killed?.signal('SIGKILL')
    refresh.open()

    for (const { instance, counts } of await Promise.all(answers)) {
      expect(counts).toEqual(instance === killed ? { lost: 100 } : { 200: 100 })
    }
    const successor = await deployment.start()
    await successor.pass(life)
    expect(await call(`${successor.url}/api/1/vehicles`)).toMatchObject({ status: 200 })
    expect(deployment.emulator.counters).toMatchObject({ refreshRequests: 1, tokenRefreshes: 1, ownerApiRejections: 0 })
  })

  it('recovers when the instance that refreshes is killed: another asks once more', async () => {
    const deployment = await deploy({ instances: 3, emulator: { reuse: 'grace' } })
    await deployment.pass(life)
    const refresh = holdRefresh(deployment)
    const answers = deployment.instances.map(async (instance) => ({
      instance,
      counts: await callMany(instance.url, 50),
    }))
    await underWay(deployment.instances, 150)
    await refresh.arrived()
    const { holder } = await holderAmong(deployment)
    await holder.signal('SIGKILL')
    refresh.open()

    for (const { instance, counts } of await Promise.all(answers)) {
      expect(counts).toEqual(instance === holder ? { lost: 50 } : { 200: 50 })
    }
    expect(deployment.emulator.counters).toMatchObject({ refreshRequests: 2, ownerApiRejections: 0 })
  })

  it('goes on with the old access token while it works, although the instance that refreshes was killed', async () => {
    const deployment = await deploy({ instances: 2 })
    await deployment.pass(0.85 * life)
    const refresh = holdRefresh(deployment)
    expect(await call(`${deployment.instance(0).url}/api/1/vehicles`)).toMatchObject({ status: 200 })
    await refresh.arrived()
    const { holder, others } = await holderAmong(deployment)
    await holder.signal('SIGKILL')

    expect(await callMany(others[0]?.url ?? '', 100)).toEqual({ 200: 100 })
    expect(deployment.emulator.counters).toMatchObject({ refreshRequests: 1, ownerApiRejections: 0 })
  })
})
