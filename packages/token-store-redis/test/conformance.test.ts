import { randomBytes, randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, test } from '@jest/globals'
import { tokenStoreConformance } from '@owner-sso/token-store-conformance'
import type { Cluster, Redis } from 'ioredis'
import { redisTokenStore, type RedisTokenStoreOptions } from '../src/index.ts'
import { keyOf } from '../src/record-value.ts'
import { killedWriter } from '../../../tests/support/killed-writer.ts'
import { describeWithRedis, type RedisServer, startRedis } from '../../../tests/support/redis-server.ts'
import {
  type NodeRedis,
  type NodeRedisCluster,
  nodeRedis,
  nodeRedisCluster,
  ioRedis,
  ioRedisCluster,
} from './redis-clients.ts'
import { startCluster } from './redis-deployments.ts'

const writer = fileURLToPath(new URL('writer-process.mjs', import.meta.url))

/** How many random histories are tried: many over one client, since it is the same script that the others have executed. */
const [manyHistories, fewHistories] = [25, 5]

/** The suite on whatever clients are made; each rule has a prefix of its own, and so an empty store. */
function conformance(
  kind: string,
  ports: (() => readonly number[]) | undefined,
  clients: () => RedisTokenStoreOptions & { readonly client: { set(key: string, value: string): Promise<unknown> } },
  histories = fewHistories,
): void {
  const prefixes = new WeakMap<object, string>()
  const open = (prefix: string): ReturnType<typeof redisTokenStore> => {
    const store = redisTokenStore({ ...clients(), prefix })
    prefixes.set(store, prefix)
    return store
  }
  const prefixOf = (store: object): string => prefixes.get(store) ?? ''
  tokenStoreConformance({
    describe: describeWithRedis,
    test,
    createStore: () => open(`test:[${randomUUID()}]*:`),
    reopen: (store) => open(prefixOf(store)),
    accounts: true,
    damage: async (store, account) => void (await clients().client.set(keyOf(prefixOf(store), account), 'damaged')),
    watch: true,
    histories,
    ...(ports && { crash: (store, account) => killedWriter(writer, [kind, ports().join(), prefixOf(store), account]) }),
  })
}

describeWithRedis('redisTokenStore', () => {
  describeWithRedis('on one server', () => {
    let server: RedisServer
    let node: NodeRedis
    let nodeSubscriber: NodeRedis
    let io: Redis
    let ioSubscriber: Redis
    beforeAll(async () => {
      server = await startRedis('--appendonly', 'yes')
      node = await nodeRedis(server.url)
      nodeSubscriber = await nodeRedis(server.url)
      io = ioRedis(server.url)
      ioSubscriber = ioRedis(server.url)
    })
    afterAll(async () => {
      node.destroy()
      nodeSubscriber.destroy()
      io.disconnect()
      ioSubscriber.disconnect()
      await server.stop()
    })

    describeWithRedis('with node-redis', () => {
      conformance(
        'node-redis',
        () => [server.port],
        () => ({ client: node, subscriber: nodeSubscriber }),
        manyHistories,
      )
    })
    describeWithRedis('with an encryption key', () => {
      const encryptionKey = randomBytes(32)
      conformance('', undefined, () => ({ client: node, subscriber: nodeSubscriber, encryptionKey }))
    })
    describeWithRedis('with ioredis', () => {
      conformance(
        'ioredis',
        () => [server.port],
        () => ({ client: io, subscriber: ioSubscriber }),
      )
    })
  })

  describeWithRedis('on a cluster of three masters', () => {
    let cluster: Awaited<ReturnType<typeof startCluster>>
    let node: NodeRedisCluster
    let io: Cluster
    let ioSubscriber: Redis
    beforeAll(async () => {
      cluster = await startCluster()
      node = await nodeRedisCluster(cluster.nodes)
      io = ioRedisCluster(cluster.nodes)
      ioSubscriber = ioRedis(cluster.nodes[0]?.url ?? '')
    })
    afterAll(async () => {
      node.destroy()
      io.disconnect()
      ioSubscriber.disconnect()
      await cluster.stop()
    })
    const ports = (): number[] => cluster.nodes.map(({ port }) => port)

    describeWithRedis('with node-redis', () => {
      conformance('node-redis-cluster', ports, () => ({ client: node, subscriber: node }))
    })
    describeWithRedis('with ioredis', () => {
      conformance('ioredis-cluster', ports, () => ({ client: io, subscriber: ioSubscriber }))
    })
  })
})
