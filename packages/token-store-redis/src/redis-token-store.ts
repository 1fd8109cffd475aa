/**
 * `redisTokenStore`: token sets in Redis or Valkey, shared by all processes that reach it.
 */
import {
  checkOptionNames,
  type EncryptionKey,
  StoreError,
  type TokenStore,
  type Versioned,
  withEncryption,
} from '@owner-sso/token-manager'
import { listenWith, type RedisSubscriber } from './change-hint.ts'
import { type Connection, connectionOf, type Master, type RedisClient } from './connection.ts'
import { decode, encode, idInHeader, keyOf, notOurs } from './record-value.ts'
import { commandDeadline, withinDeadline } from './redis-failure.ts'
import { swapScript } from './swap-script.ts'

/** The connections, the names of the keys, and whether the values are sealed. */
export interface RedisTokenStoreOptions {
  /** Your own connected client of node-redis or ioredis. It is never opened or closed here, and has to read from masters. */
  readonly client: RedisClient
  /** What every key begins with. Default `owner-sso:`. */
  readonly prefix?: string | undefined
  /** Seals every record (AES-256-GCM), so that who can read Redis has no token. Without it they are plain JSON. */
  readonly encryptionKey?: EncryptionKey | undefined
  /** A second connection of yours, for `watch`. Without it there is no `watch`, and a token manager polls. */
  readonly subscriber?: RedisSubscriber | undefined
}

/**
 * A store of one key an account: one GET to read, one script to swap, no time to live.
 *
 * @throws TypeError for something that is not a client, or not a key. Its operations throw `StoreError` within two seconds: `unavailable`,
 *   `write-failed`, `permissions`, `corrupt`, `wrong-key`.
 */
export function redisTokenStore(options: RedisTokenStoreOptions): TokenStore {
  checkOptionNames('redisTokenStore', options, { client: true, prefix: true, encryptionKey: true, subscriber: true })
  const { prefix, subscriber } = options
  if (prefix !== undefined && typeof prefix !== 'string') throw new TypeError('prefix must be text')
  if (subscriber !== undefined && typeof subscriber?.subscribe !== 'function') {
    throw new TypeError('subscriber must be a client of its own, such as client.duplicate()')
  }
  return withEncryption(plainStore(options), options.encryptionKey)
}

function plainStore({ client, prefix = 'owner-sso:', subscriber }: RedisTokenStoreOptions): TokenStore {
  const connection = connectionOf(client, commandDeadline)
  const store: TokenStore = {
    read: async (account) => {
      const key = keyOf(prefix, account)
      const value = await withinDeadline(() => connection.get(key))
      if (value === null) return undefined
      return versioned(decode(value, key))
    },

    swap: async (account, expected, next, writeId, options) => {
      const key = keyOf(prefix, account)
      const value = encode(account, expected + 1, next, writeId)
      const over = options?.expectedWriteId === undefined ? '' : idInHeader(options.expectedWriteId)
      const args = [String(expected), idInHeader(writeId), value, over]
      // A number may come as text: that is an option of the client.
      const reply = String(await withinDeadline(() => swapIn(connection, key, args)))
      if (reply === '0') return { conflict: true }
      return versioned(decode(reply === '1' ? value : reply, key))
    },

    accounts: () => accountNames(connection, prefix),
  }
  if (!subscriber) return store
  const listen = listenWith(subscriber)
  return { ...store, watch: (account, onChange) => listen(connection.keyPrefix + keyOf(prefix, account), onChange) }
}

const versioned = ({ version, writeId, record }: Versioned): Versioned => ({ version, writeId, record })

async function swapIn(connection: Connection, key: string, args: readonly string[]): Promise<unknown> {
  try {
    return await connection.eval(swapScript, key, args)
  } catch (error) {
    if (String(error).includes('NOTOURS')) throw notOurs(key)
    throw error
  }
}

/** Values that a listing reads side by side: in one round trip of a client that pipelines, as both do. */
const together = 50

/** Every account that can be read, of every master that answers; then the first error. */
async function* accountNames(connection: Connection, prefix: string): AsyncGenerator<string> {
  const seen = new Set<string>()
  let failure: unknown
  for (const master of await withinDeadline(connection.masters)) {
    try {
      yield* accountsOf(master, connection, prefix, seen)
    } catch (error) {
      failure ??= error
    }
  }
  if (failure !== undefined) throw failure
}

/** SCAN may name a key twice, and one that is gone by now. A value that is not ours hides no other; a server that fails ends it. */
async function* accountsOf(
  { scan }: Master,
  connection: Connection,
  prefix: string,
  seen: Set<string>,
): AsyncGenerator<string> {
  const pattern = `${escaped(connection.keyPrefix + prefix)}{*}`
  let foreign: unknown
  let failure: unknown
  let cursor = '0'
  do {
    const from = cursor
    const found = await withinDeadline(() => scan(from, pattern))
    cursor = found.cursor
    const names = found.keys.map((name) => name.slice(connection.keyPrefix.length))
    const keys = [...new Set(names)].filter((key) => !seen.has(key))
    for (const key of keys) seen.add(key)
    for (let first = 0; first < keys.length; first += together) {
      const looks = keys.slice(first, first + together).map((key) => accountAt(connection, key))
      for (const look of await Promise.allSettled(looks)) {
        if (look.status === 'fulfilled') {
          if (look.value !== undefined) yield look.value
        } else if (look.reason instanceof StoreError && look.reason.reason === 'corrupt') foreign ??= look.reason
        else failure ??= look.reason
      }
      if (failure !== undefined) throw failure
    }
  } while (cursor !== '0')
  if (foreign !== undefined) throw foreign
}

/** The account of a key, nobody where it is gone. @throws StoreError `corrupt` where something else is stored there */
async function accountAt(connection: Connection, key: string): Promise<string | undefined> {
  const value = await withinDeadline(() => connection.get(key))
  return value === null ? undefined : decode(value, key).account
}

/** The prefix stands for itself, not for a pattern. */
function escaped(text: string): string {
  return text.replaceAll(/[\\*?[\]]/gu, String.raw`\$&`)
}
