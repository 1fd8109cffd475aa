/** Each limit at it and one beyond it, in what reads answers and options. */
import { EventEmitter } from 'node:events'
import { Agent } from 'node:http'
import { type Duplex, PassThrough } from 'node:stream'
import { inspect } from 'node:util'
import { describe, expect, it, jest } from '@jest/globals'
import * as core from '../src/index.ts'
import {
  DuplicateTokenSetError,
  OtherOwnerError,
  ReauthenticationRequiredError,
  RegionNotAllowedError,
  SsoError,
  SsoTimeoutError,
  StoreError,
} from '../src/index.ts'
import { boundAnswer, boundHttp2Answer, mostBodyBytes, mostHeaderBytes } from '../src/http/answer-bounds.ts'
import { handOutConnectedSockets } from '../src/http/connected-sockets.ts'
import { tokenRefusal } from '../src/steps/token-endpoint.ts'
import { httpFailure } from '../src/http/http-failure.ts'
import { parseCallOptions } from '../src/issuer/call-options.ts'
import { checkedAccountName, checkedTokens, replacesSession } from '../src/tokens/options.ts'
import { isLoopback, mayCarrySecrets, verificationProblem } from '../src/support/verification.ts'
import { isBearer } from '../src/steps/token-response.ts'
import { requestBudgetFrom } from '../src/budget/request-budget.ts'
import { parseKeeperOptions } from '../src/keeper/keeper-options.ts'
import { askForPasscode, chosenFactor, secondFactorAnswer } from '../src/login/factor-choice.ts'
import { createAuthorizationUrl } from '../src/login/browser-login.ts'
import { onAbort } from '../src/support/abort.ts'
import { parseSsoOptions } from '../src/login/options.ts'
import { allowedInstance, instanceAt } from '../src/login/region.ts'
import { createSsoContext } from '../src/login/sso-context.ts'
import { type LoginInProgress, pendingLogin, resumeLogin } from '../src/login/pending-login.ts'
import { createSecretMemory } from '../src/login/secret-memory.ts'
import { agesOf, assumedLifetime, freshnessAt, jitterOf } from '../src/refresh-protocol/freshness.ts'
import { ancestryOf, ancestryOver, descends, sessionOf } from '../src/refresh-protocol/ancestry.ts'
import { tokenSet } from '../src/issuer/token-set.ts'
import { createEvents } from '../src/refresh-protocol/events.ts'
import { callRoll, createRollCall } from '../src/refresh-protocol/roll-call.ts'
import { rollCallName } from '../src/refresh-protocol/record-names.ts'
import { guardStore } from '../src/refresh-protocol/guarded-store.ts'
import { acceptRecord, createAccountMemory } from '../src/refresh-protocol/account-memory.ts'
import type { Context } from '../src/refresh-protocol/context.ts'
import { isJustRefreshed } from '../src/refresh-protocol/pace.ts'
import { systemRuntime } from '../src/refresh-protocol/runtime.ts'
import { redacted, secretiveKind, storable, wholeOf } from '../src/support/redaction.ts'
import type { AccountRecord } from '../src/tokens/token-record.ts'
import { mapStore } from './map-store.ts'

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

describe('the options of a keeper', () => {
  it('come to milliseconds, with a sweep every quarter of an hour', () => {
    expect(parseKeeperOptions({})).toMatchObject({ within: 7_200_000, every: 900_000, refreshTokenLifetime: undefined })
    expect(parseKeeperOptions({ within: 8, every: 2, refreshTokenLifetime: 9 })).toMatchObject({
      within: 8000,
      every: 2000,
      refreshTokenLifetime: 9000,
    })
  })

  it.each([
    [{ within: 0 }, 'within'],
    [{ within: Infinity }, 'within'],
    [{ every: 0 }, 'every'],
    [{ within: 8, every: 2.1 }, 'every'],
    [{ refreshTokenLifetime: 0 }, 'refreshTokenLifetime'],
    [{ refreshTokenLifetime: Infinity }, 'refreshTokenLifetime'],
    [{ onSweep: 7 as never }, 'onSweep'],
    [{ within: 8, refreshTokenLifetime: 8 }, 'refreshTokenLifetime'],
  ])('are not %j', (wrong, name) => {
    expect(() => parseKeeperOptions(wrong)).toThrow(TypeError)
    expect(() => parseKeeperOptions(wrong)).toThrow(name)
  })
})

