import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { parseDocument } from 'htmlparser2'
import { anyText } from '../../../../tests/support/any-text.ts'
import type { SsoError } from '../../src/index.ts'
import { isFirewallChallenge } from '../../src/firewall/challenge-page.ts'
import { type HtmlPage, readHtmlPage } from '../../src/pages/html-page.ts'
import { findLoginForm, hiddenInput } from '../../src/pages/login-form.ts'
import { loginRefusal } from '../../src/pages/login-refusal.ts'
import { readPasscodePage } from '../../src/pages/passcode-page.ts'
import { filledTo, heavyPages, hostilePieces, longSearches, refusedPages } from './killer-pages.ts'
import { challengePages, servicePages } from './page-corpus.ts'
import { runs } from '../../../../tests/support/runs.ts'

function read(html: string): HtmlPage {
  const page = readHtmlPage(html)
  if (page === 'beyond limits') throw new Error('beyond limits')
  return page
}

const login = (inputs: string): string =>
  `<form method="post">${inputs}<input name="identity"><input type="password" name="credential"></form>`
const refusalOf = (status: number, page: HtmlPage | undefined): SsoError =>
  loginRefusal({ status, page, saidBefore: [], secrets: [] }, {})
const hidden = (html: string): unknown => findLoginForm(read(html))?.hiddenInputs

describe('a firewall challenge (I1)', () => {
  it('is recognised on every page of the corpus, with every status', () => {
    const pages = challengePages()
    expect(pages.length).toBeGreaterThanOrEqual(60)
    const missed = pages.flatMap((page) =>
      [200, 403, 503].filter((status) => !isFirewallChallenge(status, read(page))).map((status) => ({ status, page })),
    )
    expect(missed).toEqual([])
  })

  it('is any 429, whatever its body', () => {
    expect(
      [undefined, 'beyond limits' as const, read(login(''))].map((page) => isFirewallChallenge(429, page)),
    ).toEqual([true, true, true])
  })

  it('is never seen in a page of the service’s own', () => {
    const pages = servicePages()
    expect(pages.length).toBeGreaterThanOrEqual(200)
    expect(pages.filter(({ page, status }) => isFirewallChallenge(status, read(page)))).toEqual([])
  })

  it('is never seen in JSON', () => {
    expect([200, 400, 401, 403, 500, 503].filter((status) => isFirewallChallenge(status, undefined))).toEqual([])
  })
})

