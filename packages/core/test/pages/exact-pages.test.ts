/** Each limit at it and one beyond it, in what reads pages. */
import { describe, expect, it } from '@jest/globals'
import { readHtmlPage } from '../../src/pages/html-page.ts'
import { findLoginForm } from '../../src/pages/login-form.ts'
import { loginRefusal } from '../../src/pages/login-refusal.ts'
import { MarkupBudget } from '../../src/pages/markup-budget.ts'
import { readPasscodePage, verificationOf } from '../../src/pages/passcode-page.ts'
import { scriptLiterals } from '../../src/pages/script-literals.ts'
import { quotedNames, quotedWords } from '@owner-sso/token-manager/support'

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
    expect(affords(new MarkupBudget(), `<b></b>${'<b>'.repeat(257)}`)).toBe(false)
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
  const named = ['x = { "abc": "one", \'abc\' : "two" }; window["abc"] = "three"; abc = other = "none"']
  expect(scriptLiterals(named, (name) => name === 'abc')).toEqual(['one', 'two', 'three'])
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

  it('is a refusal by the messages of its script alone', () => {
    const code = (html: string): string =>
      loginRefusal({ status: 200, page: read(html), saidBefore: [], secrets: [] }, {}).code
    for (const before of ['', 'var ', 'a();\n'])
      expect(code(`<script>${before}messages = ["your account is locked"]</script>`)).toBe('ERR_SSO_ACCOUNT_LOCKED')
    expect(code('<script>text = ["your account is locked"]</script>')).toBe('ERR_SSO_UNEXPECTED_RESPONSE')
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
