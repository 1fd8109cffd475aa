/**
 * The caller's own client, as far as the store needs it: node-redis (single, Cluster, Sentinel, pool) or ioredis (single,
 * Sentinel, Cluster). It is never opened, configured or closed here.
 */
import { StoreError } from '@owner-sso/token-manager'
import { whatCame } from '@owner-sso/token-manager/support'

/** What `createClient`, `createCluster`, `createSentinel` and `createClientPool` of node-redis make, from version 5 on. */
export interface NodeRedisClient {
  readonly isOpen?: boolean
  withCommandOptions(options: { timeout: number; typeMapping: object }): NodeRedisCommands
}

interface NodeRedisCluster extends NodeRedisClient {
  readonly masters: readonly unknown[]
  readonly nodeClient: (node: unknown) => unknown
}

/** What `new Redis` and `new Cluster` of ioredis make, from version 5 on. */
export interface IoRedisClient {
  get(key: string): Promise<string | null>
  eval(script: string, keys: number, ...keysAndArguments: string[]): Promise<unknown>
  defineCommand(name: string, definition: { lua: string }): void
  /** A cluster's. */
  nodes?(role: 'master'): unknown[]
  readonly options?: { readonly keyPrefix?: string | undefined }
  readonly status?: string
}

/** A connected client of either library. */
export type RedisClient = NodeRedisClient | IoRedisClient

interface NodeRedisCommands {
  get(key: string): Promise<unknown>
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>
}

/** One server that holds keys of its own. */
export interface Master {
  readonly scan: (
    cursor: string,
    pattern: string,
  ) => Promise<{ readonly cursor: string; readonly keys: readonly string[] }>
  readonly info: (section: string) => Promise<string>
}

export interface Connection {
  /** Whether its owner has connected the client, and not closed it. Its connection may be lost all the same. */
  readonly isOpen: () => boolean
  /** The value, `null` where there is none. */
  readonly get: (key: string) => Promise<string | null>
  readonly eval: (script: string, key: string, args: readonly string[]) => Promise<unknown>
  readonly masters: () => Promise<readonly Master[]>
  /** What the client puts before every key by itself. */
  readonly keyPrefix: string
}

const scanCount = 500

/**
 * @param timeout - milliseconds after which node-redis forgets a command that it could not send; ioredis can't
 * @throws TypeError for anything but a client
 */
export function connectionOf(client: RedisClient, timeout: number): Connection {
  if (isIoRedis(client)) return onceOpen(ioRedisConnection(client))
  if (isNodeRedis(client)) return onceOpen(nodeRedisConnection(client, timeout))
  throw new TypeError(`client must be a node-redis or ioredis client, version 5 or later${whatCame(client)}`)
}

/** What a client says that nobody connected differs from kind to kind, and names no remedy. */
function onceOpen(connection: Connection): Connection {
  const open = (): Connection => {
    if (connection.isOpen()) return connection
    const remedy = 'await client.connect() before the first call, and close it after the last.'
    throw new StoreError('unavailable', `The Redis client is not connected: ${remedy}`)
  }
  return {
    ...connection,
    get: async (key) => open().get(key),
    eval: async (script, key, args) => open().eval(script, key, args),
    masters: async () => open().masters(),
  }
}

function isIoRedis(client: unknown): client is IoRedisClient {
  return isObject(client) && typeof client['defineCommand'] === 'function'
}

function isNodeRedis(client: unknown): client is NodeRedisClient {
  return isObject(client) && typeof client['withCommandOptions'] === 'function'
}

function isCluster(client: NodeRedisClient): client is NodeRedisCluster {
  return 'masters' in client && 'nodeClient' in client
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function ioRedisConnection(client: IoRedisClient): Connection {
  return {
    isOpen: () => client.status !== 'end',
    get: (key) => client.get(key),
    eval: (script, key, args) => client.eval(script, 1, key, ...args),
    masters: async () => (client.nodes?.('master') ?? [client]).map(ioRedisMaster),
    keyPrefix: client.options?.keyPrefix ?? '',
  }
}

function ioRedisMaster(node: unknown): Master {
  const { scan, info } = commandsOf(node)
  return {
    scan: async (cursor, pattern) => {
      const [next, keys] = pair(await scan(cursor, 'MATCH', pattern, 'COUNT', scanCount))
      return { cursor: String(next), keys: strings(keys) }
    },
    info: async (section) => String(await info(section)),
  }
}

function nodeRedisConnection(client: NodeRedisClient, timeout: number): Connection {
  // Whatever type mapping the caller has chosen for other things.
  const commands = client.withCommandOptions({ timeout, typeMapping: {} })
  return {
    isOpen: () => client.isOpen !== false,
    get: async (key) => {
      const value = (await commands.get(key)) ?? null
      if (value === null || typeof value === 'string') return value
      throw new TypeError('client must answer with strings')
    },
    eval: (script, key, args) => commands.eval(script, { keys: [key], arguments: [...args] }),
    masters: async () => {
      if (!isCluster(client)) return [nodeRedisMaster(client)]
      const nodes = await Promise.all(client.masters.map((node) => client.nodeClient(node)))
      return nodes.map(nodeRedisMaster)
    },
    keyPrefix: '',
  }
}

function nodeRedisMaster(node: unknown): Master {
  const { scan, info } = commandsOf(node)
  return {
    scan: async (cursor, pattern) => {
      const reply = await scan(cursor, { MATCH: pattern, COUNT: scanCount })
      const { cursor: next, keys } = isObject(reply) ? reply : {}
      return { cursor: String(next), keys: strings(keys) }
    },
    info: async (section) => String(await info(section)),
  }
}

type Command = (...args: unknown[]) => Promise<unknown>

function commandsOf(node: unknown): { readonly scan: Command; readonly info: Command } {
  const command =
    (name: string): Command =>
    async (...args) => {
      const method = isObject(node) ? node[name] : undefined
      if (typeof method !== 'function') throw new TypeError(`client has no command ${name}`)
      return Reflect.apply(method, node, args)
    }
  return { scan: command('scan'), info: command('info') }
}

const pair = (reply: unknown): readonly unknown[] => (Array.isArray(reply) ? reply : [])
const strings = (list: unknown): string[] => (Array.isArray(list) ? list.map(String) : [])
