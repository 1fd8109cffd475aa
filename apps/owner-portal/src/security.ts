/**
 * What protects every page: headers, and proof that a form was posted from this portal (reliability statements S56, S58).
 */
import { timingSafeEqual } from 'node:crypto'
import { csrfSync } from 'csrf-sync'
import type { Request, RequestHandler } from 'express'
import helmet from 'helmet'
import { field } from './fields.ts'

/** Headers of every answer. Nothing may be cached, framed, scripted or loaded from elsewhere. */
export function securityHeaders(secure: boolean): RequestHandler[] {
  return [
    helmet({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'none'"],
          styleSrc: ["'self'"],
          imgSrc: ["'self'"],
          formAction: ["'self'"],
          frameAncestors: ["'none'"],
          baseUri: ["'none'"],
        },
      },
      // `no-referrer` would make browsers send `Origin: null` with the portal's own forms.
      referrerPolicy: { policy: 'same-origin' },
      strictTransportSecurity: secure,
      xFrameOptions: { action: 'deny' },
    }),
    (_request, response, next) => {
      response.set('cache-control', 'no-store')
      next()
    },
  ]
}

/** A form that was not posted from a page of this session. */
export class ForgedFormError extends Error {
  readonly status = 403
  constructor() {
    super('This form was not posted from a page of this session.')
    this.name = 'ForgedFormError'
  }
}

/** Refuses a POST that another site's page made: by `Sec-Fetch-Site` and `Origin`, where the browser sends them. */
export function sameOrigin(): RequestHandler {
  return (request, _response, next) => {
    if (request.method === 'GET' || request.method === 'HEAD') return next()
    const site = request.get('sec-fetch-site')
    const origin = request.get('origin')
    const own = `${request.protocol}://${request.host}`
    const foreign = (site !== undefined && site !== 'same-origin' && site !== 'none') || (origin ?? own) !== own
    return next(foreign ? new ForgedFormError() : undefined)
  }
}

const { csrfSynchronisedProtection, generateToken } = csrfSync({
  size: 32,
  getTokenFromState: ({ session }) => session.csrfToken,
  // Compared here, in constant time: csrf-sync's own `===` then sees the kept token or nothing (S43).
  getTokenFromRequest: (request) => {
    const { csrfToken: kept } = request.session
    return equal(field(request, '_csrf'), kept) ? kept : undefined
  },
})

/** Refuses a POST without the session's own token in its field `_csrf`. */
export function csrfProtection(): RequestHandler {
  return (request, response, next) =>
    csrfSynchronisedProtection(request, response, (error?: unknown) => next(error ? new ForgedFormError() : undefined))
}

/** The session's CSRF token, made at its first use. */
export function csrfToken(request: Request): string {
  return generateToken(request)
}

function equal(sent: string, kept: unknown): boolean {
  if (typeof kept !== 'string') return false
  const [left, right] = [Buffer.from(sent), Buffer.from(kept)]
  return left.length === right.length && timingSafeEqual(left, right)
}
