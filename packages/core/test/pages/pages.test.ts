/** What a login makes of the pages that it meets: what it posts, and what it ends with. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { anyText } from '../../../../tests/support/any-text.ts'
import { runs } from '../../../../tests/support/runs.ts'
import { createSso, SsoError } from '../../src/index.ts'
import {
  type Answers,
  goodPage,
  goodTokens,
  html,
  json,
  redirectToCallback,
  type SmallService,
  startSmallService,
} from '../small-service.ts'
import { filledTo, heavyPages, hostilePieces, longSearches, refusedPages } from './killer-pages.ts'
import { challengePages, servicePages } from './page-corpus.ts'

let service: SmallService
beforeAll(async () => {
  service = await startSmallService()
})
afterAll(() => service.close())

const identity = 'owner@example.com'
const credential = 'correct horse'
const usual: Answers = { loginPage: html(goodPage), formSubmission: redirectToCallback(), token: json(goodTokens) }

/** What a login ends with: `tokens`, or the code of its error and what that says. */
async function login(answers: Answers): Promise<{ readonly code: string; readonly message: string }> {
  service.requests.length = 0
  service.answer({ ...usual, ...answers })
  try {
    await createSso({ authUrl: service.authUrl }).login({ identity, credential, passcode: '123456' })
    return { code: 'tokens', message: '' }
  } catch (error) {
    if (error instanceof SsoError) return error
    throw error
  }
}

const withLoginPage = (page: string, status = 200) => login({ loginPage: html(page, status) })

/** The form that a login page gets back, but for what the person typed; `undefined` where nothing is posted. */
async function posted(loginPage: string): Promise<[string, string][] | undefined> {
  await withLoginPage(loginPage)
  const form = service.requests.find(({ method }) => method === 'POST')
  if (!form) return undefined
  const typed = [`identity=${identity}`, `credential=${credential}`]
  return [...new URLSearchParams(form.body)].filter((pair) => !typed.includes(pair.join('=')))
}

const form = (inputs: string): string =>
  `<form method="post">${inputs}<input name="identity"><input type="password" name="credential"></form>`
const hidden = (name: string, value: string): string => `<input type="hidden" name="${name}" value="${value}">`
const template = (markup: string): string => `<script type="text/html">${markup}</script>`

describe('a firewall challenge (I1)', () => {
  it('is recognised on every page of the corpus, with every status', async () => {
    const pages = challengePages()
    expect(pages.length).toBeGreaterThanOrEqual(60)
    for (const page of pages) {
      for (const status of [200, 403, 503])
        expect([page, (await withLoginPage(page, status)).code]).toEqual([page, 'ERR_SSO_FIREWALL_CHALLENGE'])
    }
  })

  it('is any 429, whatever its body', async () => {
    for (const loginPage of [json({}, 429), html(form(''), 429), html('<b>'.repeat(300), 429)])
      expect((await login({ loginPage })).code).toBe('ERR_SSO_FIREWALL_CHALLENGE')
  })

  it('is never seen in a page of the service’s own', async () => {
    const pages = servicePages()
    expect(pages.length).toBeGreaterThanOrEqual(200)
    for (const { page, status } of pages)
      expect([page, (await withLoginPage(page, status)).code]).not.toEqual([page, 'ERR_SSO_FIREWALL_CHALLENGE'])
  })

  const script = '<script>run()</script>'
  it.each([
    ['a script and 60 characters', script + 'x'.repeat(60), true],
    ['a script and 61 characters, which are a message', script + 'x'.repeat(61), false],
    ['a script and a title', `<title>Sign in</title>${script}`, false],
    ['a script and a hidden input', `<form>${hidden('a', '1')}</form>${script}`, true],
    ['a script and a field', `<form><input name="a"></form>${script}`, false],
    ['the title Challenge', '<title>Challenge</title>', true],
    ['the title A challenge', '<title>A challenge</title>', false],
    ...['identity', 'credential', 'passcode', 'backup_code', 'captcha'].map((name): [string, string, boolean] => [
      `the field ${name}`,
      `<title>Access Denied</title><input name="${name}">`,
      false,
    ]),
    ['another field', '<title>Access Denied</title><input name="other">', true],
  ])('is told apart from other pages by what it has: %s', async (_, page, isChallenge) => {
    expect((await withLoginPage(page)).code === 'ERR_SSO_FIREWALL_CHALLENGE').toBe(isChallenge)
  })

  it('is never seen in JSON', async () => {
    for (const status of [200, 400, 401, 403, 500, 503])
      expect((await login({ token: json({ error: 'access_denied' }, status) })).code).not.toBe(
        'ERR_SSO_FIREWALL_CHALLENGE',
      )
  })
})

