/** Each limit at it and one beyond it: the options of a sign-in, its second factor, and what is kept of it meanwhile. */
import { inspect } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { RegionNotAllowedError } from '../../src/index.ts'
import { askForPasscode, chosenFactor, secondFactorAnswer } from '../../src/login/factor-choice.ts'
import { createAuthorizationUrl } from '../../src/login/browser-login.ts'
import { parseSsoOptions } from '../../src/login/options.ts'
import { allowedInstance, instanceAt } from '../../src/login/region.ts'
import { createSsoContext } from '../../src/login/sso-context.ts'
import { type LoginInProgress, pendingLogin, resumeLogin } from '../../src/login/pending-login.ts'
import { createSecretMemory } from '../../src/login/secret-memory.ts'

const authUrl = 'https://auth.example.com'

describe('the options of createSso', () => {
  it.each<[object]>([
    [{ timeout: 2 ** 31 - 1 }],
    [{ timeout: 0.5 }],
    [{ firewallCooldown: 0.5 }],
    [{ accessTokenLifetime: 'expires_in' }],
    [{ accessTokenLifetime: 0.5 }],
    [{ codeChallengeEncoding: 'raw-digest' }],
    [{ regionalAuthUrls: ['http://localhost:1'] }],
    [{ redirectUri: 'http://127.0.0.1/callback' }],
    [{ redirectUri: 'app:/callback' }],
    [{ proxy: 'http://proxy:1' }],
    [{ proxy: 'https://proxy' }],
  ])('may be %j', (more) => {
    expect(parseSsoOptions({ authUrl, ...more })).toMatchObject(more)
  })

  it.each<[object]>([
    [{ timeout: 2 ** 31 }],
    [{ timeout: Number.NaN }],
    [{ firewallCooldown: 0 }],
    [{ firewallCooldown: Infinity }],
    [{ accessTokenLifetime: -1 }],
    [{ accessTokenLifetime: 'expires' }],
    [{ redirectUri: 7 }],
    ...['data:', 'blob:', 'file:///', 'about:', 'vbscript:'].map((scheme): [object] => [{ redirectUri: `${scheme}x` }]),
    ...[' ', '\\', '?', '#'].map((sign): [object] => [{ redirectUri: `https://a.example/b${sign}c` }]),
    [{ redirectUri: 'https://me@a.example/' }],
    [{ redirectUri: 'https://:pw@a.example/' }],
    [{ proxy: 7 }],
    [{ proxy: 'ftp://proxy' }],
  ])('may not be %j', (wrong) => {
    const [name = ''] = Object.keys(wrong)
    expect(() => parseSsoOptions({ authUrl, ...wrong })).toThrow(TypeError)
    expect(() => parseSsoOptions({ authUrl, ...wrong })).toThrow(name)
  })
})

it('an address that no instance has is refused with its origin, where it has one', () => {
  const instances = { authUrl, regionalAuthUrls: ['https://auth.example.cn'] }
  const originOf = (address: unknown): unknown => {
    try {
      return allowedInstance(address, instances, 'login-page')
    } catch (error) {
      if (!(error instanceof RegionNotAllowedError) || error.step !== 'login-page' || error.requestSent) throw error
      return error.origin ?? 'none'
    }
  }
  expect(originOf('https://auth.example.cn/x')).toBe('https://auth.example.cn')
  expect(originOf('https://evil.example:1/x')).toBe('https://evil.example:1')
  expect(['data:x', 'app:x', 'nowhere', 7, undefined].map(originOf)).toEqual(Array(5).fill('none'))
  const other = [
    'https://eu.example.com/',
    'http://eu.example.com',
    'https://eu.example.com:1',
    'https://eu.example.com.',
  ]
  expect(other.map((address) => instanceAt(address, instances))).toEqual([
    'https://eu.example.com',
    ...Array<undefined>(3),
  ])
  expect(instanceAt('https://:pw@auth.example.com', instances)).toBeUndefined()
})

