/** Each limit at it and one beyond it, in what reads pages, answers and options. */
import { inspect } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import {
  DuplicateTokenSetError,
  OtherOwnerError,
  ReauthenticationRequiredError,
  RegionNotAllowedError,
  SsoError,
  SsoTimeoutError,
  StoreError,
} from '../src/index.ts'
import { freePlace, opened, takePlaces, together, untouched } from '../src/budget/places.ts'
import { windowsOf } from '../src/budget/request-budget.ts'
import { ownMemory, shareWindows } from '../src/budget/shared-windows.ts'
import { createWaitingLine, type Rank, type Waiter } from '../src/budget/waiting-line.ts'
import { type AnsweredPage, isFirewallChallenge } from '../src/firewall/challenge-page.ts'
import { createSharedBreaker, type SharedBreaker } from '../src/firewall/shared-breaker.ts'
import { claimDesk } from '../src/keeper/claim.ts'
import { parseKeeperOptions } from '../src/keeper/keeper-options.ts'
import { jwtExpiry, needOf } from '../src/keeper/need.ts'
import { createQueue } from '../src/keeper/queue.ts'
import { spacing } from '../src/keeper/spacing.ts'
import { askForPasscode, chosenFactor, secondFactorAnswer } from '../src/login/factor-choice.ts'
import { parseSsoOptions } from '../src/login/options.ts'
import { allowedInstance, instanceAt } from '../src/login/region.ts'
import { createSsoContext } from '../src/login/sso-context.ts'
import { type LoginInProgress, pendingLogin, resumeLogin } from '../src/login/pending-login.ts'
import { createSecretMemory } from '../src/login/secret-memory.ts'
import { readHtmlPage } from '../src/pages/html-page.ts'
import { findLoginForm } from '../src/pages/login-form.ts'
import { MarkupBudget } from '../src/pages/markup-budget.ts'
import { readPasscodePage, verificationOf } from '../src/pages/passcode-page.ts'
import { scriptLiterals } from '../src/pages/script-literals.ts'
import { agesOf, assumedLifetime, freshnessAt, jitterOf } from '../src/refresh-protocol/freshness.ts'
import { ancestryOf, ancestryOver, descends, sessionOf } from '../src/refresh-protocol/ancestry.ts'
import { tokenSet } from '../src/issuer/token-set.ts'
import { createEvents } from '../src/refresh-protocol/events.ts'
import { callRoll, createRollCall } from '../src/refresh-protocol/roll-call.ts'
import { holdsResult, isBehind, isSameWrite, mayReplace, successorOf } from '../src/refresh-protocol/lineage.ts'
import { firewallRecordName, keeperRecordName, rollCallName } from '../src/refresh-protocol/record-names.ts'
import { guardStore } from '../src/refresh-protocol/guarded-store.ts'
import { acceptRecord, createAccountMemory } from '../src/refresh-protocol/account-memory.ts'
import type { Context } from '../src/refresh-protocol/context.ts'
import { isJustRefreshed } from '../src/refresh-protocol/pace.ts'
import { elapsed, type Runtime, systemRuntime } from '../src/refresh-protocol/runtime.ts'
import { quotedNames, quotedWords } from '../src/support/quotation.ts'
import type { AccountRecord } from '../src/tokens/token-record.ts'
import { mapStore } from './map-store.ts'

const authUrl = 'https://auth.example.com'

describe('the markup of a page', () => {
  const affords = (budget: MarkupBudget, html: string): boolean => budget.parse(html) !== undefined

  it.each<[string, (count: number) => string, number]>([
    ['5000 tags', (count) => '<br>'.repeat(count), 5000],
    ['500 inputs', (count) => '<input>'.repeat(count), 500],
    [
      '20000 attributes',
      (count) => `<p ${Array.from({ length: count }, (_, index) => `a${index}`).join(' ')}>`,
      20_000,
    ],
    ['256 tags in each other', (count) => '<b>'.repeat(count), 256],
  ])('may have %s, and not one more', (_what, markup, most) => {
    expect(affords(new MarkupBudget(), markup(most))).toBe(true)
    expect(affords(new MarkupBudget(), markup(most + 1))).toBe(false)
  })

  it('counts depth by what is open, and all pieces of a page together', () => {
    expect(affords(new MarkupBudget(), '<b></b>'.repeat(2000))).toBe(true)
    const inputs = new MarkupBudget()
    expect([affords(inputs, '<input>'.repeat(500)), affords(inputs, '<p>'), affords(inputs, '<input>')]).toEqual([
      true,
      true,
      false,
    ])
    const pieces = new MarkupBudget()
    const afforded = Array.from({ length: 101 }, () => affords(pieces, ''))
    expect([afforded.slice(0, 100).every(Boolean), afforded[100]]).toEqual([true, false])
  })
})

describe('a text of the service', () => {
  const word = (letters: number): string => `A${'b'.repeat(letters - 1)}`

  it('is quoted with 16 words at the most', () => {
    const words = (count: number): string => Array<string>(count).fill('word').join(' ')
    expect(quotedWords(words(16))).toBe(words(16))
    expect(quotedWords(words(17))).toBe(`${words(16)} …`)
    expect(quotedWords(`a ${'x'.repeat(996)} b`)).toBe('a … b')
    expect(quotedWords(`a ${'x'.repeat(998)} b`)).toBe('a …')
  })

  it.each([
    [word(24), true],
    [word(25), false],
    ['A'.repeat(24), true],
    ['A'.repeat(25), false],
    ['a-b_c’d', true],
    ['a-b-c-d-e', false],
    ['12', true],
    ['123', false],
    ['(word)', true],
    ['wOrd', false],
    ['word1', false],
    ['1word', false],
  ])('has the word %s: %s', (text, isShown) => {
    expect(quotedWords(`the ${text}`)).toBe(`the ${isShown ? text : '…'}`)
  })

  it('is not quoted where it repeats what was sent, in other spaces or another case', () => {
    expect(quotedWords('your Pass word is wrong', ['PASSWORD'])).toBeUndefined()
    expect(quotedWords('your word is wrong', ['PASSWORD'])).toBe('your word is wrong')
    expect([quotedWords('  '), quotedWords('x1 x2')]).toEqual([undefined, undefined])
  })

  it('names 12 fields at the most, of 48 characters each', () => {
    const letters = Array.from('abcdefghijklm')
    expect(quotedNames(letters.slice(0, 12))).toBe(letters.slice(0, 12).join(', '))
    expect(quotedNames(letters)).toBe(`${letters.slice(0, 12).join(', ')}, …`)
    const longest = `${'a'.repeat(24)}_${'b'.repeat(23)}`
    expect([quotedNames([longest]), quotedNames([`${longest}b`])]).toEqual([longest, '…'])
    expect(quotedNames(['_csrf', 'a_', '__a', 'a', 'a', 'x1y'])).toBe('_csrf, …, a')
    expect(quotedNames(['a', 'secret'], ['secret'])).toBe('a, …')
  })
})

