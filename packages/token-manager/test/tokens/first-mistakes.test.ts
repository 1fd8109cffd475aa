/** What people hand in by mistake: each message says what came and what to write. */
import { expect, it } from '@jest/globals'
import {
  copyTokenSets,
  createTokenManager,
  keepSignedIn,
  rekey,
  withEncryption,
  sweepOnce,
  type TokenIssuer,
} from '../../src/index.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'

const auth_url = 'https://auth.example.com'
const set = { access_token: 'a', refresh_token: 'r', token_type: 'Bearer', expires_at: 7, auth_url }
const issuer: TokenIssuer = { authUrl: auth_url, refresh: () => Promise.reject(new Error('nobody refreshes here')) }
const store = mapStore()
const tokens = createTokenManager({ issuer, store })

/** As JavaScript calls it: with anything. */
// oxlint-disable-next-line typescript/no-explicit-any -- that is the point
const any = (value: unknown): any => value

it.each<[message: string, () => unknown]>([
  ['tokens must be a token set; a promise came: await it', () => tokens.save('ann', any(Promise.resolve(set)))],
  [
    'tokens must be a token set; JSON text came: write JSON.parse(text)',
    () => tokens.save('ann', any(JSON.stringify(set))),
  ],
  ['tokens must be a token set; text came', () => tokens.save('ann', any('refresh token'))],
  ['tokens must be a token set; a list came', () => tokens.save('ann', any([set]))],
  [
    'tokens.expires_at must be seconds since the epoch; milliseconds came',
    () => tokens.save('ann', { ...set, expires_at: Date.now() }),
  ],
  [
    'tokens.expires_at must be seconds since the epoch; milliseconds came',
    () => tokens.save('ann', { access_token: 'a', refresh_token: 'r', expires_at: Date.now() }),
  ],
  [
    'tokens.expires_at must be seconds since the epoch; text came',
    () => tokens.save('ann', any({ ...set, expires_at: '2030-01-01' })),
  ],
  [
    'tokens must be a token set; a function came: call it',
    () =>
      tokens.save(
        'ann',
        any(() => set),
      ),
  ],
  ['account must be a non-empty string', () => tokens.save(any(set), any(undefined))],
  ['account must be a non-empty string; a promise came: await it', () => tokens.getAccessToken(any(Promise.resolve()))],
  [
    'accessToken must be a non-empty string; a promise came: await it',
    () => tokens.invalidate('ann', any(tokens.getAccessToken('ann').catch(() => 'a'))),
  ],
  ['store must be a token store; a function came: call it', () => createTokenManager({ issuer, store: any(mapStore) })],
  [
    'store must be a token store; a promise came: await it',
    () => createTokenManager({ issuer, store: any(Promise.resolve(store)) }),
  ],
  ['store must be a token store; text came', () => createTokenManager({ issuer, store: any('./tokens') })],
  [
    'spool must be a token store; a function came: call it',
    () => createTokenManager({ issuer, store, spool: any(mapStore) }),
  ],
  [
    'issuer must be what createSso() returns, or another TokenIssuer; a promise came: await it',
    () => createTokenManager({ issuer: any(Promise.resolve(issuer)), store }),
  ],
  ['waitUntil, refresh; a token store came', () => createTokenManager(any(store))],
  ['waitUntil, refresh; a promise came: await it', () => createTokenManager(any(Promise.resolve({ issuer, store })))],
  [
    'tokens must be what createTokenManager() returned; a promise came: await it',
    () => keepSignedIn(any(Promise.resolve(tokens))),
  ],
  ['signal must be an AbortSignal', () => sweepOnce(tokens, { signal: any(true) })],
  [
    'shareFirewallState takes what createSso() returns; a promise came',
    () => tokens.shareFirewallState(any(Promise.resolve(issuer))),
  ],
  ['from must be a token store; a function came: call it', () => copyTokenSets(any(mapStore), store)],
  ['to must be a token store', () => copyTokenSets(store, any(undefined))],
  ['Did you mean onLeft?', () => copyTokenSets(store, mapStore(), any({ onleft: () => undefined }))],
  ['onLeft must be a function', () => copyTokenSets(store, mapStore(), any({ onLeft: true }))],
  [
    'rekey takes an object with onProgress; a function came',
    () =>
      rekey(
        store,
        store,
        any(() => undefined),
      ),
  ],
  ['onProgress must be a function', () => rekey(store, store, any({ onProgress: 1 }))],
  ['store must be a token store; a function came: call it', () => withEncryption(any(mapStore), [])],
])('%s', async (message, call) => {
  await expect((async () => call())()).rejects.toMatchObject({
    name: 'TypeError',
    message: expect.stringContaining(message),
  })
})
