/** A redis-server on a free port of loopback, for a bench; `undefined` where there is none. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** @param folder - what it may write into */
export async function startRedis(folder) {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  probe.close()
  const server = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder])
  const isThere = await new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.stdout.on('data', (chunk) => String(chunk).includes('Ready to accept') && resolve(true))
  })
  return isThere ? { url: `redis://127.0.0.1:${port}`, stop: () => server.kill('SIGKILL') } : undefined
}
