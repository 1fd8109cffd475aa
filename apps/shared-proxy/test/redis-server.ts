/** A real Redis for the tests, on a free port. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from '@jest/globals'

const binary = ['redis-server', 'valkey-server'].find((name) => spawnSync(name, ['--version']).status === 0)
const isNeeded = process.env['CI'] === 'true'
if (binary === undefined && !isNeeded) {
  console.warn('Skipped: the tests of the shared proxy need redis-server on the PATH (apt-get install redis-server).')
}

/** `describe` where there is a redis-server to run; skipped elsewhere, and a failure on CI. */
export const describeWithRedis: typeof describe | typeof describe.skip =
  binary !== undefined || isNeeded ? describe : describe.skip

export interface RedisServer {
  readonly url: string
  /** SIGKILL: what was not written to its file by then is gone. */
  readonly kill: () => Promise<void>
  /** A new process on the same port with the same file. */
  readonly start: () => Promise<void>
  readonly remove: () => Promise<void>
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

export async function startRedis(): Promise<RedisServer> {
  if (binary === undefined) throw new Error('redis-server is not on the PATH')
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'owner-sso-redis-'))
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '']
  let child: ChildProcess

  const start = async (): Promise<void> => {
    child = spawn(binary, [...settings, '--appendonly', 'yes', '--appendfsync', 'always'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    await new Promise<void>((resolve, reject) => {
      child.once('exit', () => reject(new Error(`redis-server ended:\n${output}`)))
      child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk
        if (output.includes('Ready to accept connections')) resolve()
      })
    })
    child.removeAllListeners('exit')
  }
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }

  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    start,
    remove: async () => {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
