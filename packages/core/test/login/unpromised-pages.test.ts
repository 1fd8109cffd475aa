/** Pages that nobody promised, as they were recorded or reported: each login ends in tokens, or in an error that says what came. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { createSso, type Sso } from '../../src/index.ts'
import {
  type Answers,
  type CannedAnswer,
  goodPage,
  goodTokens,
  html,
  json,
  redirectToCallback,
  type SmallService,
  startSmallService,
} from '../small-service.ts'

const identity = 'owner@example.com'
const credential = 'correct horse'
const passcode = '012345'

let service: SmallService
let sso: Sso
beforeAll(async () => {
  service = await startSmallService()
})
afterAll(() => service.close())
beforeEach(() => {
  service.requests.length = 0
  service.answer({ ...usual, formSubmission: redirectToCallback(), token: json(goodTokens) })
  sso = createSso({ authUrl: service.authUrl })
})

const factors = [{ id: 'f-1', name: 'Device #1', factorType: 'token:software' }]
const usual: Answers = { loginPage: html(goodPage), factors: json({ data: factors }) }
const login = (): Promise<unknown> => sso.login({ identity, credential, passcode })
const sent = (): string[] => service.requests.map(({ method, url }) => `${method} ${url.split('?')[0]}`)
const forms = (): Record<string, string>[] =>
  service.requests
    .filter(({ headers }) => headers['content-type'] === 'application/x-www-form-urlencoded')
    .map(({ body }) => Object.fromEntries(new URLSearchParams(body)))

const page = 'GET /oauth2/v3/authorize'
const form = 'POST /oauth2/v3/authorize'
const token = 'POST /oauth2/v3/token'
const listed = 'GET /oauth2/v3/authorize/mfa/factors'
const verified = 'POST /oauth2/v3/authorize/mfa/verify'

/** As recorded in 2021: no `_csrf`, no input outside of templates. */
const recorded = (script: string): CannedAnswer =>
  html(`<!doctype html><html lang="en"><head><title>Owner</title></head><body><div id="root"></div>
    <script>${script}</script>
    <script type="text/html" id="passcode-page"><form id="form"><label>Passcode</label>
      <input type="text" name="passcode" maxlength="6" autocomplete="off"><button>Submit</button></form></script>
    <script type="text/html" id="backup-page"><input name="backup_passcode"></script></body></html>`)

/** The answers to the form in order; the last one stays. */
function inTurn(...answers: NonNullable<Answers['formSubmission']>[]): NonNullable<Answers['formSubmission']> {
  let turn = 0
  return (request, response, authUrl) => {
    const answer = answers[Math.min(turn, answers.length - 1)] ?? {}
    turn += 1
    return typeof answer === 'function' ? answer(request, response, authUrl) : answer
  }
}

const verification = (): unknown =>
  JSON.parse(service.requests.find(({ url }) => url.endsWith('/mfa/verify'))?.body ?? '{}')

describe('the passcode page as recorded', () => {
  it.each([
    ['the login page’s, where it has none', 'var transaction_id = "t-1";', 'csrf-1'],
    ['the literal of its script, before the login page’s', 'var _csrf = "c-2", transaction_id = "t-1";', 'c-2'],
  ])('is answered with the _csrf of %s', async (_, script, csrf) => {
    service.answer({ formSubmission: inTurn(recorded(script), redirectToCallback()) })
    await expect(login()).resolves.toMatchObject({ token_type: 'Bearer' })
    expect(sent()).toEqual([page, form, listed, verified, form, token])
    expect(verification()).toEqual({ transaction_id: 't-1', factor_id: 'f-1', passcode, _csrf: csrf })
  })

  it('comes at the exchange as well', async () => {
    let turn = 0
    service.answer({ token: () => ((turn += 1) === 1 ? recorded('var transaction_id = "t-1"') : json(goodTokens)) })
    await expect(login()).resolves.toMatchObject({ token_type: 'Bearer' })
    expect(sent()).toEqual([page, form, token, listed, verified, form, token])
  })

  it('gives its own transaction in a script where the login page has renamed it', async () => {
    const renamed = html(goodPage.replace('name="transaction_id"', 'name="tx"'))
    service.answer({
      loginPage: renamed,
      formSubmission: inTurn(recorded('var transaction_id = "t-2";'), redirectToCallback()),
    })
    await login()
    expect(verification()).toMatchObject({ transaction_id: 't-2', _csrf: 'csrf-1' })
  })

  it('ends the login before a passcode is asked for, where no page has a _csrf', async () => {
    service.answer({
      loginPage: html(goodPage.replace('name="_csrf"', 'name="check"')),
      formSubmission: recorded('var transaction_id = "t-1";'),
    })
    const asked = sso.login({ identity, credential, passcode: () => Promise.reject(new Error('asked')) })
    await expect(asked).rejects.toMatchObject({
      code: 'ERR_SSO_UNEXPECTED_RESPONSE',
      message: expect.stringContaining('neither page holds the _csrf'),
    })
    expect(sent()).toEqual([page, form])
  })
})

