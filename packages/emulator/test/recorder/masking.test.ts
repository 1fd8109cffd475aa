import { describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { createMasking, type SeenRequest, type SeenResponse } from '../../src/recorder/masking.ts'
import { isPlain } from '../../src/recorder/placeholders.ts'

const masking = (): ReturnType<typeof createMasking> =>
  createMasking({ home: 'http://127.0.0.1:4000', regional: 'http://localhost:4000' })

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
  .filter((text) => !isPlain(text))

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
  const parts = (value.match(/[A-Za-z0-9]{5,}/gu) ?? []).filter((part) => !isPlain(part))
  const all = [value, escape(value), entities(value), ...written, JSON.stringify(value).slice(1, -1), ...parts]
  return all.filter((each) => each.length > 4)
}

/** What of a secret is in the record of a message that carries it, and not in that of the same message with another one. */
function leaked(record: (secret: string) => string, value: string): string[] {
  const [recorded, another] = [record(value), record('another-7Kp-secret')]
  return spellings(value).filter((each) => recorded.includes(each) && !another.includes(each))
}

describe('no secret is in a recording', () => {
  it.each(Object.entries(requests))('that a request has in %s', (_place, make) => {
    const record = (value: string): string => JSON.stringify(masking().request({ ...plainRequest, ...make(value) }))
    fc.assert(
      fc.property(secret, (value) => expect(leaked(record, value)).toEqual([])),
      { numRuns: 150 },
    )
  })

  it.each(Object.entries(answers))('that an answer has in %s', (_place, make) => {
    const record = (value: string): string => {
      const names = masking()
      const answer = names.answer({ ...plainAnswer, ...make(value) })
      return JSON.stringify([answer, names.shapes()])
    }
    fc.assert(
      fc.property(secret, (value) => expect(leaked(record, value)).toEqual([])),
      { numRuns: 150 },
    )
  })

  it('that is made of words and has no field, or a field of its own name', () => {
    const words = 'correct horse battery'
    const sent: Partial<SeenRequest>[] = [
      { headers: [['Content-Type', 'text/plain']], body: Buffer.from(words) },
      { ...json, body: Buffer.from(`{"credential": "${words}"`) },
      { ...form, body: Buffer.from(encodeURIComponent(words)) },
      { ...form, body: Buffer.from('correct') },
      { url: '/oauth2/v3/authorize?horse' },
      { headers: [['Cookie', 'horse; battery']] },
      { headers: [['Referer', 'http://127.0.0.1:4000/oauth2/v3/authorize?horse&battery=']] },
    ]
    for (const request of sent)
      expect(JSON.stringify(masking().request({ ...plainRequest, ...request }))).not.toMatch(/correct|horse|battery/u)
  })

  it('that has capitals alone and is called code, but for the word in an error', () => {
    const code = 'QWERTYUIOPASDFGH'
    const redirect = { headers: [['Location', `http://127.0.0.1:4000/void/callback?code=${code}`]] } as const
    const exchange = { ...json, body: Buffer.from(JSON.stringify({ grant_type: 'authorization_code', code })) }
    expect(JSON.stringify(masking().answer({ ...plainAnswer, ...redirect }))).not.toContain(code)
    expect(JSON.stringify(masking().request({ ...plainRequest, ...exchange }))).not.toContain(code)
  })

  it.each(['%40', '%2540', String.raw`\u0040`, String.raw`\x40`, '&#64;', '&#x40;', '&commat;'])(
    'in an e-mail address that is written with %s',
    (at) => {
      const page = `<script>var hint = "ann.smith${at}mail.example"</script><a href="/hint/ann.smith${at}mail.example">`
      const shown = masking().answer({ ...plainAnswer, ...html, body: Buffer.from(page) })
      expect(JSON.stringify(shown)).not.toMatch(/ann|smith|mail|example/u)
    },
  )

  it('in a credential that is made of words, once the client has sent it', () => {
    const names = masking()
    const credential = 'sign in again'
    const body = Buffer.from(new URLSearchParams({ credential }).toString())
    names.request({ ...plainRequest, ...form, body })
    const page = Buffer.from('<p>You typed Sign In Again, please sign in again</p>')
    const { html: lines } = names.answer({ ...plainAnswer, ...html, body: page })
    expect(lines).toEqual(['<p>You typed {{credential.1:html}}, please {{credential.1:html}}</p>'])
  })
})

