/**
 * Every error of the token manager and the stores, and those that any token issuer throws.
 *
 * A caller's own mistake (a wrong option, a missing argument) is a `TypeError` that names it. Everything else is an
 * {@link SsoError}: what happened is its `code`, where is its `step`, and what to do next is its message.
 *
 * No property, message or cause ever holds a credential, passcode, cookie, verifier, code or token, nor an object that
 * could (a request, a response, a socket); of a response they quote plain words alone (`quotation.ts`). A cause is a bare `Error`
 * with the system's own code, such as `ECONNRESET`.
 */

import { quotedWords } from './support/quotation.ts'

/** What happened. One row of `docs/reference/errors.md` each, which a test of the repository holds to. */
export type SsoErrorCode =
  | 'ERR_SSO_INVALID_CREDENTIALS'
  | 'ERR_SSO_ACCOUNT_LOCKED'
  | 'ERR_SSO_CAPTCHA_REQUIRED'
  | 'ERR_SSO_PASSCODE_REQUIRED'
  | 'ERR_SSO_PASSCODE_REJECTED'
  | 'ERR_SSO_PENDING_LOGIN_EXPIRED'
  | 'ERR_SSO_REGION_NOT_ALLOWED'
  | 'ERR_SSO_STATE_MISMATCH'
  | 'ERR_SSO_ISSUER_MISMATCH'
  | 'ERR_SSO_FIREWALL_CHALLENGE'
  | 'ERR_SSO_REAUTHENTICATION_REQUIRED'
  | 'ERR_SSO_TOKEN_REJECTED'
  | 'ERR_SSO_UNEXPECTED_RESPONSE'
  | 'ERR_SSO_TIMEOUT'
  | 'ERR_SSO_UNREACHABLE'
  | 'ERR_SSO_SIGNED_OUT'
  | 'ERR_SSO_SESSION_EXISTS'
  | 'ERR_SSO_REFRESH_IN_DOUBT'
  | 'ERR_SSO_REFRESH_BUDGET'
  | 'ERR_SSO_SHORT_VALIDITY'
  | 'ERR_SSO_REFRESH_ELSEWHERE'
  | 'ERR_SSO_STORE'

/** Where it happened: the endpoints of the interface document in its order, then what is ours. */
export type SsoStep =
  | 'login-page'
  | 'form-submission'
  | 'code-exchange'
  | 'mfa-factors'
  | 'mfa-verify'
  | 'refresh'
  | 'callback'
  | 'token-manager'
  | 'token-store'

/** What an {@link SsoError} is made of, in addition to its code and its message. */
export interface SsoErrorOptions {
  /** The step of the flow that failed. */
  readonly step?: SsoStep | undefined
  /** HTTP status of the response that told us, where there was one. */
  readonly status?: number | undefined
  /** Whether the request may have reached the service. `false` only when nothing of it was written to a connection. */
  readonly requestSent?: boolean | undefined
  /** A system error; only its `code`, `syscall` and message without addresses are kept. */
  readonly cause?: unknown
}

/** A class of these errors, and what is the same in every copy of it. */
interface ErrorClass extends Function {
  readonly code?: SsoErrorCode
  readonly reason?: string
}

/** Is on the errors of every copy of this package: one application may have several, of one version or of more. */
const brand = Symbol.for('@owner-sso/core error')

/**
 * Base of all errors of the flow, the token manager and the stores.
 *
 * `instanceof` knows the errors of another copy of this package as well, by a brand and their `code`: this class, and those
 * below that are exported.
 */
export class SsoError extends Error {
  /** Stated: a minifier gives classes other names. */
  static override readonly name: string = 'SsoError'

  static {
    Object.defineProperty(this.prototype, brand, { value: true })
  }

  static override [Symbol.hasInstance](this: ErrorClass, value: unknown): boolean {
    return Function.prototype[Symbol.hasInstance].call(this, value) || isOfAnotherCopy(value, this)
  }

  readonly code: SsoErrorCode
  declare readonly step?: SsoStep
  declare readonly status?: number
  /** Whether the request may have reached the service, so that a single-use value in it may be spent. */
  readonly requestSent: boolean

