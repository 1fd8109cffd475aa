/**
 * The session: what it holds, and how its cookie is set (reliability scenarios M4 and M5: an opaque id, no token in it).
 *
 * There is none before somebody begins a sign-in: looking at a page costs no memory.
 */
import type { RequestHandler } from 'express'
import session, { type Store } from 'express-session'
import type { Notice } from '@owner-sso/sign-in-pages'
import { MemorySessionStore } from './session-store.ts'

declare module 'express-session' {
  interface SessionData {
    /** What the forms of somebody who is signed in carry. */
    csrfToken?: string
    /** Shown once, on the next page. */
    notice?: Notice
  }
}

export interface SessionOptions {
  /** Whether people reach the portal over https. */
  readonly secure: boolean
  /** Signs the cookie. */
  readonly secret: string
  readonly store?: Store | undefined
}

/** The session middleware. */
export function portalSession({ secure, secret, store }: SessionOptions): RequestHandler {
  return session({
    // `__Host-`: no other host and no plain http can set or read it. Browsers take the prefix over https only.
    name: secure ? '__Host-owner-portal' : 'owner-portal',
    secret,
    store: store ?? new MemorySessionStore(),
    resave: false,
    saveUninitialized: false,
    cookie: { httpOnly: true, sameSite: 'lax', secure, path: '/' },
  })
}