describe('the hidden inputs of the login form (S21, S22)', () => {
  it('come with decoded values, in order, whatever they are called', () => {
    const inputs = `<input type=hidden name="__proto__" value="&quot;a&amp;b&#x22;"><INPUT VALUE='' TYPE="HIDDEN" NAME=constructor><input type="hidden" name="ü[]">`
    expect(hidden(login(inputs))).toEqual([
      ['__proto__', '"a&b"'],
      ['constructor', ''],
      ['ü[]', ''],
    ])
  })

  it('come from the form that asks for the credential alone', () => {
    const others =
      '<form><input type="hidden" name="q" value="search"></form><input type="hidden" name="loose" value="1">'
    expect(hidden(others + login('<input type="hidden" name="_csrf" value="right">') + others)).toEqual([
      ['_csrf', 'right'],
    ])
  })

  it('come from comments, scripts and their strings never', () => {
    const decoys = `<!-- <input type="hidden" name="c" value="1"> --><script>var a='<input type="hidden" name="s" value="1">'</script><style><input type="hidden" name="st"></style>`
    expect(hidden(login(`${decoys}<input type="hidden" name="_csrf" value="1">`))).toEqual([['_csrf', '1']])
  })

  it('come from a script template, in the form or around it', () => {
    const template = (markup: string): string => `<script type="text/html">${markup}</script>`
    expect(hidden(login(template('<input type="hidden" name="_csrf" value="1">')))).toEqual([['_csrf', '1']])
    expect(hidden(template(login('<input type="hidden" name="_csrf" value="2">')))).toEqual([['_csrf', '2']])
    expect(hidden(login('') + template('<input type="hidden" name="_csrf" value="3">'))).toEqual([['_csrf', '3']])
  })

  it('come from elsewhere in the page where they name the form', () => {
    expect(
      hidden(`<form id="f"><input name="credential"></form><input form="f" type="hidden" name="a" value="1">`),
    ).toEqual([['a', '1']])
    const two = `<form id="f"><input name="identity"><input name="credential"></form><form id="g"></form>`
    const named = (form: string): string => `<input form="${form}" type="hidden" name="${form}" value="1">`
    expect(hidden(two + named('f') + named('g') + named('none'))).toEqual([['f', '1']])
  })

  it('come once for the same pair, and as often as there are different values', () => {
    const twice =
      '<input type="hidden" name="a" value="1"><input type="hidden" name="a" value="1"><input type="hidden" name="a" value="2">'
    expect(hidden(login(twice))).toEqual([
      ['a', '1'],
      ['a', '2'],
    ])
  })

  it('never stand in for the identity or the credential', () => {
    const evil =
      '<input type="hidden" name="identity" value="evil"><input type="hidden" name="credential" value="evil">'
    expect(hidden(login(`${evil}<input type="hidden" name="_csrf" value="1">`))).toEqual([['_csrf', '1']])
  })

  it('are found by name', () => {
    expect(
      hiddenInput(
        [
          ['a', '1'],
          ['a', '2'],
        ],
        'a',
      ),
    ).toBe('1')
    expect(hiddenInput([], 'toString')).toBeUndefined()
  })

  it('are those of no page without a login form', () => {
    expect([hidden('<p>Hello</p>'), hidden('<form><input name="q"></form><form></form>')]).toEqual([
      undefined,
      undefined,
    ])
  })
})

/** CPU of reading a page and drawing conclusions, against that of parsing it: the same on a busy machine and a quiet one. */
function timesAsLong(page: string): number {
  const parsing = leastCpu(() => parseDocument(page))
  const reading = leastCpu(() => {
    const result = readHtmlPage(page)
    isFirewallChallenge(200, result)
    if (result !== 'beyond limits') refusalOf(200, result)
  })
  // What is over in a moment has no ratio worth a word.
  return reading / Math.max(parsing, 10)
}

/** Milliseconds, of the best of three. */
function leastCpu(work: () => unknown): number {
  const times = [1, 2, 3].map(() => {
    const started = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(started)
    return (user + system) / 1000
  })
  return Math.min(...times)
}

/** Milliseconds of CPU. The aim is 250 on a quiet machine; a parser without limits takes tens of seconds. */
const mostCpu = 1000

describe('limits on markup (S19, G2)', () => {
  it.each(refusedPages)('stop %s without keeping the process busy', (_, page) => {
    const started = process.cpuUsage()
    const result = readHtmlPage(page)
    const { user, system } = process.cpuUsage(started)
    expect(result === 'beyond limits').toBe(true)
    expect((user + system) / 1000).toBeLessThan(mostCpu)
  })

  it.each(heavyPages)('read %s without keeping the process busy', (_, page) => {
    const started = process.cpuUsage()
    const result = read(page)
    isFirewallChallenge(200, result)
    refusalOf(200, result)
    const { user, system } = process.cpuUsage(started)
    expect((user + system) / 1000).toBeLessThan(mostCpu)
  })

  it.each(longSearches)('read or refuse %s in a few times what parsing it takes', (_, page) => {
    expect(timesAsLong(page)).toBeLessThan(8)
  })

  it('read or refuse any page in a few times what parsing it takes', () => {
    const markup = fc.array(fc.oneof(fc.constantFrom(...hostilePieces), fc.string({ maxLength: 8 })), { maxLength: 4 })
    fc.assert(
      fc.property(markup, markup, markup, (before, first, then) => {
        const page = before.join('') + filledTo(32 * 1024, first.join('')) + filledTo(32 * 1024, then.join(''))
        return timesAsLong(page) < 8
      }),
      { numRuns: runs(60) },
    )
  })

  it('let a page of an ordinary size through', () => {
    expect(readHtmlPage(`${'<div><p>'.repeat(100)}${login('')}`)).not.toBe('beyond limits')
  })
})

