import { inspect } from 'node:util'
import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { type Emulator, type EmulatorOptions, startEmulator } from '@owner-sso/emulator'
import { createSso, type LoginOutcome, type PasscodeAnswer, type PendingLogin, type Sso } from '../../src/index.ts'
import { goodPage, goodTokens, html, json, startSmallService } from '../small-service.ts'

const mfa = { identity: 'mfa@example.com', credential: 'correct horse' }
const one = {
  accounts: [{ ...mfa, factors: [{ name: 'Phone', totpSecret: 'JBSWY3DPEHPK3PXP' }], backupCodes: ['abcd12345'] }],
} satisfies EmulatorOptions

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

async function start(options: EmulatorOptions = {}): Promise<{ emulator: Emulator; sso: Sso }> {
  const emulator = await startEmulator(options)
  open.push(emulator)
  return { emulator, sso: createSso({ authUrl: emulator.authUrl }) }
}

function passcode(emulator: Emulator, factor?: string): string {
  return emulator.accounts.find(({ identity }) => identity === mfa.identity)?.passcode(factor) ?? ''
}

async function begin(sso: Sso): Promise<Extract<LoginOutcome, { kind: 'passcode-required' }>> {
  const outcome = await sso.beginLogin(mfa)
  if (outcome.kind !== 'passcode-required') throw new Error('no passcode was asked for')
  return outcome
}

const wrong = (right: string): string => String((Number(right) + 1) % 1_000_000).padStart(6, '0')