/** What is shown of an answer with these headers, or this body. */
const shownHeaders = (...headers: [string, string][]): object => masking().answer({ ...plainAnswer, headers }).headers
const shownBody = (type: string, body: string): object => {
  const headers = [['Content-Type', type]] as const
  const answer = { ...plainAnswer, headers, body: Buffer.from(body) }
  const { status: _status, headers: _headers, ...shown } = masking().answer(answer)
  return shown
}

describe('of a header, the recording shows', () => {
  it.each([
    ['Accept', 'text/html', 'text/html'],
    ['Accept', 'sign s7-8tQz', 'sign {{text.1}}'],
    ['Location', 'http://127.0.0.1:4000/oauth2/v3/authorize', '{{home}}/oauth2/v3/authorize'],
    ['Location', 'https://qz7x.example/?state=a', '{{origin.1}}/?state={{state.1:url}}'],
    ['Retry-After', '12345', '12345'],
    ['Retry-After', '123456', '{{text.1}}'],
    ['Set-Cookie', 'state=secret7; Path=/; Secure; HttpOnly', 'state={{cookie.1}}; Path=/; Secure; HttpOnly'],
    ['Set-Cookie', 'state=; Path=/oauth2/v3/token; SameSite=None', 'state=; Path=/oauth2/v3/token; SameSite=None'],
    [
      'Set-Cookie',
      'state=; Path=/s7-8t; Max-Age=1234567890; Securely; SameSite=None',
      'state=; Path=/{{text.1}}; Max-Age={{text.2}}; Securely; SameSite=None',
    ],
  ])('of %s: %j the text %j', (name, value, shown) => {
    expect(shownHeaders([name, value])).toEqual({ [name.toLowerCase()]: shown })
  })

  it('nothing where a login does not depend on the header', () => {
    for (const name of ['Host', 'Date', 'ETag', 'User-Agent', 'X-Qz7x'])
      expect(shownHeaders([name, 'sign in'])).toEqual({})
    const twice = ['state=; Path=/', 'sid=; Path=/']
    expect(shownHeaders(['Set-Cookie', 'state=; Path=/'], ['Set-Cookie', 'sid=; Path=/'])).toEqual({
      'set-cookie': twice,
    })
  })
})

describe('of a body, the recording shows', () => {
  it('plain words that are no names, and numbers of two digits', () => {
    const shown = (text: string): unknown => Object(shownBody('text/plain', `${text} it`))['text'][0]
    const known = ['sign in', 'Sign in! Welcome', 'welcomeWindow', 'ungültig', 'v3', '12', '"Captcha is required"']
    expect(known.map(shown)).toEqual(known.map((text) => `${text} it`))
    const unknown = ['welcomewelcomewelcome', 'welcomeX', '123', '12x', 'word@word', 'x77', 'ann7', '"Ann"']
    expect(unknown.map(shown)).toEqual(
      unknown.map((text) => (text.startsWith('"') ? '"{{text.1}}" it' : '{{text.1}} it')),
    )
    expect(shown('Welcome, Ann Smith: your')).toBe('Welcome, {{text.1}} {{text.2}}: your it')
    const inside = '<p>Welcome back, <b>Ann</b> <i>Smith</i>!</p><p>Sign in</p>'
    expect(shownBody('text/html', inside)).toEqual({
      html: ['<p>Welcome back, <b>{{text.1:html}}</b> <i>{{text.2:html}}</i>!</p><p>Sign in</p>'],
    })
    const names = masking()
    names.request({ ...plainRequest, url: '/?login_hint=ann@mail.example' })
    const text = { ...plainAnswer, headers: [['Content-Type', 'text/plain']] as const }
    const named = names.answer({ ...text, body: Buffer.from('Welcome back, ann@mail.example Smith') })
    expect(named.text).toEqual(['Welcome back, {{login_hint.1}} {{text.1}}'])
    expect(shown('mail to user.mail@example.com')).toBe('mail to {{text.1}} it')
  })

  it('of JSON: small numbers, the numbers of fixed fields, errors’ words, true, false and null', () => {
    const fields = {
      expires_in: 123_456,
      status: 1_234_567,
      detail: [99, 100],
      code: true,
      message: null,
      error: 'invalid_grant',
    }
    expect(shownBody('application/json', JSON.stringify(fields))).toEqual({
      json: { ...fields, status: '{{status.1:number}}', detail: [99, '{{detail.1:number}}'] },
    })
  })

  it('its form, whatever its type is', () => {
    expect(shownBody('', ' <p>Sign\nin</p>')).toEqual({ html: [' <p>Sign', 'in</p>'] })
    expect(shownBody('text/html', '7')).toEqual({ json: 7 })
    expect(shownBody('application/x-www-form-urlencoded; charset=utf-8', 'scope=openid')).toEqual({
      form: { scope: 'openid' },
    })
    expect(shownBody('text/html', '')).toEqual({})
  })

  it('of a page: its markup, comments and templates too, and neither styles nor what scripts hold', () => {
    const page = `<title>Sign in Qz7xA</title><style>.qz7x{color:red}</style><script>var token = "Qz7xQz7xB";</script>
<script type="text/template"><input type="hidden" name="_csrf" value="Qz7xQz7xC"></script>
<!-- <input type="hidden" name="transaction_id" value="Qz7xQz7xD"> -->
<form action="/oauth2/v3/authorize?scope=openid" method=post><input type="submit" value="Sign in"></form>
<a href="http://127.0.0.1:4000/void/callback?code=Qz7x">Qz7xQz7xC again</a>`
    const lines = Object(shownBody('text/html', page))['html']
    expect(lines).toEqual([
      '<title>Sign in {{text.1:html}}</title><style></style><script>var token = "{{text.2}}";</script>',
      '<script type="text/template"><input type="hidden" name="_csrf" value="{{_csrf.1:html}}"></script>',
      '<!-- <input type="hidden" name="transaction_id" value="{{transaction_id.1:html}}"> -->',
      '<form action="/oauth2/v3/authorize?scope=openid" method="post"><input type="submit" value="Sign in"></form>',
      '<a href="{{home}}/void/callback?code={{code.1:url}}">{{_csrf.1:html}} again</a>',
    ])
  })

  it('of a page that nests without an end, no more than five levels', () => {
    const lines = Object(shownBody('text/html', '<script type=html><!-- '.repeat(10_000)))['html']
    expect(lines[0]).toContain('<script type="html">')
  })
})