describe('the hidden inputs of the login form (S21, S22)', () => {
  it('come with decoded values, in order, whatever they are called', async () => {
    const inputs = `<input type=hidden name="__proto__" value="&quot;a&amp;b&#x22;"><INPUT VALUE='' TYPE="HIDDEN" NAME=constructor><input type="hidden" name="ü[]">`
    expect(await posted(form(inputs))).toEqual([
      ['__proto__', '"a&b"'],
      ['constructor', ''],
      ['ü[]', ''],
    ])
  })

  it('come from the form that asks for the credential alone', async () => {
    const others = `<form>${hidden('q', 'search')}</form>${hidden('loose', '1')}`
    expect(await posted(others + form(hidden('_csrf', 'right')) + others)).toEqual([['_csrf', 'right']])
  })

  it('never come from comments, scripts and their strings', async () => {
    const decoys = `<!-- ${hidden('c', '1')} --><script>var a='${hidden('s', '1')}'</script><style>${hidden('st', '1')}</style>`
    expect(await posted(form(decoys + hidden('_csrf', '1')))).toEqual([['_csrf', '1']])
  })

  it('come from a script template, in the form or around it', async () => {
    expect(await posted(form(template(hidden('_csrf', '1'))))).toEqual([['_csrf', '1']])
    expect(await posted(template(form(hidden('_csrf', '2'))))).toEqual([['_csrf', '2']])
    expect(await posted(form('') + template(hidden('_csrf', '3')))).toEqual([['_csrf', '3']])
  })

  it('may stand elsewhere in the page if they name the form', async () => {
    const named = (id: string): string => `<input form="${id}" type="hidden" name="${id}" value="1">`
    expect(await posted(`<form id="f"><input name="credential"></form>${named('f')}`)).toEqual([['f', '1']])
    const two = form('').replace('<form', '<form id="f"').concat('<form id="g"></form>')
    expect(await posted(two + named('f') + named('g') + named('none'))).toEqual([['f', '1']])
  })

  it('are posted once for the same name and value, and once for each different value', async () => {
    expect(await posted(form(hidden('a', '1') + hidden('a', '1') + hidden('a', '2')))).toEqual([
      ['a', '1'],
      ['a', '2'],
    ])
  })

  it('never replace the identity or the credential', async () => {
    const evil = hidden('identity', 'evil') + hidden('credential', 'evil')
    expect(await posted(form(evil + hidden('_csrf', '1')))).toEqual([['_csrf', '1']])
  })

  it('are none where the page has no login form', async () => {
    expect(await posted('<title>Hello</title><p>Hello</p>')).toBeUndefined()
    expect(await posted('<title>Hello</title><form><input name="q"></form><form></form>')).toBeUndefined()
  })
})

describe('the form that asks for the credential, among others', () => {
  it.each([
    ['a form for the identity alone', `<form>${hidden('_csrf', 'no')}<input name="identity"></form>`],
    ['one without the identity', `<form>${hidden('_csrf', 'no')}<input name="credential"></form>`],
    ['one for another address', form(hidden('_csrf', 'no')).replace('<form', '<form action="/account/new"')],
    ['one in a template', template(form(hidden('_csrf', 'no')))],
    ['one that is hidden', `<div hidden>${form(hidden('_csrf', 'no'))}</div>`],
    ['one without hidden inputs', form('')],
    ['a new password', `<form>${hidden('_csrf', 'no')}<input type="password" name="new"></form>`],
    ['a hidden input of its name', `<form>${hidden('_csrf', 'no')}${hidden('credential', '')}</form>`],
  ])('is found beside %s', async (_, other) => {
    const right = form(hidden('_csrf', 'right'))
    expect(await posted(other + right)).toEqual([['_csrf', 'right']])
    expect(await posted(right + other)).toEqual([['_csrf', 'right']])
  })

  it('is the first of two that are alike', async () => {
    expect(await posted(form(hidden('a', '1')) + form(hidden('b', '2')))).toEqual([['a', '1']])
  })

  it('may have its fields outside of any form', async () => {
    const fields = '<input name="identity"><input name="credential">'
    expect(await posted(hidden('_csrf', '1') + fields)).toEqual([['_csrf', '1']])
    expect(await posted(`<title>Soon</title><div hidden>${fields}</div>`)).toBeUndefined()
  })
})