it('a secret is remembered as a whole, and the first is forgotten first', () => {
  const memory = createSecretMemory(2, 60)
  expect(memory.has('a', 'b')).toBe(false)
  memory.remember('a', 'b')
  memory.remember('c')
  expect([memory.has('a', 'b'), memory.has('ab'), memory.has('b', 'a'), memory.has('a')]).toEqual([
    true,
    false,
    false,
    false,
  ])
  memory.remember('d')
  expect([memory.has('a', 'b'), memory.has('c'), memory.has('d')]).toEqual([false, true, true])
})

describe('the answer to a second factor', () => {
  const phone = { id: 'f-1', name: 'Phone', factorType: 'token:software' }
  const key = { id: 'f-2', name: 'Key', factorType: 'token:hardware' }

  it.each<[unknown, unknown]>([
    [{ passcode: '1'.repeat(64) }, { passcode: '1'.repeat(64), factorId: undefined }],
    [
      { passcode: '012', factorId: 'f-1', other: undefined },
      { passcode: '012', factorId: 'f-1' },
    ],
    [{ backupCode: '1'.repeat(64), passcode: 7, factorId: 7 }, { backupCode: '1'.repeat(64) }],
  ])('%.50j is %.60j', (given, read) => {
    expect(secondFactorAnswer(given as never)).toStrictEqual(read)
  })

  it.each<[unknown, string]>([
    [{ passcode: '1'.repeat(65) }, 'passcode must'],
    [{ passcode: 12 }, 'passcode must'],
    [{}, 'passcode must'],
    [undefined, 'passcode must'],
    [{ backupCode: '1'.repeat(65) }, 'backupCode must'],
    [{ passcode: '1', factorId: 7 }, 'factorId must'],
    [{ passcode: '1', factorId: null }, 'factorId must'],
  ])('%.50j is none: %s be', (given, problem) => {
    const call = (): unknown => secondFactorAnswer(given as never)
    expect(call).toThrow(TypeError)
    expect(call).toThrow(problem)
  })

  it('comes from a text, an object, or a function of the factors that has its time', async () => {
    const answer = { passcode: '1', factorId: undefined }
    expect(await askForPasscode('1', [phone])).toStrictEqual(answer)
    expect(await askForPasscode(async ([first]) => first?.id ?? '', [key])).toStrictEqual({
      ...answer,
      passcode: 'f2',
    })
    expect(await askForPasscode(() => ({ backupCode: 'b' }), [])).toStrictEqual({ backupCode: 'b' })
  })

  it('is for the only factor, or the one that is named', () => {
    expect(chosenFactor([phone], { passcode: '1' })).toBe('f-1')
    expect(chosenFactor([phone, key], { passcode: '1', factorId: 'f-2' })).toBe('f-2')
    const refusal = (...call: Parameters<typeof chosenFactor>): unknown => {
      try {
        return chosenFactor(...call)
      } catch (error) {
        return error
      }
    }
    const where = { step: 'mfa-verify', requestSent: false }
    for (const factors of [[], [phone, key]]) {
      expect(refusal(factors, { passcode: '1' })).toMatchObject({ ...where, reason: 'several-factors' })
    }
    for (const factors of [[], [phone]]) {
      const unknown = { code: 'ERR_SSO_PASSCODE_REJECTED', reason: 'unknown-factor' }
      expect(refusal(factors, { passcode: '1', factorId: 'f-2' })).toMatchObject({ ...where, ...unknown })
    }
  })
})

