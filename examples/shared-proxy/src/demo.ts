/**
 * `npm run demo:shared-proxy`: two instances behind one address, one Redis and the emulator, on this machine alone.
 */
import type { ChildProcess } from 'node:child_process'
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { brokerClients } from '@owner-sso/broker'
import { createSso, createTokenManager, type PasscodeAnswer } from '@owner-sso/core'
import type { Emulator } from '@owner-sso/emulator'
import { startRedis } from './demo/redis-process.ts'
import { described } from './log.ts'
import { openStore } from './stores.ts'

const names = ['instance 1', 'instance 2']

// The instances get what is said of them below, and nothing of the caller's own service.
for (const name of Object.keys(process.env)) if (name.startsWith('OWNER_SSO_')) delete process.env[name]

// Ctrl-C can arrive twice, from the terminal and from the package manager: the second may not cut the end short.
const asked = new Promise<void>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => resolve())
})
// It goes on where nobody reads what its instances log (`| head`), and ends them in the end.
process.stdout.on('error', () => undefined)
/** How what was started is ended, in the order of the starts. */
const ends: (() => Promise<unknown> | void)[] = []
let exitCode = 0
try {
  console.log(await start())
  await asked
} catch (error) {
  exitCode = 1
  console.error(`The demo could not start: ${described(error).message}`)
}
for (const end of ends.toReversed()) await end()
process.exit(exitCode)

async function start(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'owner-sso-demo-'))
  ends.push(() => rm(folder, { recursive: true, force: true }))
  const redis = await startRedis(folder)
  ends.push(() => ended(redis.child))
  // Loaded only here, since nothing but the demo needs it.
  const { startEmulator } = await import('@owner-sso/emulator')
  const emulator = await startEmulator()
  ends.push(() => emulator.close())
  const { accounts, key } = await prepare(emulator, redis.url)

  // Node hands the connections of the one port to its workers in turn.
  cluster.setupPrimary({ exec: fileURLToPath(new URL('main.js', import.meta.url)), silent: true })
  const instances = await Promise.all(names.map((name) => startInstance(name, emulator, redis.url)))
  const [{ pid, port } = { pid: undefined, port: 0 }] = instances
  const [first = '', second = first] = accounts
  const url = `http://127.0.0.1:${port}`
  const call = (account: string): string =>
    `curl -s -H 'Authorization: Bearer ${key}' -H 'X-Owner-Account: ${account}' ${url}`
  return `
Shared proxy: ${url}   (Ctrl-C ends it)

Behind it:
${instances.map((instance, index) => `  ${names[index]}  process ${instance.pid}`).join('\n')}
  Redis       ${redis.url}, process ${redis.child.pid}
  SSO service ${emulator.authUrl} (the emulator)
  owner API   ${emulator.ownerApiUrl}

API key of the demo client, for ${accounts.join(', ')}:
  ${key}

Try:
  ${call(first)}/api/1/products
  ${call(second)}/api/1/products
  ${call(first)}/api/1/stream -N
  curl -s ${url}/readyz
  curl -s ${url}/metrics
  kill -9 ${pid}     # the others go on answering
`
}

/** Signs every account of the emulator in, once, and lets one client in, as an operator would. */
async function prepare(
  emulator: Emulator,
  storeUrl: string,
): Promise<{ readonly accounts: readonly string[]; readonly key: string }> {
  const { store, close } = openStore({ storeUrl, encryptionKeys: undefined }, () => undefined)
  const sso = createSso({ authUrl: emulator.authUrl, regionalAuthUrls: [emulator.regionalAuthUrl] })
  const tokens = createTokenManager({ issuer: sso, store })
  for (const account of emulator.accounts) {
    const { identity, credential } = account
    const passcode = (): PasscodeAnswer => ({ factorId: account.factors[0]?.id, passcode: account.passcode() })
    await tokens.save(identity, await sso.login({ identity, credential, passcode }))
  }
  const accounts = emulator.accounts.map(({ identity }) => identity)
  const { refresh_token: key } = await brokerClients({ store }).invite({ name: 'demo', accounts, scope: ['proxy'] })
  close()
  return { accounts, key }
}

/** Resolves once the instance listens and has reached the store. */
async function startInstance(
  name: string,
  emulator: Emulator,
  redisUrl: string,
): Promise<{ readonly pid: number | undefined; readonly port: number }> {
  const worker: Worker = cluster.fork({
    HOST: '127.0.0.1',
    PORT: process.env['PORT'] ?? '8080',
    OWNER_SSO_AUTH_URL: emulator.authUrl,
    OWNER_SSO_REGIONAL_AUTH_URLS: emulator.regionalAuthUrl,
    OWNER_SSO_API_URL: emulator.ownerApiUrl,
    OWNER_SSO_STORE: redisUrl,
  })
  ends.push(() => ended(worker.process))
  worker.process.stderr?.pipe(process.stderr)
  const connected = new Promise<void>((resolve, reject) => {
    worker.once('exit', () => reject(new Error('an instance ended before it was ready.')))
    createInterface({ input: worker.process.stdout ?? process.stdin }).on('line', (line) => {
      console.log(`${name}: ${line}`)
      if (line.includes('"event":"store-connected"')) resolve()
    })
  })
  const [[{ port }]] = await Promise.all([once(worker, 'listening'), connected])
  return { pid: worker.process.pid, port }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  await gone
}
