import { describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { maskResponse, maskRequest, type SeenResponse, type SeenRequest } from '../src/masking/exchange-mask.ts'
import type { Masking } from '../src/masking/masking.ts'
import { parseTemplate, render } from '../src/fixture/placeholders.ts'
import { createPseudonyms, type Pseudonyms } from '../src/masking/pseudonyms.ts'
import { isKnown } from '../src/masking/vocabulary.ts'

const addresses = [
  ['http://127.0.0.1:4000', 'home'],
  ['http://localhost:4000', 'regional'],
] as const

function masking(from: Masking['from'], pseudonyms: Pseudonyms = createPseudonyms()): Masking {
  return { from, pseudonyms, addresses }
}

/** What a person or a service could have made up: letters, digits and signs, and no word that a page may show. */
const secret = fc
  .oneof(
    fc.string({ minLength: 6, maxLength: 40, unit: 'grapheme-ascii' }),
    fc.stringMatching(/^[\w+/=.-]{6,60}$/u),
    fc.stringMatching(/^\d{6,9}$/u),
    fc.emailAddress(),
    fc.uuid(),
    fc.stringMatching(/^[A-Za-z0-9]{4,12} [A-Za-z0-9]{4,12}$/u),
  )
  .map((text) => `${text.trim()}x7Qz`)
  .filter((text) => !isKnown(text))

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
const entities = (text: string): string =>
  Array.from(text, (sign) => `&#x${sign.codePointAt(0)?.toString(16)};`).join('')

/** Every place that a secret may come along in. */
const requests: Readonly<Record<string, (secret: string) => Partial<SeenRequest>>> = {
  'a parameter': (value) => ({ url: `/oauth2/v3/authorize?state=${encodeURIComponent(value)}&scope=openid` }),
  'a parameter of any name': (value) => ({ url: `/oauth2/v3/authorize?x=1&foo=${encodeURIComponent(value)}` }),
  'a parameter’s name': (value) => ({ url: `/oauth2/v3/authorize?${encodeURIComponent(value)}=1` }),
  'a fixed parameter': (value) => ({
    url: `/?scope=${encodeURIComponent(value)}&client_id=${encodeURIComponent(value)}`,
  }),
  'an address in a parameter': (value) => ({
    url: `/?redirect_uri=${encodeURIComponent(`https://app.example/back?t=${encodeURIComponent(value)}`)}`,
  }),
  'a path': (value) => ({ url: `/oauth2/${encodeURIComponent(value)}/authorize` }),
  'a cookie': (value) => ({ headers: [['Cookie', `sso.sid=${encodeURIComponent(value)}; other=1`]] }),
  'an authorization': (value) => ({ headers: [['Authorization', `Bearer ${encodeURIComponent(value)}`]] }),
  'any header': (value) => ({
    headers: [
      ['X-Trace', encodeURIComponent(value)],
      ['Referer', `http://127.0.0.1:4000/?a=${encodeURIComponent(value)}`],
    ],
  }),
  'the user agent': (value) => ({ headers: [['User-Agent', `my-program/1.0 (${value})`]] }),
  'a form': (value) => ({
    ...form,
    body: Buffer.from(new URLSearchParams({ credential: value, identity: 'x' }).toString()),
  }),
  'a form’s name': (value) => ({ ...form, body: Buffer.from(new URLSearchParams({ [value]: 'x' }).toString()) }),
  JSON: (value) => ({ ...json, body: Buffer.from(JSON.stringify({ passcode: value, deep: [{ any: value }] })) }),
  'a JSON name': (value) => ({ ...json, body: Buffer.from(JSON.stringify({ [value]: 1 })) }),
  'broken JSON': (value) => ({ ...json, body: Buffer.from(`{"passcode": ${JSON.stringify(value)}, `) }),
  'a text': (value) => ({
    headers: [['Content-Type', 'text/plain']],
    body: Buffer.from(`what came was ${value}, sorry`),
  }),
}
const form = { headers: [['Content-Type', 'application/x-www-form-urlencoded']] } as const
const json = { headers: [['Content-Type', 'application/json']] } as const
const html = { headers: [['Content-Type', 'text/html; charset=utf-8']] } as const

const answers: Readonly<Record<string, (secret: string) => Partial<SeenResponse>>> = {
  'a redirect': (value) => ({
    headers: [['Location', `http://127.0.0.1:4000/void/callback?code=${encodeURIComponent(value)}`]],
  }),
  'a fragment': (value) => ({ headers: [['Location', `/x#${encodeURIComponent(value)}`]] }),
  'a set cookie': (value) => ({
    headers: [['Set-Cookie', `sid=${encodeURIComponent(value)}; Path=/${encodeURIComponent(value)}; HttpOnly`]],
  }),
  tokens: (value) => ({
    ...json,
    body: Buffer.from(JSON.stringify({ access_token: value, error: value, message: value })),
  }),
  'a number': (value) => ({ ...json, body: Buffer.from(`{"id": 9${value.replaceAll(/\D/gu, '').padStart(6, '4')}}`) }),
  'a hidden input': (value) => ({
    ...html,
    body: Buffer.from(`<form><input type=hidden name="_csrf" value="${escape(value)}"></form>`),
  }),
  'a value before its name': (value) => ({
    ...html,
    body: Buffer.from(`<input value='${escape(value)}' name=x type=hidden>`),
  }),
  'a value in entities': (value) => ({ ...html, body: Buffer.from(`<input name="_csrf" value="${entities(value)}">`) }),
  'a form’s address': (value) => ({
    ...html,
    body: Buffer.from(`<form action="/oauth2/v3/authorize?state=${escape(encodeURIComponent(value))}">`),
  }),
  'any attribute': (value) => ({
    ...html,
    body: Buffer.from(`<div data-user="${escape(value)}" class="${escape(value)}">`),
  }),
  'a template': (value) => ({
    ...html,
    body: Buffer.from(`<script type="text/html"><input name="_csrf" value="${escape(value)}"></script>`),
  }),
  'a script': (value) => ({
    ...html,
    body: Buffer.from(`<script>var user = ${JSON.stringify(value).replaceAll('<', '\\u003c')}</script>`),
  }),
  'a comment': (value) => ({
    ...html,
    body: Buffer.from(`<!-- <input name="_csrf" value="${escape(value)}"> ${entities(value)} -->`),
  }),
  'a text of a page': (value) => ({ ...html, body: Buffer.from(`<p>Welcome back, ${escape(value)}!</p>`) }),
  'a text in entities': (value) => ({
    ...html,
    body: Buffer.from(`<title>Sign in</title><p>You are ${entities(value)}</p>`),
  }),
  'a tag’s name': (value) => ({
    ...html,
    body: Buffer.from(`<a${value.replaceAll(/[\s<>/]/gu, '')}>x</p ${escape(value)}><!${escape(value)}>`),
  }),
  'a page that breaks off': (value) => ({
    ...html,
    body: Buffer.from(`<form><input name="_csrf" value="${escape(value)}`),
  }),
  'what is no page': (value) => ({ headers: [['Content-Type', 'image/png']], body: Buffer.from(`\u0000${value}`) }),
  bytes: (value) => ({ headers: [], body: Buffer.concat([Buffer.from([255, 254]), Buffer.from(value)]) }),
}

const plainRequest: SeenRequest = {
  instance: 'home',
  method: 'POST',
  url: '/oauth2/v3/authorize',
  headers: [],
  body: Buffer.alloc(0),
}
const plainAnswer: SeenResponse = { status: 200, headers: [], body: Buffer.alloc(0) }

/** How a secret could still be read. */
function spellings(value: string): string[] {
  const bytes = Buffer.from(value)
  const written = [
    bytes.toString('base64'),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    encodeURIComponent(value),
  ]
  // Nor any part of it that is no word.
  const parts = (value.match(/[A-Za-z0-9]{5,}/gu) ?? []).filter((part) => !isKnown(part))
  const all = [value, escape(value), entities(value), ...written, JSON.stringify(value).slice(1, -1), ...parts]
  return all.filter((each) => each.length > 4)
}

/** What of a secret is in the record of a message that carries it, and not in that of the same message with another one. */
function leaked(record: (secret: string) => string, value: string): string[] {
  const [recorded, another] = [record(value), record('another-7Kp-secret')]
  return spellings(value).filter((each) => recorded.includes(each) && !another.includes(each))
}

describe('no secret is in a recording', () => {
  it.each(Object.entries(requests))('that came in %s', (_place, make) => {
    const record = (value: string): string =>
      JSON.stringify(maskRequest(masking('client'), { ...plainRequest, ...make(value) }))
    fc.assert(
      fc.property(secret, (value) => expect(leaked(record, value)).toEqual([])),
      { numRuns: 150 },
    )
  })

  it.each(Object.entries(answers))('that was answered in %s', (_place, make) => {
    const record = (value: string): string => {
      const pseudonyms = createPseudonyms()
      const answer = maskResponse(masking('service', pseudonyms), { ...plainAnswer, ...make(value) })
      return JSON.stringify([answer, pseudonyms.shapes()])
    }
    fc.assert(
      fc.property(secret, (value) => expect(leaked(record, value)).toEqual([])),
      { numRuns: 150 },
    )
  })

  it('in a credential that is made of words, once the client has sent it', () => {
    const pseudonyms = createPseudonyms()
    const credential = 'sign in again'
    const body = Buffer.from(new URLSearchParams({ credential }).toString())
    maskRequest(masking('client', pseudonyms), { ...plainRequest, ...form, body })
    const page = Buffer.from('<p>You typed Sign In Again, please sign in again</p>')
    const { html: lines } = maskResponse(masking('service', pseudonyms), { ...plainAnswer, ...html, body: page })
    expect(lines).toEqual(['<p>You typed {{credential.1}}, please {{credential.1}}</p>'])
  })
})

describe('the headers of a recording', () => {
  const shown = (...headers: [string, string][]): object =>
    maskResponse(masking('service'), { ...plainAnswer, headers }).headers

  it.each(
    'Host Connection Keep-Alive Proxy-Connection Transfer-Encoding TE Trailer Upgrade Expect Content-Length Content-Encoding Date Cookie X-Owner-Sso-Emulator ETag Last-Modified Expires'.split(
      ' ',
    ),
  )('are without %s, which is of one connection or of one moment', (name) => {
    expect(shown([name, 'close'])).toEqual({})
  })

  it.each(
    'accept accept-charset accept-encoding accept-language content-type user-agent cache-control content-language pragma vary retry-after www-authenticate x-frame-options'.split(
      ' ',
    ),
  )('show %s as far as it is made of known words', (name) => {
    expect(shown([name, 'sign in'])).toEqual({ [name]: 'sign in' })
    expect(shown([name, 'sign s7-8tQz'])).toEqual({ [name]: 'sign {{text.1}}' })
  })

  it.each(['location', 'origin', 'referer', 'content-location'])('show where %s leads', (name) => {
    expect(shown([name, 'http://127.0.0.1:4000/oauth2/v3/authorize'])).toEqual({
      [name]: '{{home}}/oauth2/v3/authorize',
    })
  })

  it('show no other', () => {
    expect(JSON.stringify(shown(['x-trace', 'sign in']))).not.toContain('sign in')
  })

  it.each([
    ['12345', true],
    ['123456', false],
    ['x12', false],
    ['12x7', false],
  ])('show a Retry-After of %s: %s', (value, isShown) => {
    expect(shown(['Retry-After', value])).toEqual({ 'retry-after': isShown ? value : '{{text.1}}' })
  })

  it.each([
    ['Path=/', true],
    ['path=/oauth2/v3/authorize', true],
    ['Path=/oauth2/token', true],
    ['Path=/s7-8t', false],
    ['xPath=/', false],
    ['Max-Age=-123456789', true],
    ['Max-Age=1234567890', false],
    ['Max-Age=', false],
    ['Expires=Wed, 21 Oct 2026 07:28:00 GMT', true],
    ['Expires=Wed, 21 Oct 2026 07:28:00 GMT s7', false],
    ['HttpOnly', true],
    ['Secure', true],
    ['Securely', false],
    ['Partitioned', true],
    ['SameSite=None', true],
    ['SameSite=Nones', false],
  ])('show a cookie’s %s: %s', (attribute, isShown) => {
    expect(shown(['Set-Cookie', `a=;${attribute}`])).toEqual({ 'set-cookie': isShown ? `a=; ${attribute}` : 'a=' })
  })
})

describe('a recording', () => {
  it('calls the same value by the same name, wherever it stands', () => {
    const pseudonyms = createPseudonyms()
    const url = '/oauth2/v3/authorize?state=s7-8t&login_hint=Ann%40example.com'
    const request = maskRequest(masking('client', pseudonyms), { ...plainRequest, url })
    expect(request.query).toEqual({ state: '{{state.1}}', login_hint: '{{identity.1}}' })
    const body = Buffer.from('<input name="state" value="s7-8t"><p>ann@example.com</p>')
    const headers = [...html.headers, ['Location', 'http://localhost:4000/void/callback?code=c-9&state=s7-8t'] as const]
    expect(maskResponse(masking('service', pseudonyms), { ...plainAnswer, headers, body })).toEqual({
      status: 200,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        location: '{{regional}}/void/callback?code={{code.1:url}}&state={{state.1:url}}',
      },
      html: ['<input name="state" value="{{state.1}}"><p>{{identity.1}}</p>'],
    })
  })

  it('tells which cookies came along, one or several, and of none that there was one', () => {
    const cookiesIn = (...values: readonly string[]): object | undefined =>
      maskRequest(masking('client'), { ...plainRequest, headers: values.map((value) => ['Cookie', value] as const) })
        .cookies
    expect(cookiesIn()).toBeUndefined()
    expect(cookiesIn('sid=s-1')).toEqual({ sid: '{{cookie.sid.1}}' })
    expect(Object.keys(cookiesIn('sid=s-1; csrf=o-1') ?? {})).toHaveLength(2)
  })

  it('shows what tells a broken login from a working one', () => {
    const page = `<!doctype html>
<html lang="en"><head><title>Access Denied</title></head>
<body><h1>Access Denied</h1>You don&#39;t have permission to access this server. Reference&#32;&#35;18&#46;8f2a&#46;17
<p>Your account has been locked</p><script>var messages = {"_": ["Captcha does not match"]};</script>
<form method="post"><input type="hidden" name="_csrf" value=""><input name="identity"><input name="credential" type="password"></form>`
    const recorded = maskResponse(masking('service'), { ...plainAnswer, ...html, body: Buffer.from(page) }).html?.join(
      '\n',
    )
    expect(recorded).toBe(page.replace('8f2a&#46;17', '{{text.1:html}}'))
    const error = {
      error: { code: 'ERR_PASS_CODE_REPLAY', message: 'This passcode was used already' },
      valid: false,
      expires_in: 28800,
    }
    const shown = maskResponse(masking('service'), {
      ...plainAnswer,
      ...json,
      body: Buffer.from(JSON.stringify(error)),
    })
    expect(shown.json).toEqual(error)
  })

  it('leaves the markup of a page as it is, and its values can be put back', () => {
    const word = fc.constantFrom('sign in', 'Ann', 'x81-Q', '{{name}}', '{', 'd&e', "o'clock", '<', '"', 'locked', 'ü')
    const tag = fc.constantFrom('p', 'div', 'input', 'form', 'title', 'span', 'textarea')
    const node = fc
      .tuple(tag, fc.array(word), fc.array(word), fc.boolean())
      .map(
        ([name, value, text, encode]) =>
          `<${name} class="a" value="${(encode ? entities : escape)(value.join(' '))}">${escape(text.join(' '))}</${name}>\n`,
      )
    fc.assert(
      fc.property(fc.array(node), (nodes) => {
        const source = `<!doctype html>${nodes.join('')}`
        const values = new Map<string, string>()
        const pseudonyms = createPseudonyms()
        const spy: Pseudonyms = {
          ...pseudonyms,
          nameOf(field, value, from) {
            const name = pseudonyms.nameOf(field, value, from)
            values.set(name, value)
            return name
          },
        }
        const { html: lines = [] } = maskResponse(masking('service', spy), {
          ...plainAnswer,
          ...html,
          body: Buffer.from(source),
        })
        const restored = render(parseTemplate(lines.join('\n')), (name) => values.get(name) ?? `no ${name}`)
        expect(decoded(restored)).toBe(decoded(source))
      }),
    )
  })
})

function decoded(page: string): string {
  const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' }
  return page.replaceAll(
    /&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gu,
    (_all, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return named[name] ?? ''
      return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16))
    },
  )
}
