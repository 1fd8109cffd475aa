/**
 * How often something was tried in the last while: counted in the store, so that all instances count together and none
 * begins anew when it restarts.
 */
import { createHash } from 'node:crypto'
import { notebook, type TokenStore } from '@owner-sso/core'
import { livingNotes } from './living-notes.ts'

export interface SharedTries {
  /**
   * Counts a try.
   *
   * @returns seconds until the next one is allowed; 0 for this one
   * @throws StoreError: what can't be counted is not to be tried
   */
  readonly count: (what: string) => Promise<number>
  /** Begins anew. @throws StoreError */
  readonly forget: (what: string) => Promise<void>
}

export interface TryLimit {
  readonly tries: number
  /** Seconds, from the first try on. */
  readonly during: number
}

interface Counted {
  readonly count: number
  /** Seconds since the epoch. */
  readonly until: number
}

/** Different things that are counted at a time. A further one waits: a count that gave way to it could be begun again. */
const most = 1000

/** @param topic - tells them from others in the same store */
export function sharedTries(store: TokenStore, topic: string, { tries, during }: TryLimit): SharedTries {
  const notes = notebook(store, topic)
  return {
    async count(what) {
      const name = nameOf(what)
      let wait!: number
      await notes.change((all) => {
        const now = Date.now() / 1000
        const counted = livingNotes(all, isCounted, now)
        const { count, until } = counted.get(name) ?? { count: 0, until: now + during }
        const isFull = counted.size >= most && !counted.has(name)
        if (isFull) wait = Math.min(...[...counted.values()].map((each) => each.until)) - now
        else wait = count < tries ? 0 : until - now
        // Whoever goes on trying writes nothing.
        return wait > 0 ? all : Object.fromEntries(counted.set(name, { count: count + 1, until }))
      })
      return wait
    },
    async forget(what) {
      const name = nameOf(what)
      await notes.change((all) => {
        if (!Object.hasOwn(all, name)) return all
        return Object.fromEntries([...livingNotes(all, isCounted, Date.now() / 1000)].filter(([each]) => each !== name))
      })
    },
  }
}

/** Whatever somebody typed, of one length. */
function nameOf(what: string): string {
  return createHash('sha256').update(what).digest('base64url')
}

function isCounted(value: unknown): value is Counted {
  if (typeof value !== 'object' || value === null) return false
  const { count, until }: Partial<Record<keyof Counted, unknown>> = value
  return typeof count === 'number' && typeof until === 'number'
}
