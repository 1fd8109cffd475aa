/**
 * Who looks at the page: a signed cookie says whether they came in with a code. Nothing is kept for a visitor but that they
 * have signed out, so looking costs no memory, and all instances that share the store know each other's cookies.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { notebook, type TokenStore } from '@owner-sso/core'
import type { Departures } from './departures.ts'
import { statusPageTopic } from './entry-code.ts'

export interface Visitor {
  /** Random; one for each browser, a new one with the entry. */
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
  of(request: IncomingMessage): Promise<Visitor>
  /** Somebody who came in: with a new cookie. */
  fresh(isInside: boolean): Visitor
  /** Somebody who signs out: with a new cookie, and the old one is worth nothing. @throws StoreError */
  leave(visitor: Visitor): Promise<Visitor>
}

/**
 * @param key - of `visitorKey`
 * @param secure - whether people reach the page over https
 */
export function visitorsOf(key: Buffer, departures: Departures, path: string, secure: boolean): Visitors {
  const name = secure ? '__Secure-owner-sso-status' : 'owner-sso-status'
  const mac = (purpose: string, text: string): string =>
    createHmac('sha256', key).update(`${purpose} ${text}`).digest('base64url')
  const visitor = (id: string, isInside: boolean): Visitor => ({ id, isInside, formToken: mac('form', id) })
  const signedVisitor = (value: string): Visitor | undefined => {
    const [id = '', place = '', until = '', signature = ''] = value.split('.')
    const isOurs = isEqual(signature, mac('visitor', `${id}.${place}.${until}`)) && Number(until) > now()
    return isOurs ? visitor(id, place === 'inside') : undefined
  }
  return {
    async of(request) {
      // Whatever else runs on this host can set a cookie of this name beside ours, on any port: it shuts nobody out.
      const sent = (request.headers.cookie ?? '').matchAll(new RegExp(`(?:^|; )${name}=([^;]*)`, 'gu'))
      const known = [...sent].flatMap(([, value = '']) => signedVisitor(value) ?? [])
      for (const each of known) if (each.isInside && !(await departures.has(each.id))) return each
      return known.find(({ isInside }) => !isInside) ?? this.fresh(false)
    },
    fresh(isInside) {
      const id = randomBytes(16).toString('base64url')
      const text = `${id}.${isInside ? 'inside' : 'outside'}.${now() + stay}`
      const value = `${text}.${mac('visitor', text)}`
      const attributes = `Path=${path}; Max-Age=${stay}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
      return { ...visitor(id, isInside), cookie: `${name}=${value}; ${attributes}` }
    },
    async leave({ id }) {
      // No cookie of theirs lives longer.
      await departures.note(id, now() + stay)
      return this.fresh(false)
    },
  }
}

/** What signs the cookies: made once, by whichever instance comes first. @throws StoreError */
export async function visitorKey(store: TokenStore): Promise<Buffer> {
  const made = randomBytes(32).toString('base64url')
  const { key } = await notebook(store, statusPageTopic).change((notes) =>
    typeof notes['key'] === 'string' ? notes : { ...notes, key: made },
  )
  return Buffer.from(String(key), 'base64url')
}

function now(): number {
  return Math.floor(Date.now() / 1000)
}

/** In constant time. */
export function isEqual(sent: string, right: string): boolean {
  const [left, other] = [Buffer.from(sent), Buffer.from(right)]
  return left.length === other.length && timingSafeEqual(left, other)
}
