/** What the strategy makes of an account, a body, an error and a waiting login: each field at its limit and one beyond. */
import {
  AccountLockedError,
  CaptchaRequiredError,
  FirewallChallengeError,
  InvalidCredentialsError,
  IssuerMismatchError,
  ownerOfEmail,
  PasscodeRejectedError,
  PasscodeRequiredError,
  PendingLoginExpiredError,
  RefreshBudgetError,
  type SsoError,
  SsoTimeoutError,
  StateMismatchError,
  StoreError,
  TokenRejectedError,
  UnexpectedResponseError,
  UnreachableError,
} from '@owner-sso/core'
import { describe, expect, it, jest } from '@jest/globals'
import { askFor, callbackFailureOutcome, failureOutcome, missing } from '../src/failures.ts'
import { profileOf } from '../src/owner.ts'
import { memoryPendingLogins } from '../src/pending-logins.ts'
import { type FieldNames, requestFields } from '../src/request-fields.ts'
import { ssoOf } from '../src/sso-options.ts'
import { submissions } from '../src/submissions.ts'
import { SignInUnavailableError } from '../src/unavailable.ts'
import { afterOneMoreTry, isOver, startWaiting, triesLeft, viewOf, type WaitingLogin } from '../src/waiting-login.ts'

describe('the profile of an owner', () => {
  it('has the account’s name, and the e-mail where one is known', () => {
    expect(profileOf({ account: 'sub:1' })).toEqual({ provider: 'owner-sso', id: 'sub:1', displayName: 'sub:1' })
    expect(profileOf(ownerOfEmail('Jo@example.com'))).toEqual({
      provider: 'owner-sso',
      id: 'jo@example.com',
      displayName: 'Jo@example.com',
      emails: [{ value: 'Jo@example.com' }],
    })
  })
})

describe('the fields of a body', () => {
  const names: FieldNames = {
    identity: 'email',
    credential: 'password',
    passcode: 'otp',
    factor: 'device',
    backupCode: 'spare',
    callbackUrl: 'address',
  }
  const none = { identity: '', credential: '', passcode: '', factor: '', backupCode: '', callbackUrl: '' }

  it.each<[keyof FieldNames, number]>([
    ['identity', 320],
    ['credential', 1024],
    ['passcode', 64],
    ['factor', 256],
    ['backupCode', 64],
    ['callbackUrl', 8192],
  ])('%s has %i characters at the most', (field, most) => {
    const read = (value: unknown): unknown => requestFields({ [names[field]]: value }, names)
    expect(read('x'.repeat(most))).toEqual({ ...none, [field]: 'x'.repeat(most) })
    for (const wrong of ['x'.repeat(most + 1), ['x'], 7, null, undefined, {}]) expect(read(wrong)).toEqual(none)
    const inherited: unknown = Object.create({ [names[field]]: 'x' })
    expect(requestFields(inherited, names)).toEqual(none)
    for (const body of [undefined, null, 'email=x', 7, []]) expect(requestFields(body, names)).toEqual(none)
  })

  it('lose the spaces around them, codes all of theirs, a password none', () => {
    const body = Object.fromEntries(Object.values(names).map((name: string) => [name, ' 12 3\t']))
    expect(requestFields(body, names)).toEqual({
      identity: '12 3',
      credential: ' 12 3\t',
      passcode: '123',
      factor: ' 12 3\t',
      backupCode: '123',
      callbackUrl: '12 3',
    })
  })
})

