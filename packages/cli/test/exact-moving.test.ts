/** Each limit at it and one beyond it: what is moved in, and exports. */
import { createCipheriv, scryptSync } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { createSso } from '@owner-sso/core'
import type { Settings } from '../src/settings.ts'
import type { CommandError } from '../src/command-error.ts'
import { candidateOf } from '../src/moving/candidate.ts'
import { isSealed, opened, plainExport, type Sealed, sealedExport } from '../src/moving/export-file.ts'
import { unsealed } from '../src/moving/export-secret.ts'
import { isAccountName, tokensIn } from '../src/moving/found-tokens.ts'
import { isExportFile, readShape } from '../src/moving/shapes.ts'
import { refused, outcomeOf } from './outcome-of.ts'

describe('what is moved in', () => {
  const token = 'x'.repeat(20)

  it('is a refresh token of 20 to 8192 visible characters', () => {
    const shapes = [token, token.slice(1), 'x'.repeat(8192), 'x'.repeat(8193), `é${token}`, `${token}é`, `<${token}`]
    expect(shapes.map((text) => readShape(text)?.shape)).toEqual([
      'refresh token',
      undefined,
      'refresh token',
      undefined,
      undefined,
      undefined,
      undefined,
    ])
    for (const begin of '{["<') expect(readShape(`${begin}${token}`)).toBeUndefined()
    expect(readShape(`\uFEFF${token}`)?.shape).toBe('refresh token')
    expect(readShape(`${token}\uFEFF`)?.shape).toBe('refresh token')
    expect(readShape(`x\uFEFF${token}`)).toBeUndefined()
  })

  it.each([
    ['ann@example.com', true],
    [' sub:7 ', true],
    ['ann@', false],
    ['@example.com', false],
    ['a b@c', false],
    ['a@b c', false],
    ['a@b@c', false],
    ['sub:', false],
    ['xsub:7', false],
    ['sub:7 8', false],
  ])('may be of an account called %j: %s', (name, isName) => {
    expect(isAccountName(name)).toBe(isName)
  })

  it.each<[unknown, number | undefined]>([
    [1_000_000_001, 1_000_000_001],
    [1_000_000_000, undefined],
    ['1000000001.9', 1_000_000_001],
    [99_999_999_999, 99_999_999_999],
    [100_000_000_000, 100_000_000_000],
    [100_000_000_001, 100_000_000],
    [1e14, 1e11],
    [1e14 + 1, undefined],
    ['', undefined],
    ['soon', undefined],
    [null, undefined],
  ])('was issued at %j: %s', (created_at, issuedAt) => {
    expect(tokensIn({ refresh_token: token, created_at })?.issuedAt).toBe(issuedAt)
  })

  it.each<[object, number | undefined]>([
    [{ expires_at: 1_900_000_300, expires_in: 300 }, 1_900_000_000],
    [{ expiresAt: 1_900_000_300, expires_in: '300' }, 1_900_000_000],
    [{ expires_at: 1_900_000_300, expires_in: 0 }, undefined],
    [{ expires_at: 1_900_000_300 }, undefined],
    [{ expires_in: 300 }, undefined],
    [{ obtained_at: 1_900_000_001, expires_at: 1_900_000_300, expires_in: 300 }, 1_900_000_001],
  ])('says with %j that it was issued at %s', (times, issuedAt) => {
    expect(tokensIn({ refresh_token: token, ...times })?.issuedAt).toBe(issuedAt)
  })

  it('is told under each name that clients have given to a fact, the usual one first', () => {
    const jwt = (claims: object): string => `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`
    const facts = (fields: object): unknown => {
      const { refreshToken: _token, ...others } = tokensIn({ refresh_token: token, ...fields }) ?? {}
      return others
    }
    for (const name of ['refresh_token', 'refreshToken'])
      expect(tokensIn({ [name]: token })).toEqual({ refreshToken: token })
    for (const name of ['access_token', 'accessToken', 'authToken', 'id_token', 'idToken'])
      expect([name, facts({ [name]: jwt({ sub: '7' }) })]).toEqual([name, { owner: 'sub:7' }])
    for (const name of ['account', 'email', 'identity', 'username'])
      expect([name, facts({ [name]: 'ann@example.com' })]).toEqual([name, { account: 'ann@example.com' }])
    for (const name of ['auth_url', 'authUrl', 'url', 'sso_url', 'issuer'])
      expect([name, facts({ [name]: 'https://a.example' })]).toEqual([name, { authUrl: 'https://a.example' }])
    for (const name of ['obtained_at', 'created_at', 'createdAt'])
      expect([name, facts({ [name]: 1_900_000_000 })]).toEqual([name, { issuedAt: 1_900_000_000 }])
    for (const name of ['expires_at', 'expiresAt'])
      expect([name, facts({ [name]: 1_900_000_300, expires_in: 300 })]).toEqual([name, { issuedAt: 1_900_000_000 }])
    expect(facts({ email: 'b@example.com', account: 'a@example.com' })).toEqual({ account: 'a@example.com' })
    expect(
      facts({ access_token: jwt({ email: 'b@example.com', iss: 'https://b.example', iat: 1_900_000_000 }) }),
    ).toEqual({
      owner: 'b@example.com',
      authUrl: 'https://b.example',
      issuedAt: 1_900_000_000,
    })
    expect(tokensIn({ refreshToken: token }, { url: 'https://a.example' })?.authUrl).toBe('https://a.example')
    expect(tokensIn({ refresh_token: jwt({ exp: 1_900_000_300, iat: 1_900_000_000, iss: 'i' }) })).toMatchObject({
      endsAt: 1_900_000_300,
      issuedAt: 1_900_000_000,
      authUrl: 'i',
    })
  })

  it.each([
    [{ kind: 'owner-sso export', version: 1 }, true],
    [{ kind: 'owner-sso export', version: 2 }, false],
    [{ kind: 'export', version: 1 }, false],
    [[], false],
    [null, false],
  ])('is an export file if it is %j: %s', (json, isExport) => {
    expect(isExportFile(json)).toBe(isExport)
  })

  it('is sealed with a salt and a nonce of its own, and opened with the same secret alone', () => {
    const secret = Buffer.alloc(32, 1)
    const accounts = { 'ann@example.com': { refresh_token: token, auth_url: 'https://a.example', obtained_at: 1 } }
    const { sealed, ...file } = sealedExport(accounts, 'key', secret)
    const other = sealedExport(accounts, 'key', secret)
    expect(file).toEqual({ kind: 'owner-sso export', version: 1 })
    expect(isSealed(sealed)).toBe(true)
    const bytes = (text: string): number => Buffer.from(text, 'base64url').byteLength
    const { with: how, salt, nonce, data } = sealed as Sealed
    expect([how, bytes(salt), bytes(nonce)]).toEqual(['key', 16, 12])
    // The tag is behind it.
    expect(bytes(data)).toBe(JSON.stringify(accounts).length + 16)
    expect([salt, nonce]).not.toContain((other.sealed as Sealed).salt)
    expect(opened(sealed as Sealed, secret)).toEqual(plainExport(accounts))
    expect(outcomeOf(() => opened(sealed as Sealed, Buffer.alloc(32, 2)))).toBe(refused)
    expect(outcomeOf(() => opened({ ...(sealed as Sealed), data: salt }, secret))).toBe(refused)
  })

  it.each([
    [{ with: 'key', salt: 's', nonce: 'n', data: 'd' }, true],
    [{ with: 'passphrase', salt: 's', nonce: 'n', data: 'd' }, true],
    [{ with: 'nothing', salt: 's', nonce: 'n', data: 'd' }, false],
    [{ with: 'key', nonce: 'n', data: 'd' }, false],
    [{ with: 'key', salt: 's', data: 'd' }, false],
    [{ with: 'key', salt: 's', nonce: 'n' }, false],
    [null, false],
    ['sealed', false],
    [undefined, false],
  ])('of %j the sealed part is one: %s', (value, is) => expect(isSealed(value)).toBe(is))

  it('is not taken over once it has ended, nor from where it is not allowed, nor for somebody else', async () => {
    const now = 1_790_000_000
    const sso = createSso({ authUrl: 'https://auth.example.com' })
    const taken = (found: object, named?: string): Promise<string | number> =>
      candidateOf({ refreshToken: token, ...found }, named, sso, now).then(
        ({ account }) => account,
        (error: CommandError) => error.exitCode,
      )
    expect(await taken({ account: 'Ann@example.com', endsAt: now + 1 })).toBe('ann@example.com')
    expect(await taken({ account: 'ann@example.com', endsAt: now })).toBe(3)
    await expect(
      candidateOf({ refreshToken: token, account: 'ann@example.com', endsAt: now }, undefined, sso, now),
    ).rejects.toThrow('The refresh token of ann@example.com ended on 2026-09-21.')
    expect(await taken({})).toBe(2)
    expect(await taken({ account: 'ann@example.com', authUrl: 'https://evil.example' })).toBe(2)
    await expect(
      candidateOf({ refreshToken: token, account: 'ann@example.com', authUrl: 'nowhere' }, undefined, sso, now),
    ).rejects.toMatchObject({
      message: 'The tokens of ann@example.com are of an address that can’t be read, which is not allowed.',
      next: 'If it is genuine, allow it: --regional-auth-url https://…, or OWNER_SSO_REGIONAL_AUTH_URLS.',
    })
    expect(await taken({ account: 'ann@example.com' }, 'bob@example.com')).toBe(2)
    expect(await taken({ account: 'ann@example.com', owner: 'bob@example.com' })).toBe(2)
    expect(await taken({ account: 'sub:7' }, 'bob@example.com')).toBe('bob@example.com')
    expect(await taken({ owner: 'sub:7' }, 'sub:8')).toBe(2)
    expect(await taken({ account: 'a name' }, 'bob@example.com')).toBe('bob@example.com')
  })
})

