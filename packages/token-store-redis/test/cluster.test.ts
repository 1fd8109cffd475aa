/** B-E E3 and E6: a cluster whose slots move, and a Sentinel that fails over. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Cluster, Redis } from 'ioredis'
import { createSentinel } from 'redis'
import { type RedisClient, redisTokenStore } from '../src/index.ts'
import { describeWithRedis, startRedis } from '../../../tests/support/redis-server.ts'
import { type NodeRedisCluster, nodeRedisCluster, ioRedisCluster } from './redis-clients.ts'
import { startCluster, startSentinel } from './redis-deployments.ts'
import { account, commit, sample } from '../../../tests/support/store-samples.ts'

describeWithRedis('a cluster of three masters', () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>
  let node: NodeRedisCluster
  let io: Cluster
  beforeAll(async () => {
    cluster = await startCluster()
    node = await nodeRedisCluster(cluster.nodes)
    io = ioRedisCluster(cluster.nodes)
  })
  afterAll(async () => {
    node.destroy()
    io.disconnect()
    await cluster.stop()
  })

  test.each<[string, () => RedisClient]>([
    ['node-redis', () => node],
    ['ioredis', () => io],
  ])('spreads accounts over all masters, and no write crosses a slot (%s)', async (name, client) => {
    const store = redisTokenStore({ client: client(), prefix: `${name}:` })
    const names = Array.from({ length: 60 }, (_, index) => `owner-${index}@example.com`)
    await Promise.all(names.map((each) => store.swap(each, 0, sample(1), randomUUID())))
    const counts = await Promise.all(cluster.nodes.map((each) => each.command('DBSIZE')))
    for (const count of counts) expect(Number(count)).toBeGreaterThan(5)
    const found: string[] = []
    for await (const each of store.accounts?.() ?? []) found.push(each)
    expect(found.toSorted()).toEqual(names.toSorted())
  })

  test.each<[string, () => RedisClient]>([
    ['node-redis', () => node],
    ['ioredis', () => io],
  ])('goes on while the account’s slot moves to another master (%s)', async (name, client) => {
    const store = redisTokenStore({ client: client(), prefix: `moving ${name}:` })
    const writing = { isOver: false, versions: 0 }
    const writer = (async () => {
      for (; !writing.isOver; writing.versions += 1) {
        expect(await commit(store, writing.versions, randomUUID())).toBe('saved')
      }
    })()
    while (writing.versions < 5) await new Promise(setImmediate)
    const keys = await Promise.all(cluster.nodes.map((each) => each.command('KEYS', `moving ${name}:*`)))
    const from = keys.findIndex((list) => (list as string[]).length > 0)
    const [key = ''] = keys[from] as string[]
    await moveSlot(from, (from + 1) % 3, key)
    const before = writing.versions
    while (writing.versions < before + 5) await new Promise(setImmediate)
    writing.isOver = true
    await writer
    expect(await store.read(account)).toMatchObject({ version: writing.versions, record: sample(writing.versions) })
    expect(await cluster.nodes[(from + 1) % 3]?.command('KEYS', `moving ${name}:*`)).toEqual([key])
  })

  async function moveSlot(from: number, to: number, key: string): Promise<void> {
    const [source, target] = [cluster.nodes[from], cluster.nodes[to]]
    if (!source || !target) throw new Error('no such node')
    const [sourceId, targetId] = [await source.command('CLUSTER', 'MYID'), await target.command('CLUSTER', 'MYID')]
    const slot = String(await source.command('CLUSTER', 'KEYSLOT', key))
    await target.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(sourceId))
    await source.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(targetId))
    // All that another client has in that slot as well.
    for (const each of (await source.command('CLUSTER', 'GETKEYSINSLOT', slot, '10')) as string[])
      await source.command('MIGRATE', '127.0.0.1', String(target.port), each, '0', '1000')
    // Reads and writes are redirected here by ASK.
    await new Promise((resolve) => setTimeout(resolve, 50))
    for (const each of [target, source, ...cluster.nodes]) {
      await each.command('CLUSTER', 'SETSLOT', slot, 'NODE', String(targetId))
    }
  }
})

describeWithRedis('a Sentinel', () => {
  test('that fails over: the store writes on to the new master by itself', async () => {
    const master = await startRedis()
    const replica = await startRedis('--replicaof', '127.0.0.1', String(master.port))
    const sentinel = await startSentinel(master)
    const { port } = sentinel

    const node = createSentinel({
      name: 'mine',
      sentinelRootNodes: [{ host: '127.0.0.1', port }],
    }).on('error', () => undefined)
    await node.connect()
    const io = new Redis({
      disconnectTimeout: 20,
      sentinels: [{ host: '127.0.0.1', port }],
      name: 'mine',
      retryStrategy: () => 50,
    })
    io.on('error', () => undefined)
    const stores = [redisTokenStore({ client: node, prefix: 'n:' }), redisTokenStore({ client: io, prefix: 'i:' })]
    try {
      for (const store of stores) expect(await commit(store, 0, randomUUID())).toBe('saved')
      // Both writes have to be at the replica: what it hasn't heard of is lost, whoever writes.
      await master.command('WAIT', '1', '5000')
      await master.kill()
      for (const store of stores) {
        expect(await commit(store, 1, randomUUID())).toBe('saved')
        expect(await store.read(account)).toMatchObject({ version: 2, record: sample(2) })
        const names: string[] = []
        for await (const each of store.accounts?.() ?? []) names.push(each)
        expect(names).toEqual([account])
      }
    } finally {
      io.disconnect()
      await node.destroy()
      await Promise.all([sentinel.stop(), master.stop(), replica.stop()])
    }
  }, 60_000)
})
