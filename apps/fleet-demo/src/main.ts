/**
 * `npm run demo:fleet`: the emulator with its firewall on, a store, four processes and a live page, on this machine alone.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmulator } from '@owner-sso/emulator'
import { firewall, tokenLife } from './figures.ts'
import { startFleet } from './fleet.ts'
import { startMonitor } from './monitor.ts'
import { startRedis } from './redis.ts'
import { serve } from './server.ts'
import { openStore } from './store.ts'
import { endProcess } from './worker-process.ts'

// Ctrl-C can arrive twice, from the terminal and from the package manager: the second may not cut the end short.
const asked = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => resolve())
})
/** How each thing that was started is ended. */
const ends: (() => unknown)[] = []
let exitCode = 0
try {
  console.log(await start())
  await asked
} catch (error) {
  exitCode = 1
  console.error(`The demo could not start: ${error instanceof Error ? error.message : 'unknown'}`)
}
// The newest first.
for (const end of ends.toReversed()) await end()
process.exit(exitCode)

/** Resolves to what to print. */
async function start(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'owner-sso-fleet-'))
  ends.push(() => rm(folder, { recursive: true, force: true }))
  const redis = await startRedis(folder)
  if (redis !== undefined) ends.push(() => endProcess(redis.child))
  const place = redis === undefined ? join(folder, 'tokens') : `redis:${redis.socket}`
  const emulator = await startEmulator({
    firewall,
    accessTokenLifetime: tokenLife,
    expiresIn: tokenLife,
    reuse: 'grace',
  })
  ends.push(() => emulator.close())
  const opened = await openStore(place)
  ends.push(() => opened.close())
  const accounts = Number(process.env['FLEET_ACCOUNTS'] ?? 300)
  const fleet = await startFleet(opened, { emulator, place, accounts })
  ends.push(() => fleet.close())
  const monitor = startMonitor(fleet, emulator)
  ends.push(() => monitor.close())
  const server = await serve(fleet, monitor, Number(process.env['PORT'] ?? 8090))
  ends.push(() => server.close())
  return `
A fleet to watch: ${server.url}   (Ctrl-C ends it)

${accounts} accounts, ${fleet.workers.length} processes, ${redis === undefined ? 'a folder as the store (with redis-server on the PATH it is Redis)' : 'Redis as the store'}.
The SSO service: ${emulator.authUrl} (the emulator, and its inspector at /_emulator)
`
}
