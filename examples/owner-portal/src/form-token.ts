/**
 * Proof that a form was posted from this portal: a token that it carries and that the portal finds again (reliability
 * statement S56).
 *
 * A signed-in owner's token is kept in their session. A visitor has none, so that looking at a page costs no memory: their
 * token stands in a signed cookie of its own.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import cookieParser from 'cookie-parser'
import type { Request, RequestHandler } from 'express'
import { ownerOf } from './account.ts'
import { field } from './fields.ts'
import { forgedForm } from './security.ts'

export interface FormTokenOptions {
  /** Whether people reach the portal over https. */
  readonly secure: boolean
  /** Signs the cookie. */
  readonly secret: string
}

interface KeptToken {
  token: string | undefined
  readonly keep: (token: string) => void
}

const keptTokens = new WeakMap<Request, KeptToken>()

/** Finds the token of a request, and rejects a POST that does not carry it in its field `_csrf`. */
export function csrfProtection({ secure, secret }: FormTokenOptions): RequestHandler[] {
  const name = secure ? '__Host-owner-portal-form' : 'owner-portal-form'
  return [
    // A secret of its own: what is signed here is no session id.
    cookieParser(`form token ${secret}`),
    (request, response, next) => {
      const isSignedIn = ownerOf(request) !== undefined
      const token: unknown = isSignedIn ? request.session.csrfToken : request.signedCookies[name]
      const kept: KeptToken = {
        token: typeof token === 'string' ? token : undefined,
        keep(made) {
          if (isSignedIn) request.session.csrfToken = made
          // A browser would drop a `Secure` cookie that came over http.
          else if (!secure || request.secure)
            response.cookie(name, made, { signed: true, httpOnly: true, sameSite: 'lax', secure, path: '/' })
        },
      }
      keptTokens.set(request, kept)
      const isRead = request.method === 'GET' || request.method === 'HEAD'
      next(isRead || equal(field(request, '_csrf'), kept.token) ? undefined : forgedForm())
    },
  ]
}

/** The token for the forms of a page, made at its first use. */
export function csrfToken(request: Request): string {
  const kept = keptTokens.get(request)
  if (kept?.token !== undefined) return kept.token
  const token = randomBytes(32).toString('hex')
  kept?.keep(token)
  if (kept !== undefined) kept.token = token
  return token
}

/** In constant time (S43). */
function equal(sent: string, kept: string | undefined): boolean {
  if (kept === undefined) return false
  const [left, right] = [Buffer.from(sent), Buffer.from(kept)]
  return left.length === right.length && timingSafeEqual(left, right)
}