describe('a captcha of another company', () => {
  it.each([
    form('<div class="g-recaptcha" data-sitekey="k"></div>'),
    form('<div class="wide h-captcha"></div>'),
    form('<div class="cf-turnstile"></div>'),
    form('<textarea name="g-recaptcha-response" hidden></textarea>'),
    form('<input type="hidden" name="cf-turnstile-response">'),
    form('<input name="captcha">'),
    `${form('')}<div data-sitekey="k"></div>`,
    `${form('')}<iframe src="https://hcaptcha.com/captcha/v1"></iframe>`,
    `${form('')}<script>grecaptcha.enterprise.render("box", {})</script>`,
    `${form('')}${template('<div class="g-recaptcha"></div>')}`,
  ])('is seen in %s', async (page) => {
    expect((await withLoginPage(page)).code).toBe('ERR_SSO_CAPTCHA_REQUIRED')
  })

  it.each([
    `${form('')}<script src="https://www.google.com/recaptcha/api.js"></script>`,
    `${form('')}<footer>This site is protected by reCAPTCHA</footer>`,
    `${form('')}<form><input name="newsletter"><div class="g-recaptcha"></div></form>`,
    `${form('')}<p class="my-h-captcha h-captcha-box"></p>`,
    `<!-- <div class="g-recaptcha"></div> -->${form('')}`,
  ])('is not seen in %s', async (page) => {
    expect((await withLoginPage(page)).code).toBe('tokens')
  })
})

