/**
 * The gateway's connections to Redis: one for commands, one that hears of changes.
 */
import type { TokenStore } from '@owner-sso/core'
import { checkRedis, redisTokenStore } from '@owner-sso/token-store-redis'
import { createClient } from 'redis'

export interface RedisStore {
  readonly store: TokenStore
  /** What about the server can cost token sets, in sentences. @throws StoreError where it can't be asked */
  readonly problems: () => Promise<readonly string[]>
  /** Resolves when the first connection stands; until then, and whenever it is gone, it is tried for again and again. */
  readonly connected: Promise<void>
  readonly close: () => void
}

/** Milliseconds between two attempts to connect. */
const longestPause = 2000

/** Opens both connections. Redis need not be there yet. */
export function openRedis(url: string): RedisStore {
  const client = createClient({
    url,
    // A connection that died without a word is noticed by the missing answer to a ping.
    pingInterval: 5000,
    socket: {
      connectTimeout: 2000,
      socketTimeout: 15_000,
      reconnectStrategy: (attempts) => Math.min(50 * 2 ** attempts, longestPause),
    },
  })
  const subscriber = client.duplicate()
  // A failure is told by the command that it fails; what the client would print may have the address in it.
  for (const connection of [client, subscriber]) connection.on('error', () => undefined)
  const connected = Promise.all([client.connect(), subscriber.connect()]).then(() => undefined)
  // Rejects only where it was closed before it stood.
  connected.catch(() => undefined)
  return {
    store: redisTokenStore({ client, subscriber }),
    problems: async () => (await checkRedis(client)).map(({ message }) => message),
    connected,
    close: () => {
      client.destroy()
      subscriber.destroy()
    },
  }
}
