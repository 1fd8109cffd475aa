import { inspect } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { startApplication } from './application.ts'
import { recordedOutcomes, requestWith } from './recorded-outcomes.ts'
import { mfa, single, useSecondFactorService } from './second-factor-service.ts'

const { emulator, newStrategy, current, passcodeOf, mistyped } = useSecondFactorService()

describe('a sign-in that waits for its passcode', () => {
  it('ends after five wrong passcodes: the sixth, though right, needs the password again', async () => {
    const browser = startApplication(newStrategy()).browser()
    await browser.post('/login').send(mfa).expect(401)
    const wrong = mistyped()
    const answers = []
    for (let attempt = 0; attempt < 5; attempt++) answers.push((await browser.post('/login').send(wrong)).body)
    expect(answers.map(({ triesLeft }) => triesLeft)).toEqual([4, 3, 2, 1, undefined])
    expect(answers.at(-1)).toMatchObject({ code: 'ERR_SSO_PASSCODE_REJECTED', reason: 'too-many-attempts' })
    const before = emulator.requests.length
    const right = current(mfa, 'Phone')
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
      .send({ passcode: passcodeOf(single) })
    expect(other.status).toBe(401)
    expect(other.body.code).toBe('ERR_SSO_PENDING_LOGIN_EXPIRED')
  })

  it.each([{}, { pendingLoginKey: Buffer.alloc(32, 7) }])(
    'sends a passcode once that is submitted twice at once, and signs in whichever of both the browser shows (%o)',
    async (options) => {
      const browser = startApplication(newStrategy(options)).browser()
      await browser.post('/login').send(single).expect(401)
      const before = emulator.counters.passcodeChecks
      const answer = { passcode: passcodeOf(single) }
      const both = await Promise.all([browser.post('/login').send(answer), browser.post('/login').send(answer)])
      expect(both.flatMap(({ status, body }) => [status, body.account])).toEqual([
        200,
        single.identity,
        200,
        single.identity,
      ])
      expect(emulator.counters.passcodeChecks - before).toBe(1)
      expect((await browser.get('/me')).body.account).toBe(single.identity)
    },
  )

  it.each([{}, { pendingLoginKey: Buffer.alloc(32, 7) }])(
    'counts a wrong passcode once that is submitted twice at once (%o)',
    async (options) => {
      const browser = startApplication(newStrategy(options)).browser()
      await browser.post('/login').send(mfa).expect(401)
      const wrong = mistyped()
      const both = await Promise.all([browser.post('/login').send(wrong), browser.post('/login').send(wrong)])
      expect(both.map(({ body }) => body.triesLeft)).toEqual([4, 4])
      expect((await browser.post('/login').send(wrong)).body.triesLeft).toBe(3)
      await browser.post('/login').send(current(mfa, 'Phone')).expect(200)
    },
  )

  it.each([{}, { pendingLoginKey: Buffer.alloc(32, 7) }])(
    'begins once where the password is submitted twice at once, whichever of both answers the browser shows (%o)',
    async (options) => {
      const browser = startApplication(newStrategy(options)).browser()
      await browser.get('/session')
      const before = emulator.counters.credentialChecks
      const both = await Promise.all([browser.post('/login').send(single), browser.post('/login').send(single)])
      expect(both.map(({ body }) => body.code)).toEqual(['ERR_SSO_PASSCODE_REQUIRED', 'ERR_SSO_PASSCODE_REQUIRED'])
      expect(emulator.counters.credentialChecks - before).toBe(1)
      await browser
        .post('/login')
        .send({ passcode: passcodeOf(single) })
        .expect(200)
    },
  )

  it('is shared with nobody: another session, password or account has a login of its own', async () => {
    const strategy = newStrategy()
    const application = startApplication(strategy)
    const [browser, elsewhere] = [application.browser(), application.browser()]
    await Promise.all([browser.get('/session'), elsewhere.get('/session')])
    const before = emulator.counters.credentialChecks
    const wrong = { ...single, credential: 'guessed' }
    const answers = await Promise.all([
      browser.post('/login').send(single),
      browser.post('/login').send(wrong),
      browser.post('/login').send({ ...mfa, credential: single.credential }),
      elsewhere.post('/login').send(single),
      recordedOutcomes(strategy, requestWith(single, null), { session: false }),
      recordedOutcomes(strategy, requestWith(single, null), { session: false }),
    ])
    expect(answers.slice(0, 4).map((answer) => 'body' in answer && answer.body.code)).toEqual([
      'ERR_SSO_PASSCODE_REQUIRED',
      'ERR_SSO_INVALID_CREDENTIALS',
      'ERR_SSO_PASSCODE_REQUIRED',
      'ERR_SSO_PASSCODE_REQUIRED',
    ])
    expect(emulator.counters.credentialChecks - before).toBe(6)
  })

  it('is for one of two answers at once: the other came too late', async () => {
    const browser = startApplication(newStrategy()).browser()
    await browser.post('/login').send(mfa).expect(401)
    const before = emulator.counters.passcodeChecks
    const right = current(mfa, 'Phone')
    const both = await Promise.all([browser.post('/login').send(right), browser.post('/login').send(mistyped())])
    expect(both.filter(({ body }) => body.code === 'ERR_SSO_PENDING_LOGIN_EXPIRED')).toHaveLength(1)
    expect(emulator.counters.passcodeChecks - before).toBe(1)
  })

  it('is over when its time is, and asks for the password again', async () => {
    const browser = startApplication(newStrategy({ pendingLoginTtl: 0.001 })).browser()
    await browser.post('/login').send(single).expect(401)
    const late = await browser.post('/login').send({ passcode: passcodeOf(single) })
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
      .send({ passcode: passcodeOf(single) })
      .expect(503)
    expect((await browser.get('/pending')).body).toMatchObject({ triesLeft: 4 })
    emulator.clock.advance(30)
    await browser
      .post('/login')
      .send({ passcode: passcodeOf(single) })
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
