/** A test of an application moves the clock, with whatever it has for that: an access token ends when its time is over. */
import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { createTokenManager, type TokenManager, type TokenSet } from '../../src/index.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { hours } from './harness.ts'

const account = 'owner@example.com'

const newTokens = (name: string): TokenSet => ({
  access_token: name,
  refresh_token: `refresh ${name}`,
  token_type: 'Bearer',
  expires_at: Math.floor(Date.now() / 1000) + 8 * 3600,
  auth_url: 'http://127.0.0.1:9',
})

/** Signed in, and called twice: the second call is answered without a look at anything but the clock. */
async function signedIn(create: typeof createTokenManager): Promise<TokenManager> {
  let serial = 0
  const issuer = { refresh: async () => newTokens(`a${(serial += 1)}`) }
  const tokens = create({ issuer, store: mapStore() })
  await tokens.save(account, newTokens('a0'))
  for (const _ of ['first', 'second']) expect(await tokens.getAccessToken(account)).toBe('a0')
  return tokens
}

const realNow = Date.now

/** How a test moves the clock by so many milliseconds. */
const fakes: readonly (readonly [string, (milliseconds: number) => void])[] = [
  [
    'a faked Date',
    (milliseconds) =>
      void jest.useFakeTimers({ now: realNow() + milliseconds, doNotFake: ['setTimeout', 'setImmediate', 'nextTick'] }),
  ],
  ['faked timers of all kinds', (milliseconds) => void jest.useFakeTimers({ now: realNow() + milliseconds })],
  ['Date.now of its own', (milliseconds) => void (Date.now = () => realNow() + milliseconds)],
  [
    // Between two looks at both clocks, a minute of the wall clock at the most, that one alone is asked.
    'performance.now of its own, and a minute later',
    (milliseconds) => {
      const now = performance.now.bind(performance)
      jest.spyOn(performance, 'now').mockImplementation(() => now() + milliseconds)
      Date.now = () => realNow() + Math.sign(milliseconds) * 61_000
    },
  ],
]

afterEach(() => {
  jest.useRealTimers()
  jest.restoreAllMocks()
  Date.now = realNow
})

describe.each(fakes)('a test with %s', (_, move) => {
  it('meets the end of the access token, and the next one is as new as it says', async () => {
    const tokens = await signedIn(createTokenManager)
    move(hours(9))
    const { access_token, expires_at } = await tokens.getTokens(account)
    expect(access_token).toBe('a1')
    expect(expires_at).toBeGreaterThan(Date.now() / 1000 + 7 * 3600)
  })

  it('leaves nothing behind in what was loaded under it', async () => {
    move(-hours(100))
    jest.resetModules()
    const { createTokenManager: create } = await import('../../src/index.ts')
    jest.useRealTimers()
    jest.restoreAllMocks()
    Date.now = realNow
    const tokens = await signedIn(create)
    move(hours(9))
    expect(await tokens.getAccessToken(account)).toBe('a1')
  })
})
