/** A login is written down at one emulator and replayed to the same client: it ends in the same tokens, or the same error. */
import { describe, expect, it } from '@jest/globals'
import { type ChangeableOptions, type Fault, type Fixture, startRecorder, startReplay } from '@owner-sso/emulator'
import { useEmulator } from '@owner-sso/emulator/jest'
import { createSso, type Sso, SsoError, type TokenSet } from '../../src/index.ts'

const credentials = { identity: 'far@example.com', credential: 'correct horse' }
const emulator = useEmulator({
  tls: true,
  accounts: [{ ...credentials, region: 'regional', totpSecret: 'JBSWY3DPEHPK3PXP' }],
})

function ssoAt({ authUrl, regionalAuthUrl }: { readonly authUrl: string; readonly regionalAuthUrl: string }): Sso {
  return createSso({ authUrl, regionalAuthUrls: [regionalAuthUrl], timeout: 2000 })
}

interface Recorded {
  readonly outcome: unknown
  readonly fixture: Fixture
}

/** What a login and a refresh end in, and what was written down of them. */
async function recorded(login = loginAndRefresh): Promise<Recorded> {
  const { authUrl: upstream, regionalAuthUrl: regionalUpstream, ca = '' } = emulator
  await using recorder = await startRecorder({ upstream, regionalUpstream, upstreamCa: ca })
  const passcode = (): string => emulator.accounts[0]?.passcode() ?? ''
  const outcome = await login(ssoAt(recorder), passcode).catch((error: unknown) => error)
  await recorder.close()
  return { outcome, fixture: JSON.parse(JSON.stringify(recorder.fixture)) }
}

async function replayed(fixture: Fixture): Promise<{ outcome: unknown; mismatches: readonly string[] }> {
  await using replay = await startReplay(fixture)
  const outcome = await loginAndRefresh(ssoAt(replay), () => '000000').catch((error: unknown) => error)
  expect(replay.isComplete).toBe(true)
  return { outcome, mismatches: replay.mismatches }
}

async function loginAndRefresh(sso: Sso, passcode: () => string): Promise<TokenSet> {
  return sso.refresh(await sso.login({ ...credentials, passcode }))
}

function kindOf(error: unknown): object {
  expect(error).toBeInstanceOf(SsoError)
  const { name, code, step, status } = error as SsoError
  return { name, code, step, status }
}

describe('a login with a second factor at another region', () => {
  it('is replayed request for request, and ends in tokens again', async () => {
    const { outcome, fixture } = await recorded()
    expect(outcome).toMatchObject({ token_type: 'Bearer', expires_in: 300 })
    expect(fixture.exchanges.map(({ request }) => `${request.instance} ${request.method} ${request.path}`)).toEqual([
      'home GET /oauth2/v3/authorize',
      'regional GET /oauth2/v3/authorize',
      'regional POST /oauth2/v3/authorize',
      'regional POST /oauth2/v3/token',
      'regional GET /oauth2/v3/authorize/mfa/factors',
      'regional POST /oauth2/v3/authorize/mfa/verify',
      'regional POST /oauth2/v3/authorize',
      'regional POST /oauth2/v3/token',
      'regional POST /oauth2/v3/token',
    ])
    expect(await replayed(fixture)).toMatchObject({
      outcome: { token_type: 'Bearer', expires_in: 300 },
      mismatches: [],
    })
    expect(JSON.stringify(fixture)).not.toMatch(/correct|horse|far@|ey[A-Z]/u)
  })

  it.each<[string, ChangeableOptions]>([
    ['with its passcode page as recorded', { passcodePage: { csrf: 'none', inTemplate: true } }],
    ['with a literal in a script', { passcodePage: { csrf: 'script', inTemplate: true } }],
    ['with the e-mail first', { identityFirst: true }],
    ['with the transaction alone after the passcode', { formAfterPasscode: 'transaction-id' }],
  ])('is replayed %s', async (_name, options) => {
    emulator.change({ mfaAt: 'form-submission', strictness: 'lenient', ...options })
    const { outcome, fixture } = await recorded()
    expect(outcome).toMatchObject({ token_type: 'Bearer' })
    expect(await replayed(fixture)).toMatchObject({ outcome: { token_type: 'Bearer' }, mismatches: [] })
    expect(JSON.stringify(fixture)).not.toMatch(/correct|horse|far@|ey[A-Z]/u)
  })

  it('ends in the same rejection for a wrong passcode', async () => {
    const { outcome, fixture } = await recorded((sso) => sso.login({ ...credentials, passcode: '000000' }))
    const again = await replayed(fixture)
    expect(kindOf(outcome)).toMatchObject({ code: 'ERR_SSO_PASSCODE_REJECTED' })
    expect(kindOf(again.outcome)).toEqual(kindOf(outcome))
  })
})

