/** A whole deployment: the emulator as the service, one Redis, instances of the gateway, and what their callers send. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { Agent, get, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll } from '@jest/globals'
import { createSso, createTokenManager, notebook, type TokenManager, type TokenStore } from '@owner-sso/core'
import { type Emulator, type EmulatorOptions, startEmulator } from '@owner-sso/emulator'
import { redisTokenStore } from '@owner-sso/token-store-redis'
import { createClient } from 'redis'
import { openStore as openSharedStore } from '../src/stores.ts'
import { type Instance, startInstance } from './instance.ts'
import { type RedisServer, startRedis } from '../../../tests/support/redis-server.ts'

export const account = 'plain@example.com'
/** An API key as `openssl rand -hex 32` makes one. */
export const apiKey = 'a1'.repeat(32)
/** Seconds that an access token lives. */
export const life = 28_800

export interface ClientEntry {
  readonly name: string
  readonly key: string
  readonly accounts: readonly string[]
}

export interface DeploymentOptions {
  readonly instances?: number
  readonly emulator?: EmulatorOptions
  readonly clients?: readonly ClientEntry[]
  readonly environment?: Readonly<Record<string, string>>
  /** Of everybody, the test itself included; in base64. Given to the instances alone, as a variable, it leaves the test's store plain. */
  readonly encryptionKey?: string
  /** The address of the store, if it is not the one Redis. */
  readonly storeUrl?: string
}

export interface Deployment {
  readonly emulator: Emulator
  readonly redis: RedisServer
  readonly instances: readonly Instance[]
  readonly instance: (index: number) => Instance
  readonly environment: Readonly<Record<string, string>>
  /** The store as the test itself sees it, and a token manager of its own over it. */
  readonly store: TokenStore
  readonly tokens: TokenManager
  readonly start: () => Promise<Instance>
  /** Time passes, for the service and all instances. */
  readonly pass: (seconds: number) => Promise<void>
}

let closing: (() => Promise<unknown> | void)[] = []
let redis: RedisServer | undefined

/** Registers what has to be ended after the test, the newest first. */
export function atEnd(close: () => Promise<unknown> | void): void {
  closing.push(close)
}

/** Ends what was registered; `useRedis` sees to it by itself. */
export async function endAll(): Promise<void> {
  const closers = closing
  closing = []
  for (const close of closers.toReversed()) await close()
}

/**
 * Has to stand at the head of a `describe` that deploys.
 *
 * @param lives - how long a deployment lives: for one test, or for all of them
 */
export function useRedis(lives: 'test' | 'all' = 'test'): void {
  beforeAll(async () => {
    redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'always')
  })
  if (lives === 'test') afterEach(endAll)
  afterAll(async () => {
    await endAll()
    await redis?.stop()
  })
}

/** Deploys with `account` signed in, and ends it after the test. */
export async function deploy(options: DeploymentOptions = {}): Promise<Deployment> {
  const storeUrl = options.storeUrl ?? theRedis().url
  const emulator = await startEmulator({ firewall: false, ...options.emulator })
  atEnd(() => emulator.close())
  const sso = createSso({ authUrl: emulator.authUrl, regionalAuthUrls: [emulator.regionalAuthUrl] })
  const store = options.storeUrl === undefined ? await openStore(storeUrl, options.encryptionKey) : ownStore(storeUrl)
  const tokens = createTokenManager({ issuer: sso, store })
  await tokens.save(account, await sso.login({ identity: account, credential: 'correct horse' }))

  await letIn(store, options.clients)
  const environment = {
    OWNER_SSO_AUTH_URL: emulator.authUrl,
    OWNER_SSO_REGIONAL_AUTH_URLS: emulator.regionalAuthUrl,
    OWNER_SSO_API_URL: emulator.ownerApiUrl,
    OWNER_SSO_STORE: storeUrl,
    ...(options.encryptionKey !== undefined && { OWNER_SSO_ENCRYPTION_KEY: options.encryptionKey }),
    ...options.environment,
  }
  const instances: Instance[] = []
  const start = async (): Promise<Instance> => {
    const instance = await startInstance(environment)
    atEnd(() => instance.signal('SIGKILL'))
    instances.push(instance)
    return instance
  }
  await Promise.all(Array.from({ length: options.instances ?? 1 }, start))
  return {
    emulator,
    get redis() {
      return theRedis()
    },
    instances,
    instance(index) {
      const instance = instances[index]
      if (!instance) throw new Error(`there is no instance ${index}`)
      return instance
    },
    environment,
    store,
    tokens,
    start,
    async pass(seconds) {
      emulator.clock.advance(seconds)
      await Promise.all(instances.map((instance) => instance.pass(seconds)))
    },
  }
}

