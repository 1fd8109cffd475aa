/**
 * Opens the store of an address: Redis, or PostgreSQL.
 */
import { openPostgres } from './postgres.ts'
import { openRedis } from './redis.ts'
import type { Settings } from './settings.ts'
import type { OnDown, SharedStore } from './shared-store.ts'

/** The server need not be there yet. */
export function openStore(settings: Pick<Settings, 'storeUrl' | 'encryptionKeys'>, onDown?: OnDown): SharedStore {
  return settings.storeUrl.startsWith('postgres') ? openPostgres(settings, onDown) : openRedis(settings, onDown)
}