describe('login with a second factor', () => {
  it('takes a passcode as it is where there is one factor', async () => {
    const { emulator, sso } = await start(one)
    await expect(sso.login({ ...mfa, passcode: passcode(emulator) })).resolves.toMatchObject({ token_type: 'Bearer' })
  })

  it('asks a function, with the factors, once the service wants a passcode', async () => {
    const { emulator, sso } = await start()
    let names: string[] = []
    const tokens = await sso.login({
      ...mfa,
      passcode: async (factors) => {
        names = factors.map(({ name }) => name)
        const factorId = factors[1]?.id ?? ''
        return { passcode: passcode(emulator, factorId), factorId }
      },
    })
    expect(names.length).toBeGreaterThan(1)
    expect(tokens.token_type).toBe('Bearer')
  })

  it('never guesses among several factors: nothing is verified (J3)', async () => {
    const { emulator, sso } = await start()
    await expect(sso.login({ ...mfa, passcode: '123456' })).rejects.toMatchObject({
      code: 'ERR_SSO_PASSCODE_REQUIRED',
      reason: 'several-factors',
      requestSent: false,
    })
    expect(emulator.counters.passcodeChecks).toBe(0)
  })

  it.each([
    ['code-exchange', ['GET /oauth2/v3/authorize', 'POST /oauth2/v3/authorize', 'POST /oauth2/v3/token']],
    ['form-submission', ['GET /oauth2/v3/authorize', 'POST /oauth2/v3/authorize']],
  ] as const)(
    'without a passcode, fails as soon as the service asks for one (%s), and does not ask for the factors',
    async (mfaAt, sent) => {
      const { emulator, sso } = await start({ ...one, mfaAt })
      await expect(sso.login(mfa)).rejects.toMatchObject({ code: 'ERR_SSO_PASSCODE_REQUIRED', reason: 'no-passcode' })
      expect(emulator.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(sent)
    },
  )

  it('takes a backup code in place of a passcode', async () => {
    const { emulator, sso } = await start(one)
    await expect(sso.login({ ...mfa, passcode: () => ({ backupCode: 'abcd12345' }) })).resolves.toMatchObject({
      token_type: 'Bearer',
    })
    expect(emulator.requests.map(({ path }) => path)).toContain('/oauth2/v3/authorize/mfa/backupcodes/attempt')
  })

  it.each<[unknown, RegExp]>([
    [123_456, /passcode must be a string/u],
    [{ passcode: '123456' }, /passcode must be a string .* or a function/u],
    [() => 12_345, /passcode must be a string/u],
    [() => ({ passcode: 12_345 }), /passcode must be a string/u],
    [() => undefined, /passcode/u],
    [() => null, /passcode/u],
    [() => ({ passcode: '123456', factorId: 7 }), /factorId/u],
    [() => ({ backupCode: 7 }), /backupCode/u],
  ])('rejects %p with a TypeError: leading zeros count', async (given, message) => {
    const { emulator, sso } = await start(one)
    await expect(sso.login({ ...mfa, passcode: given as string })).rejects.toThrow(message)
    await expect(sso.login({ ...mfa, passcode: given as string })).rejects.toThrow(TypeError)
    expect(emulator.counters.passcodeChecks).toBe(0)
  })

  it.each([
    '123 456',
    '123-456',
    '\u200b123\u00a0456\n',
    '12\u201334\u201256',
    '１２３ー４５６',
    '١٢٣٤٥٦',
    '۱۲۳ ۴۵۶',
    '१२३४५६',
    '\u{1d7d9}\u{1d7da}\u{1d7db}456',
    '1\ufe0f2\ufe0f3\ufe0f456',
  ])('understands the passcode %j (J7)', async (typed) => {
    const page = html('<form><input type="hidden" name="_csrf" value="c-2"><input name="passcode"></form>')
    const service = await startSmallService({ formSubmission: page })
    open.push(service)
    service.answer({ verify: json({ data: { valid: false } }) })
    await createSso({ authUrl: service.authUrl })
      .login({ ...mfa, passcode: typed })
      .catch(() => undefined)
    expect(JSON.parse(service.requests.at(-1)?.body ?? '')).toMatchObject({ passcode: '123456' })
  })

  it('understands a backup code in groups', async () => {
    const { sso } = await start(one)
    const login = sso.login({ ...mfa, passcode: () => ({ backupCode: 'abc-d12 345' }) })
    await expect(login).resolves.toMatchObject({ token_type: 'Bearer' })
  })

  it.each<[unknown]>([[''], [' - '], [() => ''], [() => ({ passcode: ' ' })], [() => ({ backupCode: '' })]])(
    'says of %p that it is empty, and sends nothing (J7)',
    async (given) => {
      const { emulator, sso } = await start(one)
      await expect(sso.login({ ...mfa, passcode: given as string })).rejects.toMatchObject({
        code: 'ERR_SSO_PASSCODE_REQUIRED',
        reason: 'empty',
        message: expect.stringContaining('The passcode is empty.'),
      })
      expect(emulator.counters.passcodeChecks).toBe(0)
    },
  )

  it('sends a passcode with its leading zeros', async () => {
    const page = html('<form><input type="hidden" name="_csrf" value="c-2"><input name="passcode"></form>')
    const service = await startSmallService({ formSubmission: page })
    open.push(service)
    service.answer({ verify: json({ data: { valid: false } }) })
    await expect(createSso({ authUrl: service.authUrl }).login({ ...mfa, passcode: '000123' })).rejects.toMatchObject({
      code: 'ERR_SSO_PASSCODE_REJECTED',
    })
    expect(JSON.parse(service.requests.at(-1)?.body ?? '')).toEqual({
      transaction_id: 't-1',
      factor_id: 'f-1',
      passcode: '000123',
      _csrf: 'c-2',
    })
  })

  it('ends the wait for a person when the caller’s signal does', async () => {
    const { sso } = await start(one)
    const giveUp = new AbortController()
    const login = sso.login({ ...mfa, passcode: () => new Promise(() => giveUp.abort()) }, { signal: giveUp.signal })
    await expect(login).rejects.toMatchObject({ code: 'ERR_SSO_TIMEOUT' })
  })

  it('passes on what the function throws', async () => {
    const { sso } = await start(one)
    const gone = new Error('the person went away')
    await expect(sso.login({ ...mfa, passcode: () => Promise.reject(gone) })).rejects.toBe(gone)
  })
})

describe('the verdict on a passcode', () => {
  const verdicts: [string, number, unknown, object][] = [
    [
      'valid: false, although approved',
      200,
      { data: { approved: true, valid: false } },
      { code: 'ERR_SSO_PASSCODE_REJECTED', reason: 'invalid' },
    ],
    ['valid as a text', 200, { data: { valid: 'true' } }, { code: 'ERR_SSO_UNEXPECTED_RESPONSE' }],
    ['valid with an error status', 500, { data: { valid: true } }, { code: 'ERR_SSO_UNEXPECTED_RESPONSE' }],
    ['no verdict', 200, {}, { code: 'ERR_SSO_UNEXPECTED_RESPONSE' }],
    ['a list', 200, [], { code: 'ERR_SSO_UNEXPECTED_RESPONSE' }],
    [
      'ERR_PASS_CODE_REPLAY',
      400,
      { error: { code: 'ERR_PASS_CODE_REPLAY' } },
      { code: 'ERR_SSO_PASSCODE_REJECTED', reason: 'replayed' },
    ],
    [
      'ERR_INVALID_FACTOR',
      400,
      { error: { code: 'ERR_INVALID_FACTOR' } },
      { code: 'ERR_SSO_PASSCODE_REJECTED', reason: 'unknown-factor' },
    ],
    [
      'ERR_OBJECT_VALIDATION',
      400,
      { error: { code: 'ERR_OBJECT_VALIDATION' } },
      { code: 'ERR_SSO_PASSCODE_REJECTED', reason: 'invalid' },
    ],
    [
      'ERR_MAX_VERIFICATION_ATTEMPTS',
      400,
      { error: { code: 'ERR_MAX_VERIFICATION_ATTEMPTS' } },
      { code: 'ERR_SSO_PASSCODE_REJECTED', reason: 'too-many-attempts' },
    ],
    ['ERR_EXPIRED', 400, { error: { code: 'ERR_EXPIRED' } }, { code: 'ERR_SSO_PENDING_LOGIN_EXPIRED' }],
    ['UNAUTHORIZED', 401, { error: { code: 'UNAUTHORIZED' } }, { code: 'ERR_SSO_PENDING_LOGIN_EXPIRED' }],
    ['an unknown code', 400, { error: { code: 'ERR_NEW' } }, { code: 'ERR_SSO_UNEXPECTED_RESPONSE' }],
    ['an error from a prototype', 400, { error: { code: 'constructor' } }, { code: 'ERR_SSO_UNEXPECTED_RESPONSE' }],
    [
      'a locked backup code',
      200,
      { data: { valid: false, locked: true } },
      { code: 'ERR_SSO_PASSCODE_REJECTED', reason: 'too-many-attempts' },
    ],
    [
      'an attempt left',
      200,
      { data: { valid: false, locked: 'true', attemptsRemaining: 1 } },
      { code: 'ERR_SSO_PASSCODE_REJECTED', reason: 'invalid' },
    ],
    ['valid with another status of success', 201, { data: { valid: true } }, { code: 'ERR_SSO_UNEXPECTED_RESPONSE' }],
    [
      'no attempts left',
      200,
      { data: { valid: false, attemptsRemaining: 0 } },
      { code: 'ERR_SSO_PASSCODE_REJECTED', reason: 'too-many-attempts' },
    ],
  ]
  it.each(verdicts)('%s', async (_, status, body, outcome) => {
    const page = html('<form><input type="hidden" name="_csrf" value="c-2"><input name="passcode"></form>')
    const service = await startSmallService({
      formSubmission: page,
      verify: json(body, status),
      backupCode: json(body, status),
    })
    open.push(service)
    const sso = createSso({ authUrl: service.authUrl })
    const answers: (string | { backupCode: string })[] = ['123456', { backupCode: 'abcd12345' }]
    for (const answer of answers) {
      await expect(sso.login({ ...mfa, passcode: () => answer })).rejects.toMatchObject({
        ...outcome,
        step: 'mfa-verify',
        status,
      })
    }
    expect(service.requests).toHaveLength(8)
  })
})

describe('the list of factors', () => {
  const page = html('<form><input type="hidden" name="_csrf" value="c-2"><input name="passcode"></form>')
  it.each<[string, number, unknown, string]>([
    ['none', 200, { data: [] }, 'ERR_SSO_UNEXPECTED_RESPONSE'],
    [
      'none with an id',
      200,
      { data: [{ name: 'a' }, null, 7, 'x', { id: 7 }, { id: '' }] },
      'ERR_SSO_UNEXPECTED_RESPONSE',
    ],
    ['no list', 200, { data: { id: 'f-1' } }, 'ERR_SSO_UNEXPECTED_RESPONSE'],
    ['another status', 500, { data: [{ id: 'f-1' }] }, 'ERR_SSO_UNEXPECTED_RESPONSE'],
    ['a forgotten transaction', 401, { error: { code: 'UNAUTHORIZED' } }, 'ERR_SSO_PENDING_LOGIN_EXPIRED'],
    ['a transaction that took too long', 400, { error: { code: 'ERR_EXPIRED' } }, 'ERR_SSO_PENDING_LOGIN_EXPIRED'],
  ])('with %s ends the login', async (_, status, body, code) => {
    const service = await startSmallService({ formSubmission: page, factors: json(body, status) })
    open.push(service)
    await expect(createSso({ authUrl: service.authUrl }).login({ ...mfa, passcode: '1' })).rejects.toMatchObject({
      code,
      step: 'mfa-factors',
    })
  })

  it('is shown with what is known of each', async () => {
    const data = [
      { id: 'f-1', name: 'Phone', factorType: 'token:software', factorProvider: 'P', securityLevel: 1 },
      { id: 'f-2' },
    ]
    const service = await startSmallService({ formSubmission: page, factors: json({ data }) })
    open.push(service)
    const outcome = await createSso({ authUrl: service.authUrl }).beginLogin(mfa)
    expect(outcome.kind === 'passcode-required' && outcome.factors).toEqual([
      { id: 'f-1', name: 'Phone', factorType: 'token:software', factorProvider: 'P' },
      { id: 'f-2', name: 'Unnamed device', factorType: 'unknown' },
    ])
  })

  it('is read bare, or inside one or two objects, with 50 entries at the most and 256 characters of each text', async () => {
    const service = await startSmallService({ formSubmission: page })
    open.push(service)
    const sso = createSso({ authUrl: service.authUrl })
    const factorsIn = async (body: unknown, status = 200): Promise<unknown> => {
      service.answer({ factors: json(body, status) })
      const outcome = await sso.beginLogin(mfa).catch((error: unknown) => error)
      return Reflect.get(Object(outcome), 'factors') ?? outcome
    }
    const unnamed = (id: string) => ({ id, name: 'Unnamed device', factorType: 'unknown' })
    const list = [{ id: 'f-1' }]
    for (const body of [
      list,
      { data: list },
      { factors: list },
      { data: { factors: list } },
      { factors: { data: list } },
    ])
      expect(await factorsIn(body)).toEqual([unnamed('f-1')])
    const entry = { factor_id: 'f-2', id: '', name: 'n'.repeat(257), factorType: 7, factorProvider: 'p' }
    expect(await factorsIn([entry, null, 'x', {}])).toEqual([
      { ...unnamed('f-2'), name: 'n'.repeat(256), factorProvider: 'p' },
    ])
    const many = Array.from({ length: 51 }, (_, index) => ({ id: `f-${index}` }))
    expect(await factorsIn(many)).toEqual(many.slice(0, 50).map(({ id }) => unnamed(id)))
    const problems: [unknown, number, string][] = [
      [{ data: { data: { data: list } } }, 200, 'neither a list nor “data” or “factors” with one (members: data)'],
      [7, 200, '(members: none)'],
      [{}, 200, '(members: none)'],
      [[], 200, 'status 200 and an empty list of factors'],
      [[{ name: 'x', type: 'y' }], 200, 'without “id” or “factor_id” (members of the first: name, type)'],
      [list, 201, 'status 201 and '],
    ]
    for (const [body, status, message] of problems)
      expect(await factorsIn(body, status)).toMatchObject({
        code: 'ERR_SSO_UNEXPECTED_RESPONSE',
        step: 'mfa-factors',
        status,
        message: expect.stringContaining(message),
      })
    for (const [body, status] of [
      [{}, 401],
      [{ error: { code: 'ERR_EXPIRED' } }, 400],
    ] as const)
      expect(await factorsIn(body, status)).toMatchObject({
        code: 'ERR_SSO_PENDING_LOGIN_EXPIRED',
        step: 'mfa-factors',
        status,
      })
  })

  it('is asked for with the transaction of the login page', async () => {
    const service = await startSmallService({ formSubmission: page })
    open.push(service)
    await createSso({ authUrl: service.authUrl }).beginLogin(mfa)
    expect(service.requests.at(-1)?.url).toBe('/oauth2/v3/authorize/mfa/factors?transaction_id=t-1')
  })

  it('is not asked for where no page names a transaction, or none has a _csrf', async () => {
    const login = html('<form><input name="identity"><input name="credential"></form>')
    const service = await startSmallService({ formSubmission: page, loginPage: login })
    open.push(service)
    const sso = createSso({ authUrl: service.authUrl })
    const missing = (name: string): object => ({
      code: 'ERR_SSO_UNEXPECTED_RESPONSE',
      step: 'mfa-factors',
      requestSent: false,
      message: expect.stringContaining(`neither page holds the ${name}`),
    })
    await expect(sso.beginLogin(mfa)).rejects.toMatchObject(missing('transaction_id'))
    service.answer({
      formSubmission: html('<input name="passcode"><input type="hidden" name="transaction_id" value="t-1">'),
    })
    await expect(sso.beginLogin(mfa)).rejects.toMatchObject(missing('_csrf'))
    expect(service.requests).toHaveLength(4)
  })
})

describe('a pending login', () => {
  const asJson = (pending: PendingLogin): PendingLogin => JSON.parse(JSON.stringify(pending)) as PendingLogin

  it.each(['code-exchange', 'form-submission'] as const)(
    'completes after a trip through JSON, by another instance of the application (%s)',
    async (mfaAt) => {
      const { emulator, sso } = await start({ ...one, mfaAt })
      const { pending, factors } = await begin(sso)
      expect(factors).toHaveLength(1)
      const other = createSso({ authUrl: emulator.authUrl })
      await expect(other.completeLogin(asJson(pending), { passcode: passcode(emulator) })).resolves.toMatchObject({
        token_type: 'Bearer',
      })
      expect(emulator.requests).toHaveLength(mfaAt === 'form-submission' ? 6 : 7)
    },
  )

  it('stays usable after a rejected passcode: one more verify, no second password', async () => {
    const { emulator, sso } = await start(one)
    const { pending } = await begin(sso)
    const right = passcode(emulator)
    const before = emulator.counters.credentialChecks
    await expect(sso.completeLogin(pending, { passcode: wrong(right) })).rejects.toMatchObject({
      code: 'ERR_SSO_PASSCODE_REJECTED',
      reason: 'invalid',
    })
    expect(emulator.counters.credentialChecks).toBe(before)
    await expect(sso.completeLogin(pending, { passcode: right })).resolves.toMatchObject({ token_type: 'Bearer' })
  })

  it('rejects an unknown factor, and needs a named one where there are several', async () => {
    const { emulator, sso } = await start()
    const { pending } = await begin(sso)
    const before = emulator.requests.length
    await expect(sso.completeLogin(pending, { passcode: '123456', factorId: 'another' })).rejects.toMatchObject({
      code: 'ERR_SSO_PASSCODE_REJECTED',
      reason: 'unknown-factor',
      requestSent: false,
    })
    await expect(sso.completeLogin(pending, { passcode: '123456' })).rejects.toMatchObject({
      code: 'ERR_SSO_PASSCODE_REQUIRED',
      reason: 'several-factors',
    })
    await expect(sso.completeLogin(pending, { passcode: 123_456 } as unknown as PasscodeAnswer)).rejects.toThrow(
      TypeError,
    )
    expect(emulator.requests).toHaveLength(before)
  })

  it('is used once', async () => {
    const { emulator, sso } = await start(one)
    const { pending } = await begin(sso)
    await sso.completeLogin(pending, { passcode: passcode(emulator) })
    const before = emulator.requests.length
    await expect(sso.completeLogin(pending, { passcode: '123456' })).rejects.toMatchObject({
      code: 'ERR_SSO_PENDING_LOGIN_EXPIRED',
      requestSent: false,
    })
    expect(emulator.requests).toHaveLength(before)
  })

  it('expires after five minutes, and says when; a clock that was put back less than that does no harm', async () => {
    const { emulator, sso } = await start(one)
    const clock = jest.spyOn(Date, 'now')
    const began = 1_800_000_000
    const outcomeAt = async (seconds: number, pending: PendingLogin): Promise<unknown> => {
      clock.mockReturnValue((began + seconds) * 1000)
      const before = emulator.requests.length
      const wrongPasscode = { passcode: wrong(passcode(emulator)) }
      const error: unknown = await sso.completeLogin(pending, wrongPasscode).catch((thrown: unknown) => thrown)
      return [Reflect.get(Object(error), 'code'), emulator.requests.length > before]
    }
    clock.mockReturnValue(began * 1000)
    const { pending } = await begin(sso)
    expect(pending.expires_at).toBe(began + 300)
    for (const early of [-301, 301]) {
      expect(await outcomeAt(early, pending)).toEqual(['ERR_SSO_PENDING_LOGIN_EXPIRED', false])
    }
    for (const inTime of [-300, 300]) {
      expect(await outcomeAt(inTime, pending)).toEqual(['ERR_SSO_PASSCODE_REJECTED', true])
    }
    clock.mockRestore()
  })

  it('is rejected before a request where anything in it was changed', async () => {
    const { emulator, sso } = await start(one)
    const elsewhere = await startSmallService()
    open.push(elsewhere)
    const { pending } = await begin(sso)
    const before = emulator.requests.length
    const change = (edit: (copy: Record<string, object>) => void): PendingLogin => {
      const copy: PendingLogin & Record<string, never> = JSON.parse(JSON.stringify(pending))
      edit(copy)
      return copy
    }
    const tampered = Object.keys(pending)
      .filter((name) => name !== 'kind')
      .flatMap((name) =>
        [undefined, null, 7, 'x', {}, [7]].map((value) =>
          change((copy) => void Object.assign(copy, { [name]: value })),
        ),
      )
    for (const each of tampered) {
      await expect(sso.completeLogin(each, { passcode: '123456' })).rejects.toMatchObject({
        code: 'ERR_SSO_PENDING_LOGIN_EXPIRED',
        requestSent: false,
      })
    }
    const longer = change((copy) => void Object.assign(copy, { expires_at: 9_999_999_999 }))
    await expect(sso.completeLogin(longer, { passcode: '123456' })).rejects.toMatchObject({
      code: 'ERR_SSO_PENDING_LOGIN_EXPIRED',
    })
    const abroad = change((copy) => void Object.assign(copy['page'] ?? {}, { authUrl: elsewhere.authUrl }))
    await expect(sso.completeLogin(abroad, { passcode: '123456' })).rejects.toMatchObject({
      code: 'ERR_SSO_REGION_NOT_ALLOWED',
    })
    for (const none of [undefined, null, 7, 'x', {}, [], { kind: 'other' }]) {
      await expect(sso.completeLogin(none as unknown as PendingLogin, { passcode: '123456' })).rejects.toThrow(
        TypeError,
      )
    }
    expect(emulator.requests).toHaveLength(before)
    expect(elsewhere.requests).toEqual([])
  })

  it('prints none of its secrets, and serialises all of them', async () => {
    const { sso } = await start(one)
    const { pending } = await begin(sso)
    const printed = [
      inspect(pending, { depth: Infinity, showHidden: true }),
      inspect({ pending }, { depth: Infinity, showProxy: true }),
      inspect({ ...pending }, { depth: Infinity }),
    ]
    for (const text of printed) expect(text).not.toMatch(/correct horse|t_session|[A-Za-z0-9]{40}/u)
    expect(JSON.stringify(pending)).toContain('correct horse')
  })
})

describe('after an accepted passcode', () => {
  it('the login page again means that the login was forgotten, not that the password is wrong', async () => {
    const page = html('<form><input type="hidden" name="_csrf" value="c-2"><input name="passcode"></form>')
    const service = await startSmallService({ formSubmission: page })
    open.push(service)
    const sso = createSso({ authUrl: service.authUrl })
    const forgetful = async (): Promise<unknown> =>
      sso.login({
        ...mfa,
        passcode: () => {
          service.answer({ formSubmission: html(goodPage) })
          return '123456'
        },
      })
    await expect(forgetful()).rejects.toMatchObject({ code: 'ERR_SSO_PENDING_LOGIN_EXPIRED', step: 'form-submission' })
    service.answer({ formSubmission: page })
    await expect(forgetful()).rejects.toMatchObject({ code: 'ERR_SSO_PENDING_LOGIN_EXPIRED' })
  })

  it('a second passcode page ends the login', async () => {
    const page = html('<form><input type="hidden" name="_csrf" value="c-2"><input name="passcode"></form>')
    const service = await startSmallService({ token: page })
    open.push(service)
    const sso = createSso({ authUrl: service.authUrl })
    await expect(sso.login({ ...mfa, passcode: '123456' })).rejects.toMatchObject({
      code: 'ERR_SSO_UNEXPECTED_RESPONSE',
      step: 'code-exchange',
    })
    expect(service.requests).toHaveLength(7)
    service.answer({ formSubmission: page, token: json(goodTokens) })
    await expect(sso.login({ ...mfa, passcode: '123456' })).rejects.toMatchObject({
      code: 'ERR_SSO_UNEXPECTED_RESPONSE',
      step: 'form-submission',
    })
  })
})