it('a value in a script has 1024 characters with its quotes at the most', () => {
  const found = (length: number): number =>
    scriptLiterals([`var a = "${'x'.repeat(length)}"`], (name) => name === 'a').length
  expect([found(1022), found(1023)]).toEqual([1, 0])
})

describe('the firewall’s page', () => {
  const page = (more: Partial<AnsweredPage>): AnsweredPage => ({
    title: '',
    text: '',
    scripts: ['run()'],
    forms: [],
    looseInputs: [],
    ...more,
  })
  const input = (name: string, type = 'text') => ({ name, type })

  it.each<[number, AnsweredPage | 'beyond limits' | undefined, boolean]>([
    [429, undefined, true],
    [428, undefined, false],
    [200, 'beyond limits', false],
    [200, page({}), true],
    [200, page({ text: 'x'.repeat(60) }), true],
    [200, page({ text: 'x'.repeat(61) }), false],
    [200, page({ scripts: [] }), false],
    [200, page({ title: 'Sign in' }), false],
    [200, page({ title: 'Challenge' }), true],
    [200, page({ title: 'A challenge' }), false],
    [200, page({ forms: [{ inputs: [input('a', 'hidden')] }] }), true],
    [200, page({ forms: [{ inputs: [input('a')] }] }), false],
    [403, page({ title: 'Access Denied', scripts: [] }), true],
    ...['identity', 'credential', 'passcode', 'backup_code', 'captcha'].flatMap(
      (name): [number, AnsweredPage, boolean][] => [
        [403, page({ title: 'Access Denied', looseInputs: [input(name)] }), false],
        [403, page({ title: 'Access Denied', forms: [{ inputs: [input(name)] }] }), false],
      ],
    ),
    [403, page({ title: 'Access Denied', looseInputs: [input('other')] }), true],
    [200, page({ text: 'Incident ID: 7', scripts: [] }), true],
  ])('is told by status %i and %j: %s', (status, answered, isChallenge) => {
    expect(isFirewallChallenge(status, answered)).toBe(isChallenge)
  })
})

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

