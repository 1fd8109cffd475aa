import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type Emulator, type EmulatorAccount, startEmulator } from '@owner-sso/emulator'
import { inspect } from 'node:util'
import { OwnerSsoStrategy, type StrategyOptions } from '../src/index.ts'
import { sessionIdIn, startApplication } from './application.ts'
import { recordedOutcomes, requestWith } from './recorded-outcomes.ts'

const mfa = { identity: 'mfa@example.com', credential: 'correct horse' }
const single = { identity: 'single@example.com', credential: 'correct horse' }
let emulator: Emulator

beforeAll(async () => {
  emulator = await startEmulator({
    firewall: false,
    accounts: [
      {
        ...mfa,
        factors: [
          { name: 'Phone', totpSecret: 'JBSWY3DPEHPK3PXP' },
          { name: 'Tablet', totpSecret: 'KRSXG5CTMVRXEZLU' },
        ],
        backupCodes: ['BACKUP001', 'BACKUP002'],
      },
      { ...single, totpSecret: 'GEZDGNBVGY3TQOJQ' },
    ],
  })
})
afterAll(() => emulator.close())
// A passcode is good for once.
beforeEach(() => emulator.clock.advance(90))

const newStrategy = (options: StrategyOptions = {}): OwnerSsoStrategy =>
  new OwnerSsoStrategy({ authUrl: emulator.authUrl, ...options })

function account({ identity }: { identity: string }): EmulatorAccount {
  const found = emulator.accounts.find((known) => known.identity === identity)
  if (!found) throw new Error(`no account ${identity}`)
  return found
}

/** A passcode that is wrong now, and in the steps around. */
function wrongPasscode(factor: string): string {
  return account(mfa).passcode(factor) === '000000' ? '111111' : '000000'
}

function factorId(name: string): string {
  return account(mfa).factors.find((factor) => factor.name === name)?.id ?? ''
}

