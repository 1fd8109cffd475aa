import { describe, expect, it } from '@jest/globals'
import { createSso, createTokenManager } from '@owner-sso/core'
import { useEmulator } from '@owner-sso/emulator/jest'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { OwnerSsoStrategy, type StrategyOptions } from '../src/index.ts'
import { startApplication } from './application.ts'
import { recordedOutcomes, requestWith } from './recorded-outcomes.ts'

const emulator = useEmulator({ firewall: false })

const newStrategy = (options: StrategyOptions = {}): OwnerSsoStrategy =>
  new OwnerSsoStrategy({
    authUrl: emulator.authUrl,
    regionalAuthUrls: [emulator.regionalAuthUrl],
    mode: 'browser',
    ...options,
  })

describe('mode browser', () => {
  it('hands out a link without a request, and signs in with the address that it led to', async () => {
    const strategy = newStrategy()
    const browser = startApplication(strategy).browser()
    const first = await browser.post('/login').send({ identity: 'plain@example.com' }).expect(401)
    expect(first.body).toMatchObject({ code: 'ERR_SSO_CALLBACK_REQUIRED', message: expect.any(String), triesLeft: 5 })
    expect(new URL(first.body.url).searchParams.get('login_hint')).toBe('plain@example.com')
    expect(emulator.requests).toHaveLength(0)

    const callbackUrl = await emulator.signInByHand(first.body.url)
    const before = emulator.requests.length
    const second = await browser.post('/login').send({ callbackUrl }).expect(200)
    expect(second.body).toEqual({ account: 'plain@example.com', email: 'plain@example.com' })
    // The exchange, and the refresh that brings the id_token.
    expect(emulator.requests.length - before).toBe(2)
    expect((await strategy.tokens.status('plain@example.com')).state).toBe('valid')
  })

  it('signs in the account that signed in over there, not the one that was typed here', async () => {
    const strategy = newStrategy()
    const browser = startApplication(strategy).browser()
    const first = await browser.post('/login').send({ identity: 'regional@example.com' }).expect(401)
    const url = new URL(first.body.url)
    url.searchParams.delete('login_hint')
    const callbackUrl = await emulator.signInByHand(url.href)
    const second = await browser.post('/login').send({ callbackUrl }).expect(200)
    expect(second.body.account).toBe('plain@example.com')
    expect((await strategy.tokens.status('regional@example.com')).state).toBe('signed-out')
  })

  it('takes an address of an app’s own scheme, where that is the redirectUri', async () => {
    const redirectUri = 'owner-app://auth/callback'
    emulator.change({ redirectUris: [redirectUri] })
    const browser = startApplication(newStrategy({ redirectUri })).browser()
    const first = await browser.post('/login').send({}).expect(401)
    const callbackUrl = await emulator.signInByHand(first.body.url)
    expect(callbackUrl).toMatch(/^owner-app:\/\/auth\/callback\?code=/u)
    const answer = await browser.post('/login').send({ callbackUrl }).expect(200)
    expect(answer.body).toMatchObject({ account: 'plain@example.com' })
  })

  it('needs no e-mail', async () => {
    const browser = startApplication(newStrategy()).browser()
    const first = await browser.post('/login').send({}).expect(401)
    const callbackUrl = await emulator.signInByHand(first.body.url)
    const answer = await browser.post('/login').send({ callbackUrl: `  ${callbackUrl}\n` })
    expect(answer.body).toMatchObject({ account: 'plain@example.com' })
  })

  it('sends the person to callbackRedirect, whose page finds the link', async () => {
    const strategy = newStrategy({ pendingLoginTtl: 60 })
    const browser = startApplication(strategy, { callbackRedirect: '/paste' }).browser()
    const before = Date.now() / 1000
    await browser.post('/login').send({}).expect(302).expect('Location', '/paste')
    const after = Date.now() / 1000
    const { body } = await browser.get('/pending')
    expect(body.expires_at).toBeGreaterThanOrEqual(before + 60)
    expect(body.expires_at).toBeLessThanOrEqual(after + 60)
    expect(body).toEqual({
      step: 'callback',
      url: expect.stringContaining('/oauth2/v3/authorize?'),
      triesLeft: 5,
      expires_at: expect.any(Number),
    })
  })

  it('takes a wrong address again without a new link, five times, and asks the service nothing', async () => {
    const browser = startApplication(newStrategy()).browser()
    const { url } = (await browser.post('/login').send({})).body
    const wrong = [
      'hello',
      `${emulator.authUrl}/void/callback?code=stolen&state=another&issuer=${emulator.authUrl}`,
      'https://elsewhere.example.com/void/callback?code=1&state=2',
    ]
    for (const [index, callbackUrl] of wrong.entries()) {
      const answer = await browser.post('/login').send({ callbackUrl })
      expect(answer.status).toBe(401)
      expect(answer.body).toMatchObject({ code: expect.stringMatching(/^ERR_SSO_/u), url, triesLeft: 4 - index })
      expect(answer.body.message).toContain(index === 1 ? 'another sign-in' : 'not the address')
    }
    expect(emulator.requests).toHaveLength(0)
    const callbackUrl = await emulator.signInByHand(url)
    await browser.post('/login').send({ callbackUrl }).expect(200)
  })

  it('takes no address whose issuer is another, and says so', async () => {
    const browser = startApplication(newStrategy()).browser()
    const { url } = (await browser.post('/login').send({})).body
    const callbackUrl = new URL(await emulator.signInByHand(url))
    callbackUrl.searchParams.set('issuer', 'https://auth.evil.example')
    const answer = await browser.post('/login').send({ callbackUrl: callbackUrl.href }).expect(401)
    expect(answer.body).toMatchObject({
      code: 'ERR_SSO_ISSUER_MISMATCH',
      message: expect.stringContaining('does not come from the SSO service'),
      triesLeft: 4,
    })
  })

  it.each([
    ['a service that can’t be reached', { drop: 'before-commit' } as const, 503],
    ['an answer of no use', { status: 500, body: 'Sorry' } as const, 502],
  ])('ends in an error, not in a fail, with %s', async (_what, fault, status) => {
    const browser = startApplication(newStrategy()).browser()
    const { url } = (await browser.post('/login').send({})).body
    const callbackUrl = await emulator.signInByHand(url)
    emulator.once('token', fault)
    await browser.post('/login').send({ callbackUrl }).expect(status)
    expect((await browser.get('/pending')).body).toBeNull()
  })

  it.each([8192, 8193])('reads an address of %d characters as one, up to 8,192', async (length) => {
    const browser = startApplication(newStrategy()).browser()
    await browser.post('/login').send({})
    const answer = await browser.post('/login').send({ callbackUrl: 'x'.repeat(length) })
    expect(answer.body.code).toBe(length > 8192 ? 'ERR_SSO_CALLBACK_REQUIRED' : 'ERR_SSO_UNEXPECTED_RESPONSE')
  })

  it('needs a new link for an address that was used', async () => {
    const strategy = newStrategy()
    const session = { regenerate: (done: () => void) => done() }
    await recordedOutcomes(strategy, requestWith({}, session))
    const pending = strategy.pendingLogin(requestWith({}, session))
    const url = pending?.step === 'callback' ? pending.url : ''
    emulator.once('token', { status: 400, body: { error: 'invalid_grant' } })
    const callbackUrl = await emulator.signInByHand(url)
    const [used] = await recordedOutcomes(strategy, requestWith({ callbackUrl }, session))
    expect(used).toMatchObject({ kind: 'fail', given: [{ code: 'ERR_SSO_TOKEN_REJECTED' }, 401] })
    expect(strategy.pendingLogin(requestWith({}, session))).toBeUndefined()
    const [again] = await recordedOutcomes(strategy, requestWith({ callbackUrl }, session))
    expect(again).toMatchObject({ kind: 'fail', given: [{ code: 'ERR_SSO_PENDING_LOGIN_EXPIRED' }, 401] })
  })

  it('says so where the account’s second factor was not asked for over there', async () => {
    const browser = startApplication(newStrategy()).browser()
    const { url } = (await browser.post('/login').send({})).body
    const callbackUrl = await emulator.signInByHand(url, { identity: 'mfa@example.com' })
    const answer = await browser.post('/login').send({ callbackUrl }).expect(401)
    expect(answer.body).toEqual({
      code: 'ERR_SSO_PASSCODE_REQUIRED',
      message: expect.stringContaining('second factor'),
    })
  })

  it('redeems an address in the session that asked for the link, nowhere else', async () => {
    const application = startApplication(newStrategy())
    const first = await application.browser().post('/login').send({})
    const callbackUrl = await emulator.signInByHand(first.body.url)
    const other = application.browser()
    await other.post('/login').send({})
    expect((await other.post('/login').send({ callbackUrl })).body.code).toBe('ERR_SSO_STATE_MISMATCH')
    const stranger = await application.browser().post('/login').send({ callbackUrl })
    expect(stranger.body.code).toBe('ERR_SSO_PENDING_LOGIN_EXPIRED')
  })

  it('is sealed into the session with a key: neither verifier nor link can be read there', async () => {
    const application = startApplication(newStrategy({ pendingLoginKey: new Uint8Array(32).fill(7) }))
    const browser = application.browser()
    const { url } = (await browser.post('/login').send({})).body
    expect(application.storedSessions()).not.toContain('authorize')
    const callbackUrl = await emulator.signInByHand(url)
    await browser.post('/login').send({ callbackUrl }).expect(200)
  })

  it('redeems an address once, also where it reaches two instances of the application at the same time', async () => {
    const store = memoryTokenStore()
    const instance = (): OwnerSsoStrategy => {
      const sso = createSso({ authUrl: emulator.authUrl })
      const tokens = createTokenManager({ issuer: sso, store })
      return new OwnerSsoStrategy({ sso, tokens, mode: 'browser', pendingLoginKey: new Uint8Array(32).fill(7) })
    }
    const [one, other] = [instance(), instance()]
    const session = { regenerate: (done: () => void) => done() }
    await recordedOutcomes(one, requestWith({}, session))
    const pending = one.pendingLogin(requestWith({}, session))
    const callbackUrl = await emulator.signInByHand(pending?.step === 'callback' ? pending.url : '')
    // The session of a request is a copy.
    const outcomes = await Promise.all(
      [one, other].map(async (strategy) => recordedOutcomes(strategy, requestWith({ callbackUrl }, { ...session }))),
    )
    expect(new Set(outcomes.map(([outcome]) => outcome?.kind))).toEqual(new Set(['fail', 'success']))
    expect(outcomes.flat().find(({ kind }) => kind === 'fail')?.given[0]).toMatchObject({
      code: 'ERR_SSO_PENDING_LOGIN_EXPIRED',
    })
    // One exchange, and one refresh that brings the id_token.
    expect(emulator.requests.filter(({ path }) => path === '/oauth2/v3/token')).toHaveLength(2)
  })

  it('redeems an address once that is submitted twice at once, and signs in, whichever of the two answers the browser shows', async () => {
    const browser = startApplication(newStrategy()).browser()
    const { url } = (await browser.post('/login').send({})).body
    const callbackUrl = await emulator.signInByHand(url)
    const both = await Promise.all([
      browser.post('/login').send({ callbackUrl }),
      browser.post('/login').send({ callbackUrl }),
    ])
    expect(both.map(({ status }) => status)).toEqual([200, 200])
    expect(emulator.requests.filter(({ path }) => path === '/oauth2/v3/token')).toHaveLength(2)
  })

  it('says that it needs a session', async () => {
    const outcomes = await recordedOutcomes(newStrategy(), requestWith({}, null), { session: false })
    expect(outcomes).toEqual([{ kind: 'error', given: [expect.any(TypeError)] }])
  })
})