describe('any page is read or refused (G1)', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '<form>',
      '</form>',
      '<input',
      ' name="credential"',
      ' type=hidden',
      ' value="',
      '>',
      '<script type="text/html">',
      '</script>',
      '<!--',
      '-->',
      '<title>',
      '&#',
      '&#x110000;',
      '<svg>',
      '<![CDATA[',
      '<template>',
      '\u0000',
    ),
    anyText({ maxLength: 20 }),
  )
  it('without throwing', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const page = readHtmlPage(pieces.join(''))
        if (page === 'beyond limits') return
        findLoginForm(page)
        isFirewallChallenge(200, page)
        refusalOf(200, page)
      }),
      { numRuns: runs(500) },
    )
  })
})

describe('why a submitted form came back', () => {
  const refusal = (html: string, status = 200): string => refusalOf(status, read(html)).code
  const allMessages =
    '<script>var messages = {"a":"Captcha does not match","b":"Your account has been locked","c":"We could not sign you in"}</script>'

  it.each([
    ['ERR_SSO_INVALID_CREDENTIALS', `${allMessages}<p>We could not sign you in</p>${login('')}`],
    ['ERR_SSO_INVALID_CREDENTIALS', `<p>Incorrect e-mail or password.</p>${login('')}`],
    ['ERR_SSO_INVALID_CREDENTIALS', `<p>Your password is not correct</p>${login('')}`],
    ['ERR_SSO_INVALID_CREDENTIALS', `<script>var messages = {"_":["We could not sign you in"]}</script>${login('')}`],
    ['ERR_SSO_ACCOUNT_LOCKED', `${allMessages}<p>Your account has been locked</p>${login('')}`],
    ['ERR_SSO_ACCOUNT_LOCKED', '<p>Your   account has\nbeen locked.</p>'],
    [
      'ERR_SSO_ACCOUNT_LOCKED',
      `<script>var messages = {"error": "Your account has been locked"};</script>${login('')}`,
    ],
    ['ERR_SSO_ACCOUNT_LOCKED', `<script>window.messages={'_':['Your account has been locked']}</script>${login('')}`],
    ['ERR_SSO_CAPTCHA_REQUIRED', `<p>Captcha does not match</p>${login('')}`],
    ['ERR_SSO_CAPTCHA_REQUIRED', '<p>Recaptcha is required</p>'],
    ['ERR_SSO_CAPTCHA_REQUIRED', login('<input name="captcha">')],
    ['ERR_SSO_CAPTCHA_REQUIRED', login('<div class="g-recaptcha" data-sitekey="k"></div>')],
    ['ERR_SSO_UNEXPECTED_RESPONSE', `<footer>This site is protected by reCAPTCHA</footer>${login('')}`],
    ['ERR_SSO_UNEXPECTED_RESPONSE', '<p>Something else</p>'],
  ])('%s', (code, html) => {
    expect(refusal(html)).toBe(code)
  })

  it('is the credentials where a 401 shows their field again, whatever it says', () => {
    expect(refusal(login(''), 401)).toBe('ERR_SSO_INVALID_CREDENTIALS')
    expect(refusal(`<p>Bitte noch einmal.</p>${login('')}`, 401)).toBe('ERR_SSO_INVALID_CREDENTIALS')
  })

  it.each([
    ['the field without a word', login('')],
    ['a message that always stands there', `${allMessages}${login('')}`],
    ['words without the field', '<p>We could not sign you in</p>'],
    ['words and a form without the field', '<p>Wrong password</p><form><input type="hidden" name="_csrf"></form>'],
    ['the field in a template', `<p>Wrong password</p><script type="text/html">${login('')}</script>`],
    ['the field in an element that is hidden', `<p>Wrong password</p><div hidden>${login('')}</div>`],
    ['a hidden input of its name', '<p>Wrong password</p><form><input type="hidden" name="credential"></form>'],
    ['words that are hidden', `<p style="display: none">Wrong password</p>${login('')}`],
    ['words in a template', `<script type="text/html"><p>Wrong password</p></script>${login('')}`],
    ['a pair that was not judged', `<p>We could not sign you in. Your session has expired.</p>${login('')}`],
  ])('is never the credentials for %s', (_, html) => {
    expect(refusal(html)).toBe('ERR_SSO_UNEXPECTED_RESPONSE')
  })

  it('is never the credentials where a 401 has no field for them, or says that it judged nothing', () => {
    const answers = ['<p>Unauthorized</p>', `<p>The session has expired</p>${login('')}`].map((html) => read(html))
    for (const page of [...answers, undefined]) expect(refusalOf(401, page).code).toBe('ERR_SSO_UNEXPECTED_RESPONSE')
  })

  it('is nothing that the login page said before', () => {
    const page = read(`<p>Wrong password? Account locked?</p>${login('')}`)
    const reason = (saidBefore: ('locked' | 'credentials')[]): string =>
      loginRefusal({ status: 200, page, saidBefore, secrets: [] }, {}).code
    expect([reason([]), reason(['locked']), reason(['locked', 'credentials'])]).toEqual([
      'ERR_SSO_ACCOUNT_LOCKED',
      'ERR_SSO_INVALID_CREDENTIALS',
      'ERR_SSO_UNEXPECTED_RESPONSE',
    ])
  })
})

