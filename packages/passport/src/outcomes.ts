/**
 * Passport's five outcomes as data, and the one place that reports one.
 *
 * `pass` is not one of ours: it would let a request through that has not signed in.
 */
import type { Strategy } from 'passport-strategy'
import type { SignInFailure } from './sign-in-failure.ts'

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
