/** A redis-server on a free port of loopback, with the protections that `checkRedis` asks for. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from '@jest/globals'
import { freePort } from './pasted-program.ts'

const isThere = spawnSync('redis-server', ['--version']).status === 0
const isNeeded = process.env['CI'] === 'true'
if (!isThere && !isNeeded) console.warn('Skipped: one guide needs redis-server (apt-get install redis-server).')

/** `describe` where there is a redis-server; skipped elsewhere, and a failure on CI. */
export const describeWithRedis: typeof describe | typeof describe.skip = isThere || isNeeded ? describe : describe.skip

export async function startRedis(): Promise<AsyncDisposable & { readonly url: string }> {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'owner-sso-redis-'))
  const options = ['--bind', '127.0.0.1', '--appendonly', 'yes', '--maxmemory-policy', 'noeviction', '--dir', folder]
  const child = spawn('redis-server', ['--port', String(port), ...options], { stdio: ['ignore', 'pipe', 'ignore'] })
  let said = ''
  child.stdout.on('data', (chunk) => (said += String(chunk)))
  while (!said.includes('Ready to accept connections')) await once(child.stdout, 'data')
  const stop = async (): Promise<void> => {
    child.kill()
    await once(child, 'close')
    rmSync(folder, { recursive: true })
  }
  return { url: `redis://127.0.0.1:${port}`, [Symbol.asyncDispose]: stop }
}
