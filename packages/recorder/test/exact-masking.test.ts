/** Each limit at it and one beyond it: what a recording shows. */
import { describe, expect, it } from '@jest/globals'
import { maskResponse, type SeenResponse } from '../src/masking/exchange-mask.ts'
import { type Json, maskAddress, maskJson, maskParameters, maskValue } from '../src/masking/field-masks.ts'
import { maskHtml } from '../src/masking/html-mask.ts'
import { finished, type Masking } from '../src/masking/masking.ts'
import { maskProgram, maskText } from '../src/masking/text-mask.ts'
import { createPseudonyms } from '../src/masking/pseudonyms.ts'

const masking = (): Masking => ({ from: 'service', pseudonyms: createPseudonyms(), addresses: [] })

describe('what a recording shows of a field', () => {
  it.each([
    ['expires_in', '1', '1'],
    ['expires_in', '123456', '123456'],
    ['expires_in', '1234567', '{{expires_in.1}}'],
    ['expires_in', 'x123456', '{{expires_in.1}}'],
    ['expires_in', '123456x', '{{expires_in.1}}'],
    ['count', '12', '{{value.1}}'],
    ['code', 'ABC', '{{text.1}}'],
    ['code', 'A', '{{code.1}}'],
    ['code', 'AB_', '{{text.1}}'],
    ['code', 'ERROR', 'ERROR'],
    ['code', 'aERROR', '{{code.1}}'],
    ['code', 'ERRORa', '{{code.1}}'],
    ['code', '_ERROR', '{{code.1}}'],
    ['token_type', 'Bearer', 'Bearer'],
    ['token_type', 'Qz7x', '{{token_type.1}}'],
    ['state', '', ''],
    ['state', 'Bearer', '{{state.1}}'],
    ['state', 'xhttps://', '{{state.1}}'],
    ['state', 'xhttps://a', '{{state.1}}'],
    ['state', 'https://a', '{{origin.1}}'],
    ['message', 'Sign in Qz7x', 'Sign in {{text.1}}'],
    ['state', 'https://a b', '{{state.1}}'],
  ])('%s: %j is %j', (field, value, shown) => {
    expect(finished(maskValue(masking(), field, value))).toBe(shown)
  })

  it('as JSON: small numbers, the numbers of known fields, true, false and null', () => {
    const json = {
      expires_in: 123_456,
      status: 1_234_567,
      detail: [99, 100, 1.5, -1],
      code: true,
      message: null,
      page: {},
    }
    const shown: Json = maskJson(masking(), json)
    expect(shown).toEqual({
      expires_in: 123_456,
      status: '{{status.1:number}}',
      detail: [99, '{{detail.1:number}}', '{{detail.2:number}}', '{{detail.3:number}}'],
      code: true,
      message: null,
      page: {},
    })
  })

  it.each([
    ['Retry-After', '12345', '12345'],
    ['Retry-After', '123456', '{{text.1}}'],
    ['Retry-After', 'x1', '{{text.1}}'],
    ['Retry-After', '1x', '{{text.1}}'],
    ['Set-Cookie', 'state=secret7; Path=/; secure ; HttpOnly', 'state={{cookie.state.1}}; Path=/; secure; HttpOnly'],
    ['Set-Cookie', 'state=; Max-Age=-1; Max-Age=1234567890', 'state=; Max-Age=-1'],
    ['Set-Cookie', 'state=; xsecure; securex; SameSite=Laxer; Path=/oauth2/v3/token', 'state=; Path=/oauth2/v3/token'],
    ['Set-Cookie', 'state=; Expires=Thu, 01 Jan 1970 00:00:00 GMT', 'state=; Expires=Thu, 01 Jan 1970 00:00:00 GMT'],
    ['Set-Cookie', 'state=; Expires=Thu, 01 Jan 1970 00:00:00 GMT+1; Path=/secret', 'state='],
  ])('the header %s: %j is %j', (name, value, shown) => {
    const { headers } = maskResponse(masking(), { status: 200, headers: [[name, value]], body: Buffer.alloc(0) })
    expect(Object.values(headers)).toEqual([shown])
  })

  it('a header that comes twice: both; one that nobody knows: that it came', () => {
    const sent = ['Accept', 'Origin'].map((value) => ['Vary', value] as const)
    const shown = (headers: SeenResponse['headers']) =>
      maskResponse(masking(), { status: 200, headers, body: Buffer.alloc(0) }).headers
    expect(shown(sent)).toEqual({ vary: ['Accept', 'Origin'] })
    expect(shown([['X-Qz7x', 'Qz8x']])).toEqual({ '{{name.1}}': '{{header.1}}' })
  })
})

