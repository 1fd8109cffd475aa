/**
 * What a page says when something did not work: the strategy's own words for what the person can correct, ours for the rest.
 */
import {
  FirewallChallengeError,
  ReauthenticationRequiredError,
  RefreshInDoubtError,
  SignedOutError,
  SsoError,
  type SsoErrorCode,
} from '@owner-sso/core'
import { type SignInFailure, SignInUnavailableError } from '@owner-sso/passport'
import { type Notice, waitingTime } from '@owner-sso/sign-in-pages'
import { OwnerApiError } from './owner-api.ts'

export interface Trouble {
  readonly code: string
  readonly problem: Notice
  /** HTTP status of the answer. */
  readonly status: number
  /** Seconds, for `Retry-After`. */
  readonly retryAfter?: number
}

export const tooLate: Notice = { title: 'This sign-in took too long', text: 'Sign in again from the start.' }

/** A sign-in that did not succeed: the strategy's `info`. */
export function failed({ code, message, triesLeft }: SignInFailure): Notice {
  const tries = triesLeft === 1 ? ' One try is left.' : ` ${triesLeft} tries are left.`
  const link = { href: '/sign-in/browser', label: 'Sign in on the service’s own page' }
  return {
    title: 'You are not signed in yet',
    text: code === 'ERR_SSO_PASSCODE_REJECTED' && triesLeft ? message + tries : message,
    ...(code === 'ERR_SSO_CAPTCHA_REQUIRED' && { link }),
  }
}

/** What nobody in front of the page can help. An error's own message may name a host or a path. */
const titles: Partial<Record<SsoErrorCode, string>> = {
  ERR_SSO_FIREWALL_CHALLENGE: 'The service has paused sign-ins from this portal',
  ERR_SSO_REGION_NOT_ALLOWED: 'Your account belongs to a region that this portal is not set up for',
  ERR_SSO_TIMEOUT: 'The service did not answer in time',
  ERR_SSO_UNREACHABLE: 'The service can’t be reached',
  ERR_SSO_REFRESH_IN_DOUBT: 'The renewal’s answer was lost on the way',
  ERR_SSO_REFRESH_BUDGET: 'Your sign-in was renewed a moment ago, or many others are in line before it',
  ERR_SSO_STORE: 'Your sign-in could not be stored or read',
}

/** What an error of the SSO service or the owner API means for the answer; `undefined` for a fault of the portal's own, and
 * where only a new sign-in helps. */
export function unavailable(error: unknown): Trouble | undefined {
  if (error instanceof OwnerApiError) {
    const problem = { title: 'Your vehicles can’t be shown now', text: error.message }
    return { code: 'ERR_OWNER_API', problem, status: error.status }
  }
  const cause = error instanceof SignInUnavailableError ? error.cause : error
  const isOver = cause instanceof SignedOutError || cause instanceof ReauthenticationRequiredError
  if (!(cause instanceof SsoError) || isOver) return undefined
  const { code } = cause
  const isTimed = cause instanceof FirewallChallengeError || cause instanceof RefreshInDoubtError
  const retryAfter = isTimed ? Math.max(1, Math.ceil(cause.nextAttemptAt - Date.now() / 1000)) : undefined
  return {
    code,
    problem: {
      title: titles[code] ?? 'The service answered something unexpected',
      text: `Try again in ${waitingTime(retryAfter ?? 60)}.`,
    },
    status: code === 'ERR_SSO_REFRESH_IN_DOUBT' ? 503 : new SignInUnavailableError(cause).status,
    ...(retryAfter !== undefined && { retryAfter }),
  }
}