const page = { headers: { 'content-type': 'text/html' } }
const changed =
  '<!doctype html><title>New!</title><form><input name="user_mail"><input type="hidden" name="tok" value="t9-Zq"></form>'
const broken: [string, Parameters<typeof emulator.once>[0], Fault][] = [
  ['a login page that was changed', 'login-page', { ...page, body: changed }],
  ['a login page that became JSON', 'login-page', { body: { next: '/v4/login', user: 'u-81x' } }],
  ['a firewall page in place of the login page', 'login-page', { firewall: true }],
  ['a firewall page that only runs a script, in place of the tokens', 'token', { firewall: 'script' }],
  ['a form that ends on a page of words', 'form-submission', { ...page, body: '<h1>Welcome, Ann Smith!</h1>' }],
  ['a locked account', 'form-submission', { ...page, body: '<p>Your account has been locked, Ann</p>' }],
  ['a captcha', 'form-submission', { ...page, body: '<form><input name="identity"><input name="captcha"></form>' }],
  ...(['g-recaptcha', 'h-captcha', 'cf-turnstile'] as const).map((name): (typeof broken)[number] => [
    `a login page with ${name}`,
    'login-page',
    { ...page, body: `<form><input name="identity"><input name="credential"><div class="${name}"></div></form>` },
  ]),
  [
    'a wrong password in words',
    'form-submission',
    {
      ...page,
      body: '<p>Incorrect e-mail or password</p><form><input name="identity"><input name="credential"></form>',
    },
  ],
  [
    'a password that was not judged',
    'form-submission',
    { ...page, status: 401, body: '<p>The session has expired</p><form><input name="credential"></form>' },
  ],
  [
    'a redirect somewhere else',
    'form-submission',
    { status: 302, headers: { location: 'https://elsewhere.example/a1b2' } },
  ],
  ['a page in place of the tokens', 'token', { ...page, body: '<p>Sorry</p>' }],
  ['tokens that are none', 'token', { body: { access_token: 7, kind: 'x9' } }],
  ['a refusal of the code', 'token', { status: 400, body: { error: 'invalid_grant', error_description: 'for Ann' } }],
  ['a list of factors that is none', 'mfa-factors', { body: { data: { factors: [{ id: 'f-1' }] } } }],
  ['a verification in other words', 'mfa-verify', { body: { data: { result: 'fine' } } }],
  ['a refresh token that is dead', 'refresh', { status: 401, body: { error: 'login_required' } }],
  ['a refresh that fails', 'refresh', { status: 503, body: 'down' }],
  ['a connection that is cut', 'token', { drop: 'before-commit' }],
  ['an answer that breaks off', 'refresh', { drop: 'mid-body' }],
  ['an answer that never comes', 'mfa-factors', { hold: new Promise(() => {}) }],
]

describe('a login that broke breaks again the same way', () => {
  it.each(broken)('on %s', async (_name, endpoint, fault) => {
    emulator.once(endpoint, fault)
    const { outcome, fixture } = await recorded()
    const again = await replayed(fixture)
    expect(kindOf(again.outcome)).toEqual(kindOf(outcome))
    expect(again.mismatches).toEqual([])
    expect(JSON.stringify(fixture)).not.toMatch(/Ann|Smith|t9-Zq|u-81x|a1b2|elsewhere/u)
  })
})