describe('what a recording shows of a text', () => {
  const addresses = [
    ['https://auth.example', 'home'],
    ['https://auth.example.com', 'regional'],
  ] as const
  const shown = (text: string, ...known: readonly string[]): string => {
    const masked = { ...masking(), addresses }
    for (const value of known) masked.pseudonyms.nameOf('state', value, 'service')
    return finished(maskText(masked, text))
  }

  it('of two known values that overlap, the longer one alone', () => {
    expect(shown('at https://auth.example.com/ and https://auth.example/')).toBe('at {{regional}}/ and {{home}}/')
    expect(shown('qz7xqz7xqz', 'qz7xqz7x', 'qz7xqz')).toBe('{{state.1}}{{text.1}}')
    expect(shown('qz7xqz7xqz', 'qz7xqz')).toBe('{{state.1}}{{text.1}}')
    expect(shown('abcdefqqqqqqqz7x', 'abcdefq', 'qqqqqq')).toBe('{{state.1}}{{state.2}}{{text.1}}')
  })

  it('each known value next to another, in whatever letters', () => {
    expect(shown('QZ7XQZab7xab', 'qz7xqz', 'ab7xab')).toBe('{{state.1}}{{state.2}}')
    expect(shown('QZ7XQZab7xabz9', 'qz7xqz', 'ab7xab')).toBe('{{state.1}}{{state.2}}{{text.1}}')
    expect(shown('z9ab7xabQZ7XQZ', 'qz7xqz', 'ab7xab')).toBe('{{text.1}}{{state.2}}{{state.1}}')
    expect(shown('ab7xab then QZ7XQZ', 'qz7xqz', 'ab7xab')).toBe('{{state.2}} then {{state.1}}')
    // Two letters whose small forms are three.
    expect(shown('İİ sign https://auth.example in')).toBe('{{text.1}} sign {{home}} in')
  })

  it('a program of more than 20000 characters is one value', () => {
    const [short, long] = [20_000, 20_001].map((length) =>
      finished(maskProgram(masking(), 'the '.repeat(5001).slice(0, length))),
    )
    expect([short?.startsWith('the the'), long]).toEqual([true, '{{script.1}}'])
  })
})

it('a body is shown in the form that fits it', () => {
  const shown = (type: string, body: Buffer | string) => {
    const {
      headers: _,
      status: _status,
      ...rest
    } = maskResponse(masking(), {
      status: 200,
      headers: type === '' ? [] : [['Content-Type', type]],
      body: Buffer.from(body),
    })
    return rest
  }
  expect(shown('text/html', '')).toEqual({})
  expect(shown('text/html', 'Sign in')).toEqual({ html: ['Sign in'] })
  expect(shown('', ' <p>Sign\nin</p>')).toEqual({ html: [' <p>Sign', 'in</p>'] })
  expect(shown('text/plain', 'Sign <in')).toEqual({ text: ['Sign <in'] })
  expect(shown('text/html', '7')).toEqual({ json: 7 })
  expect(shown('application/json', '[true]')).toEqual({ json: [true] })
  expect(shown('application/X-www-form-urlencoded; charset=utf-8', 'scope=openid')).toEqual({
    form: { scope: 'openid' },
  })
  expect(shown('image/png', Buffer.from([0xff]))).toEqual({ text: ['{{body.1}}'] })
})

it('a placeholder has the name of its field up to sixty characters of known words', () => {
  const [sixty, more] = [`${'state_'.repeat(9)}openid`, `${'state_'.repeat(9)}session`]
  expect([sixty.length, more.length]).toEqual([60, 61])
  expect(finished(maskValue(masking(), sixty, 'Qz7x'))).toBe(`{{${sixty}.1}}`)
  expect(finished(maskValue(masking(), more, 'Qz7x'))).toBe('{{value.1}}')
})

it('of a page’s style nothing is shown, of a script no text', () => {
  const page = '<p>Sign in</p><style>body { color: red }</style><script>var a = "qz7x"</script>'
  const { html } = maskResponse(masking(), {
    status: 200,
    headers: [['content-type', 'text/html']],
    body: Buffer.from(page),
  })
  expect(html?.join('')).toMatch(/^<p>Sign in<\/p><style>\{\{style\.1\}\}<\/style><script>.*<\/script>$/u)
  expect(html?.join('')).not.toContain('qz7x')
})

