/**
 * The gateway's connections to Redis: one for commands, one that hears of changes.
 */
import { checkRedis, redisTokenStore } from '@owner-sso/token-store-redis'
import { createClient } from 'redis'
import { codeOf, longestPause, type OnDown, type SharedStore, type StoreSettings } from './shared-store.ts'

/** Opens both connections. Redis need not be there yet. */
export function openRedis({ storeUrl, encryptionKeys: encryptionKey }: StoreSettings, onDown: OnDown): SharedStore {
  const client = createClient({
    url: storeUrl,
    // A connection that died without a word is noticed by the missing answer to a ping.
    pingInterval: 5000,
    socket: {
      // Set here because NODE_TLS_REJECT_UNAUTHORIZED could turn it off: the password and the tokens go there.
      ...(storeUrl.startsWith('rediss:') && ({ tls: true, rejectUnauthorized: true } as const)),
      connectTimeout: 2000,
      socketTimeout: 15_000,
      reconnectStrategy: (attempts) => Math.min(50 * 2 ** attempts, longestPause),
    },
  })
  const subscriber = client.duplicate()
  let isDown = false
  client.on('ready', () => {
    isDown = false
  })
  client.on('error', (error: unknown) => {
    if (!isDown) onDown(codeOf(error))
    isDown = true
  })
  // Its errors are those of the other connection.
  subscriber.on('error', () => undefined)
  // Rejects only where it was closed before it stood: until then it is tried for again and again.
  for (const each of [client, subscriber]) each.connect().catch(() => undefined)
  return {
    store: redisTokenStore({ client, subscriber, encryptionKey }),
    problems: async () => (await checkRedis(client)).map(({ message }) => message),
    close: () => {
      client.destroy()
      subscriber.destroy()
    },
  }
}