describe('a recording', () => {
  it('calls the same value by the same name, wherever it stands', () => {
    const names = masking()
    const url = '/oauth2/v3/authorize?state=s7-8t&login_hint=Ann%40example.com'
    const request = names.request({ ...plainRequest, url })
    expect(request.query).toEqual({ state: '{{state.1}}', login_hint: '{{login_hint.1}}' })
    const body = Buffer.from('<input name="state" value="s7-8t"><p>ann@example.com</p>')
    const headers = [...html.headers, ['Location', 'http://localhost:4000/void/callback?code=c-9&state=s7-8t'] as const]
    expect(names.answer({ ...plainAnswer, headers, body })).toEqual({
      status: 200,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        location: '{{regional}}/void/callback?code={{code.1:url}}&state={{state.1:url}}',
      },
      html: ['<input name="state" value="{{state.1:html}}"><p>{{login_hint.1:html}}</p>'],
    })
  })

  it('tells which cookies came along, one or several, and of none that there was one', () => {
    const cookiesIn = (...values: readonly string[]): object | undefined =>
      masking().request({ ...plainRequest, headers: values.map((value) => ['Cookie', value] as const) }).cookies
    expect(cookiesIn()).toBeUndefined()
    expect(cookiesIn('sid=s-1')).toEqual({ sid: '{{cookie.1}}' })
    expect(Object.keys(cookiesIn('sid=s-1; csrf=o-1') ?? {})).toHaveLength(2)
  })

  it('shows the words that tell a broken login and a working one apart', () => {
    const page = `<!doctype html>
<html lang="en"><head><title>Access Denied</title></head>
<body><h1>Access denied</h1>Your browser was blocked. Reference&#32;&#35;18&#46;8f2a&#46;17
<p>Your account has been locked</p><script>var messages = {"_": ["Captcha does not match"]};</script>
<form method="post"><input type="hidden" name="_csrf" value=""><input name="identity"><input name="credential" type="password"></form>`
    const recorded = masking()
      .answer({ ...plainAnswer, ...html, body: Buffer.from(page) })
      .html?.join('\n')
    expect(recorded).toBe(page.replace('&#32;&#35;18&#46;8f2a&#46;17', ' &#x23;18.{{text.1:html}}.17'))
    const error = {
      error: { code: 'ERR_PASS_CODE_REPLAY', message: 'This passcode was used already' },
      valid: false,
      expires_in: 28800,
    }
    const shown = masking().answer({
      ...plainAnswer,
      ...json,
      body: Buffer.from(JSON.stringify(error)),
    })
    expect(shown.json).toEqual(error)
  })
})