describe('after the passcode was verified', () => {
  const passcodePage = recorded('var transaction_id = "t-1";')

  it('the transaction_id is posted alone, once, where the whole form leads to the passcode page again', async () => {
    service.answer({ formSubmission: inTurn(passcodePage, passcodePage, redirectToCallback()) })
    await expect(login()).resolves.toMatchObject({ token_type: 'Bearer' })
    expect(sent()).toEqual([page, form, listed, verified, form, form, token])
    const [first, second, third] = forms()
    expect([first, third]).toEqual([second, { transaction_id: 't-1' }])
  })

  it('the login ends where that leads to the passcode page once more', async () => {
    service.answer({ formSubmission: passcodePage })
    await expect(login()).rejects.toMatchObject({
      code: 'ERR_SSO_UNEXPECTED_RESPONSE',
      step: 'form-submission',
      message: expect.stringContaining('asks for a passcode again'),
    })
    expect(forms()).toHaveLength(3)
  })

  it('the login page again means that the service has forgotten the login, whatever the page says', async () => {
    const again = `<p>We could not sign you in</p>${goodPage}`
    for (const answer of [html(goodPage), html(again), html(again, 401), html('<p>Unauthorized</p>', 401)]) {
      service.answer({ formSubmission: inTurn(passcodePage, answer) })
      await expect(login()).rejects.toMatchObject({ code: 'ERR_SSO_PENDING_LOGIN_EXPIRED' })
    }
    service.answer({ formSubmission: inTurn(passcodePage, html('<p>Your account has been locked</p>')) })
    await expect(login()).rejects.toMatchObject({ code: 'ERR_SSO_ACCOUNT_LOCKED' })
  })
})

describe('an unknown page in answer to the form', () => {
  const unknown = '<title>Update your profile</title><form><input type="hidden" name="_csrf" value="c-9"></form>'

  it.each([
    ['with a form of hidden inputs', html(unknown)],
    ['with status 401', html(unknown, 401)],
    ['with words of a refusal and no field', html(`<p>We could not sign you in</p>${unknown}`)],
  ])('%s is no wrong password: the same pair may be sent again', async (_, answer) => {
    service.answer({ formSubmission: inTurn(answer, redirectToCallback()) })
    await expect(login()).rejects.toMatchObject({
      code: 'ERR_SSO_UNEXPECTED_RESPONSE',
      step: 'form-submission',
      message: expect.stringMatching(/titled “Update your profile”, with the fields _csrf\b/u),
    })
    await expect(login()).resolves.toMatchObject({ token_type: 'Bearer' })
  })

  it('is described without what was sent, and without any value', async () => {
    const echo = `<title>${credential}</title><form><input type="hidden" name="${identity}" value="c-9"></form>`
    service.answer({ formSubmission: html(echo) })
    const error: unknown = await login().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'ERR_SSO_UNEXPECTED_RESPONSE' })
    expect(String(error)).not.toMatch(/correct|horse|owner@|c-9/u)
  })

  it('is wrong credentials where it shows their field again and says so', async () => {
    service.answer({ formSubmission: html(`<p>Wrong password</p>${goodPage}`) })
    await expect(login()).rejects.toMatchObject({ code: 'ERR_SSO_INVALID_CREDENTIALS', requestSent: true })
    await expect(login()).rejects.toMatchObject({ code: 'ERR_SSO_INVALID_CREDENTIALS', requestSent: false })
  })
})

