import { describe, expect, it } from '@jest/globals'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { startEmulator, type Emulator } from '../../src/index.ts'
import { useEmulator } from '../../src/jest.ts'
import { challengeOf, Client, codeOf, json } from '../client.ts'

const identity = 'plain@example.com'
const emulator = useEmulator()

async function withCode(target: Emulator = emulator): Promise<{ client: Client; code: string }> {
  const client = new Client(target)
  const { answer } = await client.authorize(identity)
  return { client, code: codeOf(answer) }
}

describe('POST /oauth2/v3/token, code exchange', () => {
  it('answers exactly the fields of the document', async () => {
    const { client, code } = await withCode()
    const answer = await client.exchange(code)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    const tokens = json(answer)
    expect(Object.keys(tokens).toSorted()).toEqual([
      'access_token',
      'expires_in',
      'refresh_token',
      'state',
      'token_type',
    ])
    expect(tokens).toMatchObject({ expires_in: 300, state: 'some state', token_type: 'Bearer' })
  })

  it('takes a code once, and not after five minutes', async () => {
    const first = await withCode()
    expect((await first.client.exchange(first.code)).status).toBe(200)
    expect(json(await first.client.exchange(first.code))).toMatchObject({ error: 'invalid_grant' })

    const second = await withCode()
    emulator.clock.advance(301)
    expect(json(await second.client.exchange(second.code))).toMatchObject({ error: 'invalid_grant' })
  })

  it('binds a code to its redirect_uri and instance', async () => {
    const first = await withCode()
    const elsewhere = { redirect_uri: `${emulator.regionalAuthUrl}/void/callback` }
    expect(json(await first.client.exchange(first.code, elsewhere))).toMatchObject({ error: 'invalid_grant' })

    const third = await withCode()
    const away = new Client(emulator, { base: emulator.regionalAuthUrl })
    const answer = await away.exchange(third.code, { code_verifier: third.client.verifier })
    expect(json(answer)).toMatchObject({ error: 'invalid_grant' })
  })

  it('takes the code of a sign-in in a browser with another session’s cookie or none: the verifier alone binds it', async () => {
    const browser = await withCode()
    browser.client.cookies.clear()
    expect((await browser.client.exchange(browser.code)).status).toBe(200)

    // A client that looks up its region first keeps the cookie of that session.
    const { client, code } = await withCode()
    const another = new Client(emulator)
    await another.open()
    expect(json(await another.exchange(code))).toMatchObject({ error_description: 'Invalid code_verifier' })
    const again = await withCode()
    const redeemed = await another.exchange(again.code, { code_verifier: again.client.verifier })
    expect(redeemed.status).toBe(200)
    expect(another.cookies.get('sso.sid')).not.toBe(client.cookies.get('sso.sid'))
  })

  it.each(['too-short', `${'a'.repeat(85)}-`, 'a'.repeat(87)])(
    'rejects the verifier %s whatever its challenge',
    async (verifier) => {
      const client = new Client(emulator)
      const challenge = challengeOf(verifier, 'raw-digest')
      const { hidden } = await client.open({ code_challenge: challenge })
      const form = { ...hidden, identity, credential: 'correct horse' }
      const answer = await client.post(form, client.query({ code_challenge: challenge }))
      expect(json(await client.exchange(codeOf(answer), { code_verifier: verifier }))).toMatchObject({
        error_description: 'Invalid code_verifier',
      })
    },
  )

  it.each([
    ['either', 'hex-digest', 200],
    ['either', 'raw-digest', 200],
    ['hex-digest', 'hex-digest', 200],
    ['hex-digest', 'raw-digest', 400],
    ['raw-digest', 'raw-digest', 200],
    ['raw-digest', 'hex-digest', 400],
  ] as const)(
    'with codeChallengeEncoding %s answers a %s challenge with %i',
    async (codeChallengeEncoding, encoding, status) => {
      await using strict = await startEmulator({ codeChallengeEncoding })
      const client = new Client(strict, { encoding })
      const { answer } = await client.authorize(identity)
      expect((await client.exchange(codeOf(answer))).status).toBe(status)
    },
  )

  it.each([
    ['code', 'invalid_request'],
    ['code_verifier', 'invalid_request'],
    ['redirect_uri', 'invalid_request'],
    ['client_id', 'invalid_client'],
    ['grant_type', 'invalid_request'],
  ])('rejects a body without %s as %s', async (name, error) => {
    const { client, code } = await withCode()
    const answer = await client.exchange(code, { [name]: undefined })
    expect(answer.status).toBe(400)
    expect(json(answer)).toMatchObject({ error })
  })

  it.each([null, 5, true, { a: 1 }, ['a']])('ignores %j in a field that nobody knows', async (client_secret) => {
    const { client, code } = await withCode()
    const answer = await client.exchange(code, { client_secret })
    expect(answer.status).toBe(200)
    const { refresh_token } = json(answer)
    expect((await client.refresh(String(refresh_token), { client_secret })).status).toBe(200)
  })

  it.each([null, 5, { a: 1 }])('treats %j in a known field as a missing one', async (sent) => {
    const { client, code } = await withCode()
    expect(json(await client.exchange(code, { code_verifier: sent }))).toEqual({
      error: 'invalid_request',
      error_description: 'Missing code_verifier (a string)',
    })
  })

  it('rejects other grants, other content types and bodies that are no fields', async () => {
    const client = new Client(emulator)
    expect(json(await client.exchange('x', { grant_type: 'password' }))).toMatchObject({
      error: 'unsupported_grant_type',
    })
    const bodies: readonly RequestInit[] = [
      { body: '{}', headers: { 'content-type': 'text/plain' } },
      { body: '{', headers: { 'content-type': 'application/json' } },
      { body: '[]', headers: { 'content-type': 'application/json' } },
      { body: new URLSearchParams('client_id=ownerapi&client_id=ownerapi') },
    ]
    for (const init of bodies) {
      const answer = await client.send('/oauth2/v3/token', { method: 'POST', ...init })
      expect(answer.status).toBe(400)
      expect(json(answer)).toMatchObject({ error: 'invalid_request' })
    }
  })
})

