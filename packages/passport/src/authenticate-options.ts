/**
 * What `passport.authenticate('owner-sso', options)` takes in addition to Passport's own options.
 */
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

declare module 'passport' {
  interface AuthenticateOptions extends OwnerSsoAuthenticateOptions {}
}
