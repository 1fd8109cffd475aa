/** Clients of both kinds, as applications make them, but quicker to come back and to end. */
import { Cluster, Redis, type RedisOptions } from 'ioredis'
import { createClient, createCluster } from 'redis'
import type { RedisServer } from '../../../tests/support/redis-server.ts'

export type NodeRedis = Awaited<ReturnType<typeof nodeRedis>>
export type NodeRedisCluster = Awaited<ReturnType<typeof nodeRedisCluster>>

const silent = (): void => undefined

/** A client of ioredis. It would keep the process for two seconds after its end. */
export function ioRedis(address: string | number, options: Omit<RedisOptions, 'replyMapping'> = {}): Redis {
  const url = typeof address === 'number' ? `redis://127.0.0.1:${address}` : address
  return new Redis(url, { disconnectTimeout: 20, ...options }).on('error', silent)
}

export function ioRedisCluster(nodes: readonly RedisServer[]): Cluster {
  const startupNodes = nodes.map(({ port }) => ({ host: '127.0.0.1', port }))
  return new Cluster(startupNodes, { redisOptions: { disconnectTimeout: 20 } })
}

/** A connected client of node-redis that reconnects quickly. */
export async function nodeRedis(url: string): Promise<ReturnType<typeof newClient>> {
  const client = newClient(url)
  await client.connect()
  return client
}

export async function nodeRedisCluster(nodes: readonly RedisServer[]): Promise<ReturnType<typeof newCluster>> {
  const cluster = newCluster(nodes)
  await cluster.connect()
  return cluster
}

const newClient = (url: string) => createClient({ url, socket: { reconnectStrategy: 20 } }).on('error', silent)
const newCluster = (nodes: readonly RedisServer[]) =>
  createCluster({ rootNodes: nodes.map(({ url }) => ({ url })) }).on('error', silent)