  constructor(code: SsoErrorCode, message: string, options: SsoErrorOptions = {}) {
    super(message)
    this.name = new.target.name
    this.code = code
    if (options.step !== undefined) this.step = options.step
    if (options.status !== undefined) this.status = options.status
    this.requestSent = options.requestSent ?? true
    const cause = bareCause(options.cause)
    if (cause) this.cause = cause
  }
}

/** A redirect or a stored token set names a host that is neither `authUrl`'s own domain nor in `regionalAuthUrls`. */
export class RegionNotAllowedError extends SsoError {
  static override readonly name: string = 'RegionNotAllowedError'
  static readonly code = 'ERR_SSO_REGION_NOT_ALLOWED'
  /** The origin that was named, as scheme, host and port; absent where it could not be read as a URL. */
  declare readonly origin?: string
  constructor(origin: string | undefined, options?: SsoErrorOptions) {
    super(
      'ERR_SSO_REGION_NOT_ALLOWED',
      `${origin ?? 'An unreadable address'} is not an allowed instance of the SSO service. If it is genuine, list it in regionalAuthUrls. Nothing was sent to it.`,
      options,
    )
    if (origin !== undefined) this.origin = origin
  }
}

/** The service's web application firewall answered, not the service. Says nothing about the credentials. */
export class FirewallChallengeError extends SsoError {
  static override readonly name: string = 'FirewallChallengeError'
  static readonly code = 'ERR_SSO_FIREWALL_CHALLENGE'
  /** Seconds since the epoch: until then every call to this host fails without a request. */
  readonly nextAttemptAt: number
  constructor(nextAttemptAt: number, options?: SsoErrorOptions) {
    super(
      'ERR_SSO_FIREWALL_CHALLENGE',
      `The SSO service's firewall has blocked this client for now; the credentials were not judged. Next attempt possible at ${isoTime(nextAttemptAt)}.`,
      options,
    )
    this.nextAttemptAt = nextAttemptAt
  }
}

/**
 * Why only a new sign-in helps. `rotated_token_lost`: a refresh's response was lost with the new refresh token in it.
 * `other_owner`: the refresh token that was brought along turned out to be somebody else's. `refresh_token_spent`: `save` was given
 * a refresh token that was sent before; nothing was stored, and a session that is there goes on.
 */
export type ReauthenticationReason =
  | 'refresh_token_rejected'
  | 'rotated_token_lost'
  | 'no_refresh_token'
  | 'other_owner'
  | 'refresh_token_spent'

const reauthenticationMessages: Partial<Record<ReauthenticationReason, string>> = {
  other_owner:
    'The refresh token that was saved for this account belongs to another owner. It is kept, and never used. Sign in for this account, or save its own refresh token.',
  refresh_token_spent:
    'This refresh token was sent before, and each works once, so nothing was stored. Sign in again, or save the newest refresh token.',
}

/** The refresh token is dead. The owner has to sign in again; no request will help. */
export class ReauthenticationRequiredError extends SsoError {
  static override readonly name: string = 'ReauthenticationRequiredError'
  static readonly code = 'ERR_SSO_REAUTHENTICATION_REQUIRED'
  readonly reason: ReauthenticationReason
  /** What the service said of it (`error_description`), in plain words; absent where it said nothing that may be quoted. */
  declare readonly description?: string
  /** The service's own code (`error` of RFC 6749 section 5.2), such as `invalid_grant`; absent where it said none. */
  declare readonly error?: string
  constructor(reason: ReauthenticationReason, options?: SsoErrorOptions, description?: string, error = '') {
    const words = quotedWords(description ?? '')
    const said = words === undefined ? '' : `; the service says “${words}”`
    super(
      'ERR_SSO_REAUTHENTICATION_REQUIRED',
      reauthenticationMessages[reason] ?? `This account has to sign in again (${reason.replaceAll('_', ' ')}${said}).`,
      options,
    )
    this.reason = reason
    if (words !== undefined) this.description = words
    if (isPlainWord(error)) this.error = error
  }
}

/**
 * The refresh token that was brought along with `save` is another owner's: its first refresh showed that. What the service
 * issued is kept in the account's record, and is never served. Sign in for this account, or bring along its own refresh token.
 */
