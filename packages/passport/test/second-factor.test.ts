import { describe, expect, it } from '@jest/globals'
import { sessionIdIn, startApplication } from './application.ts'
import { recordedOutcomes, requestWith } from './recorded-outcomes.ts'
import { mfa, single, useSecondFactorService } from './second-factor-service.ts'

const { emulator, newStrategy, current, passcodeOf, mistyped } = useSecondFactorService()

describe('a second factor', () => {
  it('is asked for with the factors to choose from, and completes in the next request: four requests, then three', async () => {
    const strategy = newStrategy()
    const browser = startApplication(strategy).browser()
    const before = emulator.requests.length
    const first = await browser.post('/login').send(mfa).expect(401)
    expect(emulator.requests.length - before).toBe(4)
    expect(first.body).toMatchObject({ code: 'ERR_SSO_PASSCODE_REQUIRED', message: expect.any(String), triesLeft: 5 })
    expect(first.body.factors.map(({ name }: { name: string }) => name)).toEqual(['Phone', 'Tablet'])

    const second = await browser.post('/login').send(current(mfa, 'Tablet')).expect(200)
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
    const after = sessionIdIn(await browser.post('/login').send(current(mfa, 'Phone')).expect(200))
    expect(before).toBeDefined()
    expect(after).toBeDefined()
    expect(after).not.toBe(before)
  })

  it('needs no choice where there is one only', async () => {
    const browser = startApplication(newStrategy()).browser()
    await browser.post('/login').send(single).expect(401)
    const passcode = passcodeOf(single).replaceAll(/\d/gu, (digit) => '０１２３４５６７８９'.charAt(Number(digit)))
    const answer = await browser.post('/login').send({ passcode })
    expect(answer.body).toMatchObject({ account: 'single@example.com' })
  })

  it('is never guessed where there are several: nothing is sent, no try is lost', async () => {
    const browser = startApplication(newStrategy()).browser()
    const first = await browser.post('/login').send(mfa).expect(401)
    expect(first.body.message).toBe('Enter the current passcode of your device.')
    const before = emulator.requests.length
    const answer = await browser.post('/login').send({ passcode: current(mfa, 'Phone').passcode })
    expect(answer.status).toBe(401)
    expect(answer.body).toMatchObject({
      code: 'ERR_SSO_PASSCODE_REQUIRED',
      message: 'Choose the device that the passcode is from.',
      triesLeft: 5,
    })
    const unknown = await browser.post('/login').send({ passcode: '123456', factor: 'somebody-else’s' })
    expect(unknown.body).toMatchObject({ code: 'ERR_SSO_PASSCODE_REJECTED', reason: 'unknown-factor', triesLeft: 5 })
    expect(emulator.requests.length).toBe(before)
  })

  it('takes a mistyped passcode again without the password', async () => {
    const browser = startApplication(newStrategy()).browser()
    await browser.post('/login').send(mfa).expect(401)
    const wrong = await browser.post('/login').send(mistyped())
    expect(wrong.status).toBe(401)
    expect(wrong.body).toMatchObject({ code: 'ERR_SSO_PASSCODE_REJECTED', reason: 'invalid', triesLeft: 4 })
    expect(wrong.body.factors).toHaveLength(2)
    await browser.post('/login').send(current(mfa, 'Phone')).expect(200)
  })

  it('keeps the leading zero of a passcode', async () => {
    let passcode = passcodeOf(single)
    while (!passcode.startsWith('0')) {
      emulator.clock.advance(30)
      passcode = passcodeOf(single)
    }
    const browser = startApplication(newStrategy()).browser()
    await browser.post('/login').type('form').send(single).expect(401)
    const answer = await browser.post('/login').type('form').send({ passcode })
    expect(answer.body).toMatchObject({ account: 'single@example.com' })
  })

  it.each([' ', '-'])('takes a passcode that people type in groups: with %j between them', async (between) => {
    const browser = startApplication(newStrategy()).browser()
    await browser.post('/login').send(single).expect(401)
    const passcode = passcodeOf(single)
    const answer = await browser
      .post('/login')
      .send({ passcode: ` ${passcode.slice(0, 3)}${between}${passcode.slice(3)} ` })
    expect(answer.body).toMatchObject({ account: 'single@example.com' })
  })

  it('takes a backup code in place of a passcode', async () => {
    const browser = startApplication(newStrategy()).browser()
    await browser.post('/login').send(mfa).expect(401)
    const answer = await browser.post('/login').send({ backupCode: 'BACKUP001' })
    expect(answer.body).toMatchObject({ account: 'mfa@example.com' })
  })

  it.each([{ passcode: '123456' }, { backupCode: 'BACKUP001' }])(
    'needs a session: without one, %j alone asks for a new sign-in, and nothing is sent',
    async (body) => {
      const before = emulator.requests.length
      const outcomes = await recordedOutcomes(newStrategy(), requestWith(body, null), { session: false })
      expect(outcomes).toMatchObject([{ kind: 'fail', given: [{ code: 'ERR_SSO_PENDING_LOGIN_EXPIRED' }, 401] }])
      expect(emulator.requests.length).toBe(before)
    },
  )

  it('tells callers without sessions the factors, and no number of tries', async () => {
    for (const [body, code] of [
      [mfa, 'ERR_SSO_PASSCODE_REQUIRED'],
      [{ ...mfa, ...mistyped() }, 'ERR_SSO_PASSCODE_REJECTED'],
    ] as const) {
      const [outcome] = await recordedOutcomes(newStrategy(), requestWith(body, null), { session: false })
      const [failure] = outcome?.given ?? []
      expect(failure).toMatchObject({ code, factors: [{ name: 'Phone' }, { name: 'Tablet' }] })
      expect(failure).not.toHaveProperty('triesLeft')
    }
  })

  it('takes everything in one request, for callers without sessions', async () => {
    const strategy = newStrategy()
    const body = { ...single, passcode: passcodeOf(single) }
    const outcomes = await recordedOutcomes(strategy, requestWith(body, null), { session: false })
    expect(outcomes.map(({ kind }) => kind)).toEqual(['success'])
    const [without] = await recordedOutcomes(strategy, requestWith(single, null), {
      session: false,
      passcodeRedirect: '/passcode',
    })
    expect(without).toMatchObject({ kind: 'fail', given: [{ code: 'ERR_SSO_PASSCODE_REQUIRED' }, 401] })
  })
})
