/** What a failure means to the person at the terminal: the exit code that is documented for it, and what to do next. */
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
import { failureOf } from '../src/command-line/failure.ts'

const documented: Readonly<Record<SsoErrorCode, number>> = {
  ERR_SSO_INVALID_CREDENTIALS: 4,
  ERR_SSO_ACCOUNT_LOCKED: 4,
  ERR_SSO_CAPTCHA_REQUIRED: 3,
  ERR_SSO_PASSCODE_REQUIRED: 2,
  ERR_SSO_PASSCODE_REJECTED: 4,
  ERR_SSO_PENDING_LOGIN_EXPIRED: 3,
  ERR_SSO_REGION_NOT_ALLOWED: 2,
  ERR_SSO_STATE_MISMATCH: 3,
  ERR_SSO_ISSUER_MISMATCH: 3,
  ERR_SSO_FIREWALL_CHALLENGE: 5,
  ERR_SSO_REAUTHENTICATION_REQUIRED: 3,
  ERR_SSO_TOKEN_REJECTED: 1,
  ERR_SSO_UNEXPECTED_RESPONSE: 1,
  ERR_SSO_TIMEOUT: 7,
  ERR_SSO_UNREACHABLE: 7,
  ERR_SSO_SIGNED_OUT: 3,
  ERR_SSO_SESSION_EXISTS: 2,
  ERR_SSO_REFRESH_IN_DOUBT: 7,
  ERR_SSO_REFRESH_BUDGET: 7,
  ERR_SSO_SHORT_VALIDITY: 7,
  ERR_SSO_STORE: 6,
}

describe('a failure that core knows', () => {
  /** Those of which more is told have a reason. */
  const withReason: Partial<Record<string, SsoError>> = {
    ERR_SSO_REAUTHENTICATION_REQUIRED: new ReauthenticationRequiredError('no_refresh_token'),
    ERR_SSO_STORE: new StoreError('unavailable', 'core’s sentence'),
  }

  it.each(Object.entries(documented))('%s ends with %i, and says what to do next', (code, exitCode) => {
    const failure = failureOf(withReason[code] ?? new SsoError(code as SsoErrorCode, 'core’s sentence'))
    expect(failure).toMatchObject({ code, exitCode })
    expect(failure.next).toMatch(/^[A-Z].*\S$/su)
  })

  const soon = Date.now() / 1000 + 30
  it.each<[string, Error, RegExp]>([
    ['a block, until when', new FirewallChallengeError(soon), /^Try again in 1 min, at /u],
    ['a doubt, until when', new RefreshInDoubtError(soon), /^Try again in 1 min, at /u],
    ['a budget, until when', new RefreshBudgetError(soon), /^Try again in 1 min, at /u],
    ['what is over, that it is', new FirewallChallengeError(1), /^Try again now\.$/u],
    ['a passcode, the clock', new PasscodeRejectedError('invalid'), /clock \(owner-sso doctor\)/u],
    [
      'a region, how it is allowed',
      new RegionNotAllowedError('https://a.example'),
      /--regional-auth-url https:\/\/a\./u,
    ],
    [
      'a dead sign-in, how to begin another',
      new ReauthenticationRequiredError('refresh_token_rejected'),
      /owner-sso login/u,
    ],
    ['a key that is wrong, which is right', new StoreError('wrong-key', ''), /OWNER_SSO_ENCRYPTION_KEY/u],
    ['a newer record, to keep it', new StoreError('newer-release', ''), /Don’t remove the record/u],
  ])('tells of %s', (_what, error, next) => expect(failureOf(error).next).toMatch(next))

  it('says in whose words a sign-in ended, and whose tokens were imported', () => {
    const quoted = new ReauthenticationRequiredError('refresh_token_rejected', {}, 'its words')
    expect(failureOf(quoted).message).toContain('the service says “its words”')
    expect(failureOf(new OtherOwnerError()).message).toContain('belongs to another owner')
  })
})

it.each([
  [new TypeError('something broke'), 'something broke'],
  ['a text that was thrown', 'a text that was thrown'],
  [undefined, 'undefined'],
])('what is not one of ours (%p) is a bug, with a code of its own', (error, message) => {
  const next = expect.stringContaining('report it')
  expect(failureOf(error)).toEqual({ exitCode: 1, code: 'ERR_SSO_CLI_UNEXPECTED', message, next })
})
