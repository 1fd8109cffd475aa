import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type Emulator, startEmulator } from '@owner-sso/emulator'
import {
  type AuthorizationRequest,
  createSso,
  createTokenManager,
  type PendingLogin,
  type Sso,
  type TokenManager,
  type TokenSet,
} from '../../src/index.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'

const credentials = { identity: 'plain@example.com', credential: 'correct horse' }
const { signal } = new AbortController()

let emulator: Emulator
let sso: Sso
let tokens: TokenManager
beforeEach(async () => {
  emulator = await startEmulator()
  sso = createSso({ authUrl: emulator.authUrl })
  tokens = createTokenManager({ issuer: sso, store: mapStore() })
})
afterEach(() => emulator.close())

/** What a caller without a compiler may write. */
const any = (value: unknown): never => value as never

describe('a signal in the wrong place is a TypeError that says where it belongs, and nothing is sent', () => {
  const misplaced: [string, RegExp, (pending: PendingLogin, request: AuthorizationRequest) => Promise<unknown>][] = [
    ['login', /login\(credentials, \{ signal \}\)/u, () => sso.login(any({ ...credentials, signal }))],
    ['login', /login\(credentials, \{ signal \}\)/u, () => sso.login(credentials, any(signal))],
    ['beginLogin', /beginLogin\(credentials, \{ signal \}\)/u, () => sso.beginLogin(any({ ...credentials, signal }))],
    ['beginLogin', /beginLogin\(credentials, \{ signal \}\)/u, () => sso.beginLogin(credentials, any(signal))],
    [
      'completeLogin',
      /completeLogin\(pending, answer, \{ signal \}\)/u,
      (pending) => sso.completeLogin(pending, any({ passcode: '000000', signal })),
    ],
    [
      'completeLogin',
      /completeLogin\(pending, answer, \{ signal \}\)/u,
      (pending) => sso.completeLogin(pending, { passcode: '000000' }, any(signal)),
    ],
    [
      'redeemCallback',
      /redeemCallback\(callbackUrl, request, \{ signal \}\)/u,
      (_, request) => sso.redeemCallback('https://example.com/', request, any(signal)),
    ],
    ['refresh', /refresh\(tokens, \{ signal \}\)/u, () => sso.refresh({} as TokenSet, any(signal))],
    [
      'getAccessToken',
      /getAccessToken\(account, \{ signal \}\)/u,
      () => tokens.getAccessToken('plain@example.com', any(signal)),
    ],
    ['refresh of a token manager', /refresh\(account, \{ signal \}\)/u, () => tokens.refresh('owner', any(signal))],
    ['settled', /settled\(\{ signal \}\)/u, () => tokens.settled(any(signal))],
  ]

  it.each(misplaced)('%s: %s', async (_, words, call) => {
    const outcome = await sso.beginLogin({ identity: 'mfa@example.com', credential: 'correct horse' })
    if (outcome.kind !== 'passcode-required') throw new Error('no passcode was asked for')
    const before = emulator.requests.length
    const { request } = sso.createAuthorizationUrl()
    await expect(call(outcome.pending, request)).rejects.toThrow(TypeError)
    await expect(call(outcome.pending, request)).rejects.toThrow(words)
    expect(emulator.requests).toHaveLength(before)
  })

  it.each<[string, () => Promise<unknown>]>([
    ['login', () => sso.login(credentials, any({ signal: new AbortController() }))],
    ['getAccessToken', () => tokens.getAccessToken('owner', any({ signal: new AbortController() }))],
  ])('%s: an AbortController in place of its signal is one, too', async (_, call) => {
    await expect(call()).rejects.toThrow(new TypeError('signal must be an AbortSignal'))
    expect(emulator.requests).toHaveLength(0)
  })
})
