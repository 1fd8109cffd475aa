import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type Emulator, startEmulator } from '@owner-sso/emulator'
import {
  accountName,
  copyTokenSets,
  createSso,
  createTokenManager,
  identifyOwner,
  keepSignedIn,
  ownerOfEmail,
  requestBudgetFrom,
  type Sso,
  sweepOnce,
  type TokenManager,
  transportFromText,
} from '../src/index.ts'
import { mapStore } from '../../../tests/support/map-store.ts'

const account = 'plain@example.com'
const credentials = { identity: account, credential: 'correct horse' }
const store = mapStore()

let emulator: Emulator
let sso: Sso
let tokens: TokenManager
beforeEach(async () => {
  emulator = await startEmulator()
  sso = createSso({ authUrl: emulator.authUrl })
  tokens = createTokenManager({ issuer: sso, store })
})
afterEach(() => emulator.close())

/** What a caller without a compiler may write. */
const any = (value: unknown): never => value as never

describe('a mistyped option is a TypeError that names it, what takes it, and what was meant', () => {
  const mistyped: [call: string, typed: string, meant: string, (typo: object) => unknown][] = [
    ['createSso', 'timeuot', 'timeout', (typo) => createSso({ authUrl: emulator.authUrl, ...typo })],
    ['tls', 'ciper', 'ciphers', (typo) => createSso({ authUrl: emulator.authUrl, tls: typo })],
    ['transport', 'htp2', 'http2', (typo) => createSso({ authUrl: emulator.authUrl, transport: typo })],
    ['transport.tls', 'cA', 'ca', (typo) => createSso({ authUrl: emulator.authUrl, transport: { tls: typo } })],
    ['login', 'pascode', 'passcode', (typo) => sso.login({ ...credentials, ...typo })],
    ['login', 'signl', 'signal', (typo) => sso.login(credentials, typo)],
    ['beginLogin', 'identiti', 'identity', (typo) => sso.beginLogin({ ...credentials, ...typo })],
    ['beginLogin', 'Signal', 'signal', (typo) => sso.beginLogin(credentials, typo)],
    ['the answer', 'factorID', 'factorId', (typo) => sso.completeLogin(any({}), { passcode: '000000', ...typo })],
    ['the answer', 'backupcode', 'backupCode', (typo) => sso.completeLogin(any({}), any(typo))],
    ['completeLogin', 'sginal', 'signal', (typo) => sso.completeLogin(any({}), { passcode: '000000' }, typo)],
    ['createAuthorizationUrl', 'login_hint', 'loginHint', (typo) => sso.createAuthorizationUrl(typo)],
    ['redeemCallback', 'signall', 'signal', (typo) => sso.redeemCallback('', any({}), typo)],
    ['refresh', 'timeOut', 'timeout', (typo) => sso.refresh(any({}), typo)],
    ['identifyOwner', 'singal', 'signal', (typo) => identifyOwner(sso, any({}), typo)],
    [
      'createTokenManager',
      'refreshafter',
      'refreshAfter',
      (typo) => createTokenManager({ issuer: sso, store, ...typo }),
    ],
    ['requestBudget', 'brust', 'burst', (typo) => budgetWith(typo)],
    ['requestBudget', 'permin', 'perMinute', (typo) => requestBudgetFrom({ perMinute: 2, ...typo })],
    ['save', 'replac', 'replace', (typo) => tokens.save(account, { refresh_token: 'a refresh token' }, typo)],
    ['refresh', 'prioritiy', 'priority', (typo) => tokens.refresh(account, typo)],
    ['getAccessToken', 'signale', 'signal', (typo) => tokens.getAccessToken(account, typo)],
    ['getTokens', 'signale', 'signal', (typo) => tokens.getTokens(account, typo)],
    ['settled', 'signale', 'signal', (typo) => tokens.settled(typo)],
    ['keepSignedIn', 'witin', 'within', (typo) => keepSignedIn(tokens, typo)],
    ['sweepOnce', 'singal', 'signal', (typo) => sweepOnce(tokens, typo)],
  ]
  const budgetWith = (typo: object): TokenManager =>
    createTokenManager({ issuer: sso, store, requestBudget: { perMinute: 60, ...typo } })

  it.each(mistyped)('%s: %s for %s', async (call, typed, meant, take) => {
    const refused = `${typed} is not an option of ${call}. Did you mean ${meant}?`
    await expect((async () => take({ [typed]: 1 }))()).rejects.toThrow(refused)
    await expect((async () => take({ [typed]: 1 }))()).rejects.toThrow(TypeError)
    expect(emulator.requests).toEqual([])
  })
})

