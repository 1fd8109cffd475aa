/**
 * What `passport.authenticate('owner-sso', options)` takes in addition to Passport's own options.
 */
import { nearestName } from '@owner-sso/core'
import type { AuthenticateOptions } from 'passport'

/** What one route may say of its sign-ins. */
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
export function checkAuthenticateOptions(options: RequestOptions): void {
  for (const name of Object.keys(options)) {
    const meant = nearestName(name, ['passcodeRedirect', 'callbackRedirect'])
    if (meant === undefined || meant === name) continue
    throw new TypeError(`${name} is not an option of passport.authenticate. Did you mean ${meant}?`)
  }
}

declare module 'passport' {
  interface AuthenticateOptions extends OwnerSsoAuthenticateOptions {}
}
