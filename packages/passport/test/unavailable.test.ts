import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import {
  createSso,
  createTokenManager,
  FirewallChallengeError,
  RefreshBudgetError,
  StoreError,
  type TokenManager,
} from '@owner-sso/core'
import { type Emulator, startEmulator } from '@owner-sso/emulator'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { OwnerSsoStrategy, SignInUnavailableError } from '../src/index.ts'
import { startApplication } from './application.ts'
import { recordedOutcomes, requestWith } from './recorded-outcomes.ts'

const plain = { identity: 'plain@example.com', credential: 'correct horse' }
let emulator: Emulator
beforeEach(async () => {
  emulator = await startEmulator()
})
afterEach(() => emulator.close())

/** The one error that a sign-in ends in. */
async function errorOf(strategy: OwnerSsoStrategy, options: object = {}): Promise<SignInUnavailableError> {
  const outcomes = await recordedOutcomes(strategy, requestWith(plain), options)
  expect(outcomes).toEqual([{ kind: 'error', given: [expect.any(SignInUnavailableError)] }])
  const [error] = outcomes[0]?.given ?? []
  if (!(error instanceof SignInUnavailableError)) throw new Error('unreachable: checked above')
  expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain('correct horse')
  return error
}

describe('a sign-in that failed through nobody’s fault', () => {
  it('is 503 with Retry-After when the firewall blocks, and sends nothing while it does', async () => {
    emulator.once('login-page', { firewall: true })
    const strategy = new OwnerSsoStrategy({ authUrl: emulator.authUrl, firewallCooldown: 120 })
    const browser = startApplication(strategy).browser()
    const first = await browser.post('/login').send(plain).expect(503)
    expect(Number(first.headers['retry-after'])).toBeGreaterThan(110)
    // The fleet waits for up to a fifth longer than the page says, and each of three steps rounds up to a second.
    expect(Number(first.headers['retry-after'])).toBeLessThanOrEqual(147)
    const second = await browser.post('/passport-login').send(plain).expect(503)
    expect(second.headers['retry-after']).toBeDefined()
    expect(emulator.requests).toHaveLength(1)
  })

  it.each(['form', 'browser'] as const)(
    'is 503, and asks the service nothing, where sign-ins are made elsewhere: mode %s',
    async (mode) => {
      const sso = createSso({ authUrl: emulator.authUrl })
      const tokens = createTokenManager({ issuer: sso, store: memoryTokenStore(), refresh: 'elsewhere' })
      const browser = startApplication(new OwnerSsoStrategy({ sso, tokens, mode })).browser()
      await browser.post('/login').send(plain).expect(503)
      await browser.post('/passport-login').send(plain).expect(503)
      expect(emulator.requests).toEqual([])
    },
  )

  it.each([
    [120, '120'],
    [119.2, '120'],
    [1, '1'],
    [0, '1'],
    [-60, '1'],
  ])('asks to wait whole seconds until the next attempt, one at the least (%d: %s)', (seconds, header) => {
    const now = 1_800_000_000
    const clock = jest.spyOn(Date, 'now').mockReturnValue(now * 1000)
    try {
      for (const Timed of [FirewallChallengeError, RefreshBudgetError]) {
        expect(new SignInUnavailableError(new Timed(now + seconds)).headers).toEqual({ 'Retry-After': header })
      }
    } finally {
      clock.mockRestore()
    }
  })

  it('is kept from sending by a block that another process has met, whichever service the strategy has', async () => {
    const { authUrl } = emulator
    const store = memoryTokenStore()
    const newTokens = (): TokenManager => createTokenManager({ issuer: createSso({ authUrl }), store })
    emulator.once('login-page', { firewall: true })
    await errorOf(new OwnerSsoStrategy({ authUrl, tokens: newTokens() }))
    const error = await errorOf(new OwnerSsoStrategy({ authUrl, tokens: newTokens() }))
    expect(error).toMatchObject({ code: 'ERR_SSO_FIREWALL_CHALLENGE', status: 503 })
    expect(emulator.requests).toHaveLength(1)
  })

  it('is 504 when the service does not answer in time', async () => {
    emulator.once('login-page', { hold: new Promise(() => {}) })
    const error = await errorOf(new OwnerSsoStrategy({ authUrl: emulator.authUrl, timeout: 50 }))
    expect(error).toMatchObject({ code: 'ERR_SSO_TIMEOUT', status: 504, headers: {} })
  })

  it('is 504 when the application’s signal ends it', async () => {
    emulator.once('login-page', { hold: new Promise(() => {}) })
    const error = await errorOf(new OwnerSsoStrategy({ authUrl: emulator.authUrl }), {
      signal: AbortSignal.timeout(50),
    })
    expect(error).toMatchObject({ code: 'ERR_SSO_TIMEOUT', status: 504 })
  })

  it('is 503 when nobody listens', async () => {
    const { authUrl } = emulator
    await emulator.close()
    const error = await errorOf(new OwnerSsoStrategy({ authUrl }))
    expect(error).toMatchObject({ code: 'ERR_SSO_UNREACHABLE', status: 503 })
  })

  it('is 502 when the answer can’t be understood', async () => {
    emulator.once('login-page', { status: 500, body: 'Sorry' })
    const error = await errorOf(new OwnerSsoStrategy({ authUrl: emulator.authUrl }))
    expect(error).toMatchObject({ code: 'ERR_SSO_UNEXPECTED_RESPONSE', status: 502 })
    expect(error.cause).toMatchObject({ step: 'login-page', status: 500 })
  })

  it('is 502 when the service rejects its own code', async () => {
    emulator.once('token', { status: 400, body: { error: 'invalid_grant' } })
    const error = await errorOf(new OwnerSsoStrategy({ authUrl: emulator.authUrl }))
    expect(error).toMatchObject({ code: 'ERR_SSO_TOKEN_REJECTED', status: 502 })
  })

  it('is 503 when the tokens could not be stored, and nobody is signed in', async () => {
    const sso = createSso({ authUrl: emulator.authUrl })
    const store = {
      ...memoryTokenStore(),
      swap: () => Promise.reject(new StoreError('unavailable', 'The store is away for lunch.')),
    }
    const strategy = new OwnerSsoStrategy({ sso, tokens: createTokenManager({ issuer: sso, store }) })
    const browser = startApplication(strategy).browser()
    await browser.post('/passport-login').send(plain).expect(503)
    expect((await browser.get('/me')).body).toBeNull()
  })
})
