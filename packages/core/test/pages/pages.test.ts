import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { parseDocument } from 'htmlparser2'
import { isFirewallChallenge } from '../../src/pages/firewall-challenge.ts'
import { readHtmlPage } from '../../src/pages/html-page.ts'
import type { HtmlPage } from '../../src/pages/html-page.ts'
import { findLoginForm, hiddenInput } from '../../src/pages/login-form.ts'
import { loginRefusal } from '../../src/pages/login-refusal.ts'
import { filledTo, heavyPages, hostilePieces, longSearches, refusedPages } from './killer-pages.ts'
import { challengePages, servicePages } from './page-corpus.ts'
import { runs } from '../runs.ts'

function read(html: string): HtmlPage {
  const page = readHtmlPage(html)
  if (page === 'beyond limits') throw new Error('beyond limits')
  return page
}

const login = (inputs: string): string =>
  `<form method="post">${inputs}<input name="identity"><input type="password" name="credential"></form>`
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
    if (result !== 'beyond limits') loginRefusal(200, result, {})
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
    loginRefusal(200, result, {})
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
    fc.string({ unit: 'binary', maxLength: 20 }),
  )
  it('without throwing', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const page = readHtmlPage(pieces.join(''))
        if (page === 'beyond limits') return
        findLoginForm(page)
        isFirewallChallenge(200, page)
        loginRefusal(200, page, { step: 'form-submission' })
      }),
      { numRuns: runs(500) },
    )
  })
})

describe('why a submitted form came back', () => {
  const refusal = (html: string, status = 200): string => loginRefusal(status, read(html), {}).code
  const allMessages =
    '<script>var messages = {"a":"Captcha does not match","b":"Your account has been locked","c":"We could not sign you in"}</script>'

  it.each([
    ['ERR_SSO_INVALID_CREDENTIALS', login('')],
    ['ERR_SSO_INVALID_CREDENTIALS', `${allMessages}<p>We could not sign you in</p>${login('')}`],
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
    ['ERR_SSO_INVALID_CREDENTIALS', `<footer>This site is protected by reCAPTCHA</footer>${login('')}`],
    ['ERR_SSO_UNEXPECTED_RESPONSE', '<p>Something else</p>'],
  ])('%s', (code, html) => {
    expect(refusal(html)).toBe(code)
  })

  it('is the credentials where a 401 says nothing more', () => {
    expect(refusal('<p>Unauthorized</p>', 401)).toBe('ERR_SSO_INVALID_CREDENTIALS')
    expect(loginRefusal(401, undefined, {}).code).toBe('ERR_SSO_INVALID_CREDENTIALS')
  })
})
