/**
 * What to answer to an `SsoError`: one table for the proxy, the bearer middleware and the error handler.
 */
import type { SsoErrorCode } from '@owner-sso/core'
import { property } from '../property.ts'
import { type Answer, problemAnswer } from './problem.ts'

/**
 * 401: only the owner can help, by signing in (again). 409: the account has what it was to be given. 502: the SSO service is down or of no use. 503: it works again by
 * itself. 504: it was too slow.
 *
 * The sentences are for anybody, and so they are ours: an error's own message may name a file, a host or a key.
 */
const answers: Readonly<Record<SsoErrorCode, readonly [status: 401 | 409 | 502 | 503 | 504, detail: string]>> = {
  ERR_SSO_INVALID_CREDENTIALS: [401, 'The e-mail or the password was not accepted. Check both, then sign in again.'],
  ERR_SSO_ACCOUNT_LOCKED: [401, 'This account is locked. Unlock it on the service’s own website, then sign in again.'],
  ERR_SSO_CAPTCHA_REQUIRED: [401, 'The sign-in requires a captcha. Sign in in a browser instead.'],
  ERR_SSO_PASSCODE_REQUIRED: [401, 'This account has a second factor. A passcode is required.'],
  ERR_SSO_PASSCODE_REJECTED: [401, 'The passcode was not accepted.'],
  ERR_SSO_PENDING_LOGIN_EXPIRED: [401, 'This sign-in has expired. Sign in again from the start.'],
  ERR_SSO_STATE_MISMATCH: [401, 'The answer does not belong to this sign-in. Sign in again from the start.'],
  ERR_SSO_ISSUER_MISMATCH: [401, 'The answer comes from another issuer. Sign in again from the start.'],
  ERR_SSO_SIGNED_OUT: [401, 'This account is not signed in. Sign in first.'],
  ERR_SSO_REAUTHENTICATION_REQUIRED: [401, 'This account has to sign in again.'],
  ERR_SSO_SESSION_EXISTS: [409, 'This account is signed in already. Nothing was changed.'],
  ERR_SSO_REGION_NOT_ALLOWED: [502, 'The SSO service redirected this account to a region that is not allowed.'],
  ERR_SSO_TOKEN_REJECTED: [502, 'The SSO service rejected the request.'],
  ERR_SSO_UNEXPECTED_RESPONSE: [502, 'The SSO service’s answer could not be used.'],
  ERR_SSO_UNREACHABLE: [502, 'The SSO service can’t be reached.'],
  ERR_SSO_FIREWALL_CHALLENGE: [503, 'The SSO service accepts no requests from here at the moment. Try again later.'],
  ERR_SSO_REFRESH_IN_DOUBT: [503, 'The access token is being renewed. Try again later.'],
  ERR_SSO_REFRESH_BUDGET: [503, 'Many access tokens have to be renewed at the moment. Try again later.'],
  ERR_SSO_SHORT_VALIDITY: [503, 'No access token lives as long as it would have to. Ask for less.'],
  ERR_SSO_REFRESH_ELSEWHERE: [503, 'Access tokens are renewed elsewhere. Try again later.'],
  ERR_SSO_STORE: [503, 'The token store can’t be used for now. Try again in a moment.'],
  ERR_SSO_TIMEOUT: [504, 'The SSO service did not answer in time.'],
}

/** Codes whose `reason` tells the owner what to do. A store's is the operator's alone. */
const withReason: ReadonlySet<SsoErrorCode> = new Set<SsoErrorCode>([
  'ERR_SSO_PASSCODE_REQUIRED',
  'ERR_SSO_PASSCODE_REJECTED',
  'ERR_SSO_REAUTHENTICATION_REQUIRED',
])

/** Seconds to wait where the error knows no time: a store or a lock that is busy. */
const shortWait = 5
const longestWait = 86_400

export interface CodedError extends Error {
  readonly code: SsoErrorCode
  readonly reason?: unknown
  /** Seconds since the epoch. */
  readonly nextAttemptAt?: unknown
}

/** An error that is an `SsoError`, or the one that it has as its cause; `undefined` for any other. */
export function ssoErrorIn(error: unknown): CodedError | undefined {
  return [error, property(error, 'cause')].find(isSsoError)
}

/** The answer to an `SsoError`, or to an error that has one as its cause; `undefined` for any other. */
export function ssoErrorAnswer(error: unknown): Answer | undefined {
  const ssoError = ssoErrorIn(error)
  if (!ssoError) return undefined
  const { code, reason, nextAttemptAt } = ssoError
  const [status, detail] = answers[code]
  const isWord = typeof reason === 'string' && /^[a-z_-]{1,32}$/u.test(reason)
  const headers: Record<string, string> = status === 503 ? { 'retry-after': secondsUntil(nextAttemptAt) } : {}
  return problemAnswer(status, code, detail, headers, isWord && withReason.has(code) ? reason : undefined)
}

/** By its code, not by `instanceof`: two copies of core in one tree are two classes. */
function isSsoError(error: unknown): error is CodedError {
  return error instanceof Error && Object.hasOwn(answers, String(property(error, 'code')))
}

function secondsUntil(epochSeconds: unknown): string {
  const isTime = typeof epochSeconds === 'number' && Number.isFinite(epochSeconds)
  const seconds = isTime ? Math.ceil(epochSeconds - Date.now() / 1000) : shortWait
  return String(Math.min(Math.max(1, seconds), longestWait))
}
