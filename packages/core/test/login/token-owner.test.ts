/** Whose tokens these are: by an e-mail that the service took, or by the id_token of the token endpoint. */
import * as fc from 'fast-check'
import { UnsecuredJWT } from 'jose'
import { describe, expect, it } from '@jest/globals'
import { anyText } from '../../../../tests/support/any-text.ts'
import {
  accountName,
  createSso,
  identifyOwner,
  isSubjectAccount,
  ownerOfEmail,
  type TokenSet,
} from '../../src/index.ts'

const authUrl = 'https://auth.example.com'
const valid = {
  iss: `${authUrl}/oauth2/v3`,
  aud: 'ownerapi',
  azp: 'ownerapi',
  exp: Math.ceil(Date.now() / 1000) + 600,
  sub: 'Subject-1',
  email: 'Jo@example.com',
  email_verified: true,
}

const bare: TokenSet = {
  access_token: 'secret-access',
  refresh_token: 'secret-refresh',
  token_type: 'Bearer',
  expires_at: 0,
  auth_url: authUrl,
}

const naming = (claims: object): TokenSet => ({ ...bare, id_token: new UnsecuredJWT({ ...claims }).encode() })
const never = { refresh: () => Promise.reject(new Error('a refresh')) }
const ownerOf = async (tokens: TokenSet): Promise<object> => (await identifyOwner(never, tokens)).owner

describe('the name of an account', () => {
  it('is the same for every spelling of one e-mail, and stays as it is for a subject', () => {
    for (const named of ['jo@example.com', 'Jo@Example.COM', ' jo@example.com\n']) {
      expect(accountName(named)).toBe('jo@example.com')
    }
    expect(accountName(' sub:Subject-1 ')).toBe('sub:Subject-1')
    expect(accountName('\u212Aim@example.com')).toBe('\u212Aim@example.com')
    expect(() => accountName('SUB:Subject-1')).toThrow(TypeError)
  })

  it('is the one that a sign-in gives, and naming it a second time changes nothing', () => {
    fc.assert(
      fc.property(fc.emailAddress(), (email) => {
        expect(accountName(email)).toBe(ownerOfEmail(email).account)
        expect(accountName(accountName(email))).toBe(accountName(email))
      }),
    )
  })
})

describe('whose tokens these are', () => {
  it('is the e-mail that the service has verified', async () => {
    expect(await ownerOf(naming(valid))).toEqual({ account: 'jo@example.com', email: 'Jo@example.com' })
    expect(await ownerOf(naming({ ...valid, azp: undefined, iss: authUrl }))).toMatchObject({ email: 'Jo@example.com' })
    expect(await ownerOf(naming({ ...valid, aud: ['ownerapi', 'another'] }))).toMatchObject({ email: 'Jo@example.com' })
  })

  it.each([false, 'false', 'true', 0, 1, null, undefined, {}, []])(
    'is the subject where email_verified is %j: nothing but true is a proof',
    async (emailVerified) => {
      expect(await ownerOf(naming({ ...valid, email_verified: emailVerified }))).toEqual({ account: 'sub:Subject-1' })
    },
  )

  it.each([undefined, '', ' ', 'nobody', 'sub:Subject-1', 'sub:victim@example.com', 'SUB:x@example.com', 7])(
    'is the subject where the e-mail is %j',
    async (email) => {
      expect(await ownerOf(naming({ ...valid, email }))).toEqual({ account: 'sub:Subject-1' })
    },
  )

  it('is not taken for an e-mail where a subject looks like one', async () => {
    const tokens = naming({ ...valid, email_verified: false, sub: 'victim@example.com' })
    expect(await ownerOf(tokens)).toEqual({ account: 'sub:victim@example.com' })
  })

  it.each<[string, object]>([
    ['another issuer', { iss: 'https://elsewhere.example.com/oauth2/v3' }],
    ['an issuer of another region', { iss: 'https://auth.example.cn/oauth2/v3' }],
    ['an issuer on another port', { iss: `${authUrl}:8443` }],
    ['an issuer whose address only begins alike', { iss: `${authUrl}.evil.example` }],
    ['an issuer behind a name', { iss: 'https://auth.example.com@evil.example' }],
    ['an issuer with a name', { iss: 'https://jo@auth.example.com' }],
    ['an issuer that is no address', { iss: 'auth.example.com' }],
    ['no issuer', { iss: undefined }],
    ['another authorized party', { azp: 'somebody-else' }],
    ['an authorized party that is none', { azp: null }],
    ['two audiences and no authorized party', { aud: ['ownerapi', 'another'], azp: undefined }],
    ['another audience', { aud: ['somebody-else'] }],
    ['no audience', { aud: undefined }],
    ['an end that has passed', { exp: 1 }],
    ['no end', { exp: undefined }],
    ['no name at all', { email: '', sub: 7 }],
    ['a subject of blanks', { email: undefined, sub: ' ' }],
    ['a subject with a line break', { email: undefined, sub: 'a\nb' }],
  ])('is unknown with %s', async (_what, change) => {
    await expect(ownerOf(naming({ ...valid, ...change }))).rejects.toMatchObject({
      code: 'ERR_SSO_UNEXPECTED_RESPONSE',
      message: expect.stringContaining('the owner of these tokens is unknown'),
    })
  })

  it('is unknown where the id token is no JWT, and the error shows none of it', async () => {
    const error: unknown = await ownerOf({ ...bare, id_token: 'secret-id' }).catch((problem: unknown) => problem)
    expect(error).toMatchObject({ code: 'ERR_SSO_UNEXPECTED_RESPONSE' })
    expect(String(error)).not.toContain('secret')
  })

  it('takes one refresh where there is no id_token, and gives the new tokens back', async () => {
    const spent: string[] = []
    const fresh = naming(valid)
    const refresh = async (tokens: TokenSet): Promise<TokenSet> => {
      spent.push(tokens.refresh_token)
      return fresh
    }
    expect(await identifyOwner({ refresh }, bare)).toMatchObject({
      owner: { account: 'jo@example.com' },
      tokens: fresh,
    })
    expect(spent).toEqual(['secret-refresh'])
    await expect(identifyOwner({ refresh: async () => bare }, bare)).rejects.toThrow('is missing')
  })
})