describe('what a recording shows of a page', () => {
  const page = `<!DOCTYPE html><html><head><title>Sign in Qz7xA</title><style>.qz7x{color:red}</style>
<script>var token = "Qz7xQz7xB";</script>
<script type="text/template"><input type="hidden" name="_csrf" value="Qz7xQz7xC"><p>Sign in</p></script>
<script TYPE="text/x-html"><b id="Qz7xT">Sign in</b></script>
<!-- <input type="hidden" name="transaction_id" value="Qz7xQz7xD"> -->
</head><body class="Qz7xE">
<form id="form" action="/oauth2/v3/authorize?state=Qz7xQz7xF&amp;scope=openid#Qz7xG" method=post>
<input type=hidden name=state value=Qz7xQz7xH>
<input TYPE="Submit" value="Sign in"><input type="button" value="Continue Qz7xI"><input type="reset" value="Sign in">
<input type="text" value="Sign in"><input value = "Qz7xQz7xK" ><input value="">
<input name="identity" value='ann&amp;bob@example.com' disabled>
<button name="Qz7xL" value="Sign in" formaction="https://auth.example.com/a?code=Qz7xN">Sign in</button>
<label for="identity" form="Qz7xU">Email &amp; Qz7x&#33;Qz</label>&lt;Sign&gt;
<a href="http://127.0.0.1:4000/void/callback?code=Qz&amp;x">Qz7xQz7xH again, {{braces}}</a>
<![CDATA[ Qz7xP ]]><?php Qz7xQ ?>
<img src="/static/Qz7xR.png" alt="Qz7xV"/><br
tail Qz7xS`

  it('is what the last release wrote: a change of it is one for who has recordings', () => {
    const pseudonyms = createPseudonyms()
    const addresses = [['http://127.0.0.1:4000', 'home']] as const
    const shown = finished(maskHtml({ from: 'service', pseudonyms, addresses }, page))
    expect([...shown.split('\n'), pseudonyms.shapes()]).toMatchSnapshot()
    expect(shown).not.toMatch(/qz7x/iu)
  })

  it('is numbered in its order, a comment as a page of its own', () => {
    const shown = (source: string): string => finished(maskHtml(masking(), source))
    expect(shown('<p>Qz7xA<!-- Qz7xB --></p>')).toBe('<p>{{text.1}}<!-- {{text.2}} --></p>')
    expect(shown('<!-- <input name="state" value="Bearer"> -->')).toBe(
      '<!-- <input name="state" value="{{state.1}}"> -->',
    )
    expect(shown('sign <style>a</style>')).toBe('sign <style>{{style.1}}</style>')
    // Two characters of one entity, an end that never comes, a value that is none.
    for (const broken of ['&acE;', '&NotEqualTilde;', '><p/', '<p\nform/</script>']) expect(shown(broken)).toBe(broken)
    const spaced = `<input name="state" value${' '.repeat(300)}= "Qz7xQz7x">`
    expect(shown(spaced)).toBe(spaced.replace('Qz7xQz7x', '{{state.1}}'))
    expect(shown('<label for="Qz7x">')).toBe('<label for="{{name.1}}">')
    expect(shown('<p>Qz7x&lt;&gt;Qz8x&amp;&amp;ł!</p>')).toBe('<p>{{text.1}}&lt;&gt;{{text.2:html}}!</p>')
  })

  it('is read five deep: what a comment or a template holds beyond that is text', () => {
    const input = '<input name="state" value="Qz7xQz7x">'
    const shown = (source: string, depth: number): string => finished(maskHtml(masking(), source, depth))
    const places = [`<!--${input}-->`, `<script type="text/html">${input}</script>`]
    expect(places.map((place) => shown(place, 3))).toEqual(
      places.map((place) => place.replace('Qz7xQz7x', '{{state.1}}')),
    )
    expect(places.map((place) => shown(place, 4))).toEqual(
      places.map((place) => place.replace('Qz7xQz7x', '{{text.1}}')),
    )
    // What is never closed can be nested at will.
    const nested = `${'<script type=html><!-- '.repeat(2)}${input}`
    const deeper = `${'<script type=html><!-- '.repeat(2)}<script type=html>${input}`
    const whole = (source: string): string => finished(maskHtml(masking(), source))
    expect(whole(nested)).toBe(nested.replace('Qz7xQz7x', '{{state.1}}'))
    expect(whole(deeper)).toBe(deeper.replace('Qz7xQz7x', '{{text.1}}'))
    expect(whole('<script type=html><!-- '.repeat(10_000))).toContain('<script type=html>')
  })
})

it('of an address only what is known is shown, part by part', () => {
  const addresses = [['http://127.0.0.1:4000', 'home']] as const
  const shown = (address: string): string => finished(maskAddress({ ...masking(), addresses }, address))
  expect(
    [
      'http://127.0.0.1:4000/oauth2/v3/authorize?state=a%20b&scope=openid&state&=x#Sign',
      'HTTP://127.0.0.1:4000',
      '//qz7x.example/qz7x/token?',
      'x//qz7x.example?a=b=c',
      '/?message=Sign%20in%20Qz7x&message=Sign+in&message=Sign',
      '/a\n?b#c?d',
      '',
    ].map(shown),
  ).toMatchSnapshot()
  expect(shown('/?message=Sign,in&qz7x=qz8x')).toBe('/?message=Sign,in&{{name.1}}={{value.1:url}}')
})

it('parameters that repeat are shown with all their values', () => {
  const shown = maskParameters(
    masking(),
    new URLSearchParams('scope=openid&state=a&state=b&scope=openid&scope=openid&qz7x=1'),
  )
  expect(shown).toEqual({
    scope: ['openid', 'openid', 'openid'],
    state: ['{{state.1}}', '{{state.2}}'],
    '{{name.1}}': '{{value.1}}',
  })
})