export class OtherOwnerError extends ReauthenticationRequiredError {
  static override readonly name: string = 'OtherOwnerError'
  static override readonly code = 'ERR_SSO_REAUTHENTICATION_REQUIRED'
  static readonly reason = 'other_owner'
  constructor(options?: SsoErrorOptions) {
    super('other_owner', options)
  }
}

/** The token endpoint refused with an error of its own (RFC 6749 section 5.2). */
export class TokenRejectedError extends SsoError {
  static override readonly name: string = 'TokenRejectedError'
  static readonly code = 'ERR_SSO_TOKEN_REJECTED'
  /** The error code of the response, such as `invalid_grant`; `unknown` where it is not a plain word. */
  readonly error: string
  /** What the service said of it (`error_description`), in plain words; absent where it said nothing that may be quoted. */
  declare readonly description?: string
  /** @param advice - a sentence of ours: what to do about it */
  constructor(error: string, options?: SsoErrorOptions, description?: string, advice?: string) {
    const word = isPlainWord(error) ? error : 'unknown'
    const words = quotedWords(description ?? '')
    const said = words === undefined ? '' : `: “${words}”`
    const sentence = `The SSO service's token endpoint rejected the request (${word}${said}).`
    super('ERR_SSO_TOKEN_REJECTED', advice === undefined ? sentence : `${sentence} ${advice}`, options)
    this.error = word
    if (words !== undefined) this.description = words
  }
}

/**
 * The token endpoint does not accept this client (`invalid_client`): its id, its secret or its key is wrong. No refresh token is
 * spent. All accounts of this issuer rest until `nextAttemptAt`, in all processes that share the store, and then one of them asks.
 */
export class ClientRejectedError extends TokenRejectedError {
  static override readonly name: string = 'ClientRejectedError'
  static override readonly code = 'ERR_SSO_TOKEN_REJECTED'
  static readonly reason = 'client'
  readonly reason = 'client'
  /** Seconds since the epoch. */
  readonly nextAttemptAt: number
  constructor(nextAttemptAt: number, options?: SsoErrorOptions) {
    const advice = `Correct the client’s id, secret or key. No refresh token was spent; all accounts rest until ${isoTime(nextAttemptAt)}.`
    super('invalid_client', options, undefined, advice)
    this.nextAttemptAt = nextAttemptAt
  }
}

/** The response is nothing that the interface knows: another status, a broken page, a missing field, too large. */
export class UnexpectedResponseError extends SsoError {
  static override readonly name: string = 'UnexpectedResponseError'
  static readonly code = 'ERR_SSO_UNEXPECTED_RESPONSE'
  /** @param problem - what was wrong with the response, in words of ours; of the response only what `quotation.ts` makes of it. */
  constructor(problem: string, options?: SsoErrorOptions) {
    super(
      'ERR_SSO_UNEXPECTED_RESPONSE',
      `The SSO service's answer could not be used: ${problem}. Nothing was repeated.`,
      options,
    )
  }
}

/** The service did not answer in time, or the caller's signal ended the wait. `requestSent` tells whether a request may have arrived. */
export class SsoTimeoutError extends SsoError {
  static override readonly name: string = 'SsoTimeoutError'
  static readonly code = 'ERR_SSO_TIMEOUT'
  constructor(message: string, options?: SsoErrorOptions) {
    super('ERR_SSO_TIMEOUT', message, options)
  }
}

/** No connection, or one that broke. `requestSent` tells whether the request may have arrived. */
export class UnreachableError extends SsoError {
  static override readonly name: string = 'UnreachableError'
  static readonly code = 'ERR_SSO_UNREACHABLE'
  constructor(message: string, options?: SsoErrorOptions) {
    super('ERR_SSO_UNREACHABLE', message, options)
  }
}

/** No token set is stored for this account: it never signed in, or it signed out. */
export class SignedOutError extends SsoError {
  static override readonly name: string = 'SignedOutError'
  static readonly code = 'ERR_SSO_SIGNED_OUT'
  constructor(options?: SsoErrorOptions) {
    super('ERR_SSO_SIGNED_OUT', 'This account is not signed in. Sign in first.', options)
  }
}

