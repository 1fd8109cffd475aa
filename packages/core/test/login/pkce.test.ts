import { describe, expect, it } from '@jest/globals'
import { runs } from '../../../../tests/support/runs.ts'
import { codeChallenge, randomCodeVerifier, randomState } from '../../src/login/pkce.ts'

describe('the code verifier (S9, J6)', () => {
  it('has 86 characters of A–Z, a–z, 0–9', () => {
    expect(randomCodeVerifier()).toMatch(/^[A-Za-z0-9]{86}$/u)
  })

  it('has each character equally often (chi-square, 61 degrees of freedom)', () => {
    const counts = new Map<string, number>()
    const verifiers = runs(3000)
    for (let n = 0; n < verifiers; n += 1) {
      for (const character of randomCodeVerifier()) counts.set(character, (counts.get(character) ?? 0) + 1)
    }
    const expected = (verifiers * 86) / 62
    const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
    expect(counts.size).toBe(62)
    // Exceeded once in ten million runs by an unbiased source; a modulo bias of one byte gives thousands.
    expect(chiSquare).toBeLessThan(136)
  })

  it('is another one each time', () => {
    expect(new Set(Array.from({ length: 1000 }, randomCodeVerifier)).size).toBe(1000)
  })
})

describe('the code challenge (J6)', () => {
  it('is that of RFC 7636 appendix B with the raw digest', () => {
    const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
    expect(codeChallenge(verifier, 'raw-digest')).toBe('E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM')
  })

  it('is base64url of the hexadecimal text of the digest by default', () => {
    // printf %s abc | sha256sum, then base64url of its 64 characters.
    expect(codeChallenge('abc', 'hex-digest')).toBe(
      'YmE3ODE2YmY4ZjAxY2ZlYTQxNDE0MGRlNWRhZTIyMjNiMDAzNjFhMzk2MTc3YTljYjQxMGZmNjFmMjAwMTVhZA',
    )
  })
})

describe('state (S10)', () => {
  it('has at least 128 random bits in characters that need no escaping', () => {
    const states = Array.from({ length: 1000 }, randomState)
    expect(new Set(states).size).toBe(1000)
    for (const state of states) expect(state).toMatch(/^[\w-]{43}$/u)
  })
})
