/**
 * What each failure means to the person at the terminal: a sentence that says what happened, one that says what to do
 * next, and the exit code.
 */
import {
  ClientRejectedError,
  FirewallChallengeError,
  InvalidCredentialsError,
  PasscodeRejectedError,
  ReauthenticationRequiredError,
  RefreshBudgetError,
  RefreshElsewhereError,
  RefreshInDoubtError,
  RegionNotAllowedError,
  ShortValidityError,
  SsoError,
  type SsoErrorCode,
  StoreError,
} from '@owner-sso/core'
import { CommandError, type ExitCode, exitCodes } from '../failure/command-error.ts'
import { localTime } from './local-time.ts'
import { duration } from './wording.ts'

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
  if (error instanceof SsoError) {
    const { exitCode, message = error.message, next } = meanings[error.code]
    return { exitCode, code: error.code, message: saidOf(error, message), next: saidOf(error, next) }
  }
  const message = error instanceof Error ? error.message : String(error)
  const next = 'This is a bug in owner-sso: please report it with the command that you ran.'
  return { exitCode: exitCodes.unexpected, code: 'ERR_SSO_CLI_UNEXPECTED', message, next }
}

/** A sentence, or what makes it of the error. */
type Sentence = string | ((error: SsoError) => string)

const saidOf = (error: SsoError, sentence: Sentence): string =>
  typeof sentence === 'string' ? sentence : sentence(error)

interface Meaning {
  readonly exitCode: ExitCode
  /** In place of the error's own message, where that speaks to programmers. */
  readonly message?: Sentence
  readonly next: Sentence
}

const signIn = 'Sign in again with: owner-sso login'

/** Those up to the one that judges the password. */
const signInSteps = new Set(['login-page', 'form-submission'])

