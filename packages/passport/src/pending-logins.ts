/**
 * Where pending logins are kept: by default in this process's memory, so that no password is ever written anywhere.
 */
import { LRUCache } from 'lru-cache'
import { isOver, type KeptLogin } from './pending-login.ts'

/** Keeps pending logins; only a handle goes into the person's session. */
export interface PendingLogins {
  /** Keeps a login. Returns its handle. */
  keep(login: KeptLogin): string
  /** Looks at it. */
  peek(handle: string): KeptLogin | undefined
  /** Takes it out: of any number of requests with one handle, one gets it. @throws StoreError where that can't be known */
  take(handle: string): Promise<KeptLogin | undefined>
}

/** Logins kept at a time; the least recently used go first. One is about 4 KB. */
const limit = 10_000

/** Keeps them in memory, where each is erased on time whether anybody comes back or not. */
export function memoryPendingLogins(): PendingLogins {
  const logins = new LRUCache<string, KeptLogin>({ max: limit, ttlAutopurge: true })
  const peek = (handle: string): KeptLogin | undefined => {
    const login = logins.get(handle)
    return login && !isOver(login) ? login : undefined
  }
  return {
    keep(login) {
      // The handle stays the same, so that a stale session that is written back late still finds it.
      logins.set(login.id, login, { ttl: Math.max(1, Math.ceil(login.expires_at * 1000 - Date.now())) })
      return login.id
    },
    peek,
    // Nothing is awaited in between, so it is atomic.
    async take(handle) {
      const login = peek(handle)
      logins.delete(handle)
      return login
    },
  }
}
