import { describe, expect, it } from '@jest/globals'
import type { TokenSet } from '@owner-sso/core'
import { UnsecuredJWT } from 'jose'
import { ownerOfTokens } from '../src/id-token.ts'

const valid = { aud: 'ownerapi', exp: Math.ceil(Date.now() / 1000) + 60, sub: 'subject-1', email: 'Jo@example.com' }

function tokensNaming(claims: Record<string, unknown>): TokenSet {
  return { ...bare, id_token: new UnsecuredJWT(claims).encode() }
}

const bare: TokenSet = {
  access_token: 'secret-access',
  refresh_token: 'secret-refresh',
  token_type: 'Bearer',
  expires_at: 0,
  auth_url: 'https://auth.example.com',
}

describe('whose tokens these are', () => {
  it('is the e-mail of the id_token', () => {
    expect(ownerOfTokens(tokensNaming(valid))).toEqual({ account: 'jo@example.com', email: 'Jo@example.com' })
  })

  it('is the subject where there is no e-mail, or one that the service has not checked', () => {
    const { email: _email, ...withoutEmail } = valid
    expect(ownerOfTokens(tokensNaming(withoutEmail))).toEqual({ account: 'subject-1' })
    expect(ownerOfTokens(tokensNaming({ ...valid, email_verified: false }))).toEqual({ account: 'subject-1' })
  })

  it.each<[string, TokenSet]>([
    ['no id_token', bare],
    ['one that is no JWT', { ...bare, id_token: 'secret-id' }],
    ['one for another client', tokensNaming({ ...valid, aud: ['somebody-else'] })],
    ['one that is over', tokensNaming({ ...valid, exp: 1 })],
    ['one without an end', tokensNaming({ ...valid, exp: undefined })],
    ['one that names nobody', tokensNaming({ ...valid, email: '', sub: 7 })],
  ])('is unknown with %s', (_what, tokens) => {
    expect(() => ownerOfTokens(tokens)).toThrow(
      expect.objectContaining({ code: 'ERR_SSO_UNEXPECTED_RESPONSE', message: expect.not.stringContaining('secret') }),
    )
  })
})
