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
 * Names of any other kind are Passport's, or another strategy's of the same route: those alone are refused that can't but be meant
 * for one of ours.
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
