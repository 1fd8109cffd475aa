/**
 * The store that all processes of the demo share: Redis at a socket, or a folder.
 */
import { fileTokenStore } from '@owner-sso/token-store-file'
import { openRedis } from './redis.ts'
import type { SharedStore } from './shared-store.ts'

/** @param place - `redis:` and the path of its socket, or the path of a folder */
export async function openStore(place: string): Promise<SharedStore> {
  const socket = /^redis:(.+)$/u.exec(place)?.[1]
  return socket === undefined ? { store: fileTokenStore({ path: place }), close: () => undefined } : openRedis(socket)
}
