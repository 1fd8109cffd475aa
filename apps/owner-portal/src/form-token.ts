/**
 * Proof that a form was posted from this portal: a token that it carries and that the portal finds again (reliability
 * statement S56).
 *
 * A signed-in owner's token is kept in their session. A visitor has none, so that looking at a page costs no memory: their
 * token stands in a signed cookie of its own.
 */
import { timingSafeEqual } from 'node:crypto'
import cookieParser from 'cookie-parser'
import { csrfSync } from 'csrf-sync'
import type { Request, RequestHandler } from 'express'
import { ownerOf } from './account.ts'
import { field } from './fields.ts'
import { ForgedFormError } from './security.ts'

export interface FormTokenOptions {
  /** Whether people reach the portal over https. */
  readonly secure: boolean
  /** Signs the cookie. */
  readonly secret: string
}

/** The cookie of a visitor. */
interface VisitorToken {
  read(): unknown
  write(token: string): void
}

const visitors = new WeakMap<Request, VisitorToken>()

/** Reads a visitor's cookie, for `csrfProtection` and `csrfToken`. */
export function formCookie({ secure, secret }: FormTokenOptions): RequestHandler[] {
  const name = secure ? '__Host-owner-portal-form' : 'owner-portal-form'
  return [
    // A secret of its own: what is signed here is no session id.
    cookieParser(`form token ${secret}`),
    (request, response, next) => {
      let token: unknown = request.signedCookies[name]
      visitors.set(request, {
        read: () => token,
        write(made) {
          token = made
          // A browser would drop a `Secure` cookie that came over http.
          if (secure && !request.secure) return
          response.cookie(name, made, { signed: true, httpOnly: true, sameSite: 'lax', secure, path: '/' })
        },
      })
      next()
    },
  ]
}

function keptToken(request: Request): string | undefined {
  const token = ownerOf(request) ? request.session.csrfToken : visitors.get(request)?.read()
  return typeof token === 'string' ? token : undefined
}

const { csrfSynchronisedProtection, generateToken } = csrfSync({
  size: 32,
  getTokenFromState: keptToken,
  storeTokenInState(request, token) {
    if (typeof token !== 'string') return
    if (ownerOf(request)) request.session.csrfToken = token
    else visitors.get(request)?.write(token)
  },
  // Compared here, in constant time: csrf-sync's own `===` then sees the kept token or nothing (S43).
  getTokenFromRequest: (request) => {
    const kept = keptToken(request)
    return equal(field(request, '_csrf'), kept) ? kept : undefined
  },
})

/** Refuses a POST without the visitor's or the session's own token in its field `_csrf`. */
export function csrfProtection(): RequestHandler {
  return (request, response, next) =>
    csrfSynchronisedProtection(request, response, (error?: unknown) => next(error ? new ForgedFormError() : undefined))
}

/** The token for the forms of a page, made at its first use. */
export function csrfToken(request: Request): string {
  return generateToken(request)
}

function equal(sent: string, kept: string | undefined): boolean {
  if (kept === undefined) return false
  const [left, right] = [Buffer.from(sent), Buffer.from(kept)]
  return left.length === right.length && timingSafeEqual(left, right)
}
