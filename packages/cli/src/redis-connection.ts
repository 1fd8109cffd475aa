/**
 * A Redis store with a connection of its own, which ends with the call.
 */
import { readFile } from 'node:fs/promises'
import { StoreError, type TokenStore } from '@owner-sso/core'
import {
  type RedisProblem,
  type RedisTokenStoreOptions,
  checkRedis,
  redisTokenStore,
} from '@owner-sso/token-store-redis'
import { createClient } from 'redis'
import { usageError } from './command-error.ts'

/** Milliseconds for the first connection. */
const connectTimeout = 2000

interface OpenRedis {
  readonly store: TokenStore
  readonly close: () => Promise<void>
  /** What about the server's settings can cost a token set. */
  readonly check: () => Promise<RedisProblem[]>
}

/**
 * @param ca - path of a PEM file, for `rediss:`
 * @throws StoreError `unavailable`; its message names no password
 */
export async function openRedis(
  url: string,
  ca: string | undefined,
  sealing: Pick<RedisTokenStoreOptions, 'encryptionKey'>,
): Promise<OpenRedis> {
  const trusted = ca !== undefined && url.startsWith('rediss:') ? { tls: true as const, ca: await readFile(ca) } : {}
  const client = clientOf(url, { ...trusted, connectTimeout })
  // A connection that breaks later is opened again by the client; the store's own deadline ends what waits for it.
  client.on('error', () => undefined)
  const timer = setTimeout(() => client.destroy(), connectTimeout)
  try {
    await client.connect()
  } catch {
    throw new StoreError('unavailable', `Redis at ${new URL(url).host} can’t be reached.`)
  } finally {
    clearTimeout(timer)
  }
  return {
    store: redisTokenStore({ client, ...sealing }),
    check: () => checkRedis(client),
    close: async () => {
      client.destroy()
    },
  }
}

function clientOf(url: string, socket: { readonly connectTimeout: number }): ReturnType<typeof createClient> {
  try {
    return createClient({ url, socket, disableOfflineQueue: true })
  } catch {
    // Its message repeats the address, and the password in it.
    throw usageError('The address of the Redis store can’t be used.', 'It is redis://HOST:PORT or rediss://HOST:PORT.')
  }
}
