/**
 * `npm run demo:shared-proxy`: two instances behind one address, one Redis and the emulator, on this machine alone.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brokerClients } from '@owner-sso/broker'
import { createSso, createTokenManager, type PasscodeAnswer } from '@owner-sso/core'
import type { Emulator } from '@owner-sso/emulator'
import { createEnding, endProcess } from './demo/ending.ts'
import { startFront } from './demo/front.ts'
import { guideOf } from './demo/guide.ts'
import { startInstance } from './demo/instance.ts'
import { startRedis } from './demo/redis-process.ts'
import { described } from './log.ts'
import { openRedis } from './redis.ts'

const numberOfInstances = 2

// Ctrl-C can arrive twice, from the terminal and from the package manager: the second may not cut the end short.
const asked = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => resolve())
})
// It goes on where nobody reads what its instances log (`| head`), and ends them in the end.
process.stdout.on('error', () => undefined)
const ending = createEnding()
let exitCode = 0
try {
  console.log(await start())
  await asked
} catch (error) {
  exitCode = 1
  console.error(`The demo could not start: ${described(error).message}`)
}
await ending.all()
process.exit(exitCode)

/** Resolves to what to print. */
async function start(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'owner-sso-demo-'))
  ending.with(() => rm(folder, { recursive: true, force: true }))
  const redis = await startRedis(folder)
  ending.with(() => endProcess(redis.child))
  // Loaded only here, since nothing but the demo needs it.
  const { startEmulator } = await import('@owner-sso/emulator')
  const emulator = await startEmulator()
  ending.with(() => emulator.close())
  const accounts = await signInAll(emulator, redis.url)
  const { key, file } = await makeClient(folder, accounts)

  const instances = await Promise.all(
    Array.from({ length: numberOfInstances }, async (_, index) => {
      const name = `instance ${index + 1}`
      const { child, ready } = startInstance(environmentOf(emulator, redis.url, file), (line) => {
        console.log(`${name}: ${line}`)
      })
      ending.with(() => endProcess(child))
      return { name, url: await ready, pid: child.pid }
    }),
  )
  const ports = instances.map(({ url }) => Number(new URL(url).port))
  const front = await startFront(ports, Number(process.env['PORT'] ?? 8080))
  ending.with(() => front.close())
  const parts = [
    ...instances,
    { name: 'Redis', url: redis.url, pid: redis.child.pid },
    { name: 'SSO service', url: `${emulator.authUrl} (the emulator)` },
    { name: 'owner API', url: emulator.ownerApiUrl },
  ]
  return guideOf({ url: front.url, key, accounts, parts })
}

/** Signs every account of the emulator in, once, as an operator would. Resolves to their names. */
async function signInAll(emulator: Emulator, redisUrl: string): Promise<readonly string[]> {
  const { store, connected, close } = openRedis({ storeUrl: redisUrl })
  await connected
  const sso = createSso({ authUrl: emulator.authUrl, regionalAuthUrls: [emulator.regionalAuthUrl] })
  const tokens = createTokenManager({ sso, store })
  for (const account of emulator.accounts) {
    const { identity, credential } = account
    const passcode = (): PasscodeAnswer => ({ factorId: account.factors[0]?.id, passcode: account.passcode() })
    await tokens.save(identity, await sso.login({ identity, credential, passcode }))
  }
  close()
  return emulator.accounts.map(({ identity }) => identity)
}

/** A client of the gateway with a new key, in a file that only the demo's user can read. */
async function makeClient(
  folder: string,
  accounts: readonly string[],
): Promise<{ readonly key: string; readonly file: string }> {
  const file = join(folder, 'clients.json')
  const invited = await brokerClients({ file }).invite({ name: 'demo', accounts, scope: ['proxy'] })
  return { key: invited.refresh_token, file }
}

function environmentOf(emulator: Emulator, redisUrl: string, clientsFile: string): Record<string, string> {
  return {
    OWNER_SSO_AUTH_URL: emulator.authUrl,
    OWNER_SSO_REGIONAL_AUTH_URLS: emulator.regionalAuthUrl,
    OWNER_SSO_API_URL: emulator.ownerApiUrl,
    OWNER_SSO_STORE: redisUrl,
    OWNER_SSO_CLIENTS_FILE: clientsFile,
  }
}
