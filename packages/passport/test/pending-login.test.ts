import { setImmediate } from 'node:timers/promises'
import { inspect } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { createSso, type Sso } from '@owner-sso/core'
import type { Request } from 'express'
import { OwnerSsoStrategy } from '../src/index.ts'
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
    'sends a passcode once that is submitted twice at once, and signs in, whichever of the two answers the browser shows (%o)',
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
    'begins once where the password is submitted twice at once, whichever of the two answers the browser shows (%o)',
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

  it('takes one of two answers that come at once: the other is too late', async () => {
    const browser = startApplication(newStrategy()).browser()
    await browser.post('/login').send(mfa).expect(401)
    const before = emulator.counters.passcodeChecks
    const right = current(mfa, 'Phone')
    const both = await Promise.all([browser.post('/login').send(right), browser.post('/login').send(mistyped())])
    expect(both.filter(({ body }) => body.code === 'ERR_SSO_PENDING_LOGIN_EXPIRED')).toHaveLength(1)
    expect(emulator.counters.passcodeChecks - before).toBe(1)
  })

  it('ends when its time is over, and asks for the password again', async () => {
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

/** A session that is saved some turns later, and notes when. */
class NotedSession {
  readonly [key: string]: unknown
  readonly #notes: string[]
  constructor(notes: string[]) {
    this.#notes = notes
  }
  regenerate(done: () => void): void {
    done()
  }
  save(done: () => void): void {
    const saving = async (): Promise<void> => {
      // Long enough for an answer that does not wait for it.
      for (let turn = 0; turn < 10; turn += 1) await setImmediate()
      this.#notes.push(Object.keys(this).length > 0 ? 'saved with a login' : 'saved without one')
    }
    saving().then(done, done)
  }
}

/** The service, with a note of each step as it is begun, and whether it heeds this signal. */
function notedSso(notes: string[], signal?: AbortSignal): Sso {
  return new Proxy(createSso({ authUrl: emulator.authUrl }), {
    get(sso, name) {
      const method: unknown = Reflect.get(sso, name)
      if (typeof method !== 'function' || !/Login$|Callback$|^refresh$/u.test(String(name))) return method
      return (...given: readonly unknown[]): unknown => {
        const options: unknown = given.at(-1)
        const isHeeded = typeof options === 'object' && options !== null && Reflect.get(options, 'signal') === signal
        notes.push(`${String(name)}${signal && isHeeded ? ', heeding the signal' : ''}`)
        return Reflect.apply(method, sso, given)
      }
    },
  })
}

/** What one request of this session, and its browser, ends in. */
async function sent(
  strategy: OwnerSsoStrategy,
  body: object,
  session: object | null,
  options: object = {},
): Promise<unknown[]> {
  const [outcome, ...more] = await recordedOutcomes(strategy, requestWith(body, session), options)
  expect(more).toEqual([])
  return [outcome?.kind, ...(outcome?.given ?? [])]
}

describe('a session', () => {
  it.each([{}, { pendingLoginKey: Buffer.alloc(32, 7) }])(
    'is saved before anything is sent or answered that needs it, and at no other time (%o)',
    async (options) => {
      const notes: string[] = []
      const strategy = new OwnerSsoStrategy({ ...options, sso: notedSso(notes) })
      const session = new NotedSession(notes)
      const answer = async (body: object): Promise<unknown> => {
        const [kind, info] = await sent(strategy, body, session)
        return [...notes.splice(0), kind, Reflect.get(Object(info), 'code')]
      }
      const [none, some] = ['saved without one', 'saved with a login']
      expect(await answer({ ...mfa, credential: 'guessed' })).toEqual([
        'beginLogin',
        'fail',
        'ERR_SSO_INVALID_CREDENTIALS',
      ])
      expect(await answer(mfa)).toEqual(['beginLogin', some, 'fail', 'ERR_SSO_PASSCODE_REQUIRED'])
      const old = Object.fromEntries(Object.entries(session))
      const again = 'pendingLoginKey' in options ? [some] : []
      const wrong = mistyped()
      expect(await answer(wrong)).toEqual(['completeLogin', ...again, 'fail', 'ERR_SSO_PASSCODE_REJECTED'])
      expect(await answer({ ...mfa, credential: 'guessed' })).toEqual([
        none,
        'beginLogin',
        'fail',
        'ERR_SSO_INVALID_CREDENTIALS',
      ])
      // Whoever writes the old session back finds nothing.
      expect(strategy.pendingLogin(requestWith({}, old))).toBeUndefined()
      expect(await answer(mfa)).toEqual(['beginLogin', some, 'fail', 'ERR_SSO_PASSCODE_REQUIRED'])
      expect(await answer(current(mfa, 'Tablet'))).toEqual(['completeLogin', none, 'success', undefined])
      expect(Object.keys(session)).toEqual([])

      await sent(strategy, mfa, session)
      notes.length = 0
      await strategy.cancelPendingLogin(requestWith({}, session))
      expect(notes).toEqual([none])
      await strategy.cancelPendingLogin(requestWith({}, session))
      expect(notes).toEqual([none])
    },
  )

  it('is saved before a link is handed out, and the link before it is forgotten', async () => {
    const notes: string[] = []
    const strategy = new OwnerSsoStrategy({ sso: notedSso(notes), mode: 'browser' })
    const session = new NotedSession(notes)
    const required = {
      code: 'ERR_SSO_CALLBACK_REQUIRED',
      message: 'Follow the link, sign in there, and paste the address of the page that you end up on.',
      url: expect.stringContaining(`${emulator.authUrl}/oauth2/v3/authorize?`),
      triesLeft: 5,
    }
    expect(await sent(strategy, {}, session)).toEqual(['fail', required, 401])
    expect(notes.splice(0)).toEqual(['saved with a login'])
    const old = Object.fromEntries(Object.entries(session))
    expect(await sent(strategy, {}, session)).toEqual(['fail', required, 401])
    expect(notes).toEqual(['saved without one', 'saved with a login'])
    expect(strategy.pendingLogin(requestWith({}, old))).toBeUndefined()
  })

  it('without a cookie is nobody else’s: each of two sign-ins at once is sent', async () => {
    const strategy = newStrategy()
    const before = emulator.counters.credentialChecks
    const cookieless = (): Request => requestWith(single, new NotedSession([]))
    await Promise.all([recordedOutcomes(strategy, cookieless()), recordedOutcomes(strategy, cookieless())])
    expect(emulator.counters.credentialChecks - before).toBe(2)
    const withCookie = (): Request => Object.assign(cookieless(), { headers: { cookie: 'connect.sid=one' } })
    await Promise.all([recordedOutcomes(strategy, withCookie()), recordedOutcomes(strategy, withCookie())])
    expect(emulator.counters.credentialChecks - before).toBe(3)
  })
})

it('each step of a sign-in heeds the signal of its request', async () => {
  const { signal } = new AbortController()
  const notes: string[] = []
  const byForm = new OwnerSsoStrategy({ sso: notedSso(notes, signal) })
  await sent(byForm, { ...mfa, ...current(mfa, 'Phone') }, {}, { session: false, signal })
  expect(notes.splice(0)).toEqual(['beginLogin, heeding the signal', 'completeLogin, heeding the signal'])
  const byBrowser = new OwnerSsoStrategy({ sso: notedSso(notes, signal), mode: 'browser' })
  const session = new NotedSession([])
  await sent(byBrowser, {}, session, { signal })
  const waiting = byBrowser.pendingLogin(requestWith({}, session))
  const url = waiting?.step === 'callback' ? waiting.url : ''
  const callbackUrl = await emulator.signInByHand(url, { identity: 'plain@example.com' })
  expect((await sent(byBrowser, { callbackUrl }, session, { signal }))[0]).toBe('success')
  expect(notes).toEqual(['redeemCallback, heeding the signal', 'refresh, heeding the signal'])
})

describe('a login that waits for its passcode', () => {
  it('may be answered for as long as the option says, or the service where that is shorter', async () => {
    const strategy = newStrategy({ pendingLoginTtl: 60 })
    const session = new NotedSession([])
    const before = Date.now() / 1000
    await sent(strategy, single, session)
    const after = Date.now() / 1000
    const waiting = strategy.pendingLogin(requestWith({}, session))
    expect(waiting).toEqual({
      step: 'passcode',
      identity: single.identity,
      factors: [expect.objectContaining({ id: expect.any(String) })],
      triesLeft: 5,
      expires_at: expect.any(Number),
    })
    expect(waiting?.expires_at).toBeGreaterThanOrEqual(before + 60)
    expect(waiting?.expires_at).toBeLessThanOrEqual(after + 60)
  })

  it('goes on waiting where the password came with the passcode of an unknown device', async () => {
    const strategy = newStrategy()
    const session = new NotedSession([])
    const right = current(mfa, 'Phone')
    const unknown = { code: 'ERR_SSO_PASSCODE_REJECTED', reason: 'unknown-factor', triesLeft: 5 }
    expect(await sent(strategy, { ...mfa, ...right, factor: 'mine' }, session)).toEqual([
      'fail',
      expect.objectContaining(unknown),
      401,
    ])
    expect((await sent(strategy, right, session))[0]).toBe('success')
  })

  it.each([
    ['ERR_SSO_TIMEOUT', undefined, 4],
    ['ERR_SSO_UNREACHABLE', { drop: 'before-commit' }, 4],
    ['ERR_SSO_FIREWALL_CHALLENGE', { firewall: true }, 4],
    ['ERR_SSO_UNEXPECTED_RESPONSE', { status: 500, body: 'Sorry' }, undefined],
  ] as const)('after %s may be answered %s: %s more times', async (failure, fault, triesLeft) => {
    const strategy = newStrategy()
    const session = new NotedSession([])
    await sent(strategy, single, session)
    if (fault) emulator.once('mfa-verify', fault)
    const options = fault ? {} : { signal: AbortSignal.abort() }
    const answer = { passcode: passcodeOf(single) }
    expect(await sent(strategy, answer, session, options)).toEqual([
      'error',
      expect.objectContaining({ code: failure }),
    ])
    expect(strategy.pendingLogin(requestWith({}, session))?.triesLeft).toBe(triesLeft)
  })
})
