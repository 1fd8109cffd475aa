/**
 * Visitors who have signed out while their cookie still lives: a copy of it, in a backup or at a thief's, opens nothing more at
 * any instance.
 */
import { createHash } from 'node:crypto'
import { notebook, type Notes, type TokenStore } from '@owner-sso/core'

export interface Departures {
  /** Whether a visitor has signed out. Where the store can't be read, as it was read last. */
  readonly has: (visitor: string) => Promise<boolean>
  /** @param until - seconds since the epoch: the end of the visitor's cookie. @throws StoreError */
  readonly note: (visitor: string, until: number) => Promise<void>
}

export function departuresIn(store: TokenStore): Departures {
  const notes = notebook(store, 'status-page-departures')
  let known: Notes = {}
  return {
    async has(visitor) {
      known = await notes.read().catch(() => known)
      return isToCome(known[nameOf(visitor)])
    },
    async note(visitor, until) {
      known = await notes.change((all) => ({
        ...Object.fromEntries(Object.entries(all).filter(([, end]) => isToCome(end))),
        [nameOf(visitor)]: until,
      }))
    },
  }
}

function isToCome(until: unknown): boolean {
  return typeof until === 'number' && until > Date.now() / 1000
}

/** The id itself is not for the store: it is a part of the cookie. */
function nameOf(visitor: string): string {
  return createHash('sha256').update(`owner-sso departure ${visitor}`).digest('base64url')
}
