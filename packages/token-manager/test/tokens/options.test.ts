import { describe, expect, it } from '@jest/globals'
import { parseRefreshOptions, parseTokenManagerOptions } from '../../src/manager/options.ts'
import { sealedTokenStore } from '../../src/store/sealed-token-store.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { bench } from '../refresh-protocol/harness.ts'

const sso = { refresh: async () => bench().tokens() }
const store = mapStore()
const sealed = sealedTokenStore(mapStore(), { keys: [Buffer.alloc(32, 1)] })
const parsed = (options: object) => parseTokenManagerOptions({ sso, store, ...options })

describe('the options of a token manager', () => {
  it('have the defaults that the README tells', () => {
    expect(parsed({})).toEqual({
      sso,
      store,
      spool: undefined,
      refreshAfter: 0.75,
      minRefreshInterval: 60,
      rotationGrace: 0,
      cachedAccounts: 10_000,
      background: true,
      waitUntil: undefined,
      requestBudget: undefined,
    })
  })

  it.each([
    { refreshAfter: 1 },
    { refreshAfter: 0.001 },
    { minRefreshInterval: 0 },
    { rotationGrace: 0.5 },
    { cachedAccounts: 1 },
    { background: false },
    { spool: mapStore() },
    { store: sealed, spool: sealedTokenStore(mapStore(), { keys: [Buffer.alloc(32, 2)] }) },
    { spool: sealed },
    { waitUntil: () => undefined },
  ])('may be %j', (options) => {
    expect(parsed(options)).toMatchObject(options)
  })

  it.each([
    { sso: undefined },
    { sso: { refresh: true } },
    { store: { read: () => undefined } },
    { store: { swap: () => undefined } },
    { spool: {} },
    { spool: store },
    { store: sealed, spool: store },
    { refreshAfter: 0 },
    { minRefreshInterval: -0.5 },
    { refreshAfter: 1.001 },
    { minRefreshInterval: Infinity },
    { rotationGrace: -0.5 },
    { rotationGrace: Number.NaN },
    { cachedAccounts: 1.5 },
    { cachedAccounts: 0 },
    { background: 1 },
    { waitUntil: true },
    { requestBudget: {} },
  ])('may not be %j', (options) => {
    expect(() => parsed(options)).toThrow(TypeError)
    expect(() => parsed(options)).toThrow(Object.keys(options).at(-1))
  })
})

it('a refresh is a caller’s unless it says background', () => {
  expect(parseRefreshOptions(undefined)).toMatchObject({ priority: 'caller' })
  expect(parseRefreshOptions({})).toMatchObject({ priority: 'caller' })
  expect(parseRefreshOptions({ priority: 'background' })).toMatchObject({ priority: 'background' })
  expect(() => parseRefreshOptions({ priority: 'urgent' as never })).toThrow('priority')
})
