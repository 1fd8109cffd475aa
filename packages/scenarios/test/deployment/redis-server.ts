/** Real redis-server processes on free ports of loopback, which a test may kill, freeze and turn into replicas. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from 'redis'

const binary = ['redis-server', 'valkey-server'].find((name) => spawnSync(name, ['--version']).status === 0)

/** Whether Redis scenarios run here. Under CI they do, or fail. */
export const hasRedis: boolean = binary !== undefined || process.env['CI'] === 'true'

export interface RedisServer {
  readonly port: number
  readonly url: string
  /** Sends a command over a connection of its own. */
  readonly command: (...args: string[]) => Promise<unknown>
  /** SIGKILL. */
  readonly kill: () => Promise<void>
  /** Another process on the same port, with what the last one left on disk. */
  readonly start: () => Promise<void>
  /** SIGSTOP and SIGCONT. */
  readonly freeze: () => void
  readonly thaw: () => void
  readonly remove: () => Promise<void>
}

/** A replica is served at once: by default Redis waits five seconds for others to come along. */
const replication = ['--repl-diskless-sync-delay', '0']

/** @param settings - of redis-server, as on its command line; by default nothing is kept on disk */
export async function startRedis(...settings: readonly string[]): Promise<RedisServer> {
  if (binary === undefined) throw new Error('redis-server is not on the PATH')
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'owner-sso-scenario-redis-'))
  const args = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
    '--save',
    '',
    ...replication,
    ...settings,
  ]
  let child: ChildProcess | undefined

  const server: RedisServer = {
    port,
    url: `redis://127.0.0.1:${port}`,
    async command(...words) {
      const client = createClient({ url: server.url }).on('error', () => undefined)
      await client.connect()
      try {
        return await client.sendCommand(words)
      } finally {
        client.destroy()
      }
    },
    async kill() {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
    async start() {
      const started = spawn(binary, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      child = started
      let output = ''
      await new Promise<void>((resolve, reject) => {
        started.once('error', reject)
        started.once('exit', () => reject(new Error(`redis-server ended: ${output}`)))
        started.stdout.setEncoding('utf8').on('data', (chunk: string) => {
          output += chunk
          if (output.includes('Ready to accept connections')) resolve()
        })
      })
    },
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    async remove() {
      server.thaw()
      await server.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  await server.start()
  return server
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const closed = once(server, 'close')
  server.close()
  await closed
  return typeof address === 'object' && address !== null ? address.port : 0
}
