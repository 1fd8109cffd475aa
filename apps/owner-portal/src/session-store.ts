/**
 * Sessions in this process's memory, bounded in number and time: express-session's own memory store grows for ever.
 */
import { type SessionData, Store } from 'express-session'
import { LRUCache } from 'lru-cache'

type Done<Value = void> = (error: unknown, value?: Value) => void

/** A store for one process; give `createApp` another one to run several. Sessions end an hour after their last use. */
export class MemorySessionStore extends Store {
  // Serialised, as in any other store: what is handed out is a copy.
  private readonly sessions = new LRUCache<string, string>({ max: 10_000, ttl: 60 * 60_000, updateAgeOnGet: true })

  get(id: string, done: Done<SessionData | null>): void {
    const json = this.sessions.get(id)
    const session: SessionData | null = json === undefined ? null : JSON.parse(json)
    done(null, session)
  }

  set(id: string, session: SessionData, done?: Done): void {
    this.sessions.set(id, JSON.stringify(session))
    done?.(null)
  }

  destroy(id: string, done?: Done): void {
    this.sessions.delete(id)
    done?.(null)
  }
}