describe('an unknown page is told as it was seen', () => {
  const told = (html: string, secrets: string[] = []): string =>
    loginRefusal({ status: 200, page: read(html), saidBefore: [], secrets }, {}).message

  it('by its title and the names of its fields, without a value', () => {
    const page = `<title>Verify your
      e-mail</title><form><input type="hidden" name="_csrf" value="c-1"><input name="code" value="Ann"><input name="code"></form>`
    expect(told(page)).toContain('a page titled “Verify your e-mail”, with the fields _csrf, code, in place')
    expect(told('<p>Hm</p>')).toContain('a page without a title to quote, without fields')
  })

  it('without what could be a secret, or repeats what was sent', () => {
    const page =
      '<title>Hello ann@example.com, code 739105 or eyJhbGciOi</title><input name="a1b2c3d4e5"><input name="x9">'
    expect(told(page)).toContain('“Hello … code … or …”, with the fields …')
    expect(told('<title>Your CORRECT horse</title>', ['correct horse'])).toContain('without a title to quote')
    expect(told(`<title>${'long '.repeat(500)}</title>`).length).toBeLessThan(300)
  })
})

describe('a passcode page', () => {
  const readPasscode = (html: string): object | undefined => readPasscodePage(read(html))
  const template = (markup: string): string => `<script type="text/html">${markup}</script>`
  const field = '<input name="passcode">'

  it.each([
    ['an input', `${field}<input type="hidden" name="_csrf" value="i"><script>var _csrf = "s"</script>`, 'i'],
    ['a variable', `${field}<script>var _csrf = "s", transaction_id = "t"</script>`, 's'],
    ['a member', `${template(field)}<script>window.page = { "_csrf" : 's\\/\\x41\\u0042' }</script>`, 's/AB'],
    ['a property', `${field}<script>window["_csrf"] = \`s\`</script>`, 's'],
    ['JSON', `${field}<script type="application/json">{"csrfToken":"s"}</script>`, 's'],
    ['the first that is not empty', `${field}<script>_csrf = "";\n_csrf = "s"</script>`, 's'],
    ['no comment', `${field}<script>// _csrf = "old"\n/* _csrf = "older" */ var _csrf = "s"</script>`, 's'],
    ['no text in a text', `${field}<script>var html = '_csrf = "x"'</script>`, undefined],
    ['no comparison', `${field}<script>if (_csrf == "x" || _csrf !== "y") go()</script>`, undefined],
    ['no text with spaces', `${field}<script>var _csrf = "two words"</script>`, undefined],
    ['nothing', field, undefined],
  ])('has its _csrf from %s', (_, html, csrf) => {
    expect(readPasscode(html)).toMatchObject({ csrf })
  })

  it('names its transaction in an input, else in a script', () => {
    expect(readPasscode(`${field}<script>var transaction_id = "t"</script>`)).toMatchObject({ transactionId: 't' })
    const both = `${field}<input name="transaction_id" type="hidden" value="i"><script>transactionId = "t"</script>`
    expect(readPasscode(both)).toMatchObject({ transactionId: 'i' })
  })

  it.each(['"', "'", '`', '/*', '//', '"\\\\', '`\\\\', '_csrf=', '_csrf:"', '$', ' ', '=', '/* "', '_csrf]'])(
    'is read in a few times what parsing it takes, where a script is %j over and over',
    (piece) => {
      const page = `${field}<script>${filledTo(200 * 1024, piece)}</script>`
      const parsing = leastCpu(() => parseDocument(page))
      expect(leastCpu(() => readPasscode(page)) / Math.max(parsing, 10)).toBeLessThan(20)
    },
  )

  it('is none that asks for the credential in sight, with the passcode in a template', () => {
    expect(readPasscode(login('') + template(field))).toBeUndefined()
    expect(readPasscode(template(login('') + field))).toBeDefined()
  })
})