describe('whether tokens are another owner’s', () => {
  const sso = createSso({ authUrl })
  const accessOnly = (claims: object): TokenSet => ({ ...bare, access_token: new UnsecuredJWT({ ...claims }).encode() })

  it.each<[string, TokenSet, string, boolean]>([
    ['the e-mail, in other letters', naming(valid), 'JO@example.com', false],
    ['another e-mail', naming(valid), 'ann@example.com', true],
    ['another e-mail, which nobody verified', naming({ ...valid, email_verified: false }), 'ann@example.com', true],
    ['the subject', naming(valid), 'sub:Subject-1', false],
    ['another subject', naming(valid), 'sub:Subject-2', true],
    ['another subject, in the access token alone', accessOnly({ sub: 'Subject-1' }), 'sub:Subject-2', true],
    ['a subject, where the account is an e-mail', accessOnly({ sub: 'Subject-1' }), 'ann@example.com', false],
    ['an e-mail, where the account has a name of its own', naming(valid), 'the family’s car', false],
    ['nothing that can be read', bare, 'ann@example.com', false],
    ['claims of other kinds', naming({ email: ['ann@example.com'], sub: 7 }), 'sub:7', false],
  ])('is told by %s', async (_what, tokens, account, isOthers) => {
    expect(await sso.isOfAnotherOwner(tokens, account)).toBe(isOthers)
  })
})

/** Another way to say it: letter by letter. */
function folded(text: string): string {
  const capitals = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
  return Array.from(text.trim(), (letter) => (capitals.includes(letter) ? letter.toLowerCase() : letter)).join('')
}

describe('the name of an account', () => {
  it('is the e-mail in lower case, without the spaces around it', () => {
    expect(ownerOfEmail('  Jo.Owner@Example.COM\n')).toEqual({
      account: 'jo.owner@example.com',
      email: 'Jo.Owner@Example.COM',
    })
  })

  it('keeps letters apart that look alike: the Kelvin sign is no k, the dotted capital I no i', () => {
    expect(ownerOfEmail('mi\u212Ae@example.com').account).not.toBe('mike@example.com')
    expect(ownerOfEmail('m\u0130ke@example.com').account).not.toContain('mi')
  })

  it('is one for two e-mails only if they differ in the case of A to Z and in surrounding spaces', () => {
    fc.assert(
      fc.property(anyText(), anyText(), (one, other) => {
        expect(ownerOfEmail(one).account === ownerOfEmail(other).account).toBe(folded(one) === folded(other))
      }),
    )
  })

  it('never has the form of a subject for an e-mail', () => {
    for (const email of ['sub:1', ' Sub:1@example.com']) expect(() => ownerOfEmail(email)).toThrow(TypeError)
    expect([isSubjectAccount('sub:1'), isSubjectAccount('subscriber@example.com')]).toEqual([true, false])
  })
})