it('lists the options where none has a similar name', () => {
  const options = { issuer: sso, store, refreshMargins: 60 }
  expect(() => createTokenManager(options)).toThrow(
    'refreshMargins is not an option of createTokenManager. There are issuer, store, spool, refreshAfter,',
  )
})

it('shows a name with control characters in quotes, and cuts it short', () => {
  expect(() => createTokenManager({ issuer: sso, store, [`a\n${'b'.repeat(99)}`]: 1 })).toThrow(
    `"a\\n${'b'.repeat(38)}" is not an option of createTokenManager. There are`,
  )
})

it('takes an option that is undefined for one that was left out', () => {
  const options = { issuer: sso, store, refreshMargins: undefined, spool: undefined }
  expect(() => createTokenManager(options)).not.toThrow()
})

it('rejects the name of an event that does not exist, and says which was meant', () => {
  expect(() => tokens.on(any('unsavd'), () => undefined)).toThrow(
    new TypeError(
      'unsavd is not an event of the token manager. Did you mean unsaved? There are refreshed, refreshed-token-refused, refresh-failed, in-doubt, unsaved, carried-over, not-indexed, restored, superseded, reauthentication-required, over-budget, client-rejected, not-refreshed, blocked',
    ),
  )
})

it.each<[call: string, () => unknown, string]>([
  ['createSso()', () => createSso(any(undefined)), 'createSso takes an object with authUrl, '],
  [
    'createTokenManager()',
    () => createTokenManager(any(undefined)),
    'createTokenManager takes an object with issuer, ',
  ],
  ['login()', () => sso.login(any(undefined)), 'login takes an object with identity, credential, passcode'],
  ['login(email)', () => sso.login(any(account)), 'login takes an object with identity, credential, passcode'],
  ['beginLogin()', () => sso.beginLogin(any(undefined)), 'beginLogin takes an object with identity, credential'],
  ['keepSignedIn()', () => keepSignedIn(any(undefined)), 'tokens must be what createTokenManager() returned'],
  ['refresh()', () => sso.refresh(any(undefined)), 'tokens must be a token set'],
  [
    'refresh({})',
    () => sso.refresh(any({ refresh_token: 'r' })),
    'tokens.auth_url must be the address of the instance',
  ],
  ['identifyOwner(sso)', () => identifyOwner(sso, any(undefined)), 'tokens must be a token set'],
  ['invalidate(account)', () => tokens.invalidate(account, any(undefined)), 'accessToken must be a non-empty string'],
  ['claimTry()', () => tokens.claimTry(any(undefined)), 'claimTry takes an object with id, step, tries, expires_at'],
  ['claimTry({})', () => tokens.claimTry(any({})), 'id must be a non-empty string'],
  ['accountName()', () => accountName(any(undefined)), 'the name of an account must be a string'],
  ['ownerOfEmail()', () => ownerOfEmail(any(undefined)), 'an e-mail must be a string'],
  ['transportFromText()', () => transportFromText(any(undefined)), 'a transport must be a string'],
  ['copyTokenSets(from)', () => copyTokenSets(store, any(undefined)), 'to must be a token store'],
])('says what %s lacks', async (_call, take, lack) => {
  await expect((async () => take())()).rejects.toThrow(lack)
})
