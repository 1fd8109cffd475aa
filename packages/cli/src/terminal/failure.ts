/**
 * What each failure means to the person at the terminal: a sentence that says what happened, one that says what to do
 * next, and the exit code.
 */
import {
  ClientRejectedError,
  PasscodeRejectedError,
  RefreshBudgetError,
  RefreshElsewhereError,
  RegionNotAllowedError,
  ShortValidityError,
  SsoError,
  type SsoErrorCode,
  StoreError,
} from '@owner-sso/core'
import { CommandError, type ExitCode, exitCodes } from '../failure/command-error.ts'
import { duration, localTime } from './wording.ts'

export interface Failure {
  readonly exitCode: ExitCode
  /** An SsoError's code, or one that begins with `ERR_SSO_CLI`. */
  readonly code: string
  readonly message: string
  readonly next: string
}

export function failureOf(error: unknown): Failure {
  if (error instanceof CommandError) {
    return { exitCode: error.exitCode, code: error.code, message: error.message, next: error.next }
  }
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof SsoError) {
    const [exitCode, next, said = message] = meanings[error.code]
    return { exitCode, code: error.code, message: saidOf(error, said), next: saidOf(error, next) }
  }
  const next = 'This is a bug in owner-sso: please report it with the command that you ran.'
  return { exitCode: exitCodes.unexpected, code: 'ERR_SSO_CLI_UNEXPECTED', message, next }
}

type Sentence = string | ((error: SsoError) => string)

const saidOf = (error: SsoError, sentence: Sentence): string =>
  typeof sentence === 'string' ? sentence : sentence(error)

/** `message` is said in place of the error's own, where that speaks to programmers, or has its time in UTC. */
type Meaning = readonly [exitCode: ExitCode, next: Sentence, message?: Sentence]

const originOf = (error: SsoError): string | undefined =>
  error instanceof RegionNotAllowedError ? error.origin : undefined

/** Those up to the one that judges the password. */
const signInSteps = new Set(['login-page', 'form-submission'])

const { unexpected, usage, signInAgain, credentials, firewall, store, network } = exitCodes

