import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { useEmulator } from '@owner-sso/emulator/jest'
import * as core from '../src/index.ts'
import { createSso, type Sso } from '../src/index.ts'
import { redirectToCallback, type SmallService, startSmallService } from './small-service.ts'

const credential = 'correct horse'
const emulator = useEmulator({
  accounts: [
    { identity: 'plain@example.com', credential },
    { identity: 'locked@example.com', credential, locked: true },
    { identity: 'captcha@example.com', credential, captcha: true },
    { identity: 'later@example.com', credential, captcha: 'after-submission' },
    { identity: 'mfa@example.com', credential, totpSecret: 'JBSWY3DPEHPK3PXP' },
    { identity: 'regional@example.com', credential, region: 'regional' },
  ],
})
let service: SmallService
let sso: Sso
beforeAll(async () => {
  service = await startSmallService()
})
afterAll(async () => {
  await service.close()
})
beforeEach(() => {
  sso = createSso({ authUrl: emulator.authUrl })
})

const soon = 1_790_000_000
type ErrorClass = (abstract new (...given: never[]) => core.SsoError) & {
  readonly [Symbol.hasInstance]: (value: unknown) => boolean
}
/** One of each class that a caller may meet, and the classes that it is of beside SsoError. */
const errors: readonly (readonly [core.SsoError, ...ErrorClass[]])[] = [
  [new core.InvalidCredentialsError(), core.InvalidCredentialsError],
  [new core.AccountLockedError(), core.AccountLockedError],
  [new core.CaptchaRequiredError(), core.CaptchaRequiredError],
  [new core.PasscodeRequiredError('several-factors'), core.PasscodeRequiredError],
  [new core.PasscodeRejectedError('replayed'), core.PasscodeRejectedError],
  [new core.PendingLoginExpiredError(), core.PendingLoginExpiredError],
  [new core.RegionNotAllowedError('https://auth.example.cn'), core.RegionNotAllowedError],
  [new core.StateMismatchError(), core.StateMismatchError],
  [new core.IssuerMismatchError(), core.IssuerMismatchError],
  [new core.FirewallChallengeError(soon), core.FirewallChallengeError],
  [new core.ReauthenticationRequiredError('rotated_token_lost'), core.ReauthenticationRequiredError],
  [new core.OtherOwnerError(), core.OtherOwnerError, core.ReauthenticationRequiredError],
  [new core.TokenRejectedError('invalid_scope'), core.TokenRejectedError],
  [new core.UnexpectedResponseError('it was empty'), core.UnexpectedResponseError],
  [new core.SsoTimeoutError('Too slow.'), core.SsoTimeoutError],
  [new core.UnreachableError('No connection.'), core.UnreachableError],
  [new core.SignedOutError(), core.SignedOutError],
  [new core.SessionExistsError(), core.SessionExistsError],
  [new core.RefreshInDoubtError(soon), core.RefreshInDoubtError],
  [new core.RefreshBudgetError(soon), core.RefreshBudgetError],
  [new core.StoreError('busy', 'Busy.'), core.StoreError],
  [new core.DuplicateTokenSetError('ann'), core.DuplicateTokenSetError, core.StoreError],
]
const classes = errors.flatMap(([, own]) => own ?? [])

it.each(errors.map(([error, ...own]) => ({ name: error.name, error, own })))(
  '$name is of its class and no other, also where another copy of this package made it',
  ({ name, error, own }) => {
    const copy = { [Symbol.for('@owner-sso/core error')]: true, ...Object.fromEntries(Object.entries(error)) }
    expect(name).toBe(own[0]?.name)
    for (const value of [error, copy]) {
      expect(value).toBeInstanceOf(core.SsoError)
      expect(new Set(classes.filter((one) => value instanceof one))).toEqual(new Set(own))
    }
    expect(error.message).not.toBe('')
  },
)

it('every class states its name, which a minifier would change', () => {
  const unnamed = [core.SsoError, ...classes].filter((one) => !Object.keys(one).includes('name'))
  expect(unnamed).toEqual([])
})

