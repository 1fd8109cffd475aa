/** What each error tells, and of which class it is. */
import { describe, expect, it } from '@jest/globals'
import * as core from '../src/index.ts'
import {
  DuplicateTokenSetError,
  OtherOwnerError,
  ReauthenticationRequiredError,
  SsoError,
  SsoTimeoutError,
  StoreError,
} from '../src/index.ts'

const authUrl = 'https://auth.example.com'

describe('an error', () => {
  const epoch = 1_790_000_000
  const iso = new Date(epoch * 1000).toISOString()
  /** One of each class, with its own facts. */
  const made: readonly [core.SsoError, object][] = [
    [new core.InvalidCredentialsError(), { code: 'ERR_SSO_INVALID_CREDENTIALS' }],
    [new core.AccountLockedError(), { code: 'ERR_SSO_ACCOUNT_LOCKED' }],
    [new core.CaptchaRequiredError(), { code: 'ERR_SSO_CAPTCHA_REQUIRED' }],
    [new core.PasscodeRequiredError(), { code: 'ERR_SSO_PASSCODE_REQUIRED', reason: 'no-passcode' }],
    [new core.PasscodeRejectedError('replayed'), { code: 'ERR_SSO_PASSCODE_REJECTED', reason: 'replayed' }],
    [new core.PendingLoginExpiredError(), { code: 'ERR_SSO_PENDING_LOGIN_EXPIRED' }],
    [
      new core.RegionNotAllowedError(authUrl),
      { code: 'ERR_SSO_REGION_NOT_ALLOWED', origin: authUrl, message: expect.stringContaining(`${authUrl} is not`) },
    ],
    [new core.StateMismatchError(), { code: 'ERR_SSO_STATE_MISMATCH' }],
    [new core.IssuerMismatchError(), { code: 'ERR_SSO_ISSUER_MISMATCH' }],
    [
      new core.FirewallChallengeError(epoch),
      { code: 'ERR_SSO_FIREWALL_CHALLENGE', nextAttemptAt: epoch, message: expect.stringContaining(iso) },
    ],
    [
      new core.ReauthenticationRequiredError('rotated_token_lost', {}, 'gone'),
      {
        code: 'ERR_SSO_REAUTHENTICATION_REQUIRED',
        reason: 'rotated_token_lost',
        description: 'gone',
        message: 'This account has to sign in again (rotated token lost; the service says “gone”).',
      },
    ],
    [
      new core.TokenRejectedError('invalid_scope', {}, 'no'),
      {
        code: 'ERR_SSO_TOKEN_REJECTED',
        error: 'invalid_scope',
        description: 'no',
        message: expect.stringContaining('(invalid_scope: “no”)'),
      },
    ],
    [new core.UnexpectedResponseError('x'), { code: 'ERR_SSO_UNEXPECTED_RESPONSE' }],
    [new core.SsoTimeoutError('x'), { code: 'ERR_SSO_TIMEOUT', message: 'x' }],
    [new core.UnreachableError('x'), { code: 'ERR_SSO_UNREACHABLE', message: 'x' }],
    [new core.SignedOutError(), { code: 'ERR_SSO_SIGNED_OUT' }],
    [new core.SessionExistsError(), { code: 'ERR_SSO_SESSION_EXISTS' }],
    [
      new core.RefreshInDoubtError(epoch),
      { code: 'ERR_SSO_REFRESH_IN_DOUBT', nextAttemptAt: epoch, message: expect.stringContaining(iso) },
    ],
    [
      new core.RefreshBudgetError(epoch),
      {
        code: 'ERR_SSO_REFRESH_BUDGET',
        nextAttemptAt: epoch,
        limit: 'requestBudget',
        step: 'token-manager',
        requestSent: false,
        message: expect.stringContaining(iso),
      },
    ],
    [
      new core.StoreError('busy', 'x'),
      { code: 'ERR_SSO_STORE', reason: 'busy', step: 'token-store', requestSent: false, message: 'x' },
    ],
  ]

  it.each(made.map(([error, facts]) => [error.name, error, facts] as const))(
    'has its name, its code and what it knows: %s',
    (_name, error, facts) => {
      const { name, message, ...own } = Object.assign({}, error, { name: error.name, message: error.message })
      expect({ name, message, ...own }).toEqual({
        name: error.constructor.name,
        message: expect.stringMatching(/^.+$/u),
        requestSent: true,
        ...facts,
      })
      // And no other class, of this copy or another.
      const copy = { [Symbol.for('@owner-sso/core error')]: true, ...own }
      for (const [other] of made) {
        const { constructor } = other
        expect([constructor.name, error instanceof constructor]).toEqual([constructor.name, other === error])
        expect([constructor.name, copy instanceof constructor]).toEqual([constructor.name, other === error])
      }
      expect(copy instanceof core.SsoError).toBe(true)
    },
  )

  it('has where it happened, and of its cause the system’s words alone', () => {
    const where = { step: 'refresh', status: 500, requestSent: false } as const
    expect(new core.UnreachableError('x', where)).toMatchObject(where)
    expect(new core.StoreError('busy', 'x', { step: 'refresh', requestSent: true })).toMatchObject({
      step: 'refresh',
      requestSent: true,
    })
    const causeOf = (cause: unknown): unknown => new core.UnreachableError('x', { cause }).cause
    expect([causeOf(undefined), causeOf(null)]).toEqual([undefined, undefined])
    expect('cause' in new core.UnreachableError('x')).toBe(false)
    const own = new core.SignedOutError()
    expect(causeOf(own)).toBe(own)
    const told = (cause: unknown): unknown => {
      const bare = causeOf(cause)
      return bare instanceof Error ? [bare.message, bare.stack, Object.assign({}, bare)] : bare
    }
    expect(told({ code: 'ECONNRESET', syscall: 'read' })).toEqual([
      'read ECONNRESET',
      undefined,
      { code: 'ECONNRESET' },
    ])
    expect(told({ syscall: 'read', code: 7 })).toEqual(['read', undefined, {}])
    expect(told('secret')).toEqual(['unknown cause', undefined, {}])
    const { message } = new core.FirewallChallengeError(Number.NaN)
    expect(message).toContain('an unknown time')
    expect(Object.hasOwn(new core.RegionNotAllowedError(undefined), 'origin')).toBe(false)
    expect(new core.RegionNotAllowedError(undefined).message).toMatch(/^An unreadable address is not/u)
    expect(new core.OtherOwnerError().message).toContain('belongs to another owner')
    for (const plain of [new core.ReauthenticationRequiredError('no_refresh_token'), new core.TokenRejectedError('x')])
      expect([Object.hasOwn(plain, 'description'), plain.message.includes('“')]).toEqual([false, false])
    expect(new core.DuplicateTokenSetError('ann')).toMatchObject({
      account: 'ann',
      reason: 'duplicate',
      message: expect.stringContaining('"ann"'),
    })
  })

  it.each(['no-passcode', 'several-factors', 'in-browser'] as const)('of a passcode that is required: %s', (reason) => {
    expect(new core.PasscodeRequiredError(reason)).toMatchObject({ reason, message: expect.stringContaining('second') })
  })
})

