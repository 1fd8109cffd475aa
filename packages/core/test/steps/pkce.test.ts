/** What each login makes up for itself, as it stands in the address that it begins with. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { runs } from '../../../../tests/support/runs.ts'
import { createSso, type SsoOptions } from '../../src/index.ts'

/** One login that has begun: what it keeps for itself, and what the service is shown. */
function begun(options: Partial<SsoOptions> = {}): { codeVerifier: string; state: string; query: URLSearchParams } {
  const sso = createSso({ authUrl: 'https://auth.example.com', ...options })
  const { url, request } = sso.createAuthorizationUrl()
  return { ...JSON.parse(JSON.stringify(request)), query: new URL(url).searchParams }
}

describe('the code verifier (S9, J6)', () => {
  it('has 86 characters of A–Z, a–z, 0–9, and is another one each time', () => {
    const verifiers = Array.from({ length: 100 }, () => begun().codeVerifier)
    for (const verifier of verifiers) expect(verifier).toMatch(/^[A-Za-z0-9]{86}$/u)
    expect(new Set(verifiers).size).toBe(100)
  })

  it('has each character equally often (chi-square, 61 degrees of freedom)', () => {
    const counts = new Map<string, number>()
    const verifiers = runs(3000)
    for (let n = 0; n < verifiers; n += 1) {
      for (const character of begun().codeVerifier) counts.set(character, (counts.get(character) ?? 0) + 1)
    }
    const expected = (verifiers * 86) / 62
    const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
    expect(counts.size).toBe(62)
    // Exceeded once in ten million runs by an unbiased source; a modulo bias of one byte gives thousands.
    expect(chiSquare).toBeLessThan(136)
  })
})

describe('the code challenge (J6)', () => {
  it('is base64url of the hexadecimal text of the digest, as the document computes it', () => {
    const { codeVerifier, query } = begun()
    const digest = createHash('sha256').update(codeVerifier).digest('hex')
    expect(query.get('code_challenge')).toBe(Buffer.from(digest).toString('base64url'))
    expect(query.get('code_challenge_method')).toBe('S256')
  })

  it('is that of RFC 7636 with the option raw-digest', () => {
    const { codeVerifier, query } = begun({ codeChallengeEncoding: 'raw-digest' })
    expect(query.get('code_challenge')).toBe(createHash('sha256').update(codeVerifier).digest('base64url'))
  })
})

describe('state (S10)', () => {
  it('has at least 128 random bits in characters that need no escaping, and is in the address as it is', () => {
    const logins = Array.from({ length: 1000 }, () => begun())
    expect(new Set(logins.map(({ state }) => state)).size).toBe(1000)
    for (const { state, query } of logins) {
      expect(state).toMatch(/^[\w-]{43}$/u)
      expect(query.get('state')).toBe(state)
    }
  })
})