describe('the redirect that answers the form', () => {
  const redirectsTo = (address: (good: URL) => string): void => {
    service.answer({
      formSubmission: (request, _response, authUrl) => {
        const state = new URL(request.url, authUrl).searchParams.get('state') ?? ''
        const good = new URL(`${authUrl}/void/callback`)
        good.search = new URLSearchParams({ code: 'c-1', state, issuer: authUrl }).toString()
        return { status: 302, headers: { location: address(good) } }
      },
    })
  }

  it.each<[string, (good: URL) => string]>([
    ['absolute', (good) => good.href],
    ['relative to the host', ({ pathname, search }) => pathname + search],
    ['relative to the page', ({ search }) => `../../void/callback${search}`],
    ['without its scheme', ({ host, pathname, search }) => `//${host}${pathname}${search}`],
  ])('may be %s', async (_, address) => {
    redirectsTo(address)
    await expect(login()).resolves.toMatchObject({ token_type: 'Bearer' })
  })

  it.each<[string, (good: URL) => string]>([
    ['another host without its scheme', ({ pathname, search }) => `//evil.example${pathname}${search}`],
    ['another path', ({ search }) => `/void/other${search}`],
    ['the page itself', ({ search }) => search],
    ['a path with backslashes', ({ search }) => `\\void\\callback${search}`],
    ['a path with a space', ({ search }) => ` /void/callback${search}`.slice(0, 5) + ` callback${search}`],
    ['nothing', () => ''],
  ])('leads nowhere with %s', async (_, address) => {
    redirectsTo(address)
    await expect(login()).rejects.toMatchObject({ code: 'ERR_SSO_UNEXPECTED_RESPONSE', status: 302 })
  })
})

describe('a login page that asks for the e-mail first', () => {
  const first = `<title>Sign in</title><form method="post"><input type="hidden" name="_csrf" value="csrf-1">
    <input type="hidden" name="_phase" value="identity"><input type="hidden" name="transaction_id" value="t-1">
    <input type="email" name="identity"></form>`
  const second = `<title>Password</title><form method="post"><input type="hidden" name="_csrf" value="csrf-2">
    <input type="hidden" name="_phase" value="authenticate"><input type="hidden" name="transaction_id" value="t-1">
    <input type="hidden" name="identity" value="${identity}"><input type="password" name="credential"></form>`
  beforeEach(() => service.answer({ loginPage: html(first) }))

  it('gets the e-mail alone; the password goes to the page that asks for it', async () => {
    service.answer({ formSubmission: inTurn(html(second), redirectToCallback()) })
    await expect(login()).resolves.toMatchObject({ token_type: 'Bearer' })
    expect(sent()).toEqual([page, form, form, token])
    expect(forms()).toEqual([
      { _csrf: 'csrf-1', _phase: 'identity', transaction_id: 't-1', identity },
      { _csrf: 'csrf-2', _phase: 'authenticate', transaction_id: 't-1', identity, credential },
    ])
    expect(service.requests[1]?.url).not.toContain('login_hint')
  })

  it('ends in a passcode, with the form of the second page again', async () => {
    const passcodePage = recorded('var transaction_id = "t-1";')
    service.answer({ formSubmission: inTurn(html(second), passcodePage, redirectToCallback()) })
    await expect(login()).resolves.toMatchObject({ token_type: 'Bearer' })
    expect(sent()).toEqual([page, form, form, listed, verified, form, token])
    expect(forms()[2]).toEqual(forms()[1])
    expect(verification()).toMatchObject({ _csrf: 'csrf-2' })
  })

  it.each<[string, NonNullable<Answers['formSubmission']>, string]>([
    ['the same page again', html(first), 'ERR_SSO_UNEXPECTED_RESPONSE'],
    ['the same page with a refusal', html(`<p>Wrong password</p>${first}`, 401), 'ERR_SSO_UNEXPECTED_RESPONSE'],
    ['a page of something else', html('<title>Consent</title><input name="agree">'), 'ERR_SSO_UNEXPECTED_RESPONSE'],
    ['a passcode page', recorded('var transaction_id = "t-1";'), 'ERR_SSO_UNEXPECTED_RESPONSE'],
    ['a redirect', redirectToCallback(), 'ERR_SSO_UNEXPECTED_RESPONSE'],
    ['a locked account', html('<p>Your account has been locked</p>'), 'ERR_SSO_ACCOUNT_LOCKED'],
    ['a captcha', html(second.replace('</form>', '<div class="h-captcha"></div></form>')), 'ERR_SSO_CAPTCHA_REQUIRED'],
  ])('ends before anything secret is sent, where the answer is %s', async (_, formSubmission, code) => {
    service.answer({ formSubmission })
    await expect(login()).rejects.toMatchObject({ code, step: 'login-page' })
    expect(sent()).toEqual([page, form])
    expect(JSON.stringify(forms())).not.toContain(credential)
  })

  it('ends the same way where no form asks for anything', async () => {
    service.answer({ loginPage: html('<title>Soon</title><form><input type="hidden" name="_csrf" value="1"></form>') })
    await expect(login()).rejects.toMatchObject({
      code: 'ERR_SSO_UNEXPECTED_RESPONSE',
      message: expect.stringContaining('a page titled “Soon”, with the fields _csrf, in place of a login form'),
    })
    expect(sent()).toEqual([page])
  })
})

