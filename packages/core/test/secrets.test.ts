import { channel } from 'node:diagnostics_channel'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  createSso,
  type LoginOutcome,
  type Sso,
  type StepTrace,
  type TokenSet,
  UnreachableError,
} from '../src/index.ts'
import { tokenSet } from '@owner-sso/token-manager/support'
import { createAccountMemory, know } from '../../token-manager/src/kernel/account-memory.ts'
import { canaries, renderings } from './canaries.ts'
import {
  type Answers,
  type CannedAnswer,
  html,
  json,
  redirectToCallback,
  type SmallService,
  startSmallService,
} from './small-service.ts'

const secrets = Object.values(canaries)
const tokens = {
  access_token: canaries.accessToken,
  refresh_token: canaries.refreshToken,
  id_token: canaries.idToken,
  token_type: 'Bearer',
}
const loginPage: CannedAnswer = {
  headers: { 'content-type': 'text/html', 'set-cookie': [`sid=${canaries.cookie}; Path=/`] },
  body: `<form><input type="hidden" name="_csrf" value="${canaries.csrf}"><input type="hidden" name="transaction_id" value="t-1"><input name="identity"><input name="credential"></form>`,
}
const passcodePage = html(
  `<form><input type="hidden" name="_csrf" value="${canaries.csrf}"><input name="passcode"></form>`,
)

let service: SmallService
beforeAll(async () => {
  service = await startSmallService()
})
afterAll(() => service.close())

/** Everything that a broken or hostile service may answer; each text of a caller's secrets is in it. */
const everything = secrets.join(' ')
const spoiled: [string, NonNullable<Answers['loginPage']>][] = [
  ['a page that shows all', html(`<title>${everything}</title><p>${everything}</p>`)],
  [
    'a login page that shows all',
    html(
      `<p>Your account has been locked ${everything}</p><form><input name="credential" value="${canaries.credential}"></form>`,
      401,
    ),
  ],
  ['a 401', html(`<p>${everything}</p>`, 401)],
  ['a challenge', html(`<title>Access Denied</title>${everything} Reference #18.2d`, 403)],
  ['a 429', { status: 429, headers: { 'retry-after': everything }, body: everything }],
  ['an OAuth error', json({ error: 'invalid_grant', error_description: everything }, 400)],
  ['an error that is all of them', json({ error: everything }, 400)],
  ['an MFA error', json({ error: { code: everything, message: everything } }, 400)],
  ['a 500', { status: 500, body: everything }],
  [
    'a redirect with all of them',
    { status: 302, headers: { location: `https://evil.example/?a=${encodeURIComponent(everything)}` } },
  ],
  [
    'a 303 with all of them',
    { status: 303, headers: { location: `https://evil.example/?a=${encodeURIComponent(everything)}` } },
  ],
  ['broken JSON', { headers: { 'content-type': 'application/json' }, body: `{"access_token":"${everything}` }],
  ['JSON of another shape', json([tokens, { [everything]: everything }])],
  ['tokens of the wrong type', json({ ...tokens, token_type: everything })],
  ['too much', { body: everything.repeat(5000) }],
  ['a broken gzip', { headers: { 'content-encoding': 'gzip' }, body: everything }],
  ['a cut connection', (_request, response) => void response.destroy()],
  ['a callback with a wrong state', redirectToCallback({ state: everything, code: canaries.code })],
  [
    'a callback with a wrong issuer',
    redirectToCallback({ issuer: `https://${canaries.code}.example`, code: canaries.code }),
  ],
  ['a callback with an error', redirectToCallback({ error: everything, code: canaries.code })],
]

const identity = 'a@example.com'
const { credential, passcode, backupCode } = canaries
const calls: [string, keyof Answers, Answers, (sso: Sso) => Promise<unknown>][] = [
  ['login page', 'loginPage', {}, (sso) => sso.login({ identity, credential })],
  ['form submission', 'formSubmission', {}, (sso) => sso.login({ identity, credential })],
  ['code exchange', 'token', {}, (sso) => sso.login({ identity, credential })],
  ['factors', 'factors', { formSubmission: passcodePage }, (sso) => sso.login({ identity, credential, passcode })],
  ['verify', 'verify', { formSubmission: passcodePage }, (sso) => sso.login({ identity, credential, passcode })],
  [
    'backup code',
    'backupCode',
    { formSubmission: passcodePage },
    (sso) => sso.login({ identity, credential, passcode: () => ({ backupCode }) }),
  ],
  ['refresh', 'token', {}, (sso) => sso.refresh({ ...tokens, expires_at: 0, auth_url: service.authUrl })],
]
const good: Answers = {
  loginPage,
  formSubmission: redirectToCallback({ code: canaries.code }),
  token: json(tokens),
  factors: json({ data: [{ id: 'f-1' }] }),
  verify: json({ data: { valid: true } }),
  backupCode: json({ data: { valid: true } }),
}