describe('a captcha of another company', () => {
  const captcha = (html: string): boolean | undefined => findLoginForm(read(html))?.captcha

  it.each([
    login('<div class="g-recaptcha" data-sitekey="k"></div>'),
    login('<div class="wide h-captcha"></div>'),
    login('<div class="cf-turnstile"></div>'),
    login('<textarea name="g-recaptcha-response" hidden></textarea>'),
    login('<input type="hidden" name="cf-turnstile-response">'),
    `${login('')}<div data-sitekey="k"></div>`,
    `${login('')}<iframe src="https://hcaptcha.com/captcha/v1"></iframe>`,
    `${login('')}<script>grecaptcha.enterprise.render("box", {})</script>`,
    `${login('')}<script type="text/html"><div class="g-recaptcha"></div></script>`,
  ])('is seen in %s', (html) => {
    expect(captcha(html)).toBe(true)
  })

  it.each([
    `${login('')}<script src="https://www.google.com/recaptcha/api.js"></script>`,
    `${login('')}<footer>This site is protected by reCAPTCHA</footer>`,
    `${login('')}<form><input name="newsletter"><div class="g-recaptcha"></div></form>`,
    `<!-- <div class="g-recaptcha"></div> -->${login('')}`,
  ])('is not seen in %s', (html) => {
    expect(captcha(html)).toBe(false)
  })
})

describe('the form that asks for the credential, among others', () => {
  it.each([
    [
      'a form for the identity alone',
      '<form><input type="hidden" name="_csrf" value="no"><input name="identity"></form>',
    ],
    [
      'one for another address',
      login('<input type="hidden" name="_csrf" value="no">').replace('<form', '<form action="/account/new"'),
    ],
    [
      'one in a template',
      `<script type="text/html">${login('<input type="hidden" name="_csrf" value="no">')}</script>`,
    ],
    ['one that is hidden', `<div hidden>${login('<input type="hidden" name="_csrf" value="no">')}</div>`],
    ['a new password', '<form><input type="hidden" name="_csrf" value="no"><input type="password" name="new"></form>'],
    [
      'a hidden input of its name',
      '<form><input type="hidden" name="_csrf" value="no"><input type="hidden" name="credential"></form>',
    ],
  ])('is found beside %s', (_, other) => {
    const right = login('<input type="hidden" name="_csrf" value="right">')
    expect([hidden(other + right), hidden(right + other)]).toEqual([[['_csrf', 'right']], [['_csrf', 'right']]])
  })

  it('is none where only the identity is asked for', () => {
    const page = '<form><input type="hidden" name="_phase" value="identity"><input name="identity"></form>'
    expect(findLoginForm(read(page))).toMatchObject({ asksFor: 'identity', hiddenInputs: [['_phase', 'identity']] })
    expect(findLoginForm(read('<form><input type="hidden" name="_csrf" value="1"></form>'))).toBeUndefined()
  })
})
