import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals'
import { createSso, type SsoOptions } from '../../src/index.ts'
import { goodTokens, json, type SmallService, startSmallService } from '../small-service.ts'

let service: SmallService
beforeAll(async () => {
  service = await startSmallService()
})
afterAll(() => service.close())
afterEach(() => {
  jest.restoreAllMocks()
})

/** `expires_at` of tokens that a refresh brings at a moment, in seconds since the epoch. */
async function expiresAt(
  accessToken: string,
  expiresIn: unknown,
  accessTokenLifetime: SsoOptions['accessTokenLifetime'],
  at: number,
): Promise<number> {
  const { authUrl } = service
  service.answer({ token: json({ ...goodTokens, access_token: accessToken, expires_in: expiresIn }) })
  const clock = jest.spyOn(Date, 'now').mockReturnValue(at * 1000)
  const tokens = await createSso({ authUrl, accessTokenLifetime }).refresh({
    ...goodTokens,
    expires_at: 0,
    auth_url: authUrl,
  })
  clock.mockRestore()
  return tokens.expires_at
}

const now = Date.UTC(2026, 10, 21) / 1000
const eightHours = 28_800
const part = (claims: object): string => Buffer.from(JSON.stringify(claims)).toString('base64url')
const jwt = (exp: unknown, iat?: unknown): string => `${part({ alg: 'RS256' })}.${part({ exp, iat })}.c2lnbmF0dXJl`
const leastOfGuess = 2700

describe('when an access token ends', () => {
  it.each([300, 30, 1])(
    'is after the %i s from iat to exp, whatever any clock, expires_in and the option say',
    async (life) => {
      const day = 86_400
      for (const ahead of [0, day, -day]) {
        expect(await expiresAt(jwt(now + ahead + life, now + ahead), 45_000, 60, now)).toBe(now + life)
      }
    },
  )

  it('is after a second at the least', async () => {
    expect(await expiresAt(jwt(now + 0.5, now), undefined, undefined, now)).toBe(now + 1)
  })

  it.each([600, 10_800, 28_000])(
    'is after the %i s that a token which was issued earlier has left, as a broker tells them',
    async (rest) => {
      const old = jwt(now + rest, now + rest - eightHours)
      expect(await expiresAt(old, rest, undefined, now)).toBe(now + rest)
      // Half a minute of difference between the clocks, or on the way, changes nothing.
      expect(await expiresAt(old, rest - 30, undefined, now)).toBe(now + rest - 30)
      expect(await expiresAt(old, rest + 30, undefined, now)).toBe(now + rest + 30)
    },
  )

  it('is after the whole life of a token where expires_in and our clock say different things: one of them may be wrong', async () => {
    expect(await expiresAt(jwt(now + eightHours, now), 300, undefined, now)).toBe(now + eightHours)
    expect(await expiresAt(jwt(now + 10_800, now + 10_800 - eightHours), 300, undefined, now)).toBe(now + eightHours)
    expect(await expiresAt(jwt(now + 10_800, now + 10_800 - eightHours), undefined, undefined, now)).toBe(
      now + eightHours,
    )
  })

  it('is after expires_in where that is trusted, and less than the life that a token says it has', async () => {
    const old = jwt(now + 99_000, now + 99_000 - eightHours)
    expect(await expiresAt(old, 10_800, 'expires_in', now)).toBe(now + 10_800)
    expect(await expiresAt(old, 45_000, 'expires_in', now)).toBe(now + eightHours)
    expect(await expiresAt(old, 1, 'expires_in', now)).toBe(now + leastOfGuess)
  })

  it('is what the option says, where the token has no iat: an exp alone is measured by our clock, which may be wrong', async () => {
    expect(await expiresAt(jwt(now + 1000), 300, 60, now)).toBe(now + 60)
    expect(await expiresAt(jwt(now + 10_000), 300, undefined, now)).toBe(now + 10_000)
    expect(await expiresAt(jwt(now + 10), 300, undefined, now)).toBe(now + leastOfGuess)
    expect(await expiresAt(jwt(now - 1000), 300, undefined, now)).toBe(now + eightHours)
    expect(await expiresAt(jwt(now + 1000, now + 1000), 300, undefined, now)).toBe(now + leastOfGuess)
  })

  it.each([0, -1, 1e12, 1e300, Number.NaN, '28800', null, true])(
    'is not what a token with the exp %p says',
    async (exp) => {
      expect(await expiresAt(jwt(exp), 300, undefined, now)).toBe(now + eightHours)
    },
  )

  it('is eight hours away where nothing else is known: the document’s own figure', async () => {
    expect(await expiresAt('opaque', 300, undefined, now)).toBe(now + eightHours)
    expect(await expiresAt('a.b.c', undefined, undefined, now)).toBe(now + eightHours)
  })

  it('is what the option says for an opaque token', async () => {
    expect(await expiresAt('opaque', 300, 3600, now)).toBe(now + 3600)
    expect(await expiresAt('opaque', 45_000, 30, now)).toBe(now + 30)
    expect(await expiresAt('opaque', 300, 0.5, now + 0.9)).toBe(now + 1)
  })

  it.each<[unknown, number]>([
    [300, leastOfGuess],
    [45_000, 45_000],
    ['28800', 28_800],
    [0, eightHours],
    [-1, eightHours],
    [1e12, eightHours],
    ['soon', eightHours],
    [null, eightHours],
    [undefined, eightHours],
    [{}, eightHours],
    [[3000], 3000],
  ])('with expires_in %p, trusted as seconds, is %i s away (F2)', async (expiresIn, seconds) => {
    expect(await expiresAt('opaque', expiresIn, 'expires_in', now)).toBe(now + seconds)
  })

  it.each<[number, number]>([
    [366 * 86_400, 366 * 86_400],
    [366 * 86_400 + 1, eightHours],
  ])('with a life of %i s, a year at the most, is %i s away', async (life, seconds) => {
    expect(await expiresAt(jwt(now + life, now), undefined, undefined, now)).toBe(now + seconds)
    expect(await expiresAt('opaque', undefined, life, now)).toBe(now + seconds)
    expect(await expiresAt('opaque', life, 'expires_in', now)).toBe(now + seconds)
  })

  it('is after expires_in where that is what exp and our clock come to, a minute more or less', async () => {
    const old = jwt(now + 10_800, now + 10_800 - eightHours)
    const lives: number[] = []
    for (const rest of [10_740, 10_739, 10_860, 10_861]) lives.push((await expiresAt(old, rest, undefined, now)) - now)
    expect(lives).toEqual([10_740, eightHours, 10_860, eightHours])
  })

  it('is read from dates of this century alone', async () => {
    const first = Date.UTC(2000) / 1000
    expect(await expiresAt(jwt(first + 300, first + 1), undefined, undefined, now)).toBe(now + 299)
    expect(await expiresAt(jwt(first + 300, first), undefined, undefined, now)).toBe(now + eightHours)
  })
})
