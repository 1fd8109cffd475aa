/**
 * A Redis for the demo: the machine's own redis-server or valkey-server, on a free port.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'

export interface RedisProcess {
  readonly url: string
  readonly child: ChildProcess
}

/**
 * @param folder - for its append-only file
 * @throws Error that says what to install
 */
export async function startRedis(folder: string): Promise<RedisProcess> {
  const program = ['redis-server', 'valkey-server'].find((name) => spawnSync(name, ['--version']).status === 0)
  if (program === undefined) {
    throw new Error(
      'there is no redis-server on the PATH. Install it (apt-get install redis-server, brew install redis), or use the compose.yaml with Docker.',
    )
  }
  const port = await freePort()
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'yes']
  // In a process group of its own: Ctrl-C in the terminal must not take it away from instances that still save tokens.
  const env = { PATH: process.env['PATH'] ?? '' }
  const child = spawn(program, settings, { env, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  const gone = once(child, 'exit').then(() => {
    throw new Error(`${program} could not start.`)
  })
  await Promise.race([gone, says(child, 'Ready to accept connections')])
  gone.catch(() => undefined)
  return { url: `redis://127.0.0.1:${port}`, child }
}

/** Resolves when the process has printed such a line, and goes on reading what it prints. */
async function says({ stdout }: ChildProcess, text: string): Promise<void> {
  if (!stdout) return
  const lines = createInterface({ input: stdout })
  await new Promise<void>((resolve) => {
    lines.on('line', (line) => {
      if (line.includes(text)) resolve()
    })
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}