const meanings: Record<SsoErrorCode, Meaning> = {
  ERR_SSO_INVALID_CREDENTIALS: {
    exitCode: exitCodes.credentials,
    message: (error) =>
      error instanceof InvalidCredentialsError && error.reason === 'shown-again'
        ? 'The SSO service asks for e-mail and password again, in words that are not known here. Probably one of the two is wrong; the account may also be locked.'
        : 'The SSO service did not accept this e-mail and password.',
    next: 'Check both and run owner-sso login again; repeating the same pair can lock the account.',
  },
  ERR_SSO_ACCOUNT_LOCKED: {
    exitCode: exitCodes.credentials,
    message: 'The SSO service has locked this account.',
    next: 'Unlock it on the service’s website, then run owner-sso login again.',
  },
  ERR_SSO_CAPTCHA_REQUIRED: {
    exitCode: exitCodes.signInAgain,
    message: 'The SSO service requires a captcha, which needs a person and a browser.',
    next: 'Sign in there: owner-sso login --browser',
  },
  ERR_SSO_PASSCODE_REQUIRED: {
    exitCode: exitCodes.usage,
    message: 'This account has a second factor, and no passcode was given.',
    next: 'Run owner-sso login in a terminal, or give --totp-secret-file PATH or OWNER_SSO_TOTP_SECRET.',
  },
  ERR_SSO_PASSCODE_REJECTED: {
    exitCode: exitCodes.credentials,
    next: (error) =>
      error instanceof PasscodeRejectedError && error.reason === 'invalid'
        ? 'If the passcode was right, check this machine’s clock (owner-sso doctor), and the device (--factor).'
        : 'Run owner-sso login again.',
  },
  ERR_SSO_PENDING_LOGIN_EXPIRED: {
    exitCode: exitCodes.signInAgain,
    message: 'This sign-in took too long.',
    next: signIn,
  },
  ERR_SSO_REGION_NOT_ALLOWED: {
    exitCode: exitCodes.usage,
    message: 'The account belongs to an instance of the SSO service that is not allowed. Nothing was sent there.',
    next: (error) => {
      const origin = error instanceof RegionNotAllowedError ? (error.origin ?? 'https://…') : 'https://…'
      return `If it is genuine, allow it: --regional-auth-url ${origin}, or OWNER_SSO_REGIONAL_AUTH_URLS.`
    },
  },
  ERR_SSO_STATE_MISMATCH: {
    exitCode: exitCodes.signInAgain,
    message: 'This address belongs to another sign-in.',
    next: 'Nothing was sent. Run owner-sso login --browser again, and end that sign-in alone.',
  },
  ERR_SSO_ISSUER_MISMATCH: {
    exitCode: exitCodes.signInAgain,
    message: 'This address comes from a different service than the configured one.',
    next: 'Look at it closely, then run owner-sso login again.',
  },
  ERR_SSO_FIREWALL_CHALLENGE: {
    exitCode: exitCodes.firewall,
    message: ({ step = '' }) => {
      const judged = signInSteps.has(step) ? ' The password was not judged.' : ''
      return `The SSO service’s firewall has blocked this machine for now.${judged}`
    },
    next: (error) => (error instanceof FirewallChallengeError ? waitUntil(error.nextAttemptAt) : 'Wait 15 minutes.'),
  },
  ERR_SSO_REAUTHENTICATION_REQUIRED: {
    exitCode: exitCodes.signInAgain,
    message: (error) => {
      if (!(error instanceof ReauthenticationRequiredError)) return 'This sign-in can no longer be renewed.'
      const { reason, description } = error
      if (reason === 'other_owner')
        return 'The refresh token that was imported belongs to another owner. It is not used.'
      if (reason === 'refresh_token_spent')
        return 'This refresh token was sent before, and each works once. Nothing was stored.'
      const said = description === undefined ? '' : `; the service says “${description}”`
      return `This sign-in can no longer be renewed (${reason.replaceAll('_', ' ')}${said}).`
    },
    next: `${signIn}. What happened: owner-sso why`,
  },
  ERR_SSO_TOKEN_REJECTED: {
    exitCode: exitCodes.unexpected,
    next: (error) =>
      error instanceof ClientRejectedError
        ? 'Check OWNER_SSO_CLIENT_ID and the client secret. Nobody has to sign in again for it.'
        : error.step === 'refresh'
          ? 'Check OWNER_SSO_AUTH_URL. Nobody has to sign in again yet. What happened: owner-sso why'
          : 'Check OWNER_SSO_AUTH_URL, then sign in again with: owner-sso login',
  },
  ERR_SSO_UNEXPECTED_RESPONSE: {
    exitCode: exitCodes.unexpected,
    next: 'Look at the service’s status with: owner-sso doctor. If it persists, please report it.',
  },
  ERR_SSO_TIMEOUT: {
    exitCode: exitCodes.network,
    next: 'Try again later; owner-sso doctor shows what can be reached.',
  },
  ERR_SSO_UNREACHABLE: {
    exitCode: exitCodes.network,
    next: 'Check the address and the network with: owner-sso doctor',
  },
  ERR_SSO_SIGNED_OUT: {
    exitCode: exitCodes.signInAgain,
    message: 'This account is not signed in here.',
    next: 'Sign in with: owner-sso login. Who is signed in: owner-sso accounts',
  },
  ERR_SSO_SESSION_EXISTS: {
    exitCode: exitCodes.usage,
    message: 'This account is signed in here already, so nothing was stored.',
    next: 'Keep that sign-in, or end it with --replace.',
  },
  ERR_SSO_REFRESH_IN_DOUBT: {
    exitCode: exitCodes.network,
    message: 'A token refresh was sent, or may have been, and its answer is not known.',
    next: (error) => (error instanceof RefreshInDoubtError ? waitUntil(error.nextAttemptAt) : 'Try again later.'),
  },
  ERR_SSO_REFRESH_BUDGET: {
    exitCode: exitCodes.network,
    message: (error) =>
      error instanceof RefreshBudgetError && error.limit === 'minRefreshInterval'
        ? 'The owner API refused the newest token, and it is too soon to refresh it again.'
        : 'The token has to be refreshed, and the budget for refreshes is used up for now.',
    next: (error) => (error instanceof RefreshBudgetError ? waitUntil(error.nextAttemptAt) : 'Try again later.'),
  },
  ERR_SSO_SHORT_VALIDITY: {
    exitCode: exitCodes.network,
    message: (error) => {
      const ends = error instanceof ShortValidityError ? localTime(error.expires_at) : 'an unknown time'
      return `The access token ends at ${ends}, before --min-validity is over, and no longer one is to be had now.`
    },
    next: 'Ask for less, or sign in again.',
  },
  ERR_SSO_REFRESH_ELSEWHERE: {
    exitCode: exitCodes.network,
    message: (error) =>
      error instanceof RefreshElsewhereError && error.since !== undefined
        ? `Nobody has refreshed since ${localTime(error.since)}, and this machine leaves that to others.`
        : error.message,
    next: 'Look at the machine that refreshes, or unset OWNER_SSO_REFRESH here.',
  },
  ERR_SSO_STORE: {
    exitCode: exitCodes.store,
    next: (error) => storeAdvice[error instanceof StoreError ? error.reason : 'unavailable'],
  },
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

function waitUntil(epochSeconds: number): string {
  const wait = epochSeconds - Date.now() / 1000
  return wait > 0 ? `Try again in ${duration(wait + 59)}, at ${localTime(epochSeconds)}.` : 'Try again now.'
}