function leaks(value: unknown): string[] {
  const texts = renderings(value)
  return secrets.filter((secret) => texts.some((text) => text.includes(secret)))
}

describe('no error shows a secret, however it is printed (K1, S34, S35, S37)', () => {
  it.each(calls)('none of those of %s', async (_, endpoint, before, call) => {
    let scans = 0
    for (const [name, answer] of spoiled) {
      service.answer({ ...good, ...before, [endpoint]: answer })
      const sso = createSso({ authUrl: service.authUrl, timeout: 2000 })
      const error: unknown = await call(sso).catch((thrown: unknown) => thrown)
      if (!(error instanceof Error)) continue
      scans += renderings(error).length * secrets.length
      expect({ name, leaks: leaks(error) }).toEqual({ name, leaks: [] })
      // S35: nothing of the HTTP library, no socket, request or response.
      expect(inspect(error, { depth: Infinity, showHidden: true })).not.toMatch(
        /Axios|Socket|ClientRequest|IncomingMessage|Agent/u,
      )
      expect(
        Object.keys(error).every((key) =>
          [
            'name',
            'code',
            'step',
            'status',
            'requestSent',
            'reason',
            'error',
            'origin',
            'nextAttemptAt',
            'cause',
          ].includes(key),
        ),
      ).toBe(true)
    }
    expect(scans).toBeGreaterThan(1000)
  })

  it('none of those of a caller’s mistake', async () => {
    const sso = createSso({ authUrl: service.authUrl })
    const mistakes = [
      () => sso.login({ identity: '', credential }),
      () => sso.login({ identity, credential, passcode: Number(passcode) as never }),
      () => sso.completeLogin({ credential } as never, { passcode }),
      () => sso.redeemCallback(canaries.code, { codeVerifier: canaries.code } as never),
    ]
    for (const mistake of mistakes) expect(leaks(await mistake().catch((error: unknown) => error))).toEqual([])
  })

  it('none that holds a cause, whatever is in that', () => {
    const cause = Object.assign(new Error(everything), {
      code: 'ECONNRESET',
      syscall: 'read',
      config: { data: everything },
    })
    const error = new UnreachableError('The connection broke.', { cause })
    expect(leaks(error)).toEqual([])
    expect(error.cause).toMatchObject({ code: 'ECONNRESET', message: 'read ECONNRESET' })
    expect(new UnreachableError('x', { cause: { code: everything } }).cause).toMatchObject({ message: 'unknown cause' })
  })

  it('the scan of this test finds a secret where there is one', () => {
    expect(leaks(Object.assign(new Error('x'), { config: { data: `credential=${credential}` } }))).toEqual([credential])
  })
})

describe('what has to be stored serialises, and shows nothing when printed', () => {
  const printings = (value: unknown): string[] => [
    inspect(value),
    inspect(value, { depth: Infinity, showHidden: true }),
    inspect([{ a: value }], { depth: Infinity }),
    String(value),
  ]

  it('a token set, from a login, a refresh, or read back from JSON', async () => {
    service.answer(good)
    const sso = createSso({ authUrl: service.authUrl })
    const fresh = await sso.login({ identity, credential })
    const restored = tokenSet(JSON.parse(JSON.stringify(fresh)) as TokenSet)
    for (const each of [fresh, await sso.refresh(fresh), restored]) {
      expect(each).toMatchObject(tokens)
      expect(JSON.parse(JSON.stringify(each))).toMatchObject(tokens)
      expect(JSON.stringify(tokenSet(each))).toBe(JSON.stringify(each))
      // Spread copies have gone through many hands before somebody logs them.
      for (const copy of [{ ...each }, { ...each, account: identity }, Object.assign({}, each)]) {
        expect(printings(copy).filter((text) => secrets.some((secret) => text.includes(secret)))).toEqual([])
        expect(Object.keys(copy)).toEqual(Object.keys(JSON.parse(JSON.stringify(copy))))
      }
      expect(printings(each).filter((text) => secrets.some((secret) => text.includes(secret)))).toEqual([])
      expect(inspect(each)).toContain(service.authUrl)
    }
  })

  it('a pending login', async () => {
    service.answer({ ...good, formSubmission: passcodePage })
    const outcome: LoginOutcome = await createSso({ authUrl: service.authUrl }).beginLogin({ identity, credential })
    if (outcome.kind !== 'passcode-required') throw new Error('no passcode was asked for')
    expect(printings(outcome).filter((text) => secrets.some((secret) => text.includes(secret)))).toEqual([])
    expect(JSON.stringify(outcome.pending)).toContain(canaries.cookie)
  })
})