const meanings: Record<SsoErrorCode, Meaning> = {
  ERR_SSO_INVALID_CREDENTIALS: [credentials, 'Then run owner-sso login again.'],
  ERR_SSO_ACCOUNT_LOCKED: [credentials, 'Then run owner-sso login again.'],
  ERR_SSO_CAPTCHA_REQUIRED: [
    signInAgain,
    'Sign in there: owner-sso login --browser',
    'The SSO service requires a captcha, which needs a person and a browser.',
  ],
  ERR_SSO_PASSCODE_REQUIRED: [
    usage,
    'Run owner-sso login in a terminal, or give --totp-secret-file PATH or OWNER_SSO_TOTP_SECRET.',
    'This account has a second factor, and no passcode was given.',
  ],
  ERR_SSO_PASSCODE_REJECTED: [
    credentials,
    (error) =>
      error instanceof PasscodeRejectedError && error.reason === 'invalid'
        ? 'If the passcode was right, check this machine’s clock (owner-sso doctor), and the device (--factor).'
        : 'Run owner-sso login again.',
  ],
  ERR_SSO_PENDING_LOGIN_EXPIRED: [signInAgain, 'Run owner-sso login again.'],
  ERR_SSO_REGION_NOT_ALLOWED: [
    usage,
    (error) =>
      `If it is genuine, allow it: --regional-auth-url ${originOf(error) ?? 'https://…'}, or OWNER_SSO_REGIONAL_AUTH_URLS.`,
    (error) =>
      `${originOf(error) ?? 'An address that can’t be read'} is not an allowed instance of the SSO service. Nothing was sent there.`,
  ],
  ERR_SSO_STATE_MISMATCH: [
    signInAgain,
    'Nothing was sent. Run owner-sso login --browser again, and end that sign-in alone.',
  ],
  ERR_SSO_ISSUER_MISMATCH: [signInAgain, 'Look at the address closely, then run owner-sso login again.'],
  ERR_SSO_FIREWALL_CHALLENGE: [
    firewall,
    later,
    ({ step = '' }) => {
      const judged = signInSteps.has(step) ? ' The password was not judged.' : ''
      return `The SSO service’s firewall has blocked this machine for now.${judged}`
    },
  ],
  ERR_SSO_REAUTHENTICATION_REQUIRED: [signInAgain, 'Run owner-sso login. What happened: owner-sso why'],
  ERR_SSO_TOKEN_REJECTED: [
    unexpected,
    (error) =>
      error instanceof ClientRejectedError
        ? 'Check OWNER_SSO_CLIENT_ID and the client secret. Nobody has to sign in again for it.'
        : error.step === 'refresh'
          ? 'Check OWNER_SSO_AUTH_URL. Nobody has to sign in again yet. What happened: owner-sso why'
          : 'Check OWNER_SSO_AUTH_URL, then sign in again with: owner-sso login',
  ],
  ERR_SSO_UNEXPECTED_RESPONSE: [
    unexpected,
    'Look at the service’s status with: owner-sso doctor. If it persists, please report it.',
  ],
  ERR_SSO_TIMEOUT: [network, 'Try again later; owner-sso doctor shows what can be reached.'],
  ERR_SSO_UNREACHABLE: [network, 'Check the address and the network with: owner-sso doctor'],
  ERR_SSO_SIGNED_OUT: [signInAgain, 'Run owner-sso login. Who is signed in: owner-sso accounts'],
  ERR_SSO_SESSION_EXISTS: [
    usage,
    'Keep that sign-in, or end it with --replace.',
    'This account is signed in here already, so nothing was stored.',
  ],
  ERR_SSO_REFRESH_IN_DOUBT: [
    network,
    later,
    'A token refresh was sent, or may have been, and its answer is not known.',
  ],
  ERR_SSO_REFRESH_BUDGET: [
    network,
    later,
    (error) =>
      error instanceof RefreshBudgetError && error.limit === 'minRefreshInterval'
        ? 'The owner API refused the newest token, and it is too soon to refresh it again.'
        : 'The token has to be refreshed, and the budget for refreshes is used up for now.',
  ],
  ERR_SSO_SHORT_VALIDITY: [
    network,
    'Ask for less, or sign in again.',
    (error) => {
      const ends = error instanceof ShortValidityError ? localTime(error.expires_at) : 'an unknown time'
      return `The access token ends at ${ends}, before --min-validity is over, and no longer one is to be had now.`
    },
  ],
  ERR_SSO_REFRESH_ELSEWHERE: [
    network,
    'Look at the machine that refreshes, or unset OWNER_SSO_REFRESH here.',
    (error) =>
      error instanceof RefreshElsewhereError && error.since !== undefined
        ? `Nobody has refreshed since ${localTime(error.since)}, and this machine leaves that to others.`
        : error.message,
  ],
  ERR_SSO_STORE: [store, (error) => storeAdvice[error instanceof StoreError ? error.reason : 'unavailable']],
}

const storeAdvice: Record<StoreError['reason'], string> = {
  unavailable: 'Start it, or choose another store with --store.',
  'write-failed': 'Fix that, or choose another store with --store.',
  'read-failed': 'Fix that, or choose another store with --store.',
  permissions: 'Fix that, or choose another store with --store.',
  corrupt: 'Move the damaged record away, then sign in again with: owner-sso login',
  'newer-release': 'Update this program. Don’t remove the record: the account may be signed in.',
  'wrong-key': 'Set OWNER_SSO_ENCRYPTION_KEY to the key that it was stored with.',
  'not-sealed': 'Seal the store where it is with: owner-sso rekey',
  duplicate: 'Use them under that name, or sign in for this account with: owner-sso login',
  'other-client': 'Choose the store of this client with --store.',
  busy: 'Try again in a moment.',
}

/** For errors that say when a call may go well (`nextAttemptAt`). */
function later(error: SsoError): string {
  const at = 'nextAttemptAt' in error ? Number(error.nextAttemptAt) : 0
  const wait = at - Date.now() / 1000
  return wait > 0 ? `Try again in ${duration(wait + 59)}, at ${localTime(at)}.` : 'Try again now.'
}