describe('the tokens', () => {
  it('are signed JWTs that live eight hours, the id token naming the account', async () => {
    const tokens = await emulator.issueTokens(identity)
    const keys = createLocalJWKSet(emulator.jwks)
    const now = new Date(emulator.clock.now() * 1000)
    const access = await jwtVerify(tokens.access_token, keys, {
      currentDate: now,
      issuer: `${emulator.authUrl}/oauth2/v3`,
    })
    const id = await jwtVerify(tokens.id_token, keys, {
      currentDate: now,
      audience: 'ownerapi',
      issuer: `${emulator.authUrl}/oauth2/v3`,
    })
    expect(Number(access.payload.exp) - Number(access.payload.iat)).toBe(28_800)
    expect(Number(id.payload.exp) - Number(id.payload.iat)).toBe(28_800)
    expect(id.payload).toMatchObject({ email: identity, email_verified: true, azp: 'ownerapi' })
    expect(id.payload.sub).toBe(access.payload.sub)
  })

  it('can be opaque, have another expires_in, or none', async () => {
    await using opaque = await startEmulator({ accessTokenFormat: 'opaque', expiresIn: '28800' })
    const tokens = await new Client(opaque).login(identity)
    expect(tokens['access_token']).not.toContain('.')
    expect(tokens['expires_in']).toBe('28800')
    await using silent = await startEmulator({ expiresIn: null })
    expect(await new Client(silent).login(identity)).not.toHaveProperty('expires_in')
  })
})

describe('POST /oauth2/v3/token, refresh', () => {
  it('answers exactly the fields of the document', async () => {
    const { refresh_token } = await emulator.issueTokens(identity)
    const answer = await new Client(emulator).refresh(refresh_token)
    expect(answer.status).toBe(200)
    expect(Object.keys(json(answer)).toSorted()).toEqual([
      'access_token',
      'expires_in',
      'id_token',
      'refresh_token',
      'token_type',
    ])
  })

  it.each([
    ['refresh_token', undefined, 'invalid_request'],
    ['refresh_token', 'unknown', 'login_required'],
    ['client_id', 'other', 'invalid_client'],
    ['scope', undefined, 'invalid_scope'],
    ['scope', 'openid', 'invalid_scope'],
  ])('rejects %s %s as %s, and the token stays alive', async (name, value, error) => {
    const { refresh_token } = await emulator.issueTokens(identity)
    const client = new Client(emulator)
    const answer = await client.refresh(refresh_token, { [name]: value })
    expect(answer.status).toBe(400)
    expect(json(answer)).toMatchObject({ error })
    expect((await client.refresh(refresh_token)).status).toBe(200)
  })

  it("refreshes a region's tokens at that region alone", async () => {
    const { refresh_token } = await emulator.issueTokens('regional@example.com')
    expect(json(await new Client(emulator).refresh(refresh_token))).toMatchObject({ error: 'login_required' })
    const away = new Client(emulator, { base: emulator.regionalAuthUrl })
    expect((await away.refresh(refresh_token)).status).toBe(200)
  })

  it('says login_required for a token that was expired by hand', async () => {
    const { refresh_token } = await emulator.issueTokens(identity)
    expect(emulator.expireRefreshTokens(identity)).toBeGreaterThanOrEqual(1)
    expect(json(await new Client(emulator).refresh(refresh_token))).toEqual({
      error: 'login_required',
      error_description: 'The refresh_token is expired.',
    })
  })
})
