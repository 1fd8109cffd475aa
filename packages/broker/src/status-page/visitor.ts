/**
 * Who looks at the page: a cookie with a random id. The ids of those who came in with a code stand in the store, as hashes, until they
 * sign out or a month is over: so all instances know them, and a copy of a cookie, in a backup or at a thief's, opens nothing after that.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { notebook, type Notes, type TokenStore } from '@owner-sso/core'

export interface Visitor {
  /** One for each browser, a new one with the entry. */
  readonly id: string
  readonly isInside: boolean
  /** What each form of theirs has to bring back (S56). */
  readonly formToken: string
  /** `Set-Cookie`, where the browser has no such cookie yet. */
  readonly cookie?: string
}

/** Seconds that somebody who came in stays in. */
const stay = 30 * 86_400

export interface Visitors {
  /** Where the store can't be read, as it was read last. @throws StoreError where it never was */
  of(request: IncomingMessage): Promise<Visitor>
  /** Somebody who comes in: with a new cookie. @throws StoreError */
  enter(): Promise<Visitor>
  /** Somebody who signs out: with a new cookie, and the old one is worth nothing. @throws StoreError */
  leave(visitor: Visitor): Promise<Visitor>
}

/** @param secure - whether people reach the page over https */
export function visitorsIn(store: TokenStore, path: string, secure: boolean): Visitors {
  const inside = notebook(store, 'status-page-visitors')
  let known: Notes | undefined
  const cookieName = secure ? '__Secure-owner-sso-status' : 'owner-sso-status'
  const attributes = `Path=${path}; Max-Age=${stay}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
  const newVisitor = (isInside: boolean): Visitor => {
    const id = randomBytes(16).toString('base64url')
    return { ...visitor(id, isInside), cookie: `${cookieName}=${id}; ${attributes}` }
  }
  return {
    async of({ headers }) {
      // Whatever else runs on this host can set a cookie of this name beside ours, on any port: it shuts nobody out.
      const cookies = (headers.cookie ?? '').matchAll(new RegExp(`(?:^|; )${cookieName}=([\\w-]{22})(?=;|$)`, 'gu'))
      const ids = [...cookies].map(([, id = '']) => id)
      const [first] = ids
      if (first === undefined) return newVisitor(false)
      const notes = await inside.read().catch((error: unknown) => {
        if (known === undefined) throw error
        return known
      })
      known = notes
      const entered = ids.find((id) => isToCome(notes[hashOf('visitor', id)]))
      return visitor(entered ?? first, entered !== undefined)
    },
    async enter() {
      const entered = newVisitor(true)
      known = await inside.change((notes) => ({
        ...Object.fromEntries(Object.entries(notes).filter(([, until]) => isToCome(until))),
        [hashOf('visitor', entered.id)]: Math.floor(Date.now() / 1000) + stay,
      }))
      return entered
    },
    async leave({ id }) {
      const left = hashOf('visitor', id)
      known = await inside.change((notes) =>
        Object.fromEntries(Object.entries(notes).filter(([name]) => name !== left)),
      )
      return newVisitor(false)
    },
  }
}

const visitor = (id: string, isInside: boolean): Visitor => ({ id, isInside, formToken: hashOf('form', id) })

function isToCome(until: unknown): boolean {
  return typeof until === 'number' && until > Date.now() / 1000
}

/** Neither the store nor a page has the id itself: it is the cookie. */
function hashOf(purpose: string, id: string): string {
  return createHash('sha256').update(`owner-sso ${purpose} ${id}`).digest('base64url')
}
