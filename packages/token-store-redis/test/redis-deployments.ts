/** Redis as it is deployed where one server is not enough: a Sentinel, a Cluster. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../../tests/support/free-port.ts'
import { redisBinary, type RedisServer, startRedis } from '../../../tests/support/redis-server.ts'
import { ioRedis } from './redis-clients.ts'

/** A Sentinel that watches over a master, under the name `mine`, and is quick to fail over. */
export async function startSentinel(
  master: RedisServer,
): Promise<{ readonly port: number; readonly stop: () => Promise<void> }> {
  if (redisBinary === undefined) throw new Error('redis-server is not on the PATH')
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
  const child = spawn(redisBinary, [join(folder, 'sentinel.conf'), '--sentinel'], { stdio: 'ignore' })
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
  const started = await Promise.allSettled(
    Array.from({ length: 3 }, async () =>
      startRedis('--cluster-enabled', 'yes', '--cluster-port', String(await freePort())),
    ),
  )
  const nodes = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const stop = async (): Promise<void> => void (await Promise.all(nodes.map((node) => node.stop())))
  try {
    for (const each of started) if (each.status === 'rejected') throw each.reason
    await unite(nodes)
  } catch (error) {
    await stop()
    throw error
  }
  return { nodes, stop }
}

/** Makes one cluster of the servers, and waits until each of them knows it. */
async function unite(nodes: readonly RedisServer[]): Promise<void> {
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
}