describe('why a submitted form came back', () => {
  /** With what is sure of it. */
  const codeOf = async (page: string, status = 200, loginPage = goodPage): Promise<string> => {
    const { code, message } = await login({ loginPage: html(loginPage), formSubmission: html(page, status) })
    return message.includes('Probably') ? `${code}?` : code
  }
  const allMessages =
    '<script>var messages = {"a":"Captcha does not match","b":"Your account has been locked","c":"We could not sign you in"}</script>'

  it.each([
    ['ERR_SSO_INVALID_CREDENTIALS', `${allMessages}<p>We could not sign you in</p>${form('')}`],
    ['ERR_SSO_INVALID_CREDENTIALS', `<p>Incorrect e-mail or password.</p>${form('')}`],
    ['ERR_SSO_INVALID_CREDENTIALS', `<p>Your password is not correct</p>${form('')}`],
    ['ERR_SSO_INVALID_CREDENTIALS', `<script>var messages = {"_":["We could not sign you in"]}</script>${form('')}`],
    ['ERR_SSO_ACCOUNT_LOCKED', `${allMessages}<p>Your account has been locked</p>${form('')}`],
    ['ERR_SSO_ACCOUNT_LOCKED', '<p>Your   account has\nbeen locked.</p>'],
    ['ERR_SSO_ACCOUNT_LOCKED', `<script>var messages = {"error": "Your account has been locked"};</script>${form('')}`],
    ['ERR_SSO_ACCOUNT_LOCKED', `<script>window.messages={'_':['Your account has been locked']}</script>${form('')}`],
    ['ERR_SSO_CAPTCHA_REQUIRED', `<p>Captcha does not match</p>${form('')}`],
    ['ERR_SSO_CAPTCHA_REQUIRED', '<p>Recaptcha is required</p>'],
    ['ERR_SSO_CAPTCHA_REQUIRED', form('<input name="captcha">')],
    ['ERR_SSO_CAPTCHA_REQUIRED', form('<div class="g-recaptcha" data-sitekey="k"></div>')],
    ['ERR_SSO_CAPTCHA_REQUIRED', `<p>Bitte geben Sie den Text ein.</p><input name="captcha">${form('')}`],
    ['ERR_SSO_INVALID_CREDENTIALS?', `<footer>This site is protected by reCAPTCHA</footer>${form('')}`],
    ['ERR_SSO_INVALID_CREDENTIALS?', `<p>E-Mail oder Passwort ist nicht richtig.</p>${form('')}`],
    ['ERR_SSO_INVALID_CREDENTIALS?', `<p>Feil e-post eller passord</p>${form('')}`],
    ['ERR_SSO_INVALID_CREDENTIALS?', `<p>电子邮件或密码不正确</p>${form('')}`],
    ['ERR_SSO_INVALID_CREDENTIALS?', `<p>Pardon?</p><form><input name="credential"></form>`],
    ['ERR_SSO_CAPTCHA_REQUIRED', `<p>Bitte geben Sie den Text ein.</p>${form('<input name="captcha">')}`],
    ['ERR_SSO_UNEXPECTED_RESPONSE', '<p>Something else</p>'],
    ['ERR_SSO_UNEXPECTED_RESPONSE', '<p>Ihr Konto wurde gesperrt.</p>'],
  ])('%s: %s', async (code, page) => {
    expect(await codeOf(page)).toBe(code)
  })

  it.each([200, 401, 400, 403, 422, 423])(
    'is probably the credentials where a %d shows their field again, whatever it says',
    async (status) => {
      for (const words of ['', 'Ihr Konto ist gesperrt.', 'Votre compte est verrouillé.', '您的帐户已被锁定', 'Hm'])
        expect([words, await codeOf(`<p>${words}</p>${form('')}`, status)]).toEqual([
          words,
          'ERR_SSO_INVALID_CREDENTIALS?',
        ])
      expect(await codeOf(`<p>Your account has been locked</p>${form('')}`, status)).toBe('ERR_SSO_ACCOUNT_LOCKED')
      expect(await codeOf('<p>Hm</p>', status)).toBe('ERR_SSO_UNEXPECTED_RESPONSE')
    },
  )

  it('does not bar the pair where it is not known: the same pair may be posted again at once', async () => {
    service.answer({ ...usual, formSubmission: html(`<p>Ihr Konto ist gesperrt.</p>${form('')}`, 401) })
    const sso = createSso({ authUrl: service.authUrl })
    const probably = { code: 'ERR_SSO_INVALID_CREDENTIALS', reason: 'shown-again' }
    // A double click is one attempt all the same.
    service.requests.length = 0
    const ends = await Promise.allSettled([sso.login({ identity, credential }), sso.login({ identity, credential })])
    expect(ends).toMatchObject([{ reason: probably }, { reason: { ...probably, requestSent: false } }])
    expect(service.requests.filter(({ method }) => method === 'POST')).toHaveLength(1)
    service.answer(usual)
    await expect(sso.login({ identity, credential })).resolves.toMatchObject({ token_type: 'Bearer' })
  })

  it('comes in English, which the requests ask for', async () => {
    await login({})
    const pages = service.requests.filter(({ url }) => url.startsWith('/oauth2/v3/authorize'))
    expect(pages.map(({ headers }) => headers['accept-language'])).toEqual(['en', 'en'])
  })

  it.each([
    ['words without the field', '<p>We could not sign you in</p>'],
    ['words and a form without the field', `<p>Wrong password</p><form>${hidden('_csrf', '')}</form>`],
    ['the field in a template', `<p>Wrong password</p>${template(form(''))}`],
    ['the field in an element that is hidden', `<p>Wrong password</p><div hidden>${form('')}</div>`],
    ['a hidden input of its name', `<p>Wrong password</p><form>${hidden('credential', '')}</form>`],
    ['a pair that was not checked', `<p>We could not sign you in. Your session has expired.</p>${form('')}`],
  ])('is never the credentials for %s', async (_, page) => {
    expect(await codeOf(page)).toBe('ERR_SSO_UNEXPECTED_RESPONSE')
  })

  it.each([
    ['a message that always stands there', `${allMessages}${form('')}`],
    ['words that are hidden', `<p style="display: none">Wrong password</p>${form('')}`],
    ['words in a template', `${template('<p>Wrong password</p>')}${form('')}`],
  ])('is not known for %s', async (_, page) => {
    expect(await codeOf(page)).toBe('ERR_SSO_INVALID_CREDENTIALS?')
  })

  it('is never the credentials where a 401 has no field for them, or says that it checked nothing', async () => {
    for (const page of ['<p>Unauthorized</p>', `<p>The session has expired</p>${form('')}`])
      expect(await codeOf(page, 401)).toBe('ERR_SSO_UNEXPECTED_RESPONSE')
    expect((await login({ formSubmission: { status: 401 } })).code).toBe('ERR_SSO_UNEXPECTED_RESPONSE')
  })

  it('is not read from words that the login page showed before the form was sent', async () => {
    const page = `<p>Wrong password? Account locked?</p>${form('')}`
    expect(await codeOf(page)).toBe('ERR_SSO_ACCOUNT_LOCKED')
    expect(await codeOf(page, 200, `<p>Account locked?</p>${form('')}`)).toBe('ERR_SSO_INVALID_CREDENTIALS')
    expect(await codeOf(page, 200, page)).toBe('ERR_SSO_INVALID_CREDENTIALS?')
  })
})

