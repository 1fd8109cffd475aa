/**
 * What protects every page: headers, and a rejection of what another site's page posts (reliability statements S56, S58).
 */
import type { RequestHandler } from 'express'
import { scriptSource } from '@owner-sso/sign-in-pages'
import helmet from 'helmet'

/** Headers of every answer. Nothing may be cached, framed or loaded from elsewhere, and one script may run. */
export function securityHeaders(secure: boolean): RequestHandler[] {
  return [
    helmet({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'none'"],
          scriptSrc: [scriptSource],
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

/** For a form that was not posted from a page of this session. */
export const forgedForm = (): Error =>
  Object.assign(new Error('This form was not posted from a page of this session.'), { status: 403 })

/** Rejects a POST that another site's page made: by `Sec-Fetch-Site` and `Origin`, where the browser sends them. */
export function sameOrigin(): RequestHandler {
  return (request, _response, next) => {
    if (request.method === 'GET' || request.method === 'HEAD') return next()
    const site = request.get('sec-fetch-site')
    const origin = request.get('origin')
    const own = `${request.protocol}://${request.host}`
    const foreign = (site !== undefined && site !== 'same-origin' && site !== 'none') || (origin ?? own) !== own
    return next(foreign ? forgedForm() : undefined)
  }
}