it('an export of any release is opened with each of the keys that are set, wherever it stands among them', async () => {
  const { env } = process
  const [key, other, third] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte))
  const text = { 'ann@example.com': { refresh_token: 'x'.repeat(20), auth_url: 'https://a.example', obtained_at: 1 } }
  // RFC 7914: what is written down of it can't change, or no export of before opens.
  const cipher = createCipheriv(
    'aes-256-gcm',
    scryptSync(key ?? '', Buffer.alloc(16, 4), 32, { N: 65_536, r: 8, p: 1, maxmem: 2 ** 27 }),
    Buffer.alloc(12, 5),
  )
  const data = Buffer.concat([cipher.update(JSON.stringify(text)), cipher.final(), cipher.getAuthTag()])
  const sealed: Sealed = {
    with: 'key',
    salt: Buffer.alloc(16, 4).toString('base64url'),
    nonce: Buffer.alloc(12, 5).toString('base64url'),
    data: data.toString('base64url'),
  }
  try {
    for (const keys of [
      [key, other],
      [other, key, third],
      [other, key],
    ]) {
      process.env = { OWNER_SSO_ENCRYPTION_KEY: keys.map((each) => each?.toString('base64')).join(' ') }
      expect(await unsealed(sealed, {} as Settings)).toEqual(plainExport(text))
    }
  } finally {
    process.env = env
  }
})
