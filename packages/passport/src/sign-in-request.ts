/**
 * One request to the strategy, read: what it posts, its session, and how the route is set up.
 */
import { nearestName } from '@owner-sso/core'
import type { Request } from 'express'
import type { AuthenticateOptions } from 'passport'
import { type LoginSession, requiredLoginSession } from './login-session.ts'
import type { StrategySettings } from './options.ts'
import { type RequestFields, requestFields } from './request-fields.ts'

/** What one route may say of its sign-ins: `passport.authenticate('owner-sso', options)` takes it in addition to Passport's own. */
export interface OwnerSsoAuthenticateOptions {
  /** Where the person goes to enter their passcode; without it the outcome is `fail` with the factors. */
  readonly passcodeRedirect?: string | undefined
  /** `mode: 'browser'`: where the person finds the link and a box to paste into; without it the outcome is `fail` with the link. */
  readonly callbackRedirect?: string | undefined
  /** Ends the sign-in with `ERR_SSO_TIMEOUT`. */
  readonly signal?: AbortSignal | undefined
}

/** Both together, as the strategy gets them. */
export type RequestOptions = AuthenticateOptions & OwnerSsoAuthenticateOptions

/**
 * Other names are Passport's, or those of another strategy on the same route. Only a name that nearly is one of ours is an error.
 *
 * @throws TypeError that says which
 */
function checkAuthenticateOptions(options: RequestOptions): void {
  for (const name of Object.keys(options)) {
    const meant = nearestName(name, ['passcodeRedirect', 'callbackRedirect'])
    if (meant === undefined || meant === name) continue
    throw new TypeError(`${name} is not an option of passport.authenticate. Did you mean ${meant}?`)
  }
}

export interface SignInRequest {
  readonly request: Request
  readonly options: RequestOptions
  readonly fields: RequestFields
  /** Absent where the application signs in without sessions. */
  readonly session: LoginSession | undefined
}

/** @throws TypeError for a mistyped option, and where the session that Passport will need is missing. */
export function signInRequest(settings: StrategySettings, request: Request, options: RequestOptions): SignInRequest {
  checkAuthenticateOptions(options)
  return {
    request,
    options,
    fields: requestFields(request.body, settings.fields),
    session: requiredLoginSession(request, options, settings),
  }
}

declare module 'passport' {
  interface AuthenticateOptions extends OwnerSsoAuthenticateOptions {}
}
