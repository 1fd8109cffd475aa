import { beforeAll, describe, expect, it } from '@jest/globals'
import { useEmulator } from '@owner-sso/emulator/jest'
import { OwnerSsoStrategy } from '../src/index.ts'
import { startApplication } from './application.ts'
import { recordedOutcomes, requestWith } from './recorded-outcomes.ts'

const emulator = useEmulator({
  accounts: [
    { identity: 'plain@example.com', credential: 'correct horse' },
    { identity: 'locked@example.com', credential: 'correct horse', locked: true },
    { identity: 'captcha@example.com', credential: 'correct horse', captcha: true },
    { identity: 'late-captcha@example.com', credential: 'correct horse', captcha: 'after-submission' },
  ],
})
let strategy: OwnerSsoStrategy
beforeAll(async () => {
  strategy = new OwnerSsoStrategy({ authUrl: emulator.authUrl })
})

describe('a sign-in that the person can correct', () => {
  it.each([
    ['a wrong password', { identity: 'plain@example.com', credential: 'wrong' }, 'ERR_SSO_INVALID_CREDENTIALS'],
    ['an unknown e-mail', { identity: 'nobody@example.com', credential: 'any' }, 'ERR_SSO_INVALID_CREDENTIALS'],
    ['a locked account', { identity: 'locked@example.com', credential: 'correct horse' }, 'ERR_SSO_ACCOUNT_LOCKED'],
    ['a captcha', { identity: 'captcha@example.com', credential: 'correct horse' }, 'ERR_SSO_CAPTCHA_REQUIRED'],
    [
      'a late captcha',
      { identity: 'late-captcha@example.com', credential: 'correct horse' },
      'ERR_SSO_CAPTCHA_REQUIRED',
    ],
  ])('fails with 401, a code and words for them: %s', async (_what, body, code) => {
    const outcomes = await recordedOutcomes(strategy, requestWith(body))
    expect(outcomes).toEqual([{ kind: 'fail', given: [{ code, message: expect.stringMatching(/\w{3,}.*\.$/u) }, 401] }])
    expect(JSON.stringify(outcomes)).not.toContain(body.credential)
  })

  it.each([
    ['an e-mail as it was pasted', { identity: '\u202A“plain@example.com”\u202C' }, 'success'],
    ['a password that ends in a line break', { credential: '\uFEFFcorrect horse\n' }, 'success'],
    ['an e-mail of two lines', { identity: 'plain@example.com\nother@example.com' }, 'fail'],
    ['a password of two lines', { credential: 'correct\nhorse' }, 'fail'],
    ['a password with a NUL', { credential: 'correct\0horse' }, 'fail'],
  ])('posts what a browser’s field would have, or nothing: %s', async (_what, given, kind) => {
    const before = emulator.counters.credentialChecks
    const body = { identity: 'plain@example.com', credential: 'correct horse', ...given }
    const outcomes = await recordedOutcomes(new OwnerSsoStrategy({ authUrl: emulator.authUrl }), requestWith(body))
    expect(outcomes).toMatchObject([{ kind }])
    expect(emulator.counters.credentialChecks - before).toBe(kind === 'success' ? 1 : 0)
  })

  it('posts a rejected pair no second time', async () => {
    const again = new OwnerSsoStrategy({ authUrl: emulator.authUrl })
    const posts = (): number =>
      emulator.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/authorize')).length
    const before = posts()
    const wrong = requestWith({ identity: 'plain@example.com', credential: 'mistyped' })
    await recordedOutcomes(again, wrong)
    const [outcome] = await recordedOutcomes(again, wrong)
    expect(outcome).toMatchObject({ kind: 'fail', given: [{ code: 'ERR_SSO_INVALID_CREDENTIALS' }, 401] })
    expect(posts() - before).toBe(1)
  })

  it('leaves nobody signed in, and says why where Passport’s failureMessage is used', async () => {
    const application = startApplication(strategy, { failureRedirect: '/', failureMessage: true })
    const browser = application.browser()
    await browser
      .post('/passport-login')
      .send({ identity: 'locked@example.com', credential: 'correct horse' })
      .expect(302)
    expect(application.storedSessions()).toContain('locked this account')
    expect((await browser.get('/me')).body).toBeNull()
  })

  it.each([
    ['nothing', undefined],
    ['no field of ours', { user: 'x' }],
    ['an e-mail alone', { identity: 'plain@example.com' }],
    ['spaces for an e-mail', { identity: '   ', credential: 'x' }],
    ['lists', { identity: ['plain@example.com'], credential: ['correct horse'] }],
    ['a number for a passcode, which would have lost its zeros', { passcode: 12345 }],
    ['an e-mail of 321 characters', { identity: 'x'.repeat(321), credential: 'correct horse' }],
    ['a password of 1,025 characters', { identity: 'plain@example.com', credential: 'x'.repeat(1025) }],
    ['a backup code of 65 characters', { backupCode: 'x'.repeat(65) }],
    ['the name of a subject for an e-mail', { identity: ' Sub:1@example.com', credential: 'correct horse' }],
    ['a passcode of 65 digits', { passcode: '1'.repeat(65) }],
    ['inherited fields', Object.create({ identity: 'plain@example.com', credential: 'correct horse' })],
  ])('fails with 400 and sends nothing for a body with %s', async (_what, body) => {
    const before = emulator.requests.length
    const outcomes = await recordedOutcomes(strategy, requestWith(body))
    expect(outcomes).toEqual([
      { kind: 'fail', given: [{ code: 'ERR_SSO_CREDENTIALS_MISSING', message: expect.any(String) }, 400] },
    ])
    expect(emulator.requests.length).toBe(before)
  })

  it('takes an e-mail of 320 characters and a password of 1,024', async () => {
    const longest = { identity: 'x'.repeat(320), credential: 'x'.repeat(1024) }
    const [outcome] = await recordedOutcomes(strategy, requestWith(longest))
    expect(outcome).toMatchObject({ kind: 'fail', given: [{ code: 'ERR_SSO_INVALID_CREDENTIALS' }, 401] })
  })

  it('takes no secret from the address', async () => {
    const request = requestWith({})
    Object.defineProperty(request, 'query', { value: { identity: 'plain@example.com', credential: 'correct horse' } })
    const [outcome] = await recordedOutcomes(strategy, request)
    expect(outcome).toMatchObject({ kind: 'fail', given: [{ code: 'ERR_SSO_CREDENTIALS_MISSING' }, 400] })
  })
})