function theRedis(): RedisServer {
  if (!redis) throw new Error('useRedis() is missing')
  return redis
}

/** The store as one more gateway opens it. */
function ownStore(storeUrl: string): TokenStore {
  const { store, close } = openSharedStore({ storeUrl, encryptionKeys: undefined }, () => undefined)
  atEnd(close)
  return store
}

/** The store as a process of its own would see it. */
async function openStore(url: string, key: string | undefined): Promise<TokenStore> {
  const client = createClient({ url, socket: { reconnectStrategy: 50 } }).on('error', () => undefined)
  await client.connect()
  atEnd(async () => {
    // A client that is ended while it connects stays connected.
    if (!client.isReady) await once(client, 'ready')
    client.destroy()
  })
  return redisTokenStore({ client, ...(key !== undefined && { encryptionKey: Buffer.from(key, 'base64') }) })
}

/** Lets clients in, with keys that the test chose. */
export async function letIn(
  store: TokenStore,
  clients: readonly ClientEntry[] = [{ name: 'test', key: apiKey, accounts: [account] }],
): Promise<void> {
  const kept = clients.map(({ key, ...client }) => ({ ...client, scope: ['proxy'], keys: [{ sha256: sha256(key) }] }))
  await notebook(store, 'clients').change(() => ({ clients: kept }))
}

/** A connection of its own for each call. */
const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY })

/** The answer once its headers are there. */
export function open(url: string, headers: Readonly<Record<string, string>> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers: { authorization: `Bearer ${apiKey}`, ...headers } }, resolve).once('error', reject)
  })
}

export interface Answer {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** The whole answer. */
export async function call(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const answer = await open(url, headers)
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) }
}

/** So many at once; how often each status came, and `lost` for those that got no answer. */
export async function callMany(url: string, callers: number): Promise<Readonly<Record<string, number>>> {
  const ends = await Promise.allSettled(Array.from({ length: callers }, () => call(`${url}/api/1/vehicles`)))
  const counts: Record<string, number> = {}
  for (const end of ends) {
    const key = end.status === 'fulfilled' ? String(end.value.status) : 'lost'
    counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}

/** The value of a metric of an instance, by its whole name. */
export async function metric(instance: Instance, name: string): Promise<number> {
  const { body } = await call(`${instance.url}/metrics`)
  const line = body.split('\n').find((each) => each.startsWith(`${name} `))
  if (line === undefined) throw new Error(`there is no metric ${name}`)
  return Number(line.slice(name.length + 1))
}

/** Looks again and again until so many calls are under way on these instances. */
export async function underWay(instances: readonly Instance[], calls: number): Promise<void> {
  for (;;) {
    const counts = await Promise.all(instances.map((instance) => metric(instance, 'owner_sso_calls_active')))
    if (counts.reduce((sum, count) => sum + count, 0) >= calls) return
  }
}

/** A promise and what settles it. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let settle: (() => void) | undefined
  const opened = new Promise<void>((resolve) => {
    settle = resolve
  })
  return { opened, open: () => settle?.() }
}

function sha256(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}