describe('how fresh a token is', () => {
  const record = (lifetime: number, state = 'signed-in') => ({ state, lifetime, lineage: 'l' }) as AccountRecord
  const spread = 0.9 + 0.2 * jitterOf('l')

  it('by its age: the last ten seconds and two minutes of a long life, a twentieth and a tenth of a short one', () => {
    expect(agesOf(record(28_800), 0.75)).toEqual({
      ageing: 28_800_000 * 0.75 * spread,
      expiring: 28_680_000,
      expired: 28_790_000,
    })
    expect(agesOf(record(1200), 0.5)).toEqual({ ageing: 600_000 * spread, expiring: 1_080_000, expired: 1_190_000 })
    expect(agesOf(record(100), 1)).toMatchObject({ expiring: 90_000, expired: 95_000 })
    expect(agesOf(record(100), 1).ageing).toBe(Math.min(100_000 * spread, 95_000))
    expect(agesOf(record(100, 'signed-out'), 1)).toEqual({ ageing: 0, expiring: 0, expired: 0 })
  })

  it('changes at each of these ages', () => {
    const ages = { ageing: 10, expiring: 20, expired: 30 }
    expect([9, 10, 19, 20, 29, 30].map((age) => freshnessAt(age, ages))).toEqual([
      'fresh',
      'ageing',
      'ageing',
      'expiring',
      'expiring',
      'expired',
    ])
  })

  it('is the same in every process, and another for each account', () => {
    expect(jitterOf('l')).toBe(jitterOf('l'))
    const many = Array.from({ length: 200 }, (_, index) => jitterOf(String(index)))
    expect(Math.min(...many)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...many)).toBeLessThan(1)
    expect(Math.max(...many) - Math.min(...many)).toBeGreaterThan(0.9)
  })

  it('what it lives is a day at the most, and eight hours where a new one seems to have ended', () => {
    const lives = (left: number, isNew: boolean): number =>
      assumedLifetime({ expires_at: 1000 + left } as never, 1000, isNew)
    expect([86_400, 86_401, 1].map((left) => lives(left, true))).toEqual([86_400, 86_400, 1])
    expect([lives(0, true), lives(-1, true), lives(0, false), lives(-1, false)]).toEqual([28_800, 28_800, 0, 0])
  })
})

describe('after a refresh, the next one', () => {
  const obtained = 1_790_000_000

  /** Milliseconds after which another refresh is made. */
  function pauseAfter(record: object): number {
    let now = obtained * 1000
    const runtime = { ...systemRuntime, wallClock: () => now, monotonicClock: () => now }
    const context = { runtime, minRefreshInterval: 60_000 } as Context
    const cache = createAccountMemory(1).of('ann')
    const tokens = { access_token: 'access', refresh_token: 'refresh' }
    const signedIn = { state: 'signed-in', refreshes: 1, lineage: 'l', obtained_at: obtained, lifetime: 28_800, tokens }
    acceptRecord(cache, { version: 1, writeId: 'one', record: { ...signedIn, ...record } as never }, runtime, 0.75)
    const isPausedAfter = (milliseconds: number): boolean => {
      now = obtained * 1000 + milliseconds
      return isJustRefreshed(cache, context)
    }
    let [tooEarly, lateEnough] = [-1, 5_000_000]
    while (lateEnough - tooEarly > 1) {
      const middle = Math.floor((tooEarly + lateEnough) / 2)
      if (isPausedAfter(middle)) tooEarly = middle
      else lateEnough = middle
    }
    return lateEnough
  }
  const refusals = (inARow: number, thisOne = true): object => ({ refusals: { inARow, thisOne } })
  const ageing = Math.ceil(agesOf({ state: 'signed-in', lifetime: 4000, lineage: 'l' } as AccountRecord, 0.75).ageing)

  it.each<[string, object, number]>([
    ['waits a minute', {}, 60_000],
    ['waits for nothing where there was none before', { refreshes: 0 }, 0],
    ['waits half the life of tokens that live less than two minutes', { lifetime: 100 }, 50_000],
    ['waits ten seconds at the least', { lifetime: 19 }, 10_000],
    ['waits as long after the first token that was refused', refusals(1), 60_000],
    ['waits twice as long after the second', refusals(2), 120_000],
    ['waits twice as long again after the third', refusals(3), 240_000],
    ['waits an hour at the most', refusals(7), 3_600_000],
    ['waits an hour after any number of them', refusals(50), 3_600_000],
    ['waits for a token that ages by then no longer than for others', { lifetime: 4000, ...refusals(7) }, ageing],
    ['waits a minute where this token was not refused', refusals(7, false), 60_000],
  ])('%s', (_words, record, milliseconds) => {
    expect(pauseAfter(record)).toBe(milliseconds)
  })
})

it('a listener is a function, is called as often as it was given, and each is ended alone', () => {
  const events = createEvents()
  expect(() => events.on('blocked', 'x' as never)).toThrow(new TypeError('listener must be a function'))
  const heard: unknown[] = []
  const listener = (event: unknown): void => void heard.push(event)
  const end = events.on('blocked', listener)
  events.on('blocked', listener)
  events.emit('blocked', 1 as never)
  end()
  end()
  events.emit('blocked', 2 as never)
  events.emit('refreshed', 3 as never)
  expect(heard).toEqual([1, 1, 2])
})