describe('an error becomes', () => {
  const details = { triesLeft: 3, url: 'https://auth.example.com' }

  it.each<[SsoError, object]>([
    [new InvalidCredentialsError(), {}],
    [new AccountLockedError(), {}],
    [new CaptchaRequiredError(), { message: expect.stringContaining('with your browser') }],
    [new PasscodeRequiredError(), {}],
    [new PasscodeRejectedError('replayed'), { reason: 'replayed' }],
    [new PendingLoginExpiredError(), {}],
  ])('what the person can correct: %s', (error, more) => {
    const { code, message } = error
    expect(failureOutcome(error, details)).toEqual({
      kind: 'fail',
      status: 401,
      info: { code, message, ...details, ...more },
    })
    expect(failureOutcome(error, { message: 'other' })).toMatchObject({ info: { message: 'other' } })
    expect(callbackFailureOutcome(error)).toEqual(failureOutcome(error))
  })

  it.each<[SsoError, number, object]>([
    [new SsoTimeoutError('x'), 504, {}],
    [new FirewallChallengeError(0), 503, { 'Retry-After': '1' }],
    [new RefreshBudgetError(0), 503, { 'Retry-After': '1' }],
    [new UnreachableError('x'), 503, {}],
    [new StoreError('busy', 'x'), 503, {}],
    [new UnexpectedResponseError('x'), 502, {}],
    [new TokenRejectedError('x'), 502, {}],
    [new StateMismatchError(), 502, {}],
  ])('an answer for the browser where nobody can: %s', (error, status, headers) => {
    const outcome = failureOutcome(error)
    expect(outcome).toEqual({ kind: 'error', error: expect.any(SignInUnavailableError) })
    expect(Reflect.get(outcome, 'error')).toMatchObject({
      name: 'SignInUnavailableError',
      code: error.code,
      message: error.message,
      cause: error,
      status,
      headers,
    })
  })

  it('itself where it is none of ours', () => {
    const error = new TypeError('x')
    for (const outcome of [failureOutcome(error), callbackFailureOutcome(error)])
      expect(outcome).toEqual({ kind: 'error', error })
  })

  it.each<[SsoError, string]>([
    [new StateMismatchError({ step: 'callback' }), 'another sign-in'],
    [new IssuerMismatchError({ step: 'callback' }), 'does not come from'],
    [new UnexpectedResponseError('x', { step: 'callback' }), 'not the address'],
    [new PendingLoginExpiredError({ step: 'callback' }), 'was used before. Follow a new'],
    [new TokenRejectedError('invalid_grant', { step: 'code-exchange' }), 'used before or is too old'],
  ])('words about the address that was pasted: %s, %s', (error, words) => {
    expect(callbackFailureOutcome(error, details)).toEqual({
      kind: 'fail',
      status: 401,
      info: { code: error.code, message: expect.stringContaining(words), ...details },
    })
  })

  it.each<[SsoError]>([
    [new UnexpectedResponseError('x', { step: 'code-exchange' })],
    [new StateMismatchError({ step: 'form-submission' })],
    [new UnreachableError('x', { step: 'callback' })],
  ])('no words about the address where it is not at fault: %s', (error) => {
    expect(callbackFailureOutcome(error, details)).toEqual({ kind: 'error', error: expect.any(SignInUnavailableError) })
  })

  it('and what is missing is asked for: on a page of its own, where there is one', () => {
    expect(missing('Enter it.')).toEqual({
      kind: 'fail',
      status: 400,
      info: { code: 'ERR_SSO_CREDENTIALS_MISSING', message: 'Enter it.' },
    })
    const more = { code: 'ERR_SSO_CALLBACK_REQUIRED', message: 'Follow.' } as const
    expect(askFor(more, undefined)).toEqual({ kind: 'fail', status: 401, info: more })
    expect(askFor(more, '/next')).toEqual({ kind: 'redirect', url: '/next' })
  })
})

describe('a waiting login', () => {
  const factors = [{ id: 'f', name: 'Phone', factorType: 'token' }]
  const pending = { kind: 'owner-sso/pending-login' as const, expires_at: 7 }
  const waiting = (expiresAt: number): WaitingLogin => ({
    ...startWaiting(expiresAt),
    step: 'passcode',
    identity: 'jo@example.com',
    factors,
    pending,
  })

  it('has five tries, and a name of 128 bits', () => {
    let login: WaitingLogin | undefined = waiting(7)
    const { id } = login
    expect(Buffer.from(id, 'base64url')).toHaveLength(16)
    expect(startWaiting(7)).toEqual({ id: expect.not.stringContaining(id), tries: 0, expires_at: 7 })
    const left: number[] = []
    for (; login !== undefined; login = afterOneMoreTry(login)) {
      expect(login).toEqual({ ...waiting(7), id, tries: left.length })
      left.push(triesLeft(login))
    }
    expect(left).toEqual([5, 4, 3, 2, 1])
  })

  it('shows what the next page needs, and nothing that is secret', () => {
    expect(viewOf(waiting(7))).toStrictEqual({
      step: 'passcode',
      identity: 'jo@example.com',
      factors,
      triesLeft: 5,
      expires_at: 7,
    })
    const request = { kind: 'owner-sso/authorization-request' as const, state: 's' } as never
    expect(viewOf({ ...startWaiting(8), tries: 1, step: 'callback', url: 'https://a', request })).toStrictEqual({
      step: 'callback',
      url: 'https://a',
      triesLeft: 4,
      expires_at: 8,
    })
  })

  it('is over when its time is, and is forgotten then', () => {
    const now = 1_790_000_000
    const clock = jest.spyOn(Date, 'now').mockReturnValue(now * 1000)
    try {
      expect([isOver(waiting(now + 0.001)), isOver(waiting(now))]).toEqual([false, true])
      const logins = memoryPendingLogins()
      const handle = logins.keep(waiting(now + 60))
      expect(logins.peek(handle)).toBeDefined()
      clock.mockReturnValue((now + 60) * 1000)
      expect(logins.peek(handle)).toBeUndefined()
    } finally {
      clock.mockRestore()
    }
  })
})

