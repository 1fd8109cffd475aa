import { describe, expect, it, jest } from '@jest/globals'
import * as core from '@owner-sso/core'
import { ssoErrorAnswer } from '../../src/support.ts'

const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds

const rows: [core.SsoError, number, string?][] = [
  [new core.InvalidCredentialsError(), 401],
  [new core.AccountLockedError(), 401],
  [new core.CaptchaRequiredError(), 401],
  [new core.PasscodeRequiredError('no-passcode'), 401, 'no-passcode'],
  [new core.PasscodeRejectedError('invalid'), 401, 'invalid'],
  [new core.PendingLoginExpiredError(), 401],
  [new core.StateMismatchError(), 401],
  [new core.IssuerMismatchError(), 401],
  [new core.SignedOutError(), 401],
  [new core.ReauthenticationRequiredError('rotated_token_lost'), 401, 'rotated_token_lost'],
  [new core.OtherOwnerError(), 401, 'other_owner'],
  [new core.SessionExistsError(), 409],
  [new core.RegionNotAllowedError('https://elsewhere.example'), 502],
  [new core.TokenRejectedError('invalid_client'), 502],
  [new core.UnexpectedResponseError('it was empty'), 502],
  [new core.UnreachableError('No connection.'), 502],
  [new core.FirewallChallengeError(inSeconds(900)), 503],
  [new core.RefreshInDoubtError(inSeconds(900)), 503],
  [new core.RefreshBudgetError(inSeconds(900)), 503],
  [new core.ShortValidityError(inSeconds(900)), 503],
  [new core.RefreshElsewhereError(inSeconds(-900)), 503],
  [new core.StoreError('unavailable', 'The store is down.'), 503],
  [new core.SsoTimeoutError('Too slow.'), 504],
]

it.each(rows.map(([error, status, reason]) => [error.code, status, error, reason] as const))(
  '%s is answered with %i',
  (code, status, error, reason) => {
    const answer = ssoErrorAnswer(error)
    expect(answer?.status).toBe(status)
    expect(answer?.problem).toEqual({
      title: expect.stringMatching(/^[A-Z][A-Za-z ]+$/u),
      status,
      detail: expect.stringMatching(/^[A-Z][^/:]+\.$/u),
      code,
      ...(reason !== undefined && { reason }),
    })
    expect(Object.keys(answer?.headers ?? {})).toEqual(
      status === 401 ? ['www-authenticate'] : status === 503 ? ['retry-after'] : [],
    )
  },
)

it('has a row for every code that core knows', () => {
  const answered = new Set(rows.map(([{ code }]) => code))
  const classes = Object.values(core).filter(
    // Not the kinds of one of them, which share its code.
    (one) => typeof one === 'function' && Object.getPrototypeOf(one) === core.SsoError,
  )
  expect(answered.size).toBe(22)
  expect(classes.length).toBeLessThanOrEqual(answered.size)
})

describe('Retry-After', () => {
  it.each([
    [900, 900],
    [0.5, 1],
    [1.5, 2],
    [-100, 1],
    [10 * 365 * 86_400, 86_400],
  ])('of a time %d s ahead is %d', (ahead, seconds) => {
    const clock = jest.spyOn(Date, 'now').mockReturnValue(1_790_000_000_000)
    const { headers } = ssoErrorAnswer(new core.FirewallChallengeError(1_790_000_000 + ahead)) ?? {}
    clock.mockRestore()
    expect(headers).toEqual({ 'retry-after': String(seconds) })
  })

  it('is a number whatever the time is', () => {
    const { headers } = ssoErrorAnswer(new core.FirewallChallengeError(Number.NaN)) ?? {}
    expect(headers?.['retry-after']).toBe('5')
  })
})

it('finds an SsoError that caused another error', () => {
  const error = new Error('sign-in is not available', { cause: new core.SsoTimeoutError('Too slow.') })
  expect(ssoErrorAnswer(error)?.status).toBe(504)
})

it('knows an SsoError of another copy of core by its code', () => {
  expect(ssoErrorAnswer(Object.assign(new Error('Sign in first.'), { code: 'ERR_SSO_SIGNED_OUT' }))?.status).toBe(401)
})

it.each([
  undefined,
  null,
  'ERR_SSO_STORE',
  { code: 'ERR_SSO_STORE' },
  new Error('x'),
  Object.assign(new Error('x'), { code: 'toString' }),
])('has no answer to %s', (error) => {
  expect(ssoErrorAnswer(error)).toBeUndefined()
})