describe('the places of a budget', () => {
  const record = (window: number, free: readonly [number, number]) => ({ ...untouched, window, free })

  it.each<[number, readonly [number, number], readonly [number, number]]>([
    [0, [0, 4], [0, 4]],
    [0, [0, 5], [1, 0]],
    [2, [1, 4], [2, 0]],
    [1, [1, 4], [1, 4]],
    [1, [3, 1], [3, 1]],
  ])('in window %i with %j free: the next is %j, where a window has five', (window, free, next) => {
    expect(freePlace(record(window, free), 5)).toEqual(next)
  })

  it('are taken one after the other, up to the last window', () => {
    const taken = takePlaces(record(0, [0, 1]), 9, 2, 2)
    expect(taken).toEqual({ windows: [0, 1, 1, 2, 2], record: record(0, [3, 0]) })
    const full = record(0, [2, 2])
    expect(takePlaces(full, 1, 2, 2)).toEqual({ windows: [], record: full })
    expect(takePlaces(record(0, [0, 0]), 1, 2, 2)).toEqual({ windows: [0], record: record(0, [0, 1]) })
  })
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
    [{ passcode: '1'.repeat(65) }, 'passcode must'],
    [{ passcode: '' }, 'passcode must'],
    [{ passcode: 12 }, 'passcode must'],
    [{}, 'passcode must'],
    [undefined, 'passcode must'],
    [{ backupCode: '' }, 'backupCode must'],
    [{ backupCode: '1'.repeat(65) }, 'backupCode must'],
    [{ passcode: '1', factorId: 7 }, 'factorId must'],
    [{ passcode: '1', factorId: null }, 'factorId must'],
  ])('%.50j is %.60j', (given, read) => {
    const call = (): unknown => secondFactorAnswer(given as never)
    if (typeof read !== 'string') expect(call()).toStrictEqual(read)
    else {
      expect(call).toThrow(TypeError)
      expect(call).toThrow(read)
    }
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

describe('a page', () => {
  const read = (html: string) => {
    const page = readHtmlPage(html)
    if (page === 'beyond limits') throw new Error('beyond limits')
    return page
  }

  it('is read into its title, its texts, its scripts and its forms', () => {
    const page = read(`<title> One
      title</title><title>Another</title><p>shown</p> <p hidden>later</p> <p style="DISPLAY :\tnone">styled</p>
      <p style="visibility:hidden">unseen</p> <p style="display: block">block</p><style>.a{}</style>
      <noscript>without</noscript><template>template</template><script>run()</script><script src="a.js"></script>
      <input name="loose"><form id="f" action=" /a?b "><input type="HIDDEN" name="n" value="&amp;"><input></form>
      <form id="f"></form><form><input hidden name="h"></form>
      <script type="TEXT/HTML">inside<form action="x"><input name="t"><script>deep()</script></form></script>
      <input form="f" name="named"><input form="none" name="lost"><svg><text>data</text></svg>`)
    expect({ ...page }).toEqual({
      title: 'One title',
      text: 'shown later styled unseen block inside data',
      shownText: 'shown block data',
      scripts: ['run()', '', 'deep()'],
      forms: [
        {
          action: ' /a?b ',
          hasCaptchaWidget: false,
          inputs: [
            { name: 'n', value: '&', type: 'hidden', isShown: false },
            { name: '', value: '', type: 'text', isShown: true },
            { name: 'named', value: '', type: 'text', isShown: true },
          ],
        },
        { action: undefined, hasCaptchaWidget: false, inputs: [] },
        {
          action: undefined,
          hasCaptchaWidget: false,
          inputs: [{ name: 'h', value: '', type: 'text', isShown: false }],
        },
        { action: 'x', hasCaptchaWidget: false, inputs: [{ name: 't', value: '', type: 'text', isShown: false }] },
      ],
      looseInputs: [
        { name: 'loose', value: '', type: 'text', isShown: true },
        { name: 'lost', value: '', type: 'text', isShown: true },
      ],
      hasLooseCaptchaWidget: false,
    })
    expect({ ...read('<svg><title>a<b>c</b></title></svg>text') }).toMatchObject({ title: 'a<b>c</b>', text: 'text' })
    expect({ ...read('') }).toMatchObject({
      title: '',
      text: '',
      shownText: '',
      scripts: [],
      forms: [],
      looseInputs: [],
    })
  })

  it('has a captcha where one stands: in a form, or outside of any', () => {
    const captcha = '<div data-sitekey="k"></div>'
    const widgets = (html: string): boolean[] => {
      const { forms, hasLooseCaptchaWidget } = read(html)
      return [...forms.map((form) => form.hasCaptchaWidget), hasLooseCaptchaWidget]
    }
    expect(widgets(`<form></form>${captcha}`)).toEqual([false, true])
    expect(widgets(`<form>${captcha}</form><form></form>`)).toEqual([true, false, false])
    const told = [
      '<p class="h-captcha"></p>',
      '<p class="a\tG-Recaptcha b"></p>',
      '<p name="cf-turnstile-response"></p>',
      '<iframe src="https://challenges.cloudflare.com/x"></iframe>',
      '<iframe src="/recaptcha/x"></iframe>',
    ]
    for (const html of told) expect([html, widgets(html)]).toEqual([html, [true]])
    const none = [
      '<p class="my-h-captcha"></p>',
      '<p class="h-captcha-box"></p>',
      '<p class></p>',
      '<p name="x-cf-turnstile-response"></p>',
      '<iframe src="/x"></iframe>',
      '<iframe></iframe>',
      '<img src="/recaptcha/x">',
    ]
    for (const html of none) expect([html, widgets(html)]).toEqual([html, [false]])
  })

  const named = (name: string, value = name): string => `<input type="hidden" name="${name}" value="${value}">`
  const credential = '<input name="credential">'
  const identity = '<input name="identity">'
  const form = (...inputs: string[]): string => `<form>${inputs.join('')}</form>`

  it('has one login form: with the identity rather than without, with hidden inputs rather than without, else the first', () => {
    const chosen = (...forms: string[]): string | undefined => findLoginForm(read(forms.join('')))?.hiddenInputs[0]?.[0]
    const [both, alone] = [form(identity, credential, named('both')), form(credential, named('alone'))]
    expect([chosen(both, alone), chosen(alone, both)]).toEqual(['both', 'both'])
    expect(chosen(alone, form(identity, credential), named('loose'))).toBe('loose')
    expect(chosen(form(credential), alone)).toBe('alone')
    expect(chosen(alone, form(credential, named('second')))).toBe('alone')
    expect(chosen(form(identity, named('i')), alone)).toBe('alone')
    expect(chosen(credential, named('loose'))).toBe('loose')
  })

  it('asks for the credential or the identity, in sight or not, with a captcha or without', () => {
    const found = (html: string) => findLoginForm(read(html))
    const plain = { hiddenInputs: [], captcha: false }
    expect(found(form(credential))).toEqual({ ...plain, asksFor: 'credential', isShown: true })
    expect(found(form(identity))).toEqual({ ...plain, asksFor: 'identity', isShown: true })
    expect(found(identity)).toEqual({ ...plain, asksFor: 'identity', isShown: true })
    expect(found(`<div hidden>${form(credential)}</div>`)).toEqual({ ...plain, asksFor: 'credential', isShown: false })
    expect(found(`<div hidden>${form(identity)}</div>`)).toEqual({ ...plain, asksFor: 'identity', isShown: false })
    expect(found(`<div hidden>${credential}</div>`)).toBeUndefined()
    expect(found(form('<input hidden name="credential">', credential))).toMatchObject({ isShown: true })
    expect(found(form(credential, '<input name="captcha">'))).toMatchObject({ captcha: true })
    expect(found(form(credential, named('captcha')))).toMatchObject({ captcha: false })
    expect(found(form(credential) + form('<p data-sitekey></p>'))).toMatchObject({ captcha: false })
    expect(found(`${form(credential)}<p data-sitekey></p>`)).toMatchObject({ captcha: true })
    expect(found(`${form(credential)}<script>turnstile.render ()</script>`)).toMatchObject({ captcha: true })
    expect(found(form(credential, named('', 'x'), named('identity'), named('credential'), named('a')))).toMatchObject({
      hiddenInputs: [['a', 'a']],
    })
  })

  it.each([
    ['', true],
    [' ', true],
    ['?a', true],
    ['#a', true],
    ['/oauth2/v3/authorize', true],
    ['/OAUTH2/v3/authorize#a', true],
    ['/en-us/oauth2/v3/authorize?a', true],
    ['http://a.example:1/oauth2/v3/authorize', true],
    ['/oauth2/v3/authorized', false],
    ['/a/b/oauth2/v3/authorize', false],
    ['x/oauth2/v3/authorize', false],
    ['ftp://a.example/oauth2/v3/authorize', false],
    ['/x', false],
  ])('has a login form with the action %j: %s', (action, isOne) => {
    expect(findLoginForm(read(`<form action="${action}">${credential}</form>`)) !== undefined).toBe(isOne)
  })

  it('asks for a passcode where its field is in sight, or no credential is, and names what is verified', () => {
    const passcode = '<input name="passcode">'
    const found = (html: string) => readPasscodePage(read(html))
    expect(readPasscodePage(undefined)).toBeUndefined()
    expect(found(form(credential))).toBeUndefined()
    const empty = { kind: 'passcode-page', csrf: undefined, transactionId: undefined }
    expect(found(passcode)).toEqual(empty)
    expect(found(`<div hidden>${passcode}</div>`)).toEqual(empty)
    expect(found(`<div hidden>${passcode}</div>${form(credential)}`)).toBeUndefined()
    expect(found(passcode + form(credential))).toEqual(empty)
    const others = form(named('_csrf', 'o'), named('transaction_id', 'o'))
    expect(found(others + form(passcode))).toMatchObject({ csrf: 'o', transactionId: 'o' })
    expect(found(others + form(passcode, named('_csrf', 'p'), named('transaction_id', 'p')))).toMatchObject({
      csrf: 'p',
      transactionId: 'p',
    })
    expect(found(others + form(passcode, named('_csrf', ''), named('transaction_id', '')))).toMatchObject({
      csrf: 'o',
      transactionId: 'o',
    })
  })

  it('of the login gives the transaction, the page of the passcode its own _csrf; each stands in for the other', () => {
    const page = (csrf?: string, transactionId?: string) => ({ kind: 'passcode-page' as const, csrf, transactionId })
    const inputs = [['transaction_id', 't'] as const, ['_csrf', 'c'] as const]
    expect(verificationOf(page('own', 'own'), inputs)).toEqual({ transactionId: 't', csrf: 'own' })
    expect(verificationOf(page(undefined, 'own'), inputs.slice(1))).toEqual({ transactionId: 'own', csrf: 'c' })
    const problem = (...given: Parameters<typeof verificationOf>): unknown => {
      try {
        return verificationOf(...given)
      } catch (error) {
        return error
      }
    }
    const where = { step: 'mfa-factors', requestSent: false }
    expect(problem(page('own'), [])).toMatchObject({ ...where, message: expect.stringContaining('transaction_id') })
    expect(problem(page(undefined, 'own'), [])).toMatchObject({ ...where, message: expect.stringContaining('_csrf') })
  })
})

/** A clock that only the test moves, as a runtime has it: milliseconds from the beginning. */
function slowClock(skew = 0): { now: number; wallOnly: number; random: number; runtime: Runtime } {
  let ids = 0
  const clock = { now: 0, wallOnly: 0, random: 0.5 }
  const runtime: Runtime = {
    ...systemRuntime,
    wallClock: () => start * 1000 + clock.now + clock.wallOnly + skew,
    monotonicClock: () => clock.now,
    random: () => clock.random,
    uniqueId: () => `${skew} ${(ids += 1)}`,
    holder: { pid: 1, boot: 'b' },
    livenessOf: () => 'unknown',
  }
  return Object.assign(clock, { runtime })
}
const start = 1_790_000_000

it('what has passed is the most that either clock says, and nothing where both went back', () => {
  const since = { wall: 100, monotonic: 100 }
  expect(
    [
      { wall: 110, monotonic: 105 },
      { wall: 90, monotonic: 105 },
      { wall: 101, monotonic: 120 },
      { wall: 99, monotonic: 99 },
    ].map((now) => elapsed(since, now)),
  ).toEqual([10, 5, 20, 0])
})

describe('the breaker of a fleet', () => {
  const name = firewallRecordName(authUrl)
  const nextAttemptOf = async (breaker: SharedBreaker): Promise<unknown> =>
    Promise.resolve(breaker.enter(authUrl)).then(
      (probe) => (probe === undefined ? 'free' : 'probe'),
      (error: unknown) => {
        expect(error).toMatchObject({ step: 'token-manager', requestSent: false })
        return Reflect.get(Object(error), 'nextAttemptAt')
      },
    )
  const challenge = (seconds: number, requestSent = true): never =>
    ({ nextAttemptAt: start + seconds, requestSent }) as never

  function world() {
    const clock = slowClock()
    const memory = mapStore()
    let isDown = false
    const guarded = guardStore(
      { ...memory, swap: (...call) => (isDown ? Promise.reject(new Error('down')) : memory.swap(...call)) },
      undefined,
    )
    return {
      clock,
      memory,
      breaker: () => createSharedBreaker(guarded, clock.runtime),
      record: async () => (await memory.read(name))?.record,
      fail: (down: boolean) => void (isDown = down),
    }
  }
  const block = (challenges: number, noted: number, wait: number): object => ({
    schema: 1,
    state: 'firewall',
    challenges,
    noted_at: start + noted,
    wait,
  })

  it('blocks for what the service asked for, to the millisecond, and lets one process probe for a minute', async () => {
    const { clock, breaker, record, memory } = world()
    const [one, other] = [breaker(), breaker()]
    expect([one.isBlocked(authUrl), await nextAttemptOf(one), await record()]).toEqual([false, 'free', undefined])
    expect(await one.challenged(authUrl, challenge(900))).toBe(start + 900)
    expect(await record()).toEqual(block(1, 0, 900))
    await other.sync(authUrl)
    clock.now = 899_999
    for (const each of [one, other]) {
      expect([each.isBlocked(authUrl), await nextAttemptOf(each)]).toEqual([true, start + 900])
    }
    expect((await memory.read(name))?.version).toBe(1)
    clock.now = 900_000
    expect([one.isBlocked(authUrl), other.isBlocked(authUrl)]).toEqual([false, false])
    const probe = await one.enter(authUrl)
    expect(await record()).toEqual(block(1, 900, 60))
    // The other one meets the claim, and waits for its end.
    expect(await nextAttemptOf(other)).toBe(start + 960)
    clock.now = 905_000
    await probe?.giveBack()
    expect(await record()).toEqual(block(1, 905, 0))
    await probe?.giveBack()
    expect((await memory.read(name))?.version).toBe(3)
    await other.sync(authUrl)
    expect(other.isBlocked(authUrl)).toBe(false)
    expect(await nextAttemptOf(other)).toBe('probe')
    await other.passed(authUrl)
    expect(await record()).toEqual(block(0, 905, 0))
    expect(await nextAttemptOf(other)).toBe('free')
    await other.passed(authUrl)
    expect((await memory.read(name))?.version).toBe(5)
  })

  it.each([
    [0, [800, 1440, 2880, 5760, 11_520, 11_520]],
    [0.5, [900, 1800, 3600, 7200, 14_400, 14_400]],
  ])('waits twice as long after each further challenge, up to four hours (by chance %d)', async (random, expected) => {
    const { clock, breaker } = world()
    clock.random = random
    const one = breaker()
    const waits: number[] = []
    for (let count = 0; count < 6; count += 1) {
      const now = clock.now / 1000
      const next = await one.challenged(authUrl, challenge(now + 900))
      waits.push(next - start - now)
      clock.now += (next - start - now) * 1000
      expect(await nextAttemptOf(one)).toBe('probe')
    }
    expect(waits).toEqual([Math.max(900, expected[0] ?? 0), ...expected.slice(1)])
    expect((await one.challenged(authUrl, challenge(clock.now / 1000 + 20_000))) - start - clock.now / 1000).toBe(
      Math.max(20_000, 20_000 * (0.8 + 0.4 * random)),
    )
  })

  it('counts what was sent before the block, or was not sent at all, as one with it', async () => {
    const { clock, breaker, record } = world()
    const one = breaker()
    await one.challenged(authUrl, challenge(100, false))
    expect(await record()).toEqual(block(1, 0, 100))
    clock.now = 40_000
    // 60 s are left of the block; asked for less, it stays as it was.
    expect(await one.challenged(authUrl, challenge(50))).toBe(start + 100)
    expect(await record()).toEqual(block(1, 40, 60))
    await one.passed(authUrl)
    expect(await record()).toEqual(block(1, 40, 60))
    clock.now = 100_000
    expect(await one.challenged(authUrl, challenge(0))).toBe(start + 102)
    expect(await record()).toEqual(block(2, 100, 2))
    clock.now = 102_000
    await one.passed(authUrl)
    expect(await record()).toEqual(block(0, 102, 0))
  })

  it('is remembered by the process itself where the store is down', async () => {
    const { clock, breaker, fail, record } = world()
    const one = breaker()
    fail(true)
    expect(await one.challenged(authUrl, challenge(30.5))).toBe(start + 31)
    expect([one.isBlocked(authUrl), await nextAttemptOf(one)]).toEqual([true, start + 31])
    clock.now = 31_000
    expect(one.isBlocked(authUrl)).toBe(false)
    await expect(one.enter(authUrl)).rejects.toMatchObject({ code: 'ERR_SSO_STORE' })
    await one.passed(authUrl)
    fail(false)
    expect(await nextAttemptOf(one)).toBe('probe')
    expect(await record()).toEqual(block(1, 31, 60))
  })

  it('by a clock of the future is noted again by ours, where that is ahead by more than four hours', async () => {
    for (const [ahead, isNoted] of [
      [14_400, false],
      [14_401, true],
    ] as const) {
      const { breaker, memory, record } = world()
      memory.put(name, { version: 1, record: block(3, ahead, 600) as never })
      const one = breaker()
      await one.sync(authUrl)
      expect(await nextAttemptOf(one)).toBe(start + 600)
      expect(await record()).toEqual(isNoted ? block(3, 0, 600) : block(3, ahead, 600))
    }
  })

  it('is as old as the clock of who wrote it says, but no older than the look before', async () => {
    const { clock, breaker, memory } = world()
    memory.put(name, { version: 1, record: block(1, -100, 600) as never })
    const [early, late] = [breaker(), breaker()]
    await early.sync(authUrl)
    expect(await nextAttemptOf(early)).toBe(start + 500)
    clock.now = 10_000
    await early.sync(authUrl)
    clock.now = 20_000
    memory.put(name, { version: 2, record: block(1, -3600, 600) as never })
    await Promise.all([early.sync(authUrl), late.sync(authUrl)])
    // Written within the last ten seconds, whatever its clock says.
    expect(await nextAttemptOf(early)).toBe(start + 610)
    expect(late.isBlocked(authUrl)).toBe(false)
    // A store that went back says nothing of that kind.
    memory.put(name, { version: 1, record: block(1, -100, 600) as never })
    await early.sync(authUrl)
    expect(await nextAttemptOf(early)).toBe(start + 500)
    memory.clear()
    await early.sync(authUrl)
    expect(await nextAttemptOf(early)).toBe('free')
  })

  it('gives up after three probes that others claimed before', async () => {
    const clock = slowClock()
    let swaps = 0
    const record = block(1, -600, 0)
    const store = guardStore(
      {
        read: async () => ({ version: 1 + swaps, writeId: `w${swaps}`, record: record as never }),
        swap: async () => ((swaps += 1), { conflict: true }),
      },
      undefined,
    )
    const one = createSharedBreaker(store, clock.runtime)
    await one.sync(authUrl)
    expect([await nextAttemptOf(one), swaps]).toEqual([start + 60, 3])
  })
})

describe('the need of an account', () => {
  const window = { within: 7_200_000, refreshTokenLifetime: undefined }
  const now = start * 1000
  const record = (age: number, lifetime = 28_800, refresh_token = 'r') =>
    ({ obtained_at: start - age, lifetime, tokens: { auth_url: authUrl, refresh_token } }) as never
  const endOf = (...[given, figures = window, expiry]: [never, object?, number?]): number | undefined => {
    const need = needOf('ann', given, figures as typeof window, () => expiry, now)
    if (need !== undefined) expect(need).toMatchObject({ account: 'ann', authUrl })
    return need && (need.end - now) / 1000
  }

  it('is there from two hours before the end on, and not before half of that has passed', () => {
    expect([endOf(record(21_600)), endOf(record(21_599)), endOf(record(30_000))]).toEqual([7200, undefined, -1200])
    expect([endOf(record(3600, 10_000)), endOf(record(3599, 10_000))]).toEqual([6400, undefined])
    expect([endOf(record(50, 100)), endOf(record(49, 100))]).toEqual([50, undefined])
  })

  it('goes by the token’s own end, or by the life of refresh tokens, before that of the access token', () => {
    const days = { ...window, refreshTokenLifetime: 86_400_000 }
    expect([endOf(record(79_200), days), endOf(record(79_199), days)]).toEqual([7200, undefined])
    expect(endOf(record(79_200), days, now + 7_200_001)).toBeUndefined()
    expect(endOf(record(4000), window, now + 60_000)).toBe(60)
  })

  it('is there at once for tokens of more than five minutes in the future', () => {
    expect([endOf(record(-301)), endOf(record(-300))]).toEqual([7200, undefined])
  })

  it('reads the end of a JWT, and of nothing else', async () => {
    const expiryOf = await jwtExpiry()
    expect(await jwtExpiry()).toBe(expiryOf)
    const jwt = (claims: object): string =>
      [{ alg: 'none' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
    const ends = [jwt({ exp: 7 }), `${jwt({ exp: 7 })}.`, `${jwt({ exp: 7 })}.s`, `${jwt({})}.s`, 'a.b.c', 'opaque']
    expect(ends.map(expiryOf)).toEqual([undefined, 7000, 7000, undefined, undefined, undefined])
    expect([expiryOf(` ${jwt({ exp: 7 })}.s`), expiryOf(`${jwt({ exp: 7 })}.s.t`)]).toEqual([undefined, undefined])
  })
})

describe('the pace of a keeper', () => {
  const need = (account: string, end: number, url = authUrl) => ({ account, end, authUrl: url })

  it('has each one’s turn by the middle of its window, and takes a sweep’s time at the least', () => {
    const window = { within: 1000, every: 100 }
    expect(spacing([], 0, window, 0)).toBe(500)
    expect(spacing([], 4, window, 0)).toBe(125)
    expect(spacing([], 4, { within: 100, every: 60 }, 0)).toBe(15)
    expect(spacing([need('a', 700)], 1, window, 50)).toBe(150)
    expect(spacing([need('a', 700), need('b', 760)], 2, window, 0)).toBe(130)
    expect(spacing([need('a', 700)], 4, window, 0)).toBe(50)
    expect(spacing([need('a', 0), need('b', 0)], 2, window, 0)).toBe(50)
  })

  it('gives turns in slots, each at its own moment, and makes up for nothing', () => {
    const clock = slowClock()
    const queue = createQueue([need('a', 1), need('b', 2), need('c', 3), need('d', 4)], 100, clock.runtime)
    expect([queue.isEmpty(), queue.next()]).toEqual([false, 50])
    clock.now = 50
    expect(queue.next()).toMatchObject({ account: 'a' })
    expect(queue.next()).toBe(100)
    clock.now = 1000
    expect(queue.next()).toMatchObject({ account: 'b' })
    // The slot of b begins a gap ago, that of c now.
    clock.random = 0.25
    expect(queue.next()).toMatchObject({ account: 'c' })
    expect(queue.next()).toBe(25)
    clock.now = 1025
    expect(queue.next()).toMatchObject({ account: 'd' })
    expect(queue.isEmpty()).toBe(true)
  })

  it('asks a service in trouble after 15 seconds, twice as long after each failure, eight minutes at the most', () => {
    const clock = slowClock()
    const queue = createQueue([need('a', 1), need('b', 2), need('c', 3)], 0, clock.runtime)
    const pauses = Array.from({ length: 7 }, () => [queue.failed(), queue.next()])
    expect(pauses).toEqual([15, 30, 60, 120, 240, 480, 480].map((seconds, index) => [index + 1, seconds * 1000]))
    clock.now = 480_000
    expect(queue.next()).toMatchObject({ account: 'a' })
    // One at a time until that one is answered.
    expect(queue.next()).toBe(15_000)
    queue.succeeded()
    expect(queue.next()).toMatchObject({ account: 'b' })
    expect([queue.next(), queue.failed()]).toMatchObject([{ account: 'c' }, 1])
  })

  it('passes over a host that may not be asked yet, and leaves out those that it is told to', () => {
    const clock = slowClock()
    const needs = [need('a', 1), need('b', 2, 'https://b'), need('c', 3), need('d', 4, 'https://b')]
    const queue = createQueue(needs, 0, clock.runtime)
    const first = queue.next() as (typeof needs)[0]
    queue.putBack(first, start + 60)
    expect(queue.next()).toMatchObject({ account: 'b' })
    clock.now = 50_000
    expect(queue.next()).toMatchObject({ account: 'd' })
    expect(queue.next()).toBe(10_000)
    clock.now = 59_500
    expect(queue.next()).toBe(1000)
    clock.now = 60_000
    expect(queue.next()).toMatchObject({ account: 'a' })
    const abandoned = createQueue(needs, 0, clock.runtime)
    expect([abandoned.abandon('https://b'), abandoned.abandon('https://b'), abandoned.abandon()]).toEqual([2, 0, 2])
    expect(abandoned.isEmpty()).toBe(true)
  })
})

describe('the claim to sweep', () => {
  const every = 900_000
  function desks() {
    const clock = slowClock()
    const memory = mapStore()
    const store = guardStore(memory, undefined)
    const liveness = { value: 'unknown' as ReturnType<Runtime['livenessOf']> }
    const runtime = { ...clock.runtime, livenessOf: () => liveness.value }
    const desk = (interval = every) => claimDesk(interval, { store, runtime })
    const record = async () => (await memory.read(keeperRecordName))?.record
    return { clock, memory, desk, record, liveness }
  }
  const claimed = async (asked: ReturnType<ReturnType<typeof claimDesk>['ask']>) => {
    const claim = await asked
    if ('wait' in claim) throw new Error(`wait ${claim.wait}`)
    return claim
  }
  const idle = { schema: 1, state: 'keeper', signs: 0 }

  it('is one process’s, which shows that it lives every 15 seconds and tells when it has swept', async () => {
    const { clock, desk, record } = desks()
    const [one, other] = [desk(), desk()]
    const claim = await claimed(one.ask())
    const held = { ...idle, holder: { pid: 1, boot: 'b' }, at: start, swept_at: 0 }
    expect(await record()).toEqual(held)
    expect(await other.ask()).toEqual({ isSwept: true, wait: 15_000 })
    clock.now = 14_999
    expect([await claim.goesOn(), await record()]).toEqual([true, held])
    clock.now = 15_500
    expect([await claim.goesOn(), await record()]).toEqual([true, { ...held, signs: 1, at: start + 15 }])
    expect([await claim.goesOn(), await claim.goesOn(true)]).toEqual([true, true])
    expect(await record()).toEqual({ ...held, signs: 2, at: start + 15 })
    clock.now = 20_000
    await claim.release(true)
    expect(await record()).toEqual({ ...idle, swept_at: start })
    // The next one is due a quarter of an hour after the beginning; a look every five minutes until then.
    expect(await one.ask()).toEqual({ isSwept: false, wait: 300_000 })
    clock.now = 800_000
    expect([await one.ask(), await desk().ask()]).toEqual([
      { isSwept: false, wait: 100_000 },
      { isSwept: false, wait: 100_000 },
    ])
    clock.now = 900_000
    const next = await claimed(other.ask())
    expect(await record()).toMatchObject({ at: start + 900, swept_at: start })
    await next.release(false)
    expect(await record()).toEqual({ ...idle, swept_at: start })
    await claimed(one.ask())
  })

  it('is taken over a minute after its last sign of life, or at once where its holder is dead', async () => {
    const { clock, desk, liveness, record } = desks()
    const [one, other] = [desk(), desk()]
    const claim = await claimed(one.ask())
    clock.now = 1000
    expect(await other.ask()).toEqual({ isSwept: true, wait: 15_000 })
    clock.now = 60_999
    expect(await other.ask()).toEqual({ isSwept: true, wait: 15_000 })
    clock.now = 61_000
    await claimed(other.ask())
    expect([await claim.goesOn(), await claim.goesOn(true)]).toEqual([false, false])
    await claim.release(true)
    expect(await record()).toMatchObject({ at: start + 61, signs: 0, swept_at: 0 })
    liveness.value = 'dead'
    await claimed(desk().ask())
  })

  it('for one sweep alone is held by the clock of its holder: a minute, and five that clocks may differ by', async () => {
    const { clock, desk } = desks()
    await claimed(desk(0).ask())
    for (const [wall, isHeld] of [
      [359_999, true],
      [-359_999, true],
      [360_000, false],
      [-360_000, false],
    ] as const) {
      clock.wallOnly = wall
      const asked = await desk(0).ask()
      expect([wall, 'wait' in asked]).toEqual([wall, isHeld])
      if ('wait' in asked) expect(asked).toEqual({ isSwept: true, wait: 15_000 })
      else {
        await asked.release(true)
        clock.wallOnly = 0
        await claimed(desk(0).ask())
      }
    }
  })

  it('is due an interval after the last sweep: by its clock, by our own looks, or at once where its clock was ahead', async () => {
    const due = async (told: number, looks: readonly number[] = []): Promise<number> => {
      const { clock, desk, memory } = desks()
      const one = desk()
      memory.put(keeperRecordName, { version: 1, record: { ...idle, swept_at: start - 10_000 } as never })
      for (clock.now of looks) {
        const claim = await claimed(one.ask())
        await claim.release(false)
      }
      clock.now += 10_000
      memory.put(keeperRecordName, { version: 100, record: { ...idle, swept_at: start + told } as never })
      const asked = await one.ask()
      if (!('wait' in asked)) return 0
      clock.now += asked.wait - 1
      expect(await one.ask()).toMatchObject({ isSwept: false })
      return asked.wait / 1000
    }
    expect([await due(-700), await due(-600), await due(-590), await due(-889), await due(-890)]).toEqual([
      190, 290, 300, 1, 0,
    ])
    expect([await due(910), await due(911)]).toEqual([300, 0])
    expect(await due(-889, [0])).toBe(300)
  })
})

describe('a budget', () => {
  it('is kept in windows: one less than a minute has of its bursts, and as long as they take with the life of a place', () => {
    expect(windowsOf({ perMinute: 60 })).toEqual({ places: 1, length: Math.ceil(63_000 / 59) })
    expect(windowsOf({ perMinute: 2 })).toEqual({ places: 1, length: 63_000 })
    expect(windowsOf({ perMinute: 119 })).toEqual({ places: 1, length: Math.ceil(63_000 / 118) })
    expect(windowsOf({ perMinute: 120 })).toEqual({ places: 2, length: Math.ceil(63_000 / 59) })
    expect(windowsOf({ perMinute: 100, burst: 50 })).toEqual({ places: 50, length: 63_000 })
  })

  it('has what two looks say together, and goes on to the next window', () => {
    const record = (window: number, ...free: [number, number]) => ({ ...untouched, window, free })
    expect(opened(record(3, 5, 1))).toEqual(record(4, 5, 1))
    expect(together(record(1, 2, 3), record(2, 1, 9))).toEqual(record(2, 2, 3))
    expect(together(record(2, 1, 9), record(1, 2, 3))).toEqual(record(2, 2, 3))
    expect(together(record(1, 2, 3), record(1, 2, 4))).toEqual(record(1, 2, 4))
    expect(together(record(1, 2, 4), record(1, 2, 3))).toEqual(record(1, 2, 4))
    expect(together(record(1, 3, 0), record(1, 2, 4))).toEqual(record(1, 3, 0))
  })

  it('sees a window for as long as its number stays, by the clock that never runs ahead', async () => {
    const clock = slowClock()
    const windows = shareWindows('b', ownMemory(), clock.runtime)
    expect([windows.age(), windows.known()]).toEqual([0, untouched])
    expect(await windows.read()).toEqual({ record: untouched, from: { wall: start * 1000, monotonic: 0 } })
    clock.now = 500
    clock.wallOnly = 900
    expect(windows.age()).toBe(500)
    const taken = { ...untouched, free: [0, 1] as const }
    expect(await windows.write(taken)).toEqual({ record: taken, from: { wall: start * 1000 + 1400, monotonic: 500 } })
    expect([windows.age(), windows.known()]).toEqual([500, taken])
    await windows.write(opened(taken))
    expect(windows.age()).toBe(0)
    clock.now = 600
    expect(await windows.read()).toMatchObject({ record: opened(taken), from: { monotonic: 600 } })
    expect(windows.age()).toBe(100)
  })

  it('writes over what it has read alone, and gives no place away again that it has seen taken', async () => {
    const { runtime } = slowClock()
    const [memory, other] = [mapStore(), slowClock(1)]
    const [one, two] = [runtime, other.runtime].map((each) => shareWindows('b', guardStore(memory, undefined), each))
    if (one === undefined || two === undefined) throw new Error('two')
    const taken = { ...untouched, free: [0, 3] as const }
    await Promise.all([one.read(), two.read()])
    expect(await one.write(taken)).toMatchObject({ record: taken })
    expect(await two.write(opened(untouched))).toBeUndefined()
    expect(two.known()).toEqual(untouched)
    expect(await two.read()).toMatchObject({ record: taken })
    expect(await two.write(opened(taken))).toMatchObject({ record: opened(taken) })
    memory.clear()
    expect(await two.read()).toMatchObject({ record: opened(taken) })
    expect(await two.write(taken)).toMatchObject({ record: taken })
  })

  it('serves by rank, then by who came first', () => {
    const line = createWaitingLine()
    const waiter = (name: string, rank: Rank): Waiter & { name: string } => ({
      name,
      key: { name },
      rank,
      serve: () => undefined,
      refuse: () => undefined,
    })
    const names = (): unknown[] => line.all().map((each) => Reflect.get(each, 'name'))
    const all = [
      waiter('b1', 'background'),
      waiter('t1', 'with a token'),
      waiter('n1', 'without a token'),
      waiter('a1', 'turned away before'),
      waiter('n2', 'without a token'),
    ]
    for (const each of all) line.add(each)
    expect(names()).toEqual(['a1', 'n1', 'n2', 't1', 'b1'])
    expect([line.count('callers'), line.count('background')]).toEqual([4, 1])
    const [b1, t1] = all
    if (b1 === undefined || t1 === undefined) throw new Error('five')
    expect([line.move(b1.key, 'background'), line.move({}, 'background')]).toEqual([undefined, undefined])
    expect(line.move(b1.key, 'without a token')).toBe(b1)
    expect([names(), b1.rank]).toEqual([['a1', 'n1', 'n2', 'b1', 't1'], 'without a token'])
    const anew = { ...waiter('t2', 'with a token'), key: t1.key }
    line.add(anew)
    line.remove(t1)
    expect(names()).toEqual(['a1', 'n1', 'n2', 'b1', 't2'])
    line.remove(anew)
    expect(Array.from({ length: 5 }, () => Reflect.get(Object(line.next()), 'name') as unknown)).toEqual([
      'a1',
      'n1',
      'n2',
      'b1',
      undefined,
    ])
  })
})

describe('what may take a record’s place', () => {
  const tokens = (access_token: string) => ({ access_token, refresh_token: 'r' })
  const held = (more: object = {}): never =>
    ({
      schema: 1,
      state: 'signed-in',
      generation: 1,
      session: 's',
      lineage: 'l1',
      refreshes: 3,
      tokens: tokens('a1'),
      ...more,
    }) as never
  const result = (next: object) => ({ derivedFrom: held(), next: held(next) })
  const out: never = { schema: 1, state: 'signed-out', generation: 2, session: 'o' } as never

  it('is the result that was derived from its refresh token', () => {
    const rotated = result({ lineage: 'l2', refreshes: 4 })
    expect([mayReplace(held(), rotated), mayReplace(held({ refreshes: 9 }), rotated)]).toEqual([true, true])
    expect([mayReplace(held({ lineage: 'l0' }), rotated), mayReplace(out, rotated)]).toEqual([false, false])
    const kept = result({ refreshes: 4 })
    expect([2, 3, 4].map((refreshes) => mayReplace(held({ refreshes }), kept))).toEqual([true, true, false])
    expect(mayReplace(held({ refreshes: 4, session: 'other' }), kept)).toBe(true)
  })

  it('is nothing where the record has it already', () => {
    const next = result({ lineage: 'l2', tokens: tokens('a2') })
    expect(holdsResult(held({ lineage: 'l2', tokens: tokens('a2') }), next)).toBe(true)
    for (const other of [
      held({ lineage: 'l2' }),
      held({ tokens: tokens('a2') }),
      held({ lineage: 'l2', tokens: tokens('a2'), state: 'reauthentication-required' }),
      out,
    ])
      expect(holdsResult(other, next)).toBe(false)
  })

  it('counts one refresh more, unless it is the end', () => {
    const over = (refreshes: number, next: object): unknown => successorOf(held({ refreshes }), result(next))
    expect(over(3, { refreshes: 4 })).toMatchObject({ refreshes: 4 })
    expect(over(7, { refreshes: 4, session: 'x', generation: 9 })).toMatchObject({
      refreshes: 8,
      session: 's',
      generation: 1,
    })
    expect(over(2, { refreshes: 9 })).toMatchObject({ refreshes: 9 })
    expect(over(7, { refreshes: 4, state: 'reauthentication-required' })).toMatchObject({ refreshes: 7 })
  })

  it('is what stands behind it, where the store went back', () => {
    const at = (version: number, record: never, writeId?: string) => ({ version, writeId, record })
    const intent = { intent: { id: 'i' } }
    const ended = held({ state: 'reauthentication-required' })
    const rows: [ReturnType<typeof at>, ReturnType<typeof at>, boolean][] = [
      [at(1, held({ refreshes: 2 })), at(2, held()), true],
      [at(3, held({ refreshes: 4 })), at(2, held()), false],
      [at(9, held()), at(2, ended), true],
      [at(1, ended), at(2, held()), false],
      [at(1, held()), at(2, held(intent)), true],
      [at(2, held(), 'a'), at(2, held(intent), 'b'), true],
      [at(2, held(), 'a'), at(2, held(intent), 'a'), false],
      [at(3, held()), at(2, held(intent)), false],
      [at(1, held(intent)), at(2, held(intent)), false],
      [at(1, held()), at(2, held()), false],
      [at(9, held({ session: 'old' })), at(2, held({ replaces: ['old'] })), true],
      [at(1, held({ session: 'other' })), at(2, held()), false],
      [at(1, out), at(2, held({ replaces: ['o'] })), true],
    ]
    expect(rows.map(([stored, seen]) => isBehind(stored, seen))).toEqual(rows.map(([, , isIt]) => isIt))
    expect([
      isSameWrite({ version: 1 }, { version: 1 }),
      isSameWrite({ version: 1 }, { version: 2 }),
      isSameWrite({ version: 1, writeId: 'a' }, { version: 1 }),
    ]).toEqual([true, false, false])
  })
})

describe('a store in the protocol’s hands', () => {
  const record: never = { schema: 1, state: 'roll-call', call: 'c' } as never

  it('is given up after ten seconds, and no timer stays of a call that it answered', async () => {
    const limits: [number, () => void][] = []
    const ended: number[] = []
    const limit = (milliseconds: number, onOver: () => void): (() => void) => {
      limits.push([milliseconds, onOver])
      return () => void ended.push(milliseconds)
    }
    const never = new Promise<never>(() => undefined)
    let returned = 0
    const silent = guardStore(
      {
        read: () => never,
        swap: () => never,
        accounts: () => ({
          [Symbol.asyncIterator]: () => ({ next: () => never, return: async () => ((returned += 1), never) }),
        }),
      },
      limit,
    )
    const outcomes = [
      silent.read('a'),
      silent.swap('a', undefined, record, 'w'),
      (async () => {
        for await (const _name of silent.accounts?.() ?? []);
      })(),
    ].map((call) => call.then(undefined, (error: unknown) => error))
    await new Promise((resolve) => setImmediate(resolve))
    // The list began within its limit, and its first step has one of its own.
    expect([limits.map(([milliseconds]) => milliseconds), ended]).toEqual([[10_000, 10_000, 10_000, 10_000], [10_000]])
    for (const [, onOver] of limits) onOver()
    const late = { code: 'ERR_SSO_STORE', message: expect.stringContaining('ten seconds') }
    expect(await Promise.all(outcomes)).toMatchObject([
      { ...late, reason: 'unavailable' },
      { ...late, reason: 'write-failed' },
      { ...late, reason: 'unavailable' },
    ])
    expect([ended.length, returned]).toEqual([4, 1])
  })

  it('is told what is written over, and has its own errors passed on, others wrapped', async () => {
    const swaps: unknown[] = []
    const failing = { error: new Error('secret') as Error | undefined }
    const base = {
      read: async () => {
        if (failing.error) throw failing.error
        return undefined
      },
      swap: async (...call: unknown[]) => {
        swaps.push(call.slice(1))
        return { conflict: true as const }
      },
    }
    const store = guardStore(base, undefined)
    expect(await store.read('a').catch((error: unknown) => error)).toMatchObject({
      reason: 'unavailable',
      message: expect.not.stringContaining('secret'),
    })
    failing.error = new StoreError('busy', 'x')
    expect(await store.read('a').catch((error: unknown) => error)).toBe(failing.error)
    failing.error = undefined
    expect(await store.read('a')).toBeUndefined()
    await store.swap('a', undefined, record, 'w1')
    await store.swap('a', { version: 3 }, record, 'w2', { forgetOlder: true })
    await store.swap('a', { version: 3, writeId: 'o' }, record, 'w3')
    await store.swap('a', { version: 3, writeId: 'o' }, record, 'w4', { forgetOlder: true })
    expect(swaps).toEqual([
      [0, record, 'w1', undefined],
      [3, record, 'w2', { forgetOlder: true }],
      [3, record, 'w3', { expectedWriteId: 'o' }],
      [3, record, 'w4', { forgetOlder: true, expectedWriteId: 'o' }],
    ])
    expect([store.accounts, store.watch]).toEqual([undefined, undefined])
    expect(['accounts' in store, 'watch' in store]).toEqual([false, false])
  })

  it('is asked to end a list that is left early, and no other', async () => {
    let returned = 0
    const accounts = async function* (): AsyncGenerator<string> {
      try {
        yield 'a'
        yield 'b'
      } finally {
        returned += 1
      }
    }
    const store = guardStore({ ...mapStore(), accounts }, undefined)
    const names: string[] = []
    for await (const name of store.accounts?.() ?? []) names.push(name)
    expect([names, returned]).toEqual([['a', 'b'], 1])
    for await (const name of store.accounts?.() ?? []) if (name === 'a') break
    await new Promise((resolve) => setImmediate(resolve))
    expect(returned).toBe(2)
  })
})