/**
 * `save` was given a refresh token alone for an account that has a session already. Nothing was stored: the session goes on.
 * To end it in favour of that refresh token, save it with `{ replace: true }`.
 */
export class SessionExistsError extends SsoError {
  static override readonly name: string = 'SessionExistsError'
  static readonly code = 'ERR_SSO_SESSION_EXISTS'
  constructor(options?: SsoErrorOptions) {
    super(
      'ERR_SSO_SESSION_EXISTS',
      'This account has a session already, so nothing was stored. Keep that one, or save with { replace: true } to end it.',
      options,
    )
  }
}

/** A refresh was sent, or may have been, and its response is unknown. The token manager replays it once, at `nextAttemptAt`. */
export class RefreshInDoubtError extends SsoError {
  static override readonly name: string = 'RefreshInDoubtError'
  static readonly code = 'ERR_SSO_REFRESH_IN_DOUBT'
  /** Seconds since the epoch at which a call may find a new token. */
  readonly nextAttemptAt: number
  constructor(nextAttemptAt: number, options?: SsoErrorOptions) {
    super(
      'ERR_SSO_REFRESH_IN_DOUBT',
      `A token refresh was sent, or may have been, and its answer is not known yet. Try again at ${isoTime(nextAttemptAt)}.`,
      options,
    )
    this.nextAttemptAt = nextAttemptAt
  }
}

/** The option of the token manager by which a refresh is not made yet. */
export type RefreshLimit = 'requestBudget' | 'minRefreshInterval'

/**
 * The refresh is not made yet. The budget of all accounts (`requestBudget`) has no place for it within the time that a request may
 * take; or `refresh()` is to replace an access token that does not work, and that came of a refresh less than
 * `minRefreshInterval` ago. Nothing was sent, and nothing has changed.
 */
export class RefreshBudgetError extends SsoError {
  static override readonly name: string = 'RefreshBudgetError'
  static readonly code = 'ERR_SSO_REFRESH_BUDGET'
  /** Seconds since the epoch at which it can be made. */
  readonly nextAttemptAt: number
  readonly limit: RefreshLimit
  constructor(nextAttemptAt: number, options?: SsoErrorOptions, limit: RefreshLimit = 'requestBudget') {
    super(
      'ERR_SSO_REFRESH_BUDGET',
      `The token has to be refreshed, and ${refreshLimitMessages[limit]}. Try again at ${isoTime(nextAttemptAt)}.`,
      { step: 'token-manager', requestSent: false, ...options },
    )
    this.nextAttemptAt = nextAttemptAt
    this.limit = limit
  }
}

const refreshLimitMessages: Record<RefreshLimit, string> = {
  requestBudget: 'the budget for refreshes is used up for now',
  minRefreshInterval: 'its last refresh is too recent for another one (minRefreshInterval)',
}

/** There is no access token that lives as long as `minValidity` asks for. The one that is there works until `expires_at`. */
export class ShortValidityError extends SsoError {
  static override readonly name: string = 'ShortValidityError'
  static readonly code = 'ERR_SSO_SHORT_VALIDITY'
  /** Seconds since the epoch. */
  readonly expires_at: number
  constructor(expires_at: number, options?: SsoErrorOptions) {
    super(
      'ERR_SSO_SHORT_VALIDITY',
      `The access token ends at ${isoTime(expires_at)}, before minValidity is over, and no longer one is to be had now. Ask for less, or sign in again.`,
      { step: 'token-manager', requestSent: false, ...options },
    )
    this.expires_at = expires_at
  }
}

/**
 * This process leaves refreshes to others (`refresh: 'elsewhere'`) and asks the service nothing. Either no access token works, and
 * nobody has refreshed since `since`; or somebody was to sign in here, and is to do so where tokens are refreshed.
 */