describe('a pending login that comes back', () => {
  const issued = 1_790_000_000
  const login: LoginInProgress = {
    credentials: { identity: 'jo@example.com', credential: 'c' },
    secrets: { state: 's', codeVerifier: 'v' },
    page: { authUrl: 'https://eu.example.com', hiddenInputs: [['a', 'b']] },
    verification: { transactionId: 't', csrf: 'x' },
    factors: [{ id: 'f', name: 'Phone', factorType: 'token' }],
    cookies: ['sid=1'],
  }
  let now = issued
  const context = createSsoContext(parseSsoOptions({ authUrl }), () => now)
  const whole = JSON.parse(JSON.stringify(pendingLogin(login, issued + 0.9))) as Record<string, unknown>
  const outcome = (pending: object): unknown => {
    try {
      return resumeLogin(pending as never, context)
    } catch (error) {
      return error
    }
  }
  const expired = { code: 'ERR_SSO_PENDING_LOGIN_EXPIRED', requestSent: false }

  it('is what was given, for five minutes, by a clock that may be five minutes behind', () => {
    expect(whole).toEqual({ kind: 'owner-sso/pending-login', ...login, issued_at: issued, expires_at: issued + 300 })
    for (const age of [-300, 0, 300]) {
      now = issued + age
      expect(outcome(whole)).toEqual(login)
    }
    for (const age of [-300.5, 300.5]) {
      now = issued + age
      expect(outcome(whole)).toMatchObject(expired)
    }
    now = issued
    expect(outcome({ ...whole, page: { ...login.page, authUrl: 'https://eu.example.com/x' } })).toEqual(login)
    expect(outcome({ ...whole, page: { ...login.page, authUrl: 'https://e.example' } })).toMatchObject({
      code: 'ERR_SSO_REGION_NOT_ALLOWED',
      step: 'mfa-verify',
    })
  })

  it('has every field in its kind and size, at any depth', () => {
    now = issued
    const texts = [
      'identity',
      'credential',
      'state',
      'codeVerifier',
      'transactionId',
      'csrf',
      'id',
      'name',
      'factorType',
    ]
    const changes = (fields: object): [string, object][] =>
      Object.entries(fields).flatMap(([field, value]: [string, unknown]): [string, object][] => [
        ...[undefined, null, 7, true, [7], ...(texts.includes(field) ? ['x'.repeat(65_537)] : [])].map(
          (wrong): [string, object] => [field, { ...fields, [field]: wrong }],
        ),
        ...(Array.isArray(value) || typeof value !== 'object' || value === null
          ? []
          : changes(value).map(([where, inner]): [string, object] => [
              `${field}.${where}`,
              { ...fields, [field]: inner },
            ])),
      ])
    const { kind: _kind, ...fields } = whole
    const inList = changes(login.factors[0] ?? {}).map(([where, factor]): [string, object] => [
      where,
      { ...fields, factors: [...login.factors, factor] },
    ])
    for (const [where, changed] of [...changes(fields), ...inList])
      expect([where, outcome({ ...changed, kind: 'owner-sso/pending-login' })]).toEqual([
        where,
        expect.objectContaining(expired),
      ])
    const with1 = (more: object): unknown => outcome({ ...whole, ...more })
    const inputs = (...hiddenInputs: unknown[]): object => ({ page: { ...login.page, hiddenInputs } })
    for (const fine of [
      { cookies: ['x'.repeat(65_536)] },
      { cookies: Array(1000).fill('c') },
      inputs(),
      inputs(['a', 'b'], ['', '']),
    ])
      expect(with1(fine)).toMatchObject({ secrets: login.secrets })
    for (const wrong of [
      { cookies: ['x'.repeat(65_537)] },
      { cookies: Array(1001).fill('c') },
      { cookies: 'c' },
      { factors: 'f' },
      { expires_at: issued + 301 },
      { expires_at: issued + 299 },
      { issued_at: issued + 0.5, expires_at: issued + 300.5 },
      inputs(['a']),
      inputs(['a', 'b', 'c']),
      inputs(['a', 7]),
      inputs([7, 'b']),
      inputs('ab'),
    ])
      expect(with1(wrong)).toMatchObject(expired)
    context.completedLogins.remember('s')
    expect(outcome(whole)).toMatchObject(expired)
    const none = [undefined, null, 7, 'owner-sso/pending-login', { ...whole, kind: 'other' }]
    for (const pending of none) expect(outcome(pending as never)).toBeInstanceOf(TypeError)
  })
})

it('a printed authorization request shows what it is and where it returns to, and no secret', () => {
  const settings = parseSsoOptions({ authUrl, redirectUri: 'https://app.example/callback' })
  const { request } = createAuthorizationUrl(settings, {})
  expect(inspect(request)).toBe(
    `AuthorizationRequest {
  kind: 'owner-sso/authorization-request',
  redirectUri: 'https://app.example/callback',
  state: '[redacted]',
  codeVerifier: '[redacted]'
}`,
  )
})