describe('an error is of a class', () => {
  const errors: readonly SsoError[] = [
    new StoreError('busy', 'x'),
    new DuplicateTokenSetError('ann'),
    new ReauthenticationRequiredError('rotated_token_lost'),
    new OtherOwnerError(),
    new SsoTimeoutError('x'),
  ]
  const classes = [
    SsoError,
    StoreError,
    DuplicateTokenSetError,
    ReauthenticationRequiredError,
    OtherOwnerError,
    SsoTimeoutError,
  ]
  const namesOf = (value: unknown): string[] => classes.filter((one) => value instanceof one).map((one) => one.name)

  it('and of those that it is a kind of, from another copy of this package as well', () => {
    const expected = [
      ['SsoError', 'StoreError'],
      ['SsoError', 'StoreError', 'DuplicateTokenSetError'],
      ['SsoError', 'ReauthenticationRequiredError'],
      ['SsoError', 'ReauthenticationRequiredError', 'OtherOwnerError'],
      ['SsoError', 'SsoTimeoutError'],
    ]
    expect(errors.map(namesOf)).toEqual(expected)
    const brand = Symbol.for('@owner-sso/core error')
    const copies = errors.map((error) => ({
      [brand]: true,
      code: error.code,
      ...Object.fromEntries(Object.entries(error)),
    }))
    expect(copies.map(namesOf)).toEqual(expected)
  })

  it('where it has the brand and a code', () => {
    for (const other of [null, undefined, 'ERR_SSO_STORE', { code: 'ERR_SSO_STORE' }, new Error('x')])
      expect(namesOf(other)).toEqual([])
    expect(namesOf({ [Symbol.for('@owner-sso/core error')]: true })).toEqual([])
  })
})