export class RefreshElsewhereError extends SsoError {
  static override readonly name: string = 'RefreshElsewhereError'
  static readonly code = 'ERR_SSO_REFRESH_ELSEWHERE'
  /** Seconds since the epoch; absent where a sign-in was refused. */
  declare readonly since?: number
  constructor(since?: number, options?: SsoErrorOptions) {
    super(
      'ERR_SSO_REFRESH_ELSEWHERE',
      since === undefined
        ? "This process asks the SSO service nothing (refresh: 'elsewhere'). Sign in where tokens are refreshed, into the same store."
        : `Nobody has refreshed since ${isoTime(since)}, and this process leaves that to others (refresh: 'elsewhere'). Look at the one that refreshes.`,
      { step: 'token-manager', requestSent: false, ...options },
    )
    if (since !== undefined) this.since = since
  }
}

/** What is wrong with a token store. */
export type StoreErrorReason =
  | 'unavailable'
  | 'write-failed'
  | 'read-failed'
  | 'permissions'
  | 'corrupt'
  | 'newer-release'
  | 'wrong-key'
  | 'not-sealed'
  | 'duplicate'
  | 'other-client'
  | 'busy'

/** The token store could not be read or written. What was stored is untouched. */
export class StoreError extends SsoError {
  static override readonly name: string = 'StoreError'
  static readonly code = 'ERR_SSO_STORE'
  readonly reason: StoreErrorReason
  /** Which write the record is that could not be read, where the store can tell: a swap over it would replace it. */
  readonly unread: UnreadWrite | undefined
  constructor(reason: StoreErrorReason, message: string, { unread, ...options }: StoreErrorOptions = {}) {
    super('ERR_SSO_STORE', message, { step: 'token-store', requestSent: false, ...options })
    this.reason = reason
    this.unread = unread
  }
}

/** A record that is there and can't be read: its version, and the name of the write where that is known. */
export interface UnreadWrite {
  readonly version: number
  readonly writeId?: string | undefined
}

/** What a {@link StoreError} is made of, in addition to its reason and its message. */
export interface StoreErrorOptions extends SsoErrorOptions {
  readonly unread?: UnreadWrite | undefined
}

/**
 * `save` was given a refresh token that another account was saved with. Both would send it, and the service ends a session
 * whose refresh token comes twice. Nothing was stored: sign in for the second account, or `forget` the first.
 */
export class DuplicateTokenSetError extends StoreError {
  static override readonly name: string = 'DuplicateTokenSetError'
  static override readonly code = 'ERR_SSO_STORE'
  static readonly reason = 'duplicate'
  /** The account that holds it. */
  readonly account: string
  constructor(account: string, options?: SsoErrorOptions) {
    super(
      'duplicate',
      `This token set is saved under another account (${JSON.stringify(account)}). Two accounts can’t share a refresh token: sign in for this one.`,
      options,
    )
    this.account = account
  }
}

/** Whether another copy of this package threw it, and its class there is called as this one here. */
function isOfAnotherCopy(value: unknown, errorClass: ErrorClass): boolean {
  if (typeof value !== 'object' || value === null || !(brand in value) || !('code' in value)) return false
  if (errorClass === SsoError) return true
  // A class of the application's own, made of one of these, inherits the code and is not meant.
  if (!Object.hasOwn(errorClass, 'code')) return false
  const { code, reason } = errorClass
  return value.code === code && (reason === undefined || ('reason' in value && value.reason === reason))
}

const isPlainWord = (text: string): boolean => /^[a-z_]{1,64}$/u.test(text)

function isoTime(epochSeconds: number): string {
  const date = new Date(epochSeconds * 1000)
  return Number.isNaN(date.getTime()) ? 'an unknown time' : date.toISOString()
}

/** A foreign error reduced to what cannot hold a secret: its system code and system call. */
function bareCause(cause: unknown): Error | undefined {
  if (cause === undefined || cause === null) return undefined
  if (cause instanceof SsoError) return cause
  const { code, syscall } = cause as { code?: unknown; syscall?: unknown }
  const bare = new Error([systemWord(syscall), systemWord(code)].filter(Boolean).join(' ') || 'unknown cause')
  // Its stack would only repeat this file.
  delete bare.stack
  return systemWord(code) === undefined ? bare : Object.assign(bare, { code })
}

function systemWord(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Za-z0-9_]{1,64}$/u.test(value) ? value : undefined
}
