/**
 * What to answer to an `SsoError`: one table for the proxy, the bearer middleware and the error handler.
 */
import type { SsoErrorCode } from '@owner-sso/core'
import { property } from '../property.ts'
import { type Answer, problemAnswer } from './problem.ts'

/**
 * 401: only the owner can help, by signing in (again). 502: the SSO service is down or of no use. 503: it works again by
 * itself. 504: it was too slow.
 */
const statuses: Readonly<Record<SsoErrorCode, 401 | 502 | 503 | 504>> = {
  ERR_SSO_INVALID_CREDENTIALS: 401,
  ERR_SSO_ACCOUNT_LOCKED: 401,
  ERR_SSO_CAPTCHA_REQUIRED: 401,
  ERR_SSO_PASSCODE_REQUIRED: 401,
  ERR_SSO_PASSCODE_REJECTED: 401,
  ERR_SSO_PENDING_LOGIN_EXPIRED: 401,
  ERR_SSO_STATE_MISMATCH: 401,
  ERR_SSO_ISSUER_MISMATCH: 401,
  ERR_SSO_SIGNED_OUT: 401,
  ERR_SSO_REAUTHENTICATION_REQUIRED: 401,
  ERR_SSO_REGION_NOT_ALLOWED: 502,
  ERR_SSO_TOKEN_REJECTED: 502,
  ERR_SSO_UNEXPECTED_RESPONSE: 502,
  ERR_SSO_UNREACHABLE: 502,
  ERR_SSO_FIREWALL_CHALLENGE: 503,
  ERR_SSO_REFRESH_IN_DOUBT: 503,
  ERR_SSO_STORE: 503,
  ERR_SSO_TIMEOUT: 504,
}

/** Seconds to wait where the error knows no time: a store or a lock that is busy. */
const shortWait = 5
const longestWait = 86_400

interface CodedError extends Error {
  readonly code: SsoErrorCode
  readonly reason?: unknown
  /** Seconds since the epoch. */
  readonly nextAttemptAt?: unknown
}

/** The answer to an `SsoError`, or to an error that has one as its cause; `undefined` for any other. */
export function ssoErrorAnswer(error: unknown): Answer | undefined {
  const ssoError = [error, property(error, 'cause')].find(isSsoError)
  if (!ssoError) return undefined
  const { code, message, reason, nextAttemptAt } = ssoError
  const status = statuses[code]
  return problemAnswer(status, code, message, {
    headers: status === 503 ? { 'retry-after': secondsUntil(nextAttemptAt) } : {},
    reason: typeof reason === 'string' ? reason : undefined,
  })
}

/** By its code, not by `instanceof`: two copies of core in one tree are two classes. */
function isSsoError(error: unknown): error is CodedError {
  return error instanceof Error && Object.hasOwn(statuses, String(property(error, 'code')))
}

function secondsUntil(epochSeconds: unknown): string {
  const isTime = typeof epochSeconds === 'number' && Number.isFinite(epochSeconds)
  const seconds = isTime ? Math.ceil(epochSeconds - Date.now() / 1000) : shortWait
  return String(Math.min(Math.max(1, seconds), longestWait))
}