describe('a second factor', () => {
  it('is asked for with the factors to choose from, and completes in the next request: four requests, then three', async () => {
    const strategy = newStrategy()
    const browser = startApplication(strategy).browser()
    const before = emulator.requests.length
    const first = await browser.post('/login').send(mfa).expect(401)
    expect(emulator.requests.length - before).toBe(4)
    expect(first.body).toMatchObject({ code: 'ERR_SSO_PASSCODE_REQUIRED', message: expect.any(String), triesLeft: 5 })
    expect(first.body.factors.map(({ name }: { name: string }) => name)).toEqual(['Phone', 'Tablet'])

    const passcode = account(mfa).passcode('Tablet')
    const second = await browser
      .post('/login')
      .send({ passcode, factor: factorId('Tablet') })
      .expect(200)
    expect(second.body).toEqual({ account: 'mfa@example.com', email: 'mfa@example.com' })
    expect(emulator.requests.length - before).toBe(7)
    expect((await browser.get('/me')).body).toEqual(second.body)
    expect((await strategy.tokens.status('mfa@example.com')).state).toBe('valid')
  })

  it('sends the person to passcodeRedirect, whose page finds the factors and no secret', async () => {
    const application = startApplication(newStrategy(), { passcodeRedirect: '/passcode' })
    const browser = application.browser()
    await browser.post('/login').send(mfa).expect(302).expect('Location', '/passcode')
    const page = await browser.get('/pending')
    expect(page.body).toEqual({
      step: 'passcode',
      identity: 'mfa@example.com',
      factors: [expect.objectContaining({ name: 'Phone' }), expect.objectContaining({ name: 'Tablet' })],
      triesLeft: 5,
      expires_at: expect.any(Number),
    })
    expect(page.text).not.toContain('correct horse')
  })

  it('changes the session id once it is passed', async () => {
    const browser = startApplication(newStrategy()).browser()
    const before = sessionIdIn(await browser.post('/login').send(mfa))
    const passcode = account(mfa).passcode('Phone')
    const after = sessionIdIn(
      await browser
        .post('/login')
        .send({ passcode, factor: factorId('Phone') })
        .expect(200),
    )
    expect(before).toBeDefined()
    expect(after).toBeDefined()
    expect(after).not.toBe(before)
  })

  it('needs no choice where there is one only', async () => {
    const browser = startApplication(newStrategy()).browser()
    await browser.post('/login').send(single).expect(401)
    const answer = await browser.post('/login').send({ passcode: account(single).passcode() })
    expect(answer.body).toMatchObject({ account: 'single@example.com' })
  })

  it('is never guessed where there are several: nothing is sent, no try is lost', async () => {
    const browser = startApplication(newStrategy()).browser()
    await browser.post('/login').send(mfa).expect(401)
    const before = emulator.requests.length
    const answer = await browser.post('/login').send({ passcode: account(mfa).passcode('Phone') })
    expect(answer.status).toBe(401)
    expect(answer.body).toMatchObject({ code: 'ERR_SSO_PASSCODE_REQUIRED', triesLeft: 5 })
    const unknown = await browser.post('/login').send({ passcode: '123456', factor: 'somebody-else’s' })
    expect(unknown.body).toMatchObject({ code: 'ERR_SSO_PASSCODE_REJECTED', reason: 'unknown-factor', triesLeft: 5 })
    expect(emulator.requests.length).toBe(before)
  })

  it('takes a mistyped passcode again without the password', async () => {
    const browser = startApplication(newStrategy()).browser()
    await browser.post('/login').send(mfa).expect(401)
    const wrong = await browser.post('/login').send({ passcode: wrongPasscode('Phone'), factor: factorId('Phone') })
    expect(wrong.status).toBe(401)
    expect(wrong.body).toMatchObject({ code: 'ERR_SSO_PASSCODE_REJECTED', reason: 'invalid', triesLeft: 4 })
    expect(wrong.body.factors).toHaveLength(2)
    await browser
      .post('/login')
      .send({ passcode: account(mfa).passcode('Phone'), factor: factorId('Phone') })
      .expect(200)
  })

  it('keeps the leading zero of a passcode', async () => {
    let passcode = account(single).passcode()
    while (!passcode.startsWith('0')) {
      emulator.clock.advance(30)
      passcode = account(single).passcode()
    }
    const browser = startApplication(newStrategy()).browser()
    await browser.post('/login').type('form').send(single).expect(401)
    const answer = await browser.post('/login').type('form').send({ passcode })
    expect(answer.body).toMatchObject({ account: 'single@example.com' })
  })

  it('takes the spaces that people type into a passcode', async () => {
    const browser = startApplication(newStrategy()).browser()
    await browser.post('/login').send(single).expect(401)
    const passcode = account(single).passcode()
    const answer = await browser.post('/login').send({ passcode: ` ${passcode.slice(0, 3)} ${passcode.slice(3)} ` })
    expect(answer.body).toMatchObject({ account: 'single@example.com' })
  })

  it('takes a backup code in place of a passcode', async () => {
    const browser = startApplication(newStrategy()).browser()
    await browser.post('/login').send(mfa).expect(401)
    const answer = await browser.post('/login').send({ backupCode: 'BACKUP001' })
    expect(answer.body).toMatchObject({ account: 'mfa@example.com' })
  })

  it('takes everything in one request, for callers without sessions', async () => {
    const strategy = newStrategy()
    const body = { ...single, passcode: account(single).passcode() }
    const outcomes = await recordedOutcomes(strategy, requestWith(body, null), { session: false })
    expect(outcomes.map(({ kind }) => kind)).toEqual(['success'])
    const [without] = await recordedOutcomes(strategy, requestWith(single, null), {
      session: false,
      passcodeRedirect: '/passcode',
    })
    expect(without).toMatchObject({ kind: 'fail', given: [{ code: 'ERR_SSO_PASSCODE_REQUIRED' }, 401] })
  })

  it('ends after five wrong passcodes: the sixth, though right, needs the password again', async () => {
    const browser = startApplication(newStrategy()).browser()
    await browser.post('/login').send(mfa).expect(401)
    const wrong = { passcode: wrongPasscode('Phone'), factor: factorId('Phone') }
    const answers = []
    for (let attempt = 0; attempt < 5; attempt++) answers.push((await browser.post('/login').send(wrong)).body)
    expect(answers.map(({ triesLeft }) => triesLeft)).toEqual([4, 3, 2, 1, undefined])
    expect(answers.at(-1)).toMatchObject({ code: 'ERR_SSO_PASSCODE_REJECTED', reason: 'too-many-attempts' })
    const before = emulator.requests.length
    const right = { passcode: account(mfa).passcode('Phone'), factor: factorId('Phone') }
    const late = await browser.post('/login').send(right).expect(401)
    expect(late.body.code).toBe('ERR_SSO_PENDING_LOGIN_EXPIRED')
    expect(emulator.requests.length).toBe(before)
  })

  it('belongs to the session that gave the password', async () => {
    const application = startApplication(newStrategy())
    await application.browser().post('/login').send(single).expect(401)
    const other = await application
      .browser()
      .post('/login')
      .send({ passcode: account(single).passcode() })
    expect(other.status).toBe(401)
    expect(other.body.code).toBe('ERR_SSO_PENDING_LOGIN_EXPIRED')
  })

  it('is for one of two requests at once: the passcode goes out once', async () => {
    const browser = startApplication(newStrategy()).browser()
    await browser.post('/login').send(single).expect(401)
    const before = emulator.counters.passcodeChecks
    const passcode = account(single).passcode()
    const both = await Promise.all([
      browser.post('/login').send({ passcode }),
      browser.post('/login').send({ passcode }),
    ])
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 401]))
    expect(both.find(({ status }) => status === 401)?.body.code).toBe('ERR_SSO_PENDING_LOGIN_EXPIRED')
    expect(emulator.counters.passcodeChecks - before).toBe(1)
  })

  it('is over when its time is, and asks for the password again', async () => {
    const browser = startApplication(newStrategy({ pendingLoginTtl: 0.001 })).browser()
    await browser.post('/login').send(single).expect(401)
    const late = await browser.post('/login').send({ passcode: account(single).passcode() })
    expect(late.status).toBe(401)
    expect(late.body).toMatchObject({ code: 'ERR_SSO_PENDING_LOGIN_EXPIRED', message: expect.any(String) })
    expect((await browser.get('/pending')).body).toBeNull()
  })

  it('is forgotten on cancel, and when the person starts over', async () => {
    const browser = startApplication(newStrategy()).browser()
    await browser.post('/login').send(single).expect(401)
    await browser.post('/cancel').expect(200)
    expect((await browser.get('/pending')).body).toBeNull()
    await browser.post('/login').send(single).expect(401)
    await browser.post('/login').send(mfa).expect(401)
    expect((await browser.get('/pending')).body).toMatchObject({ identity: 'mfa@example.com' })
  })

  it('can be tried again when the service did not answer', async () => {
    const browser = startApplication(newStrategy()).browser()
    await browser.post('/login').send(single).expect(401)
    emulator.once('mfa-verify', { drop: 'before-commit' })
    await browser
      .post('/login')
      .send({ passcode: account(single).passcode() })
      .expect(503)
    expect((await browser.get('/pending')).body).toMatchObject({ triesLeft: 4 })
    emulator.clock.advance(30)
    await browser
      .post('/login')
      .send({ passcode: account(single).passcode() })
      .expect(200)
  })

  it('leaves the password in no session, answer or printed strategy while it is awaited', async () => {
    const strategy = newStrategy()
    const application = startApplication(strategy)
    const answer = await application.browser().post('/login').send(mfa).expect(401)
    const seen = [
      application.storedSessions(),
      answer.text,
      JSON.stringify(answer.headers),
      inspect(strategy, { depth: Infinity, showHidden: true }),
    ].join('\n')
    expect(seen).toContain('owner-sso:login')
    expect(seen).not.toContain('correct horse')
    expect(application.storedSessions()).not.toContain('mfa@example.com')
  })
})
