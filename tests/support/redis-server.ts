/** Real redis-server processes on free ports of loopback, which a test may kill, freeze and turn into replicas. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from '@jest/globals'
import { createClient } from 'redis'
import { freePort } from './free-port.ts'

/** `undefined` where there is none. */
export const redisBinary: string | undefined = ['redis-server', 'valkey-server'].find(
  (name) => spawnSync(name, ['--version']).status === 0,
)

/** Whether tests that need Redis run here. Under CI they do, or fail. */
export const hasRedis: boolean = redisBinary !== undefined || process.env['CI'] === 'true'
if (!hasRedis)
  console.warn('Skipped: what needs redis-server, which is not on the PATH (apt-get install redis-server).')

/** `describe` where there is a redis-server to run; skipped elsewhere, and a failure on CI. */
export const describeWithRedis: typeof describe | typeof describe.skip = hasRedis ? describe : describe.skip

export interface RedisServer extends AsyncDisposable {
  readonly port: number
  readonly url: string
  /** Sends a command over a connection of its own. */
  readonly command: (...words: string[]) => Promise<unknown>
  /** SIGKILL. */
  readonly kill: () => Promise<void>
  /** Another process on the same port, with what the last one left on disk. */
  readonly start: () => Promise<void>
  /** Both. */
  readonly restart: () => Promise<void>
  /** SIGSTOP and SIGCONT. */
  readonly freeze: () => void
  readonly thaw: () => void
  /** Kills it, and removes its files. */
  readonly stop: () => Promise<void>
}

/** A replica is served at once: by default Redis waits five seconds for others to come along. */
const replication = ['--repl-diskless-sync-delay', '0']

/** @param settings - of redis-server, as on its command line; by default nothing is kept on disk */
export async function startRedis(...settings: readonly string[]): Promise<RedisServer> {
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  const folder = mkdtempSync(join(tmpdir(), 'owner-sso-redis-'))
  const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '']
  let child: ChildProcess | undefined

  const start = async (): Promise<void> => {
    child = await started([...place, ...replication, ...settings])
  }
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  const stop = async (): Promise<void> => {
    await kill()
    rmSync(folder, { recursive: true, force: true })
  }
  await start()
  return {
    port,
    url,
    command: (...words) => commandTo(url, words),
    kill,
    start,
    restart: async () => {
      await kill()
      await start()
    },
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** Resolves when it accepts connections. */
async function started(settings: readonly string[]): Promise<ChildProcess> {
  if (redisBinary === undefined) throw new Error('redis-server is not on the PATH')
  const child = spawn(redisBinary, settings, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`redis-server ended:\n${output}`)))
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
      if (output.includes('Ready to accept connections')) resolve()
    })
  })
  return child
}

async function commandTo(url: string, words: string[]): Promise<unknown> {
  const client = createClient({ url, disableOfflineQueue: true }).on('error', () => undefined)
  await client.connect()
  try {
    return await client.sendCommand(words)
  } finally {
    client.destroy()
  }
}