describe('an unknown page is described in the error', () => {
  const messageOf = async (page: string): Promise<string> => (await login({ formSubmission: html(page) })).message

  it('by its title and the names of its fields, without a value', async () => {
    const page = `<title>Verify your
      e-mail</title><form>${hidden('_csrf', 'c-1')}<input name="code" value="Ann"><input name="code"></form>`
    expect(await messageOf(page)).toContain('a page titled “Verify your e-mail”, with the fields _csrf, code, in place')
    expect(await messageOf('<p>Hm</p>')).toContain('a page without a title to quote, without fields')
  })

  it('without what could be a secret, or repeats what was sent', async () => {
    const page =
      '<title>Hello ann@example.com, code 739105 or eyJhbGciOi</title><input name="a1b2c3d4e5"><input name="x9">'
    expect(await messageOf(page)).toContain('“Hello … code … or …”, with the fields …')
    expect(await messageOf('<title>Your CORRECT horse</title>')).toContain('without a title to quote')
  })

  it('in 16 words and 12 fields at the most', async () => {
    const words = Array.from('abcdefghijklmnopq')
    const title = `<title>${words.join(' ')}</title>`
    const fields = words.slice(0, 13).map((name) => `<input name="${name}">`)
    const message = await messageOf(title + fields.join(''))
    expect(message).toContain(
      `“${words.slice(0, 16).join(' ')} …”, with the fields ${words.slice(0, 12).join(', ')}, …,`,
    )
    expect((await messageOf(`<title>${'long '.repeat(500)}</title>`)).length).toBeLessThan(300)
  })
})

describe('a passcode page', () => {
  const field = '<input name="passcode">'

  /** What is sent with the passcode, where the form is answered with a page; a login page beside it may have values of its own. */
  async function verification(page: string, loginPage = goodPage): Promise<unknown> {
    let forms = 0
    const redirect = redirectToCallback()
    await login({
      loginPage: html(loginPage),
      formSubmission: (request, response, authUrl) => {
        forms += 1
        if (forms === 1) return html(page)
        return typeof redirect === 'function' ? redirect(request, response, authUrl) : redirect
      },
    })
    const verify = service.requests.find(({ url }) => url.endsWith('/mfa/verify'))
    return verify && JSON.parse(verify.body)
  }

  it.each([
    ['an input', `${field}${hidden('_csrf', 'i')}<script>var _csrf = "s"</script>`, 'i'],
    [
      'the input of its own form',
      `<form>${hidden('_csrf', 'o')}</form><form>${field}${hidden('_csrf', 'i')}</form>`,
      'i',
    ],
    ['a variable', `${field}<script>var _csrf = "s", transaction_id = "t"</script>`, 's'],
    ['a member', `${template(field)}<script>window.page = { "_csrf" : 's\\/\\x41\\u0042' }</script>`, 's/AB'],
    ['a property', `${field}<script>window["_csrf"] = \`s\`</script>`, 's'],
    ['JSON', `${field}<script type="application/json">{"csrfToken":"s"}</script>`, 's'],
    ['the first that is not empty', `${field}<script>_csrf = "";\n_csrf = "s"</script>`, 's'],
    ['no comment', `${field}<script>// _csrf = "old"\n/* _csrf = "older" */ var _csrf = "s"</script>`, 's'],
    ['the login page, not from a text in a text', `${field}<script>var html = '_csrf = "x"'</script>`, 'csrf-1'],
    ['the login page, not from a comparison', `${field}<script>if (_csrf == "x") go()</script>`, 'csrf-1'],
    ['the login page, not from text with spaces', `${field}<script>var _csrf = "two words"</script>`, 'csrf-1'],
    ['the login page, not from another name', `${field}<script>var old_csrf = "x"</script>`, 'csrf-1'],
    ['the login page, where it has none', field, 'csrf-1'],
  ])('has its _csrf from %s', async (_, page, csrf) => {
    expect(await verification(page)).toMatchObject({ _csrf: csrf })
  })

  it('names its transaction in an input, else in a script, where the login page names none', async () => {
    const inScript = `${field}<script>var transaction_id = "s"</script>`
    const unnamed = form(hidden('_csrf', 'c'))
    expect(await verification(inScript, unnamed)).toMatchObject({ transaction_id: 's' })
    expect(await verification(hidden('transaction_id', 'i') + inScript, unnamed)).toMatchObject({ transaction_id: 'i' })
    expect(await verification(inScript)).toMatchObject({ transaction_id: 't-1' })
  })

  it('is not a page that visibly asks for the credential and has the passcode in a template', async () => {
    expect(await verification(form('') + template(field))).toBeUndefined()
    expect(await verification(template(form('') + field))).toBeDefined()
  })
})

