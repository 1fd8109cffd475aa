import { describe, expect, it } from '@jest/globals'
import { expiresAt } from '../src/token-lifetime.ts'

const now = Date.UTC(2026, 10, 21) / 1000
const eightHours = 28_800
const part = (json: object): string => Buffer.from(JSON.stringify(json)).toString('base64url')
const jwt = (exp: unknown): string => `${part({ alg: 'RS256' })}.${part({ exp })}.c2lnbmF0dXJl`

describe('when an access token ends', () => {
  it('is what the token itself says, whatever expires_in and the option say', () => {
    expect(expiresAt(jwt(now + 1000), 300, 60, now)).toBe(now + 1000)
    expect(expiresAt(jwt(now - 1000), 300, 'expires_in', now)).toBe(now - 1000)
  })

  it.each([0, -1, 1e12, 1e300, Number.NaN, '28800', null, true])('is not what a token with the exp %p says', (exp) => {
    expect(expiresAt(jwt(exp), 300, undefined, now)).toBe(now + eightHours)
  })

  it('is eight hours away where nothing else is known: the document’s own figure', () => {
    expect(expiresAt('opaque', 300, undefined, now)).toBe(now + eightHours)
    expect(expiresAt('a.b.c', undefined, undefined, now)).toBe(now + eightHours)
    expect(expiresAt('', undefined, undefined, now)).toBe(now + eightHours)
  })

  it('is what the option says for an opaque token', () => {
    expect(expiresAt('opaque', 300, 3600, now)).toBe(now + 3600)
    expect(expiresAt('opaque', 300, 'expires_in', now)).toBe(now + 300)
  })

  it.each<[unknown, number]>([
    [300, 300],
    [45_000, 45_000],
    ['28800', 28_800],
    [0, eightHours],
    [-1, eightHours],
    [1e12, eightHours],
    ['soon', eightHours],
    [null, eightHours],
    [undefined, eightHours],
    [{}, eightHours],
    [[300], 300],
  ])('with expires_in %p, trusted as seconds, is %i s away (F2)', (expiresIn, seconds) => {
    expect(expiresAt('opaque', expiresIn, 'expires_in', now)).toBe(now + seconds)
  })
})
