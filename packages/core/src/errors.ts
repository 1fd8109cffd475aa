/**
 * The errors of a sign-in. Those of the token manager, and of every request to the service, are the token manager's
 * own, as is the rule for all of them: no property, message or cause holds a credential, passcode, cookie, verifier, code or token.
 */
import { SsoError, type SsoErrorOptions } from '@owner-sso/token-manager'

/** How sure it is: `rejected`, in the service's words; or its page was `shown-again`, without words that are known here. */
export type CredentialsRejection = 'rejected' | 'shown-again'

/** The service did not accept the identity and credential, or probably not: see `reason`. Ask the person again. */
export class InvalidCredentialsError extends SsoError {
  static override readonly name: string = 'InvalidCredentialsError'
  static readonly code = 'ERR_SSO_INVALID_CREDENTIALS'
  readonly reason: CredentialsRejection
  constructor(reason: CredentialsRejection = 'rejected', options?: SsoErrorOptions) {
    super('ERR_SSO_INVALID_CREDENTIALS', credentialsRejectionMessages[reason], options)
    this.reason = reason
  }
}

const credentialsRejectionMessages: Record<CredentialsRejection, string> = {
  rejected:
    'The SSO service did not accept this e-mail and password. Check both and sign in again; repeating the same pair can lock the account.',
  'shown-again':
    'The SSO service asks for e-mail and password again, in words that are not known here. Probably one of the two is wrong; the account may also be locked. Check both, or sign in on the service’s own website first.',
}

/** The account is locked. Only its owner can unlock it, with the service. */
export class AccountLockedError extends SsoError {
  static override readonly name: string = 'AccountLockedError'
  static readonly code = 'ERR_SSO_ACCOUNT_LOCKED'
  constructor(options?: SsoErrorOptions) {
    super(
      'ERR_SSO_ACCOUNT_LOCKED',
      'The SSO service has locked this account. Unlock it on the service’s own website, then sign in again.',
      options,
    )
  }
}

/** The service wants a captcha solved, which takes a person and a browser: see `createAuthorizationUrl`. */
export class CaptchaRequiredError extends SsoError {
  static override readonly name: string = 'CaptchaRequiredError'
  static readonly code = 'ERR_SSO_CAPTCHA_REQUIRED'
  constructor(options?: SsoErrorOptions) {
    super(
      'ERR_SSO_CAPTCHA_REQUIRED',
      'The SSO service asks for a captcha. Sign in in a browser instead (createAuthorizationUrl and redeemCallback).',
      options,
    )
  }
}

/** What is missing: the passcode; its digits (`empty`); which of several factors it is from; or it has to be entered `in-browser`. */
export type PasscodeRequirement = 'no-passcode' | 'empty' | 'several-factors' | 'in-browser'

/** The account has a second factor, and what was given for it is not enough. */
export class PasscodeRequiredError extends SsoError {
  static override readonly name: string = 'PasscodeRequiredError'
  static readonly code = 'ERR_SSO_PASSCODE_REQUIRED'
  readonly reason: PasscodeRequirement
  constructor(reason: PasscodeRequirement = 'no-passcode', options?: SsoErrorOptions) {
    super('ERR_SSO_PASSCODE_REQUIRED', passcodeRequirementMessages[reason], options)
    this.reason = reason
  }
}

const passcodeRequirementMessages: Record<PasscodeRequirement, string> = {
  'no-passcode': 'This account has a second factor. Give login() a passcode, or use beginLogin() and completeLogin().',
  empty: 'The passcode is empty. Enter the one that the device shows now, or a backup code.',
  'several-factors':
    'This account has several second factors. Say which one the passcode is from (factorId); it is never guessed.',
  'in-browser': 'This account has a second factor, which has to be completed in the browser. Sign in again there.',
}

/** Why a passcode was not taken. `too-many-attempts` needs a new login; the others need another passcode or factor. */
export type PasscodeRejection = 'invalid' | 'replayed' | 'unknown-factor' | 'too-many-attempts'

/** The service did not accept the passcode. The pending login stays usable, unless there were too many attempts. */
export class PasscodeRejectedError extends SsoError {
  static override readonly name: string = 'PasscodeRejectedError'
  static readonly code = 'ERR_SSO_PASSCODE_REJECTED'
  readonly reason: PasscodeRejection
  constructor(reason: PasscodeRejection, options?: SsoErrorOptions) {
    super('ERR_SSO_PASSCODE_REJECTED', passcodeRejectionMessages[reason], options)
    this.reason = reason
  }
}

const passcodeRejectionMessages: Record<PasscodeRejection, string> = {
  invalid: 'The SSO service did not accept this passcode. Enter the current one of the chosen device.',
  replayed: 'This passcode was used before. Wait for the next one and enter that.',
  'unknown-factor': 'The SSO service does not know this factor. Choose one of the factors it listed.',
  'too-many-attempts': 'Too many wrong passcodes. Sign in again from the start.',
}

/** The pending login is too old, was completed already, was changed, or the service has forgotten it. Sign in again from the start. */
export class PendingLoginExpiredError extends SsoError {
  static override readonly name: string = 'PendingLoginExpiredError'
  static readonly code = 'ERR_SSO_PENDING_LOGIN_EXPIRED'
  constructor(options?: SsoErrorOptions) {
    super('ERR_SSO_PENDING_LOGIN_EXPIRED', 'This sign-in has expired. Sign in again from the start.', options)
  }
}

/** `state` of the redirect is not the one of this login (RFC 6749 section 10.12). The code was not redeemed. */
export class StateMismatchError extends SsoError {
  static override readonly name: string = 'StateMismatchError'
  static readonly code = 'ERR_SSO_STATE_MISMATCH'
  constructor(options?: SsoErrorOptions) {
    super(
      'ERR_SSO_STATE_MISMATCH',
      'The answer does not belong to this sign-in (state differs). Sign in again from the start.',
      options,
    )
  }
}

/** `issuer` of the redirect is missing, or not the instance that served the login (the meaning of RFC 9207). The code was not redeemed. */
export class IssuerMismatchError extends SsoError {
  static override readonly name: string = 'IssuerMismatchError'
  static readonly code = 'ERR_SSO_ISSUER_MISMATCH'
  constructor(options?: SsoErrorOptions) {
    super(
      'ERR_SSO_ISSUER_MISMATCH',
      'The answer names a different issuer than the configured SSO service. Sign in again from the start.',
      options,
    )
  }
}