it('a plain object or another error is no SsoError, whatever its code', () => {
  for (const other of [null, 'ERR_SSO_STORE', { code: 'ERR_SSO_STORE' }, new Error('x')])
    expect(other).not.toBeInstanceOf(core.SsoError)
})

const login = (name: string, more: object = {}): Promise<unknown> =>
  sso.login({ identity: `${name}@example.com`, credential, ...more })

describe('what a login ends with, from a faithful service', () => {
  it('wrong credentials: nothing is repeated', async () => {
    const before = emulator.requests.length
    await expect(login('plain', { credential: 'wrong' })).rejects.toMatchObject({
      name: 'InvalidCredentialsError',
      code: 'ERR_SSO_INVALID_CREDENTIALS',
      step: 'form-submission',
      status: 401,
    })
    expect(emulator.requests).toHaveLength(before + 2)
  })

  it.each([
    ['locked', 'ERR_SSO_ACCOUNT_LOCKED'],
    ['captcha', 'ERR_SSO_CAPTCHA_REQUIRED'],
    ['mfa', 'ERR_SSO_PASSCODE_REQUIRED'],
    ['regional', 'ERR_SSO_REGION_NOT_ALLOWED'],
  ])('an account that is %s: %s', async (name, code) => {
    await expect(login(name)).rejects.toMatchObject({ code })
  })

  it('a captcha that comes after a first submission', async () => {
    await expect(login('later', { credential: 'wrong' })).rejects.toMatchObject({
      code: expect.stringMatching(/INVALID_CREDENTIALS|CAPTCHA_REQUIRED/u),
    })
  })

  it.each([
    ['html', { firewall: true as const }],
    ['script', { firewall: 'script' as const }],
  ])('the firewall’s %s page at the login page', async (_, fault) => {
    emulator.once('login-page', fault)
    await expect(login('plain')).rejects.toMatchObject({
      code: 'ERR_SSO_FIREWALL_CHALLENGE',
      step: 'login-page',
      nextAttemptAt: expect.any(Number),
    })
  })

  it.each(['login-page', 'form-submission', 'token', 'mfa-factors', 'mfa-verify'] as const)(
    'the firewall at %s: one error, no retry',
    async (endpoint) => {
      emulator.once(endpoint, { firewall: true })
      const before = emulator.requests.length
      emulator.clock.advance(30)
      const factor = emulator.accounts.find(({ identity }) => identity === 'mfa@example.com')
      await expect(login('mfa', { passcode: () => factor?.passcode() ?? '' })).rejects.toMatchObject({
        code: 'ERR_SSO_FIREWALL_CHALLENGE',
      })
      expect(emulator.requests.slice(before).filter(({ status }) => status === 403)).toHaveLength(1)
      expect(emulator.requests.at(-1)?.status).toBe(403)
    },
  )
})