it('a process calls the roll once in 30 seconds, and again at once where the store did not take it', async () => {
  let now = 0
  const clock = (): number => now
  const memory = mapStore()
  let isDown = false
  const store = guardStore(
    { ...memory, swap: (...call) => (isDown ? Promise.reject(new Error('down')) : memory.swap(...call)) },
    undefined,
  )
  const surroundings = {
    rollCall: createRollCall(),
    runtime: { ...systemRuntime, wallClock: clock, monotonicClock: clock },
    store,
  }
  const calls = async (...times: number[]): Promise<unknown[]> => {
    const versions: unknown[] = []
    for (now of times) {
      await callRoll(surroundings)
      versions.push((await memory.read(rollCallName))?.version)
    }
    return versions
  }
  expect(await calls(0, 29_999, 30_000, 59_999)).toEqual([1, 1, 2, 2])
  isDown = true
  expect(await calls(60_000)).toEqual([2])
  isDown = false
  expect(await calls(60_000, 60_001)).toEqual([3, 3])
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

describe('where a record stands among sign-ins', () => {
  const place = (session: string | undefined, ...replaces: string[]) =>
    ({ schema: 1, generation: 3, ...(session !== undefined && { session }), replaces }) as unknown as AccountRecord

  it('is a name, and those of 16 before it, the newest first', () => {
    expect([sessionOf(place('a')), sessionOf(place(undefined))]).toEqual(['a', 'generation 3'])
    const many = Array.from({ length: 16 }, (_, index) => `s${index}`)
    expect(ancestryOver('new', place('a', ...many), undefined)).toEqual({
      schema: 1,
      generation: 4,
      session: 'new',
      replaces: ['a', ...many.slice(0, 15)],
    })
    expect(ancestryOver('new')).toEqual({ schema: 1, generation: 1, session: 'new', replaces: [] })
    expect(ancestryOver('new', place('a', 'new', 'b'), place('b', 'a')).replaces).toEqual(['a', 'b'])
    const { replaces: _none, ...plain } = place('a')
    expect(ancestryOf(plain as AccountRecord)).toEqual({ schema: 1, generation: 3, session: 'a', replaces: [] })
    expect([descends(place('a', 'b'), place('b')), descends(place('b'), place('a', 'b'))]).toEqual([true, false])
    expect(descends(plain as AccountRecord, place('b'))).toBe(false)
  })
})

it('a printed token set shows when it ends and where it is from, and no token', () => {
  const shown = inspect(
    tokenSet({
      access_token: 'secret-access',
      refresh_token: 'secret-refresh',
      id_token: 'secret-id',
      token_type: 'Bearer',
      expires_in: 300,
      expires_at: 1_900_000_000,
      auth_url: authUrl,
    }),
  )
  for (const fact of ['TokenSet', 'Bearer', 'expires_in: 300', 'expires_at: 1900000000', authUrl])
    expect(shown).toContain(fact)
  expect(shown).not.toContain('secret')
})

describe('an error', () => {
  const epoch = 1_790_000_000
  const iso = new Date(epoch * 1000).toISOString()
  /** One of each class, with its own facts. */
  const made: readonly [core.SsoError, object][] = [
    [new core.InvalidCredentialsError(), { code: 'ERR_SSO_INVALID_CREDENTIALS' }],
    [new core.AccountLockedError(), { code: 'ERR_SSO_ACCOUNT_LOCKED' }],
    [new core.CaptchaRequiredError(), { code: 'ERR_SSO_CAPTCHA_REQUIRED' }],
    [new core.PasscodeRequiredError(), { code: 'ERR_SSO_PASSCODE_REQUIRED', reason: 'no-passcode' }],
    [new core.PasscodeRejectedError('replayed'), { code: 'ERR_SSO_PASSCODE_REJECTED', reason: 'replayed' }],
    [new core.PendingLoginExpiredError(), { code: 'ERR_SSO_PENDING_LOGIN_EXPIRED' }],
    [
      new core.RegionNotAllowedError(authUrl),
      { code: 'ERR_SSO_REGION_NOT_ALLOWED', origin: authUrl, message: expect.stringContaining(`${authUrl} is not`) },
    ],
    [new core.StateMismatchError(), { code: 'ERR_SSO_STATE_MISMATCH' }],
    [new core.IssuerMismatchError(), { code: 'ERR_SSO_ISSUER_MISMATCH' }],
    [
      new core.FirewallChallengeError(epoch),
      { code: 'ERR_SSO_FIREWALL_CHALLENGE', nextAttemptAt: epoch, message: expect.stringContaining(iso) },
    ],
    [
      new core.ReauthenticationRequiredError('rotated_token_lost', {}, 'gone'),
      {
        code: 'ERR_SSO_REAUTHENTICATION_REQUIRED',
        reason: 'rotated_token_lost',
        description: 'gone',
        message: 'This account has to sign in again (rotated token lost; the service says “gone”).',
      },
    ],
    [
      new core.TokenRejectedError('invalid_scope', {}, 'no'),
      {
        code: 'ERR_SSO_TOKEN_REJECTED',
        error: 'invalid_scope',
        description: 'no',
        message: expect.stringContaining('(invalid_scope: “no”)'),
      },
    ],
    [new core.UnexpectedResponseError('x'), { code: 'ERR_SSO_UNEXPECTED_RESPONSE' }],
    [new core.SsoTimeoutError('x'), { code: 'ERR_SSO_TIMEOUT', message: 'x' }],
    [new core.UnreachableError('x'), { code: 'ERR_SSO_UNREACHABLE', message: 'x' }],
    [new core.SignedOutError(), { code: 'ERR_SSO_SIGNED_OUT' }],
    [new core.SessionExistsError(), { code: 'ERR_SSO_SESSION_EXISTS' }],
    [
      new core.RefreshInDoubtError(epoch),
      { code: 'ERR_SSO_REFRESH_IN_DOUBT', nextAttemptAt: epoch, message: expect.stringContaining(iso) },
    ],
    [
      new core.RefreshBudgetError(epoch),
      {
        code: 'ERR_SSO_REFRESH_BUDGET',
        nextAttemptAt: epoch,
        step: 'token-manager',
        requestSent: false,
        message: expect.stringContaining(iso),
      },
    ],
    [
      new core.StoreError('busy', 'x'),
      { code: 'ERR_SSO_STORE', reason: 'busy', step: 'token-store', requestSent: false, message: 'x' },
    ],
  ]

  it.each(made.map(([error, facts]) => [error.name, error, facts] as const))(
    'has its name, its code and what it knows: %s',
    (_name, error, facts) => {
      const { name, message, ...own } = Object.assign({}, error, { name: error.name, message: error.message })
      expect({ name, message, ...own }).toEqual({
        name: error.constructor.name,
        message: expect.stringMatching(/^.+$/u),
        requestSent: true,
        ...facts,
      })
      // And no other class, of this copy or another.
      const copy = { [Symbol.for('@owner-sso/core error')]: true, ...own }
      for (const [other] of made) {
        const { constructor } = other
        expect([constructor.name, error instanceof constructor]).toEqual([constructor.name, other === error])
        expect([constructor.name, copy instanceof constructor]).toEqual([constructor.name, other === error])
      }
      expect(copy instanceof core.SsoError).toBe(true)
    },
  )

  it('has where it happened, and of its cause the system’s words alone', () => {
    const where = { step: 'refresh', status: 500, requestSent: false } as const
    expect(new core.UnreachableError('x', where)).toMatchObject(where)
    expect(new core.StoreError('busy', 'x', { step: 'refresh', requestSent: true })).toMatchObject({
      step: 'refresh',
      requestSent: true,
    })
    const causeOf = (cause: unknown): unknown => new core.UnreachableError('x', { cause }).cause
    expect([causeOf(undefined), causeOf(null)]).toEqual([undefined, undefined])
    expect('cause' in new core.UnreachableError('x')).toBe(false)
    const own = new core.SignedOutError()
    expect(causeOf(own)).toBe(own)
    const told = (cause: unknown): unknown => {
      const bare = causeOf(cause)
      return bare instanceof Error ? [bare.message, bare.stack, Object.assign({}, bare)] : bare
    }
    expect(told({ code: 'ECONNRESET', syscall: 'read' })).toEqual([
      'read ECONNRESET',
      undefined,
      { code: 'ECONNRESET' },
    ])
    expect(told({ syscall: 'read', code: 7 })).toEqual(['read', undefined, {}])
    expect(told('secret')).toEqual(['unknown cause', undefined, {}])
    const { message } = new core.FirewallChallengeError(Number.NaN)
    expect(message).toContain('an unknown time')
    expect(Object.hasOwn(new core.RegionNotAllowedError(undefined), 'origin')).toBe(false)
    expect(new core.RegionNotAllowedError(undefined).message).toMatch(/^An unreadable address is not/u)
    expect(new core.OtherOwnerError().message).toContain('belongs to another owner')
    for (const plain of [new core.ReauthenticationRequiredError('no_refresh_token'), new core.TokenRejectedError('x')])
      expect([Object.hasOwn(plain, 'description'), plain.message.includes('“')]).toEqual([false, false])
    expect(new core.DuplicateTokenSetError('ann')).toMatchObject({
      account: 'ann',
      reason: 'duplicate',
      message: expect.stringContaining('"ann"'),
    })
  })

  it.each(['no-passcode', 'several-factors', 'in-browser'] as const)('of a passcode that is required: %s', (reason) => {
    expect(new core.PasscodeRequiredError(reason)).toMatchObject({ reason, message: expect.stringContaining('second') })
  })
})

describe('an error is of a class', () => {
  const errors: readonly SsoError[] = [
    new StoreError('busy', 'x'),
    new DuplicateTokenSetError('ann'),
    new ReauthenticationRequiredError('rotated_token_lost'),
    new OtherOwnerError(),
    new SsoTimeoutError('x'),
  ]
  const classes = [
    SsoError,
    StoreError,
    DuplicateTokenSetError,
    ReauthenticationRequiredError,
    OtherOwnerError,
    SsoTimeoutError,
  ]
  const namesOf = (value: unknown): string[] => classes.filter((one) => value instanceof one).map((one) => one.name)

  it('and of those that it is a kind of, from another copy of this package as well', () => {
    const expected = [
      ['SsoError', 'StoreError'],
      ['SsoError', 'StoreError', 'DuplicateTokenSetError'],
      ['SsoError', 'ReauthenticationRequiredError'],
      ['SsoError', 'ReauthenticationRequiredError', 'OtherOwnerError'],
      ['SsoError', 'SsoTimeoutError'],
    ]
    expect(errors.map(namesOf)).toEqual(expected)
    const brand = Symbol.for('@owner-sso/core error')
    const copies = errors.map((error) => ({
      [brand]: true,
      code: error.code,
      ...Object.fromEntries(Object.entries(error)),
    }))
    expect(copies.map(namesOf)).toEqual(expected)
  })

  it('where it has the brand and a code', () => {
    for (const other of [null, undefined, 'ERR_SSO_STORE', { code: 'ERR_SSO_STORE' }, new Error('x')])
      expect(namesOf(other)).toEqual([])
    expect(namesOf({ [Symbol.for('@owner-sso/core error')]: true })).toEqual([])
  })
})

describe('the answer to a second factor', () => {
  const phone = { id: 'f-1', name: 'Phone', factorType: 'token:software' }
  const key = { id: 'f-2', name: 'Key', factorType: 'token:hardware' }

  it.each<[unknown, unknown]>([
    [{ passcode: '1'.repeat(64) }, { passcode: '1'.repeat(64), factorId: undefined }],
    [
      { passcode: '012', factorId: 'f-1', other: 1 },
      { passcode: '012', factorId: 'f-1' },
    ],
    [{ backupCode: '1'.repeat(64), passcode: 7, factorId: 7 }, { backupCode: '1'.repeat(64) }],
  ])('%.50j is %.60j', (given, read) => {
    expect(secondFactorAnswer(given as never)).toStrictEqual(read)
  })

  it.each<[unknown, string]>([
    [{ passcode: '1'.repeat(65) }, 'passcode must'],
    [{ passcode: '' }, 'passcode must'],
    [{ passcode: 12 }, 'passcode must'],
    [{}, 'passcode must'],
    [undefined, 'passcode must'],
    [{ backupCode: '' }, 'backupCode must'],
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
      passcode: 'f-2',
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

describe('a request without an answer', () => {
  const fate = { step: 'refresh', requestSent: true, timedOut: false } as const
  const failure = (code: string | undefined, more: object = {}) =>
    httpFailure({ kind: 'no answer', code, syscall: 'read' }, { ...fate, ...more })

  it.each([
    ['ANSWER_TOO_LARGE', 'larger than 256 KiB'],
    ['ANSWER_TOO_LONG_ON_THE_WIRE', '1 MiB'],
    ['TOO_MANY_INTERIM_ANSWERS', 'ten interim'],
    ['HPE_HEADER_OVERFLOW', '16 KiB'],
    ['HPE_INVALID_VERSION', 'not valid HTTP'],
    ['Z_DATA_ERROR', 'decompressed'],
    ['ERR__BROTLI_X', 'decompressed'],
    ['ERR_BROTLI_X', 'decompressed'],
    ['ERR__ERROR_FORMAT', 'decompressed'],
    ['ERR_FORMAT_X', 'decompressed'],
  ])('with the code %s is one that can’t be used: %s', (code, problem) => {
    expect(failure(code)).toMatchObject({
      code: 'ERR_SSO_UNEXPECTED_RESPONSE',
      step: 'refresh',
      requestSent: true,
      message: expect.stringContaining(problem),
      cause: { code, message: `read ${code}` },
    })
  })

  it.each([undefined, 'ECONNRESET', 'HPE_INVALID_EOF_STATE', 'XHPE_', 'AZ_DATA_ERROR', 'XERR_FORMAT', 'ERR_OTHER'])(
    'with the code %s is a connection that broke',
    (code) => {
      expect(failure(code)).toMatchObject({ code: 'ERR_SSO_UNREACHABLE', step: 'refresh', requestSent: true })
    },
  )

  it('was not sent, or took too long, whatever its code', () => {
    const where = { step: 'refresh', requestSent: false }
    expect(failure('ANSWER_TOO_LARGE', { requestSent: false })).toMatchObject({
      ...where,
      code: 'ERR_SSO_UNREACHABLE',
      message: expect.stringContaining('Nothing was sent'),
      cause: { code: 'ANSWER_TOO_LARGE' },
    })
    expect(failure('ANSWER_TOO_LARGE', { timedOut: true })).toMatchObject({
      code: 'ERR_SSO_TIMEOUT',
      step: 'refresh',
      requestSent: true,
    })
    expect(failure(undefined, { timedOut: true, requestSent: false })).toMatchObject({
      ...where,
      code: 'ERR_SSO_TIMEOUT',
    })
  })
})

describe('what an answer may cost', () => {
  it('is 256 KiB of text and 16 KiB of headers', () => {
    expect([mostBodyBytes, mostHeaderBytes]).toEqual([262_144, 16_384])
  })

  it('is a mebibyte on the wire, and ten interim answers', () => {
    const bounded = () => {
      const socket = new EventEmitter()
      const request = Object.assign(new EventEmitter(), { socket })
      const given: string[] = []
      boundAnswer(request as never, (code) => given.push(code))
      const listening = (): number[] => [socket.listenerCount('data'), request.listenerCount('information')]
      return { socket, request, given, listening }
    }
    const long = bounded()
    expect(long.listening()).toEqual([1, 1])
    long.socket.emit('data', Buffer.alloc(1024 * 1024))
    expect(long.given).toEqual([])
    long.socket.emit('data', Buffer.alloc(1))
    expect([long.given, long.listening()]).toEqual([['ANSWER_TOO_LONG_ON_THE_WIRE'], [0, 0]])
    const interim = bounded()
    for (let count = 0; count < 10; count += 1) interim.request.emit('information')
    expect(interim.given).toEqual([])
    interim.request.emit('information')
    expect([interim.given, interim.listening()]).toEqual([['TOO_MANY_INTERIM_ANSWERS'], [0, 0]])
    const whole = bounded()
    whole.request.emit('close')
    expect([whole.given, whole.listening()[0]]).toEqual([[], 0])
  })

  it('is the same over HTTP/2, where it is looked at twenty times a second', () => {
    const begun = jest.spyOn(globalThis, 'setInterval').mockImplementation(() => 7 as never)
    const ended = jest.spyOn(globalThis, 'clearInterval').mockImplementation(() => undefined)
    try {
      const bounded = () => {
        begun.mockClear()
        ended.mockClear()
        const [stream, socket] = [new EventEmitter(), { bytesRead: 5 }]
        const given: string[] = []
        boundHttp2Answer(stream as never, { socket } as never, (code) => given.push(code))
        const [look, every] = begun.mock.calls[0] ?? []
        expect(every).toBe(50)
        return { stream, socket, given, look: look as () => void }
      }
      const long = bounded()
      long.socket.bytesRead += 1024 * 1024
      long.look()
      expect([long.given, ended.mock.calls]).toEqual([[], []])
      long.socket.bytesRead += 1
      long.look()
      expect([long.given, ended.mock.calls]).toEqual([['ANSWER_TOO_LONG_ON_THE_WIRE'], [[7]]])
      expect(long.stream.listenerCount('headers')).toBe(0)
      const interim = bounded()
      for (let count = 0; count < 10; count += 1) interim.stream.emit('headers')
      expect(interim.given).toEqual([])
      interim.stream.emit('headers')
      expect(interim.given).toEqual(['TOO_MANY_INTERIM_ANSWERS'])
      const most = bounded()
      most.stream.emit('response', { a: 'x'.repeat(10_000), bc: 'x'.repeat(6381) })
      expect(most.given).toEqual([])
      most.stream.emit('close')
      expect(ended.mock.calls).toEqual([[7]])
      const more = bounded()
      more.stream.emit('response', { a: 'x'.repeat(10_000), bc: 'x'.repeat(6382) })
      expect(more.given).toEqual(['HPE_HEADER_OVERFLOW'])
    } finally {
      begun.mockRestore()
      ended.mockRestore()
    }
  })
})

it('a socket is handed out once it is connected, and with nobody listening to it any more', () => {
  const agent = new Agent()
  let next: Duplex | Error
  agent.createConnection = (_options, callback) => {
    if (!(next instanceof Error)) return next
    callback?.(next, undefined as never)
    return undefined
  }
  const connecting = handOutConnectedSockets(agent)
  const handedOut = (given: Duplex | Error): unknown[] => {
    next = given
    const outcomes: unknown[] = []
    agent.createConnection({}, (error, socket) => outcomes.push(error, socket))
    return outcomes
  }
  const ready = new PassThrough()
  const failure = new Error('x')
  expect([handedOut(ready), handedOut(failure), connecting.size]).toEqual([[null, ready], [failure, undefined], 0])
  for (const [facts, event, tooEarly] of [
    [{ connecting: true }, 'connect', 'secureConnect'],
    [{ connecting: true, secureConnecting: true }, 'secureConnect', 'connect'],
  ] as const) {
    for (const error of [null, failure]) {
      const socket: PassThrough = Object.assign(new PassThrough(), facts)
      const before = socket.listenerCount('error')
      const outcomes = handedOut(socket)
      socket.emit(tooEarly)
      expect([outcomes, connecting.has(socket)]).toEqual([[], true])
      if (error) socket.emit('error', error)
      else socket.emit(event)
      expect([outcomes, connecting.size]).toEqual([[error, socket], 0])
      expect([socket.listenerCount('error'), socket.listenerCount(event)]).toEqual([before, 0])
    }
  }
})

it.each([
  [399, 'ERR_SSO_UNEXPECTED_RESPONSE'],
  [400, 'ERR_SSO_REAUTHENTICATION_REQUIRED'],
  [499, 'ERR_SSO_REAUTHENTICATION_REQUIRED'],
  [500, 'ERR_SSO_UNEXPECTED_RESPONSE'],
])('a token endpoint that answers %i with invalid_grant means %s', (status, code) => {
  const response = { status, body: '{"error":"invalid_grant"}' }
  expect(tokenRefusal(response as never, 'refresh', [])).toMatchObject({ code, status })
})

describe('secrets travel', () => {
  it.each([
    ['https://a.example', true, false],
    ['http://a.example', false, false],
    ['http://localhost:1', true, true],
    ['http://[::1]:1', true, true],
    ['http://127.0.0.1', true, true],
    ['http://127.255.255.255', true, true],
    ['https://127.0.0.1', true, true],
    ['http://127.0.0.1.example', false, false],
    ['http://localhost.example', false, false],
    ['ftp://localhost', false, true],
  ])('to %s: %s, which is on this machine: %s', (address, may, isHere) => {
    expect([mayCarrySecrets(new URL(address)), isLoopback(new URL(address))]).toEqual([may, isHere])
  })

  it('to nobody whom this process, or the agent, was told to trust unseen', () => {
    const [there, here] = [new URL(authUrl), new URL('https://localhost')]
    const trusting = { options: { rejectUnauthorized: false } }
    const careful: unknown[] = [undefined, null, {}, { options: {} }, { options: { rejectUnauthorized: true } }]
    for (const agent of careful) expect(verificationProblem(there, agent)).toBeUndefined()
    expect(verificationProblem(there, trusting)).toContain('its agent has rejectUnauthorized: false')
    expect(verificationProblem(here, trusting)).toBeUndefined()
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    try {
      process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
      expect(verificationProblem(there)).toContain('NODE_TLS_REJECT_UNAUTHORIZED is 0')
      expect(verificationProblem(here)).toBeUndefined()
      process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '1'
      expect(verificationProblem(there)).toBeUndefined()
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before
    }
  })
})

describe('what a call is given', () => {
  it('has its signal in the last place, and a signal there', () => {
    const { signal } = new AbortController()
    const parse = (options: unknown, before?: object): unknown =>
      parseCallOptions('call({ signal })', options as never, before)
    expect([parse(undefined), parse({ signal }), parse({ signal: undefined }, {})]).toEqual([
      {},
      { signal },
      { signal: undefined },
    ])
    const shaped = { aborted: false, addEventListener: () => undefined }
    expect(parse({ signal: shaped })).toEqual({ signal: shaped })
    for (const misplaced of [() => parse(signal), () => parse(shaped), () => parse({}, { signal })])
      expect(misplaced).toThrow('signal is in the wrong place: write call({ signal })')
    for (const wrong of [null, 7, 'x', {}, { aborted: false }, { addEventListener: () => undefined }])
      expect(() => parse({ signal: wrong })).toThrow('signal must be an AbortSignal')
  })

  it('is an account by a name that stores can keep', () => {
    for (const name of ['a', ' ', 'ä\u{1F600}', 'owner-ss', 'x owner-sso:']) expect(checkedAccountName(name)).toBe(name)
    for (const wrong of ['', 7, undefined, null, 'a\uD800', '\uDC00b', 'owner-sso:', 'owner-sso:x'])
      expect(() => checkedAccountName(wrong as never)).toThrow(TypeError)
  })

  it('is a token set whole in its kinds, or a refresh token with its instance', async () => {
    const whole = {
      access_token: 'a',
      refresh_token: 'r',
      token_type: 'Bearer',
      expires_at: 7,
      auth_url: authUrl,
    }
    const sso = {
      authUrl,
      allowedAuthUrl: (url: string) => (url.includes('evil') ? Promise.reject(new Error(url)) : url),
    }
    const checked = async (tokens: unknown): Promise<unknown> => checkedTokens(tokens as never, sso as never)
    const all = { ...whole, id_token: 'i', state: 's', expires_in: 3 }
    expect([await checked(whole), await checked(all)]).toEqual([whole, all])
    const bare = { access_token: '', refresh_token: 'r', token_type: 'Bearer', expires_at: 0 }
    const asJson = async (tokens: object): Promise<unknown> => JSON.parse(JSON.stringify(await checked(tokens)))
    expect(await asJson({ refresh_token: 'r' })).toEqual({ ...bare, auth_url: authUrl })
    expect(await asJson({ refresh_token: 'r', auth_url: 'https://b.example' })).toEqual({
      ...bare,
      auth_url: 'https://b.example',
    })
    expect(await asJson({ refresh_token: 'r', access_token: undefined })).toEqual({ ...bare, auth_url: authUrl })
    const plain = { authUrl, refresh: () => undefined }
    expect(await checkedTokens({ refresh_token: 'r' }, plain as never)).toMatchObject({ auth_url: authUrl })
    const wrong: [string, unknown][] = [
      ['tokens', null],
      ['tokens', 'x'],
      ['tokens.refresh_token', {}],
      ['tokens.refresh_token', { ...whole, refresh_token: '' }],
      ['tokens.refresh_token', { ...whole, refresh_token: 7 }],
      ['tokens.auth_url', { ...whole, auth_url: '' }],
      ['tokens.auth_url', { ...whole, auth_url: 7 }],
      ['tokens.auth_url', { ...whole, auth_url: 'nowhere' }],
      ['tokens.access_token', { ...whole, access_token: '' }],
      ['tokens.access_token', { ...whole, access_token: 7 }],
      ['tokens.token_type', { ...whole, token_type: '' }],
      ['tokens.token_type', { ...whole, token_type: undefined }],
      ['tokens.expires_at', { ...whole, expires_at: Number.NaN }],
      ['tokens.expires_at', { ...whole, expires_at: '7' }],
      ['tokens.id_token', { ...whole, id_token: 7 }],
      ['tokens.state', { ...whole, state: null }],
      ['tokens.expires_in', { ...whole, expires_in: '3' }],
    ]
    for (const [name, tokens] of wrong)
      await expect(checked(tokens)).rejects.toMatchObject({
        name: 'TypeError',
        message: expect.stringMatching(new RegExp(`^${name} must be`, 'u')),
      })
    await expect(checked({ ...whole, auth_url: 'https://evil.example' })).rejects.toThrow('evil')
    expect([replacesSession(whole as never), replacesSession({ refresh_token: 'r' })]).toEqual([true, false])
    expect([
      replacesSession(whole as never, { replace: false }),
      replacesSession({ refresh_token: 'r' }, { replace: true }),
    ]).toEqual([false, true])
    expect(() => replacesSession({ refresh_token: 'r' }, { replace: 'yes' as never })).toThrow('replace must be')
  })

  it('may be a budget in a word, or with its parts', () => {
    expect([requestBudgetFrom('300'), requestBudgetFrom('300:5')]).toEqual([
      { perMinute: 300 },
      { perMinute: 300, burst: 5 },
    ])
    const parts = { perMinute: 4, burst: 2, scope: 'process' as const }
    expect(requestBudgetFrom(parts)).toEqual(parts)
    for (const fine of ['2', '2:1', { perMinute: 2, scope: 'store' }, '999999999'])
      expect(requestBudgetFrom(fine)).toBeDefined()
    for (const wrong of ['', 'x', ' 300', '300 ', '300:', '300:5:5', '1234567890', '300:1234567890', '-3', '3e2'])
      expect(() => requestBudgetFrom(wrong, 'BUDGET')).toThrow('BUDGET must be requests a minute')
    const figures: [object | string, string][] = [
      ['1', 'perMinute'],
      ['4:3', 'burst'],
      ['4:0', 'burst'],
      [{}, 'perMinute'],
      [{ perMinute: 2.5 }, 'perMinute'],
      [{ perMinute: 4, burst: 1.5 }, 'burst'],
      [{ perMinute: 4, scope: 'fleet' }, 'scope'],
    ]
    for (const [wrong, name] of figures) expect(() => requestBudgetFrom(wrong)).toThrow(`requestBudget: ${name} must`)
  })

  it('has a bearer token where its type says so, in any case', () => {
    const types = ['Bearer', 'bearer', 'BEARER', 'mac', '', undefined]
    expect(types.map((type) => isBearer(new Map([['token_type', type]])))).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
    ])
  })
})

it('a mistake in a request to the token endpoint has its step and its status', () => {
  const response = { status: 400, body: '{"error":"invalid_client"}' }
  for (const step of ['refresh', 'code-exchange'] as const)
    expect(tokenRefusal(response as never, step, [])).toMatchObject({
      code: 'ERR_SSO_TOKEN_REJECTED',
      error: 'invalid_client',
      step,
      status: 400,
    })
})

it('of those who wait for one signal each can leave alone', () => {
  const stop = new AbortController()
  const told: string[] = []
  const leave = ['one', 'two', 'three'].map((name) => onAbort(stop.signal, () => void told.push(name)))
  leave[0]?.()
  leave[1]?.()
  stop.abort()
  expect(told).toEqual(['three'])
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

it('an object with secrets shows its harmless fields, stores all, and takes no other prototype', () => {
  const kind = secretiveKind('Thing', ['shown'])
  const data = JSON.parse('{"shown":1,"secret":"s","__proto__":{"polluted":1},"toJSON":"x"}') as object
  const hidden = redacted(data, kind)
  expect([Object.keys(hidden), Reflect.get(hidden, 'secret')]).toEqual([['shown'], 's'])
  expect(JSON.stringify(hidden)).toBe('{"shown":1,"secret":"s"}')
  expect(inspect(hidden)).toBe("Thing { shown: 1, secret: '[redacted]' }")
  expect(inspect({ hidden }, { customInspect: true })).not.toContain("'s'")
  for (const whole of [wholeOf(hidden), wholeOf(data), storable(hidden, kind)]) {
    expect(Object.keys(whole)).toEqual(['shown', 'secret'])
    expect(Object.getPrototypeOf(whole)).toBe(Object.prototype)
    expect(Reflect.get(whole, 'polluted')).toBeUndefined()
  }
  expect(inspect(storable(hidden, kind))).toBe("Thing { shown: 1, secret: '[redacted]' }")
  Object.assign(hidden, { secret: 't' })
  expect(JSON.stringify(hidden)).toContain('"t"')
})
