/**
 * The error of a sign-in that failed through no fault of the person: it carries the answer for their browser.
 */
import { FirewallChallengeError, RefreshBudgetError, type SsoError, type SsoErrorCode } from '@owner-sso/core'

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
