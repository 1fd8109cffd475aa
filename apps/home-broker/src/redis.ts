/**
 * The connection to Redis. It need not be there yet.
 */
import { redisTokenStore } from '@owner-sso/token-store-redis'
import { createClient } from 'redis'
import { type BrokerStore, patience, type Sealing } from './broker-store.ts'

export function openRedis(url: string, sealing: Sealing): BrokerStore {
  const client = createClient({
    url,
    // A connection that died without a word is noticed by the missing answer to a ping.
    pingInterval: 5000,
    socket: {
      // Stated, because the environment could turn it off: what goes there is the password, and the tokens.
      ...(url.startsWith('rediss:') && ({ tls: true, rejectUnauthorized: true } as const)),
      connectTimeout: patience,
      socketTimeout: 15_000,
      reconnectStrategy: (attempts) => Math.min(50 * 2 ** attempts, patience),
    },
  })
  // What waits for a broken connection is ended by the store's own deadline.
  client.on('error', () => undefined)
  client.connect().catch(() => undefined)
  return { store: redisTokenStore({ client, ...sealing }), close: async () => client.destroy() }
}