describe('a registered application', () => {
  const registered = (): StrategyOptions => ({
    service: 'registered',
    tokenUrl: emulator.authUrl,
    audience: emulator.ownerApiUrl,
    clientId: 'emulated-application',
    clientSecret: 'emulated-secret',
    redirectUri: 'https://app.example.com/callback',
  })

  it('has no other mode', () => {
    expect(() => newStrategy({ ...registered(), mode: 'form' })).toThrow(
      new TypeError('mode must be "browser": a registered application has no login form to fill in'),
    )
  })

  it('takes the person back at its redirect address, without anything pasted, and only in the session that began', async () => {
    emulator.change({ service: 'registered' })
    const application = startApplication(newStrategy(registered()))
    const [browser, other] = [application.browser(), application.browser()]
    const first = await browser.post('/login').send({}).expect(401)
    const callback = new URL(await emulator.signInByHand(first.body.url))
    await other.get(callback.pathname + callback.search).expect(401)
    const answer = await browser.get(callback.pathname + callback.search).expect(200)
    expect(answer.body).toMatchObject({ account: 'plain@example.com' })
  })

  it('takes the address pasted as well', async () => {
    emulator.change({ service: 'registered' })
    const browser = startApplication(newStrategy(registered())).browser()
    const first = await browser.post('/login').send({}).expect(401)
    const callbackUrl = await emulator.signInByHand(first.body.url)
    const answer = await browser.post('/login').send({ callbackUrl }).expect(200)
    expect(answer.body).toMatchObject({ account: 'plain@example.com' })
  })
})
