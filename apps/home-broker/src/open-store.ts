/**
 * The store that the address names: a folder for one broker, Redis or PostgreSQL for several behind one address.
 *
 * Nothing here waits for a server. While one is down, the broker hands out the tokens that live, and comes back with it.
 */
import { fileTokenStore } from '@owner-sso/token-store-file'
import type { BrokerStore, Sealing } from './broker-store.ts'
import { openPostgres } from './postgres.ts'
import { openRedis } from './redis.ts'
import type { Settings } from './settings.ts'

export function openStore({ store, encryptionKeys }: Pick<Settings, 'store' | 'encryptionKeys'>): BrokerStore {
  const sealing: Sealing = encryptionKeys === undefined ? {} : { encryptionKey: encryptionKeys }
  if (store.startsWith('redis')) return openRedis(store, sealing)
  if (store.startsWith('postgres')) return openPostgres(store, sealing)
  const path = store.slice('file:'.length)
  return { store: fileTokenStore({ path, ...sealing }), close: async () => undefined }
}
