/**
 * What an application is told of a sign-in that did not succeed: the `info` of Passport's `fail`.
 */
import type { Factor, PasscodeRejection, SsoErrorCode } from '@owner-sso/core'

/** An `SsoErrorCode`, or one of the strategy's own: nothing usable was posted; the person has to follow a link. */
export type SignInFailureCode = SsoErrorCode | 'ERR_SSO_CREDENTIALS_MISSING' | 'ERR_SSO_CALLBACK_REQUIRED'

/** `info` of a `fail`: why, and what the next page needs. */
export interface SignInFailure {
  readonly code: SignInFailureCode
  /** In words for the person. */
  readonly message: string
  /** Why a passcode was not taken. */
  readonly reason?: PasscodeRejection
  /** Second factors to choose from, while a passcode is awaited. */
  readonly factors?: readonly Factor[]
  /** The link to follow, while the address that it ends on is awaited. */
  readonly url?: string
  /** How many tries are left before the sign-in has to start again. */
  readonly triesLeft?: number
}
