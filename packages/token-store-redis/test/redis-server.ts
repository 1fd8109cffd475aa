/** Real redis-server processes on free ports of loopback, started and stopped by the tests. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from '@jest/globals'
import { Cluster, Redis, type RedisOptions } from 'ioredis'
import { createClient, createCluster } from 'redis'

const binary = ['redis-server', 'valkey-server'].find((name) => spawnSync(name, ['--version']).status === 0)
const isNeeded = process.env['CI'] === 'true'
if (binary === undefined && !isNeeded) {
  console.warn('Skipped: the tests of the Redis store need redis-server on the PATH (apt-get install redis-server).')
}

/** `describe` where there is a redis-server to run; skipped elsewhere, and a failure on CI. */
export const describeWithRedis: typeof describe | typeof describe.skip =
  binary !== undefined || isNeeded ? describe : describe.skip

export interface RedisServer {
  readonly port: number
  readonly url: string
  /** Sends a command over a connection of its own. */
  readonly command: (...args: string[]) => Promise<unknown>
  /** SIGKILL, and a new process on the same port with the same files. */
  readonly kill: () => Promise<void>
  readonly restart: () => Promise<void>
  /** SIGSTOP and SIGCONT. */
  readonly freeze: () => void
  readonly thaw: () => void
  readonly stop: () => Promise<void>
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** @param settings - more of redis-server's own options, as on its command line */
export async function startRedis(...settings: string[]): Promise<RedisServer> {
  if (binary === undefined) throw new Error('redis-server is not on the PATH')
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'owner-sso-redis-'))
  const url = `redis://127.0.0.1:${port}`
  let child: ChildProcess

  const start = async (): Promise<void> => {
    child = spawn(
      binary,
      [
        '--port',
        String(port),
        '--bind',
        '127.0.0.1',
        '--dir',
        folder,
        '--save',
        '',
        '--repl-diskless-sync-delay',
        '0',
        ...settings,
      ],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    const output: string[] = []
    await new Promise<void>((resolve, reject) => {
      child.once('exit', () => reject(new Error(`redis-server ended:\n${output.join('')}`)))
      child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
        output.push(chunk)
        if (output.join('').includes('Ready to accept connections')) resolve()
      })
    })
    child.removeAllListeners('exit')
  }
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }

  await start()
  return {
    port,
    url,
    command: (...args) => commandTo(url, args),
    kill,
    restart: async () => {
      await kill()
      await start()
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    stop: async () => {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function commandTo(url: string, args: string[]): Promise<unknown> {
  const client = createClient({ url, disableOfflineQueue: true }).on('error', () => undefined)
  await client.connect()
  try {
    return await client.sendCommand(args)
  } finally {
    client.destroy()
  }
}

/** A Sentinel that watches over a master, under the name `mine`, and is quick to fail over. */
export async function startSentinel(
  master: RedisServer,
): Promise<{ readonly port: number; readonly stop: () => Promise<void> }> {
  if (binary === undefined) throw new Error('redis-server is not on the PATH')
  const folder = mkdtempSync(join(tmpdir(), 'owner-sso-sentinel-'))
  const port = await freePort()
  const settings = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor mine 127.0.0.1 ${master.port} 1`,
    'sentinel down-after-milliseconds mine 300',
    'sentinel failover-timeout mine 2000',
  ]
  writeFileSync(join(folder, 'sentinel.conf'), settings.join('\n'))
  const child = spawn(binary, [join(folder, 'sentinel.conf'), '--sentinel'], { stdio: 'ignore' })
  const watch = ioRedis(port)
  while (!/slaves=1/u.test(await watch.info('sentinel'))) await new Promise((resolve) => setTimeout(resolve, 50))
  watch.disconnect()
  return {
    port,
    stop: async () => {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Three masters that share the slots, ready for use. */
export async function startCluster(): Promise<{
  readonly nodes: readonly RedisServer[]
  readonly stop: () => Promise<void>
}> {
  const nodes = await Promise.all(
    Array.from({ length: 3 }, async () =>
      startRedis('--cluster-enabled', 'yes', '--cluster-port', String(await freePort())),
    ),
  )
  for (const [index, node] of nodes.entries()) {
    await node.command('CLUSTER', 'ADDSLOTSRANGE', String(index * 5462), String(Math.min(index * 5462 + 5461, 16_383)))
    await node.command('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1))
  }
  const [first, ...others] = nodes
  for (const other of others) {
    const [line = ''] = String(await other.command('CLUSTER', 'NODES')).split('\n')
    const [, busPort = ''] = /@(\d+)/u.exec(line) ?? []
    await first?.command('CLUSTER', 'MEET', '127.0.0.1', String(other.port), busPort)
  }
  for (const node of nodes) {
    while (!/cluster_state:ok[^]*cluster_known_nodes:3/u.test(String(await node.command('CLUSTER', 'INFO')))) {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  return { nodes, stop: async () => void (await Promise.all(nodes.map((node) => node.stop()))) }
}

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