describe('an answer', () => {
  it('that is submitted twice is sent once; another one, or one somewhere else, by itself', async () => {
    const sends: ((end: string) => void)[] = []
    const send = (): Promise<string> => new Promise((resolve) => sends.push(resolve))
    const under = submissions<string>()
    const first = under.submit('here', 'a', send)
    expect([under.again('here', 'b'), under.again('there', 'a')]).toEqual([undefined, undefined])
    const joined = under.again('here', 'a')
    const other = under.submit('here', 'b', send)
    // The first is still the one to be joined, also once the other one has ended.
    expect(under.again('here', 'b')).toBeUndefined()
    sends[1]?.('second')
    expect(await other).toBe('second')
    expect(under.again('here', 'a')).toBeDefined()
    sends[0]?.('first')
    expect([await first, await joined]).toEqual(['first', 'first'])
    expect(under.again('here', 'a')).toBeUndefined()
    const failed = under.submit('here', 'a', () => Promise.reject(new Error('x')))
    await expect(failed).rejects.toThrow('x')
    expect(under.again('here', 'a')).toBeUndefined()
  })
})

describe('the service of a strategy', () => {
  const authUrl = 'https://auth.example.com'

  it('is described by options of createSso, in one place alone', () => {
    const names = [
      'authUrl',
      'regionalAuthUrls',
      'redirectUri',
      'codeChallengeEncoding',
      'accessTokenLifetime',
      'transport',
      'userAgent',
      'tls',
      'timeout',
      'proxy',
      'firewallCooldown',
    ]
    for (const name of names) {
      expect(() => ssoOf({ sso: { authUrl }, [name]: 'x' })).toThrow(`${name} can't be given together with sso`)
    }
    expect(() => ssoOf({ sso: { authUrl }, timeout: 1, proxy: 'x' })).toThrow('timeout, proxy can’t'.replace('’', "'"))
    for (const wrong of [null, 'x', 7]) expect(() => ssoOf({ sso: wrong as never })).toThrow('sso must be')
  })

  it('is what the environment names, unless an option says otherwise', () => {
    const variables = ['AUTH_URL', 'REGIONAL_AUTH_URLS', 'REDIRECT_URI', 'TRANSPORT'].map((name) => `OWNER_SSO_${name}`)
    const set = (...values: (string | undefined)[]): void => {
      for (const [index, name] of variables.entries()) {
        const value = values[index]
        if (value === undefined) delete process.env[name]
        else process.env[name] = value
      }
    }
    const addressOf = (options: object): URL => new URL(ssoOf(options).createAuthorizationUrl().url)
    try {
      set(authUrl)
      expect(addressOf({}).searchParams.get('redirect_uri')).toBe(`${authUrl}/void/callback`)
      set(authUrl, undefined, 'owner-app://callback')
      expect(addressOf({}).origin).toBe(authUrl)
      expect(addressOf({}).searchParams.get('redirect_uri')).toBe('owner-app://callback')
      expect(addressOf({ redirectUri: 'own://x' }).searchParams.get('redirect_uri')).toBe('own://x')
      // What the environment says is about its own service alone.
      const other = 'https://other.example.com'
      expect(addressOf({ authUrl: other }).searchParams.get('redirect_uri')).toBe(`${other}/void/callback`)
      set(authUrl, ' , ', '', '')
      expect(addressOf({}).origin).toBe(authUrl)
      set(authUrl, 'nowhere')
      expect(() => ssoOf({})).toThrow('regionalAuthUrls')
    } finally {
      set()
    }
  })
})