describe('what a login ends with, from a lying service', () => {
  const credentials = { identity: 'a@example.com', credential }
  it.each([
    ['a foreign issuer', { issuer: 'https://evil.example/oauth2/v3' }, 'ERR_SSO_ISSUER_MISMATCH'],
    ['an issuer that is no address', { issuer: 'evil' }, 'ERR_SSO_ISSUER_MISMATCH'],
    ['another allowed instance as issuer', { issuer: 'https://auth.example.cn' }, 'ERR_SSO_ISSUER_MISMATCH'],
    ['no issuer', { issuer: undefined }, 'ERR_SSO_ISSUER_MISMATCH'],
    ['another state', { state: 'x' }, 'ERR_SSO_STATE_MISMATCH'],
    ['a cancelled login', { error: 'login_cancelled' }, 'ERR_SSO_UNEXPECTED_RESPONSE'],
  ])('%s: the code is not redeemed (S11)', async (_, change, code) => {
    service.answer({ formSubmission: redirectToCallback(change) })
    service.requests.length = 0
    const lied = createSso({ authUrl: service.authUrl, regionalAuthUrls: ['https://auth.example.cn'] })
    await expect(lied.login(credentials)).rejects.toMatchObject({ code, step: 'form-submission' })
    expect(service.requests).toHaveLength(2)
  })

  it.each([200, 301, 303, 307, 308, 400, 403, 500])(
    'status %i in place of the 302: nothing is posted again (S4)',
    async (status) => {
      service.answer({ formSubmission: { status, headers: { location: `${service.authUrl}/elsewhere` } } })
      service.requests.length = 0
      await expect(createSso({ authUrl: service.authUrl }).login(credentials)).rejects.toMatchObject({
        code: 'ERR_SSO_UNEXPECTED_RESPONSE',
        status,
      })
      expect(service.requests.map(({ method }) => method)).toEqual(['GET', 'POST'])
    },
  )

  it.each(['https://evil.example/steal', '//evil.example/oauth2/v3/authorize', '/account/new', 'javascript:steal()'])(
    'never posts a form that goes elsewhere, to %s: not there, and not here (S20)',
    async (action) => {
      const body = `<form action="${action}"><input name="identity"><input name="credential"></form>`
      service.answer({ loginPage: { headers: { 'content-type': 'text/html' }, body } })
      service.requests.length = 0
      await expect(createSso({ authUrl: service.authUrl }).login(credentials)).rejects.toMatchObject({
        code: 'ERR_SSO_UNEXPECTED_RESPONSE',
        step: 'login-page',
      })
      expect(service.requests.map(({ method }) => method)).toEqual(['GET'])
    },
  )

  it.each(['', '?lang=en', '/oauth2/v3/authorize?client_id=ownerapi', '/en_us/oauth2/v3/authorize'])(
    'posts a form with the action %j to the endpoint that served it',
    async (action) => {
      const body = `<form action="${action}"><input name="identity"><input name="credential"></form>`
      service.answer({
        loginPage: { headers: { 'content-type': 'text/html' }, body },
        formSubmission: redirectToCallback(),
      })
      service.requests.length = 0
      await createSso({ authUrl: service.authUrl }).login(credentials)
      expect(service.requests.map(({ url }) => url.split('?')[0])).toEqual([
        '/oauth2/v3/authorize',
        '/oauth2/v3/authorize',
        '/oauth2/v3/token',
      ])
    },
  )
})

describe('a rejected pair of identity and credential (J1, S40)', () => {
  it('is not posted again, until it is changed', async () => {
    const pair = { identity: 'plain@example.com', credential: 'mistyped' }
    await expect(sso.login(pair)).rejects.toMatchObject({ code: 'ERR_SSO_INVALID_CREDENTIALS', requestSent: true })
    const before = emulator.requests.length
    await expect(sso.login(pair)).rejects.toMatchObject({ code: 'ERR_SSO_INVALID_CREDENTIALS', requestSent: false })
    await expect(sso.beginLogin(pair)).rejects.toMatchObject({
      code: 'ERR_SSO_INVALID_CREDENTIALS',
      requestSent: false,
    })
    expect(emulator.requests).toHaveLength(before)
    await expect(sso.login({ ...pair, credential })).resolves.toMatchObject({ token_type: 'Bearer' })
  })

  it('may be sent again after the firewall or a broken connection answered it', async () => {
    const pair = { identity: 'plain@example.com', credential }
    emulator.once('form-submission', { status: 500 })
    await expect(sso.login(pair)).rejects.toMatchObject({ code: 'ERR_SSO_UNEXPECTED_RESPONSE' })
    await expect(sso.login(pair)).resolves.toMatchObject({ token_type: 'Bearer' })
  })
})

/** A call as an application without types would make it. */
const untyped = (call: (...given: never[]) => Promise<unknown>, ...given: unknown[]): Promise<unknown> =>
  Reflect.apply(call, undefined, given)

describe('a caller’s mistake', () => {
  it.each([
    [{}, 'identity'],
    [{ identity: 7, credential }, 'identity'],
    [{ identity: '', credential }, 'identity'],
    [{ identity: 'a@example.com' }, 'credential'],
    [{ identity: 'a@example.com', credential: '' }, 'credential'],
    [{ identity: 'a@example.com', credential: ['x'] }, 'credential'],
  ])('%p is a TypeError that names it', async (given, name) => {
    await expect(untyped(sso.login, given)).rejects.toThrow(TypeError)
    await expect(untyped(sso.beginLogin, given)).rejects.toThrow(name)
  })
})
