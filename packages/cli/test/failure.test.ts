/** What the command line says of an error that nobody foresaw. */
import { describe, expect, it } from '@jest/globals'
import {
  FirewallChallengeError,
  OtherOwnerError,
  PasscodeRejectedError,
  ReauthenticationRequiredError,
  RefreshBudgetError,
  RefreshInDoubtError,
  RegionNotAllowedError,
  SsoError,
  type SsoErrorCode,
  StoreError,
} from '@owner-sso/core'
import { failureOf } from '../src/failure.ts'

describe('a refresh for which the budget has no place', () => {
  it('says when to try again', () => {
    const failure = failureOf(new RefreshBudgetError(Date.now() / 1000 + 120))
    expect(failure).toMatchObject({ exitCode: 7, code: 'ERR_SSO_REFRESH_BUDGET' })
    expect(failure.next).toMatch(/^Try again in \d min/u)
  })
})

describe('an error that is not one of ours', () => {
  it.each([
    [new TypeError('something broke'), 'something broke'],
    ['a text that was thrown', 'a text that was thrown'],
    [undefined, 'undefined'],
  ])('%p is a bug, with a code of its own', (error, message) => {
    expect(failureOf(error)).toEqual({
      exitCode: 1,
      code: 'ERR_SSO_CLI_UNEXPECTED',
      message,
      next: expect.stringContaining('report it'),
    })
  })
})

describe('a failure that core knows', () => {
  const codes: Readonly<Record<SsoErrorCode, true>> = {
    ERR_SSO_INVALID_CREDENTIALS: true,
    ERR_SSO_ACCOUNT_LOCKED: true,
    ERR_SSO_CAPTCHA_REQUIRED: true,
    ERR_SSO_PASSCODE_REQUIRED: true,
    ERR_SSO_PASSCODE_REJECTED: true,
    ERR_SSO_PENDING_LOGIN_EXPIRED: true,
    ERR_SSO_REGION_NOT_ALLOWED: true,
    ERR_SSO_STATE_MISMATCH: true,
    ERR_SSO_ISSUER_MISMATCH: true,
    ERR_SSO_FIREWALL_CHALLENGE: true,
    ERR_SSO_REAUTHENTICATION_REQUIRED: true,
    ERR_SSO_TOKEN_REJECTED: true,
    ERR_SSO_UNEXPECTED_RESPONSE: true,
    ERR_SSO_TIMEOUT: true,
    ERR_SSO_UNREACHABLE: true,
    ERR_SSO_SIGNED_OUT: true,
    ERR_SSO_SESSION_EXISTS: true,
    ERR_SSO_REFRESH_IN_DOUBT: true,
    ERR_SSO_REFRESH_BUDGET: true,
    ERR_SSO_STORE: true,
  }

  it('has an exit code, a sentence and what to do next, as in the last release', () => {
    // Those that tell more are below.
    const told = { reason: 'no_refresh_token', nextAttemptAt: 0, origin: undefined }
    const errorOf = (code: string): SsoError =>
      Object.assign(new SsoError(code as SsoErrorCode, 'core’s sentence'), told)
    expect(Object.keys(codes).map((code) => failureOf(errorOf(code)))).toMatchSnapshot()
  })

  it('and says more where the error does', () => {
    const past = Date.now() / 1000 - 1
    const soon = Date.now() / 1000 + 30
    const reasons = [
      'unavailable',
      'write-failed',
      'read-failed',
      'permissions',
      'corrupt',
      'wrong-key',
      'busy',
    ] as const
    const errors = [
      new PasscodeRejectedError('invalid'),
      new PasscodeRejectedError('too-many-attempts'),
      new RegionNotAllowedError('https://other.example'),
      new RegionNotAllowedError(undefined),
      ...[FirewallChallengeError, RefreshInDoubtError, RefreshBudgetError].map((Kind) => new Kind(past)),
      new ReauthenticationRequiredError('rotated_token_lost'),
      new ReauthenticationRequiredError('refresh_token_rejected', {}, 'its words'),
      new OtherOwnerError(),
      ...reasons.map((reason) => new StoreError(reason, 'core’s sentence')),
    ]
    expect(errors.map(failureOf).map(({ message, next }) => [message, next])).toMatchSnapshot()
    expect(failureOf(new FirewallChallengeError(soon)).next).toMatch(/^Try again in 1 min, at /u)
  })

  it('of a record that does not open asks about the key, where there is one', () => {
    process.env['OWNER_SSO_ENCRYPTION_KEY'] = 'key'
    try {
      expect(failureOf(new StoreError('corrupt', '')).next).toContain('owner-sso copy --from-plain')
      expect(failureOf(new StoreError('busy', '')).next).toBe('Try again in a moment.')
    } finally {
      delete process.env['OWNER_SSO_ENCRYPTION_KEY']
    }
  })
})
