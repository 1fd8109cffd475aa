import { expect, it } from '@jest/globals'
import { attachBearer, ownerApiBearer, ownerApiProxy, ownerFetch, ssoErrorHandler } from '../src/index.ts'
import axios from 'axios'
import { account, tokensOf } from './tokens.ts'

const tokens = await tokensOf()
const target = 'https://owner-api.example.com'

it.each<[call: string, typed: string, meant: string, (typo: object) => unknown]>([
  ['ownerApiProxy', 'autorize', 'authorize', (typo) => ownerApiProxy({ tokens, target, authorize: true, ...typo })],
  ['close', 'timout', 'timeout', (typo) => ownerApiProxy({ tokens, target, authorize: true }).close(typo)],
  ['ownerApiBearer', 'acount', 'account', (typo) => ownerApiBearer({ tokens, ...typo })],
  ['ownerFetch', 'taget', 'target', (typo) => ownerFetch({ tokens, account, ...typo })],
  ['attachBearer', 'tagret', 'target', (typo) => attachBearer(axios.create(), { tokens, account, ...typo })],
  ['transport', 'useragent', 'userAgent', (typo) => ownerFetch({ tokens, account, transport: typo })],
  ['ssoErrorHandler', 'onproblem', 'onProblem', (typo) => ssoErrorHandler(typo)],
])('%s rejects a mistyped option: %s for %s', async (call, typed, meant, take) => {
  const rejected = `${typed} is not an option of ${call}. Did you mean ${meant}?`
  await expect((async () => take({ [typed]: 'https://stranger.example' }))()).rejects.toThrow(rejected)
  await expect((async () => take({ [typed]: 'https://stranger.example' }))()).rejects.toThrow(TypeError)
})

it.each<[call: string, () => unknown]>([
  ['ownerApiProxy', () => ownerApiProxy(undefined as never)],
  ['ownerApiBearer', () => ownerApiBearer(null as never)],
  ['ownerFetch', () => ownerFetch('https://owner-api.example.com' as never)],
  ['attachBearer', () => attachBearer(axios.create(), undefined as never)],
])('%s without an object of options says what it takes', (call, take) => {
  expect(take).toThrow(TypeError)
  expect(take).toThrow(`${call} takes an object with `)
})

it.each<[string, () => unknown]>([
  [
    'tokens must be what createTokenManager() returns; a promise came: await it',
    () => ownerFetch({ tokens: tokensOf() as never, account }),
  ],
  [
    'tokens must be what createTokenManager() returns; a function came: call it',
    () => ownerFetch({ tokens: tokensOf as never, account }),
  ],
  [
    'account must be a name or a function of the request; a number came',
    () => ownerFetch({ tokens, account: 5 as never }),
  ],
  ['account must be a name or a function of the request; empty text came', () => ownerBearerOf({ account: '' })],
  ['fetch must be a function; null came', () => ownerFetch({ tokens, account, fetch: null as never })],
  ['onError must be a function; text came', () => ownerBearerOf({ onError: 'log' as never })],
  ['onProblem must be a function; text came', () => ssoErrorHandler({ onProblem: 'log' as never })],
  [
    'the first argument of attachBearer must be an axios instance; text came',
    () => attachBearer('x' as never, { tokens, account }),
  ],
])('what came is told: %s', (message, take) => {
  expect(take).toThrow(new TypeError(message))
})

it('ownerFetch says so where an address leads past the path of its target', async () => {
  const call = ownerFetch({ tokens, account, target: `${target}/api/1` })
  for (const address of ['/vehicles', 'vehicles']) {
    await expect(call(address)).rejects.toThrow('past the path of target: write /api/1/…, or a target without a path')
  }
})

function ownerBearerOf(more: object): unknown {
  return ownerApiBearer({ tokens, ...more })
}