describe('the tracing channels', () => {
  it('tells which call was made and how it ended, and nothing that came of it', async () => {
    const events: [string, unknown][] = []
    const names = ['start', 'asyncEnd', 'error'] as const
    const listen = names.map((name) => {
      const listener = (message: unknown): void => void events.push([name, { ...(message as object) }])
      channel(`tracing:owner-sso:login:${name}`).subscribe(listener)
      return () => channel(`tracing:owner-sso:login:${name}`).unsubscribe(listener)
    })
    service.answer(good)
    const sso = createSso({ authUrl: service.authUrl })
    await sso.login({ identity, credential })
    service.answer({ token: { status: 500 } })
    await expect(sso.login({ identity, credential })).rejects.toMatchObject({ code: 'ERR_SSO_UNEXPECTED_RESPONSE' })
    for (const unsubscribe of listen) unsubscribe()
    expect(events.map(([name]) => name)).toEqual(['start', 'asyncEnd', 'start', 'error', 'asyncEnd'])
    expect(events[0]?.[1]).toEqual({ operation: 'login', auth_url: service.authUrl })
    expect(events[3]?.[1]).toMatchObject({ error: { code: 'ERR_SSO_UNEXPECTED_RESPONSE' } })
    expect(events.flatMap(([, message]) => leaks(message))).toEqual([])
  })

  it('tells each step of a login, where it went and the status of its answer', async () => {
    const steps = await stepsOf({ ...good, formSubmission: passcodePage }, async (sso) => {
      const answers = { ...good, formSubmission: redirectToCallback({ code: canaries.code }) }
      await sso.login({
        identity,
        credential,
        passcode: () => {
          service.answer(answers)
          return { passcode }
        },
      })
    })
    const order = ['login-page', 'form-submission', 'mfa-factors', 'mfa-verify', 'form-submission', 'code-exchange']
    expect(steps.map(([event, { step }]) => `${event} ${step}`)).toEqual(
      order.flatMap((step) => [`start ${step}`, `asyncEnd ${step}`]),
    )
    for (const [event, message] of steps) {
      const { step, ...rest } = message
      const redirects = step === 'form-submission' && message !== steps[3]?.[1]
      const end = event === 'start' ? {} : { result: redirects ? 302 : 200 }
      expect(rest).toEqual({ auth_url: service.authUrl, ...end })
    }
    expect(steps.flatMap(([, message]) => leaks(message))).toEqual([])
  })

  it('ends a step that failed with its error, and tells of no refresh', async () => {
    const failed = await stepsOf({ ...good, formSubmission: { status: 500 } }, (sso) =>
      sso.login({ identity, credential }),
    )
    expect(failed.map(([event, { step }]) => `${event} ${step}`)).toEqual([
      'start login-page',
      'asyncEnd login-page',
      'start form-submission',
      'asyncEnd form-submission',
    ])
    const page = html(`<title>Access Denied</title>${everything} Reference #18.2d`, 403)
    const blocked = await stepsOf({ ...good, formSubmission: page }, (sso) => sso.login({ identity, credential }))
    expect(blocked.map(([event]) => event)).toEqual(['start', 'asyncEnd', 'start', 'error', 'asyncEnd'])
    expect(blocked.at(-1)?.[1]).toMatchObject({
      step: 'form-submission',
      error: { code: 'ERR_SSO_FIREWALL_CHALLENGE' },
    })
    expect(blocked.flatMap(([, message]) => leaks(message))).toEqual([])
    const old = { ...tokens, expires_at: 0, auth_url: service.authUrl }
    expect(await stepsOf(good, (sso) => sso.refresh(old))).toEqual([])
  })
})

type StepMessage = StepTrace & { readonly error?: unknown }

/** What the channel `owner-sso:step` says during one call, whether it succeeds or not. */
async function stepsOf(
  answers: Answers,
  call: (sso: Sso) => Promise<unknown>,
): Promise<[event: string, message: StepMessage][]> {
  const events: [string, StepMessage][] = []
  const listen = (['start', 'asyncEnd', 'error'] as const).map((name) => {
    const listener = (message: unknown): void => void events.push([name, { ...(message as StepMessage) }])
    channel(`tracing:owner-sso:step:${name}`).subscribe(listener)
    return () => channel(`tracing:owner-sso:step:${name}`).unsubscribe(listener)
  })
  service.answer(answers)
  await call(createSso({ authUrl: service.authUrl })).catch(() => undefined)
  for (const unsubscribe of listen) unsubscribe()
  return events
}

it('keeps no access token in memory that is not served any more, as after a sign-out', () => {
  const memory = createAccountMemory(1)
  const account = memory.of('ann')
  memory.serve(account, { accessToken: canaries.accessToken, from: 0, until: 1 })
  expect(memory.served('ann')).toMatchObject({ until: 1 })
  know(account, { ...account.knowledge, seen: { wall: 1, monotonic: 1 } })
  expect(memory.served('ann')).toEqual({ accessToken: '', from: 0, until: 0 })
})
