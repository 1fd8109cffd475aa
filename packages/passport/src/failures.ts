/**
 * What a sign-in that did not succeed becomes: `fail` where the person can do something about it, `error` where they
 * can't.
 */
import {
  FirewallChallengeError,
  PasscodeRejectedError,
  RefreshBudgetError,
  SsoError,
  type SsoErrorCode,
} from '@owner-sso/core'
import type { Outcome, SignInFailure } from './outcomes.ts'

/** What the person can correct, each with words for them where those of the error are for a developer. */
const correctable: Partial<Record<SsoErrorCode, string | undefined>> = {
  ERR_SSO_INVALID_CREDENTIALS: undefined,
  ERR_SSO_ACCOUNT_LOCKED: undefined,
  ERR_SSO_CAPTCHA_REQUIRED:
    'The SSO service asks for a captcha, which can only be solved on its own page. Sign in there with your browser instead.',
  ERR_SSO_PASSCODE_REQUIRED: undefined,
  ERR_SSO_PASSCODE_REJECTED: undefined,
  ERR_SSO_PENDING_LOGIN_EXPIRED: undefined,
}

/** The outcome of an error: `fail` for what the person can correct, `error` for everything else. */
export function failureOutcome(error: unknown, details: Partial<SignInFailure> = {}): Outcome {
  if (!(error instanceof SsoError)) return { kind: 'error', error }
  if (error.code in correctable) return fail(error, { message: correctable[error.code] ?? error.message, ...details })
  return { kind: 'error', error: new SignInUnavailableError(error) }
}

/** The same for a pasted address, each with words for the person. */
const correctableAddress: Partial<Record<SsoErrorCode, string>> = {
  ERR_SSO_STATE_MISMATCH:
    'This address belongs to another sign-in. Follow the link on this page, and paste the address that you end up on.',
  ERR_SSO_ISSUER_MISMATCH: 'This address does not come from the SSO service. Follow the link again.',
  ERR_SSO_UNEXPECTED_RESPONSE:
    'This is not the address that a sign-in ends on. Copy all of it from the address bar, and paste it again.',
  ERR_SSO_PENDING_LOGIN_EXPIRED: 'This address was used before. Follow a new link.',
  ERR_SSO_TOKEN_REJECTED: 'This address was used before or is too old. Follow a new link.',
}

/** The outcome of an address that could not be redeemed. */
export function callbackFailureOutcome(error: unknown, details: Partial<SignInFailure> = {}): Outcome {
  const isAboutAddress =
    error instanceof SsoError && (error.step === 'callback' || error.code === 'ERR_SSO_TOKEN_REJECTED')
  const message = isAboutAddress ? correctableAddress[error.code] : undefined
  return isAboutAddress && message ? fail(error, { message, ...details }) : failureOutcome(error, details)
}

/** The outcome of a request that carries nothing to sign in with. */
export function missing(message: string): Outcome {
  return { kind: 'fail', status: 400, info: { code: 'ERR_SSO_CREDENTIALS_MISSING', message } }
}

/** The outcome that asks the person for more: a redirect to the page that does, where there is one. */
export function askFor(more: SignInFailure, redirect: string | undefined): Outcome {
  return redirect === undefined ? { kind: 'fail', status: 401, info: more } : { kind: 'redirect', url: redirect }
}

function fail(error: SsoError, details: Partial<SignInFailure> & { message: string }): Outcome {
  const reason = error instanceof PasscodeRejectedError ? { reason: error.reason } : {}
  return { kind: 'fail', status: 401, info: { code: error.code, ...reason, ...details } satisfies SignInFailure }
}

/** 504 for a service that did not answer in time, 503 where trying later helps, 502 for an answer of no use. */
const statuses: Partial<Record<SsoErrorCode, 503 | 504>> = {
  ERR_SSO_TIMEOUT: 504,
  ERR_SSO_FIREWALL_CHALLENGE: 503,
  ERR_SSO_UNREACHABLE: 503,
  ERR_SSO_REFRESH_BUDGET: 503,
  ERR_SSO_REFRESH_ELSEWHERE: 503,
  ERR_SSO_STORE: 503,
}

/**
 * The service, the way to it or the token store is down; the credentials were not checked. Goes to the application's error
 * handler. Express answers with its `status` and `headers`; `SsoError.status` would be what the service answered to us.
 */
export class SignInUnavailableError extends Error {
  /** That of the `cause`. */
  readonly code: SsoErrorCode
  /** HTTP status to answer with. */
  readonly status: 502 | 503 | 504
  /** HTTP headers to answer with: `Retry-After`, in seconds, where known. */
  readonly headers: Readonly<Record<string, string>>
  declare readonly cause: SsoError

  constructor(cause: SsoError) {
    super(cause.message, { cause })
    this.name = 'SignInUnavailableError'
    this.code = cause.code
    this.status = statuses[cause.code] ?? 502
    this.headers = isTimed(cause) ? { 'Retry-After': secondsUntil(cause.nextAttemptAt) } : {}
  }
}

/** Whether it knows when another attempt makes sense. */
function isTimed(cause: SsoError): cause is FirewallChallengeError | RefreshBudgetError {
  return cause instanceof FirewallChallengeError || cause instanceof RefreshBudgetError
}

function secondsUntil(epochSeconds: number): string {
  return String(Math.max(1, Math.ceil(epochSeconds - Date.now() / 1000)))
}