it.each([
  '<div class="g-recaptcha" data-sitekey="k"></div>',
  '<div class="h-captcha" data-sitekey="k"></div>',
  '<div class="cf-turnstile" data-sitekey="k"></div>',
])('a login page with %s needs a person in a browser: nothing is posted', async (widget) => {
  for (const markup of [goodPage.replace('</form>', `${widget}</form>`), goodPage + widget, widget]) {
    service.answer({
      loginPage: html(`<title>Sign in</title><p>Please wait for it a moment, and then sign in here</p>${markup}`),
    })
    await expect(login()).rejects.toMatchObject({ code: 'ERR_SSO_CAPTCHA_REQUIRED', step: 'login-page' })
  }
  expect(new Set(sent())).toEqual(new Set([page]))
})

describe('the list of factors', () => {
  const asked = html('<form><input type="hidden" name="_csrf" value="c-2"><input name="passcode"></form>')
  beforeEach(() => service.answer({ formSubmission: inTurn(asked, redirectToCallback()) }))
  const bare = [{ factor_id: 'f-1' }]

  it.each([
    ['as data', { data: factors }],
    ['bare', factors],
    ['as factors', { factors }],
    ['as factors of data', { data: { factors } }],
    ['with the id by the name that the verify call has', { data: bare }],
  ])('is read %s', async (_, body) => {
    service.answer({ factors: json(body) })
    await expect(login()).resolves.toMatchObject({ token_type: 'Bearer' })
    expect(verification()).toMatchObject({ factor_id: 'f-1' })
  })

  it.each([
    [{ devices: [{ id: 'secret-7' }], total: 1 }, 'no list of factors: .* \\(members: devices, total\\)'],
    ['nothing', 'no list of factors: .* \\(members: none\\)'],
    [{ data: [] }, 'an empty list of factors'],
    [[{ name: 'secret-7', kind: 1 }], 'without “id” or “factor_id” \\(members of the first: name, kind\\)'],
  ])('that lacks something is described by what is missing, in names alone: %j', async (body, said) => {
    service.answer({ factors: json(body) })
    const error: unknown = await login().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'ERR_SSO_UNEXPECTED_RESPONSE', step: 'mfa-factors' })
    expect(String(error)).toMatch(new RegExp(said, 'u'))
    expect(String(error)).not.toContain('secret')
  })
})

it('a rejection by the token endpoint is told in the service’s own words, without what was sent', async () => {
  const refused = (error_description: string): Promise<unknown> => {
    service.answer({ token: json({ error: 'invalid_request', error_description }, 400) })
    return sso
      .refresh({ ...goodTokens, refresh_token: 'plain-words', expires_at: 0, auth_url: service.authUrl })
      .catch((thrown: unknown) => thrown)
  }
  expect(await refused('Invalid resource')).toMatchObject({
    code: 'ERR_SSO_TOKEN_REJECTED',
    error: 'invalid_request',
    description: 'Invalid resource',
    message: expect.stringContaining('(invalid_request: “Invalid resource”)'),
  })
  expect(String(await refused('The token plain-words is not eyJhbGciOi'))).not.toMatch(/plain|eyJ/u)
})
