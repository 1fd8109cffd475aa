/**
 * Redis for the demo: the machine's own redis-server or valkey-server at a socket in a folder, and the connections to it.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { redisTokenStore } from '@owner-sso/token-store-redis'
import { createClient } from 'redis'
import type { SharedStore } from './shared-store.ts'

export interface RedisProcess {
  readonly socket: string
  readonly child: ChildProcess
}

/** Undefined where the machine has none. @throws Error where it can't start */
export async function startRedis(folder: string): Promise<RedisProcess | undefined> {
  const program = ['redis-server', 'valkey-server'].find((name) => spawnSync(name, ['--version']).status === 0)
  if (program === undefined) return undefined
  const socket = join(folder, 'redis.sock')
  const settings = ['--port', '0', '--unixsocket', socket, '--unixsocketperm', '700', '--dir', folder, '--save', '']
  // In a process group of its own: Ctrl-C in the terminal must not take it away from workers that still save tokens.
  const env = { PATH: process.env['PATH'] ?? '' }
  const child = spawn(program, settings, { env, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  const gone = once(child, 'exit').then(() => {
    throw new Error(`${program} could not start.`)
  })
  gone.catch(() => undefined)
  const lines = createInterface({ input: child.stdout })
  const ready = new Promise<void>((resolve) => {
    lines.on('line', (line) => {
      if (line.includes('eady to accept connections')) resolve()
    })
  })
  await Promise.race([ready, gone])
  return { socket, child }
}

/** One connection for commands, one that hears of changes. */
export async function openRedis(path: string): Promise<SharedStore> {
  const client = createClient({ socket: { path, tls: false } })
  const subscriber = client.duplicate()
  // The store's own errors tell of it.
  for (const connection of [client, subscriber]) connection.on('error', () => undefined)
  await Promise.all([client.connect(), subscriber.connect()])
  return {
    store: redisTokenStore({ client, subscriber }),
    close() {
      client.destroy()
      subscriber.destroy()
    },
  }
}
