/**
 * Passport's five outcomes as data, and the one place that reports one.
 *
 * `pass` is not one of ours: it would let a request through that has not signed in.
 */
import type { Factor, PasscodeRejection, SsoErrorCode } from '@owner-sso/core'
import type { Strategy } from 'passport-strategy'

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

export type Outcome =
  | { readonly kind: 'success'; readonly user: Express.User; readonly info?: object | string | undefined }
  | { readonly kind: 'fail'; readonly info: SignInFailure | object | string | undefined; readonly status: number }
  | { readonly kind: 'redirect'; readonly url: string }
  | { readonly kind: 'error'; readonly error: unknown }

/** The functions that Passport puts on a strategy for one request. */
interface Actions {
  success(user: Express.User, info?: object | string): void
  fail(info: unknown, status: number): void
  redirect(url: string): void
  error(error: unknown): void
}

/**
 * What reports an outcome of the request at hand to Passport.
 *
 * Passport's functions are taken at once: given the strategy itself instead of its name, Passport sets them on the one
 * shared object, and after the first await they may be those of another person's request.
 */
export function outcomeReporter(strategy: Strategy): (outcome: Outcome) => void {
  const passport: Actions = {
    success: strategy.success.bind(strategy),
    fail: strategy.fail.bind(strategy),
    redirect: strategy.redirect.bind(strategy),
    error: strategy.error.bind(strategy),
  }
  return (outcome) => {
    switch (outcome.kind) {
      case 'success':
        return passport.success(outcome.user, outcome.info)
      case 'fail':
        return passport.fail(outcome.info, outcome.status)
      case 'redirect':
        return passport.redirect(outcome.url)
      case 'error':
        return passport.error(outcome.error)
    }
  }
}
