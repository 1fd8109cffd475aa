/**
 * Sessions in this process's memory, bounded in number and time: express-session's own memory store grows for ever.
 *
 * Those of the signed-in are kept apart: however many sign-ins are begun, none of them makes anybody's session go.
 */
import { type SessionData, Store } from 'express-session'
import { LRUCache } from 'lru-cache'

type Done<Value = void> = (error: unknown, value?: Value) => void

declare module 'express-session' {
  interface SessionData {
    /** Passport's: there while somebody is signed in. */
    passport?: { readonly user?: unknown }
  }
}

/** Of each kind; beyond that the least recently used of the same kind go first. */
const limit = { max: 10_000, ttl: 60 * 60_000, updateAgeOnGet: true }

/** A store for one process; give `createApp` another one to run several. Sessions end an hour after their last use. */
export class MemorySessionStore extends Store {
  // Serialised, as in any other store: what is handed out is a copy.
  private readonly signedIn = new LRUCache<string, string>(limit)
  private readonly signingIn = new LRUCache<string, string>(limit)

  get(id: string, done: Done<SessionData | null>): void {
    const json = this.signedIn.get(id) ?? this.signingIn.get(id)
    const session: SessionData | null = json === undefined ? null : JSON.parse(json)
    done(null, session)
  }

  set(id: string, session: SessionData, done?: Done): void {
    const isSignedIn = session.passport?.user !== undefined
    const [home, former] = isSignedIn ? [this.signedIn, this.signingIn] : [this.signingIn, this.signedIn]
    former.delete(id)
    home.set(id, JSON.stringify(session))
    done?.(null)
  }

  destroy(id: string, done?: Done): void {
    this.signedIn.delete(id)
    this.signingIn.delete(id)
    done?.(null)
  }
}