/** Milliseconds of processor time for one login, in which a slow machine and a busy one are alike. */
async function processorTime(answers: Answers): Promise<number> {
  const started = process.cpuUsage()
  await login(answers)
  const { user, system } = process.cpuUsage(started)
  return (user + system) / 1000
}

/** The aim is 250 on a quiet machine; a parser without limits, or a search that looks everywhere twice, takes tens of seconds. */
const mostMilliseconds = 1000

describe('limits on markup (S19, G2)', () => {
  const beyond = 'its page has too many or too deeply nested elements'
  const attributes = (count: number): string => Array.from({ length: count }, (_, index) => `a${index}`).join(' ')
  const tagOf = (count: number): string => `<p ${attributes(count)}></p>`

  it.each<[string, (count: number) => string, number]>([
    ['5,000 tags, html, head and body among them', (count) => '<br>'.repeat(count - 3), 5000],
    ['500 inputs', (count) => '<input>'.repeat(count), 500],
    ['500 inputs, templates included', (count) => `<input>${template('<input>'.repeat(count - 1))}`, 500],
    ['1,000 attributes in a tag', tagOf, 1000],
    ['20,000 attributes', (count) => tagOf(1000).repeat(count / 1000) + tagOf(count % 1000), 20_000],
    ['256 tags in each other, html and body among them', (count) => '<b>'.repeat(count - 2), 256],
  ])('a page may have %s, and not one more', async (_what, markup, most) => {
    expect((await withLoginPage(markup(most))).message).not.toContain(beyond)
    expect((await withLoginPage(markup(most + 1))).message).toContain(beyond)
  })

  it.each(refusedPages)('stop %s without keeping the process busy', async (_, page) => {
    expect(await processorTime({ loginPage: html(page) })).toBeLessThan(mostMilliseconds)
    expect((await withLoginPage(page)).message).toContain(beyond)
  })

  it.each([...heavyPages, ...longSearches])('%s does not keep the process busy', async (_, page) => {
    expect(await processorTime({ loginPage: html(page) })).toBeLessThan(mostMilliseconds)
    expect(await processorTime({ formSubmission: html(page) })).toBeLessThan(mostMilliseconds)
  })

  it.each(['"', "'", '`', '/*', '//', '"\\\\', '`\\\\', '_csrf=', '_csrf:"', '$', ' ', '=', '/* "', '_csrf]'])(
    'a passcode page whose script repeats %j does not, either',
    async (piece) => {
      const page = `<input name="passcode"><script>${filledTo(200 * 1024, piece)}</script>`
      expect(await processorTime({ formSubmission: html(page) })).toBeLessThan(mostMilliseconds)
    },
  )

  it('no page that repeats something does', async () => {
    const markup = fc.array(fc.oneof(fc.constantFrom(...hostilePieces), fc.string({ maxLength: 8 })), { maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(markup, markup, markup, async (before, first, then) => {
        const page = before.join('') + filledTo(64 * 1024, first.join('')) + filledTo(64 * 1024, then.join(''))
        return (await processorTime({ formSubmission: html(page) })) < mostMilliseconds
      }),
      { numRuns: runs(60) },
    )
  })
})

it('any page ends in tokens or an error of ours (G1)', async () => {
  const markup =
    '<form>|</form>|<input| name="credential"| type=hidden| value="|>|<script type="text/html">|</script>|<!--|-->|<title>|&#|&#x110000;|<svg>|<![CDATA[|<template>|\u0000'
  const piece = fc.oneof(fc.constantFrom(...markup.split('|')), anyText({ maxLength: 20 }))
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 60 }), async (pieces) => {
      await login({ loginPage: html(pieces.join('')) })
      await login({ formSubmission: html(pieces.join('')) })
    }),
    { numRuns: runs(200) },
  )
})
