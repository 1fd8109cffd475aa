/**
 * Errors that nobody in front of the page can help: what to answer, and when to try again.
 */
import { FirewallChallengeError, RefreshInDoubtError, SsoError } from '@owner-sso/core'
import { SignInUnavailableError } from '@owner-sso/passport'
import { explain } from './explanations.ts'
import { OwnerApiError } from './owner-api.ts'
import type { Notice } from '@owner-sso/sign-in-pages'

export interface Unavailable {
  readonly code: string
  readonly problem: Notice
  /** HTTP status of the answer. */
  readonly status: number
  /** Seconds, for `Retry-After`. */
  readonly retryAfter?: number
}

/** What an error of the SSO service or the owner API means for the answer; `undefined` for a fault of the portal's own. */
export function unavailable(error: unknown): Unavailable | undefined {
  if (error instanceof OwnerApiError) {
    const problem = { title: 'Your vehicles can’t be shown now', text: error.message }
    return { code: 'ERR_OWNER_API', problem, status: error.status }
  }
  const cause = error instanceof SignInUnavailableError ? error.cause : error
  if (!(cause instanceof SsoError)) return undefined
  const wait = secondsUntil(cause)
  return { code: cause.code, problem: explain({ code: cause.code, ...wait }), status: statusOf(cause), ...wait }
}

function secondsUntil(error: SsoError): { retryAfter?: number } {
  if (!(error instanceof FirewallChallengeError || error instanceof RefreshInDoubtError)) return {}
  return { retryAfter: Math.max(1, Math.ceil(error.nextAttemptAt - Date.now() / 1000)) }
}

const badGateway: readonly string[] = [
  'ERR_SSO_UNEXPECTED_RESPONSE',
  'ERR_SSO_REGION_NOT_ALLOWED',
  'ERR_SSO_TOKEN_REJECTED',
]

function statusOf({ code }: SsoError): number {
  if (code === 'ERR_SSO_TIMEOUT') return 504
  return badGateway.includes(code) ? 502 : 503
}
