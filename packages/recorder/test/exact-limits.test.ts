/** Each limit at it and one beyond it, and what is taken only as a whole with a bad head and a bad tail. */
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import * as consumers from 'node:stream/consumers'
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { runRecorder } from '../src/command.ts'
import { type Fixture, type RecordedRequest, writeFixture } from '../src/fixture/fixture.ts'
import { checkFixture, format } from '../src/fixture/fixture-checks.ts'
import {
  onlyPlaceholder,
  parseTemplate,
  placeholder,
  placeholderName,
  render,
  spell,
} from '../src/fixture/placeholders.ts'
import { listenOnLoopback } from '../src/listener.ts'
import { ownAddresses } from '../src/loopback.ts'
import { maskResponse, type SeenResponse } from '../src/masking/exchange-mask.ts'
import { type Json, maskAddress, maskJson, maskParameters, maskValue } from '../src/masking/field-masks.ts'
import { maskHtml } from '../src/masking/html-mask.ts'
import { finished, type Masking } from '../src/masking/masking.ts'
import { maskProgram, maskText } from '../src/masking/text-mask.ts'
import { createPseudonyms } from '../src/masking/pseudonyms.ts'
import { baseAddress, swapped } from '../src/recorder/addresses.ts'
import { clientResponse, swappedBody } from '../src/recorder/client-response.ts'
import { startReplay, type Replay } from '../src/replay/replay.ts'
import { type ArrivedRequest, differences } from '../src/replay/comparison.ts'
import { type Bindings, fits } from '../src/replay/template-match.ts'
import { startRecorder } from '../src/recorder/recorder.ts'
import { startResponseLimit } from '../src/recorder/response-limit.ts'
import { createUpstream, headerPairs } from '../src/recorder/upstream.ts'
import { transportFromText, upstreamTls } from '../src/recorder/upstream-tls.ts'

const masking = (): Masking => ({ from: 'service', pseudonyms: createPseudonyms(), addresses: [] })

/** What it comes to; the name of the error where it throws one. */
function outcomeOf(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    return error instanceof Error && error.name
  }
}

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

describe('a placeholder', () => {
  it('has a name of 80 characters at the most', () => {
    const longest = `_${'x'.repeat(79)}`
    expect(parseTemplate(`{{${longest}}}`)).toEqual([{ name: longest, spellings: [] }])
    for (const text of [`{{${longest}x}}`, '{{1a}}', '{{}}', '{{a b}}', '{a}', '{{a:B}}'])
      expect(parseTemplate(text)).toEqual([text])
    expect(parseTemplate('a{{b:url:html}}{{open}}c')).toEqual([
      'a',
      { name: 'b', spellings: ['url', 'html'] },
      '{{',
      'c',
    ])
    expect(() => parseTemplate('{{a:other}}')).toThrow(SyntaxError)
  })

  it('is spelled as where it stands, the first spelling first', () => {
    expect(render(parseTemplate('x={{a}}&y={{a:html:url}}'), () => '<&')).toBe('x=<&&y=%26lt%3B%26amp%3B')
    expect([spell('ä', 'url'), spell('"', 'html'), spell('7', 'number')]).toEqual(['%C3%A4', '&quot;', '7'])
    expect(placeholder('a', 'url', 'number')).toBe('{{a:url:number}}')
  })

  it('may be a text alone', () => {
    expect(onlyPlaceholder('{{a:url}}')).toEqual({ name: 'a', spellings: ['url'] })
    for (const text of ['a', '', '{{a}} ', ' {{a}}', '{{a}}{{b}}', '{{open}}'])
      expect(onlyPlaceholder(text)).toBeUndefined()
  })
})

describe('a fixture', () => {
  const request = { instance: 'home', method: 'GET', path: '/', headers: {} }
  const answer = { status: 200, headers: {} }
  const whole = { format, version: 1, placeholders: { a: { length: 1, signs: '' } }, exchanges: [{ request, answer }] }
  const withRequest = (more: object) => ({ ...whole, exchanges: [{ request: { ...request, ...more }, answer }] })
  const withAnswer = (more: unknown) => ({
    ...whole,
    exchanges: [{ request, answer: typeof more === 'object' ? { ...answer, ...more } : more }],
  })

  it.each<[object]>([
    [whole],
    [withAnswer('cut')],
    [withAnswer('none')],
    [withAnswer({ status: 599, json: { a: [1, null, 'x', { b: true }] } })],
    [withAnswer({ html: ['x'], text: [] })],
    [withRequest({ instance: 'regional', query: { a: ['1', '2'] }, cookies: {}, form: { a: '' } })],
  ])('is one: %j', (fixture) => {
    expect(checkFixture(fixture)).toBeUndefined()
  })

  it.each<[string, unknown]>([
    ['it must be an object', []],
    ['it must be an object', null],
    ['format must be', { ...whole, format: 'x' }],
    ['version must be 1', { ...whole, version: 2 }],
    ['placeholders must be an object', { ...whole, placeholders: undefined }],
    ['placeholders.a must have', { ...whole, placeholders: { a: { length: 0.5, signs: '' } } }],
    ['placeholders.a must have', { ...whole, placeholders: { a: { length: 1 } } }],
    ['placeholders.a must have', { ...whole, placeholders: { a: null } }],
    ['exchanges must be a list', { ...whole, exchanges: {} }],
    ['exchanges is empty', { ...whole, exchanges: [] }],
    ['exchanges[0] must be an object', { ...whole, exchanges: [null] }],
    ['exchanges[0].more is unknown', { ...whole, exchanges: [{ request, answer, more: 1 }] }],
    ['exchanges[0].request must be an object', { ...whole, exchanges: [{ answer }] }],
    ['exchanges[0].request.instance must be home or regional', withRequest({ instance: 'other' })],
    ['exchanges[0].request.method must be text', withRequest({ method: 1 })],
    ['exchanges[0].request.path must be text', withRequest({ path: undefined })],
    ['exchanges[0].request.path: ', withRequest({ path: '{{a:other}}' })],
    ['exchanges[0].request.query must be an object', withRequest({ query: [] })],
    ['exchanges[0].request.query.a must be text', withRequest({ query: { a: 1 } })],
    ['exchanges[0].request.query.a[1] must be text', withRequest({ query: { a: ['1', 2] } })],
    ['exchanges[0].request.cookies must be an object', withRequest({ cookies: 1 })],
    ['exchanges[0].request.headers must be an object', withRequest({ headers: undefined })],
    ['exchanges[0].request.headers: ', withRequest({ headers: { '{{a:other}}': '1' } })],
    ['exchanges[0].request.form must be an object', withRequest({ form: 'a=1' })],
    ['exchanges[0].request.toString is unknown', withRequest({ toString: 'x' })],
    ['exchanges[0].answer must be an object', withAnswer('lost')],
    ['exchanges[0].answer.status must be', withAnswer({ status: 199 })],
    ['exchanges[0].answer.status must be', withAnswer({ status: 600 })],
    ['exchanges[0].answer.status must be', withAnswer({ status: 200.5 })],
    ['exchanges[0].answer.status must be', withAnswer({ status: '200' })],
    ['exchanges[0].answer.json.a[0]: ', withAnswer({ json: { a: ['{{a:other}}'] } })],
    ['exchanges[0].answer.html must be a list', withAnswer({ html: 'x' })],
    ['exchanges[0].answer.text[0] must be text', withAnswer({ text: [1] })],
  ])('is none: %s', (problem, fixture) => {
    expect(checkFixture(fixture)).toContain(problem)
  })
})

it.each([
  ['https://auth.example.com', 'https://auth.example.com'],
  ['https://auth.example.com//', 'https://auth.example.com'],
  ['http://localhost:1/', 'http://localhost:1'],
  ['http://127.1.2.3', 'http://127.1.2.3'],
  ['http://[::1]/', 'http://[::1]'],
  ['http://auth.example.com', undefined],
  ['http://xlocalhost', undefined],
  ['http://localhostx', undefined],
  ['ftp://localhost', undefined],
  ['https://ann@auth.example.com', undefined],
  ['https://auth.example.com/?a', undefined],
  ['https://auth.example.com/#a', undefined],
  ['auth.example.com', undefined],
])('the service may be at %s: %s', (address, base) => {
  const found = outcomeOf(() => baseAddress('upstream', address))
  expect(found).toBe(base ?? 'TypeError')
})

it('an address is put in another’s place in each spelling, and no longer one', () => {
  const to = [['http://127.0.0.1:4000', 'https://auth.example.com']] as const
  expect(swapped('http://127.0.0.1:4000/a', to)).toBe('https://auth.example.com/a')
  expect(swapped('http%3A%2F%2F127.0.0.1%3A4000', to)).toBe('https%3A%2F%2Fauth.example.com')
  expect(swapped(String.raw`http:\/\/127.0.0.1:4000`, to)).toBe(String.raw`https:\/\/auth.example.com`)
  for (const other of ['http://127.0.0.1:40001', 'http://127x0.0.1:4000']) expect(swapped(other, to)).toBe(other)
  const bytes = Buffer.from([0xff, 0x68])
  expect(swappedBody(bytes, to)).toBe(bytes)
})

it.each([
  ['a=b; Domain=x; Secure; Partitioned; SameSite=None; Path=/', 'a=b; Path=/'],
  ['a=b; SameSite=Lax; Secured; xdomain=1; partitioned=1', 'a=b; SameSite=Lax; Secured; xdomain=1; partitioned=1'],
  [' __host-a=b; Domain=x; Secure; SameSite=None', ' __host-a=b; Secure; SameSite=None'],
  ['__Secure-a=b;domain =x;Secure', '__Secure-a=b;Secure'],
  ['x__Host-a=b; Secure', 'x__Host-a=b'],
  ['__Host-a=b; xdomain=1; domain', '__Host-a=b; xdomain=1; domain'],
])('a cookie %j reaches the client as %j', (value, shown) => {
  const answer = { status: 200, headers: [['Set-Cookie', value]] as const, body: Buffer.alloc(0) }
  expect(clientResponse(answer, [], new Set()).headers).toEqual([['Set-Cookie', shown]])
})

it('a redirect to an address of the client’s own stays there, its query aside', () => {
  const swaps = [['http://127.0.0.1:4000', 'https://auth.example.com']] as const
  const location = 'https://auth.example.com/void?issuer=https%3A%2F%2Fauth.example.com'
  const redirect = (name: string, foreign: readonly string[]) =>
    clientResponse({ status: 302, headers: [[name, location]], body: Buffer.alloc(0) }, swaps, new Set(foreign)).headers
  const issuer = 'issuer=http%3A%2F%2F127.0.0.1%3A4000'
  expect(redirect('Location', [])).toEqual([['Location', `http://127.0.0.1:4000/void?${issuer}`]])
  expect(redirect('location', ['https://auth.example.com/void'])).toEqual([
    ['location', `https://auth.example.com/void?${issuer}`],
  ])
  expect(redirect('x-other', ['https://auth.example.com/void'])).toEqual([
    ['x-other', `http://127.0.0.1:4000/void?${issuer}`],
  ])
})

it('the two instances are two names of one port', () => {
  const { addresses, instanceOf } = ownAddresses(4000)
  expect(addresses).toEqual({ home: 'http://127.0.0.1:4000', regional: 'http://localhost:4000' })
  const hosts = ['127.0.0.1:4000', 'LOCALHOST:4000', 'localhost', 'localhost:40001', undefined]
  expect(hosts.map((host) => instanceOf({ headers: { host } } as never))).toEqual([
    'home',
    'regional',
    ...Array<undefined>(3),
  ])
})

describe('how the service is spoken to', () => {
  const only = (version: string) => ({ minVersion: version, maxVersion: version })
  it.each<[unknown, object | undefined]>([
    [undefined, only('TLSv1.2')],
    ['document', only('TLSv1.2')],
    ['modern', only('TLSv1.3')],
    [{ tls: { maxVersion: 'TLSv1.3' } }, { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' }],
    [{ tls: { ciphers: 'X' } }, { ...only('TLSv1.2'), ciphers: 'X' }],
    [{}, only('TLSv1.2')],
    [{ tls: { minVersion: 'TLSv1.3' } }, undefined],
    [{ tls: { maxVersion: 'TLSv1.1', minVersion: 'TLSv1.1' } }, undefined],
    [{ tls: { ciphers: 1 } }, undefined],
    [{ tls: null }, undefined],
    ['other', undefined],
    [null, undefined],
  ])('%j: %j', (transport, parts) => {
    const found = outcomeOf(() => upstreamTls(transport))
    expect(found).toEqual(parts ?? 'TypeError')
    expect(upstreamTls('document', 'pem')).toEqual({ ...only('TLSv1.2'), ca: 'pem' })
  })

  it('is an argument: a name, or JSON', () => {
    expect(['document', 'modern', '{"tls":{}}'].map(transportFromText)).toEqual(['document', 'modern', { tls: {} }])
    for (const text of ['other', '"modern"', 'null', '{', '']) expect(() => transportFromText(text)).toThrow(TypeError)
  })
})

it('the headers of a message are pairs of Node’s flat list', () => {
  expect(headerPairs(['A', '1', 'b', '2', 'A', '3'])).toEqual([
    ['A', '1'],
    ['b', '2'],
    ['A', '3'],
  ])
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

describe('what is different in a request', () => {
  const recorded = { instance: 'home', method: 'POST', path: '/oauth2/v3/token', headers: {} } as const
  const came: ArrivedRequest = {
    instance: 'home',
    method: 'POST',
    path: '/oauth2/v3/token',
    query: new URLSearchParams(),
    cookies: new URLSearchParams(),
    contentType: '',
    body: '',
  }
  const query = (text: string) => ({ query: new URLSearchParams(text) })
  const cookies = (text: string) => ({ cookies: new URLSearchParams(text) })
  const json = (value: unknown) => ({ body: JSON.stringify(value) })

  it.each<[string, Partial<RecordedRequest>, Partial<ArrivedRequest>]>([
    ['', {}, {}],
    ['it must be sent to the home instance', {}, { instance: 'regional' }],
    ['GET /oauth2/v3/token came', {}, { method: 'GET' }],
    ['POST /oauth2/v3/authorize came', {}, { path: '/oauth2/v3/authorize' }],
    ['another request came', {}, { path: '/qz7xqz7x' }],
    ['query: state is missing', { query: { state: '1' } }, {}],
    ['query: state was not there', {}, query('state=1')],
    ['query: another name was not there', {}, query('qz7xqz7x=1')],
    ['query: state must be "1"', { query: { state: '1' } }, query('state=2')],
    ['query: state must come once', { query: { state: '1' } }, query('state=1&state=1')],
    ['query: state must come 2 times', { query: { state: ['1', '2'] } }, query('state=1')],
    ['query: state must be "2"', { query: { state: ['1', '2'] } }, query('state=1&state=1')],
    ['', { query: { state: ['1', '2'] } }, query('state=1&state=2')],
    ['query: a must be {{x}}, the value that was sent before', { query: { b: '{{x}}', a: '{{x}}' } }, query('b=1&a=2')],
    ['', { cookies: { state: '1' } }, cookies('state=1&session=2')],
    ['cookie: state is missing', { cookies: { state: '1' } }, cookies('session=2')],
    ['content-type must be text/plain', { headers: { 'content-type': 'text/plain; charset=utf-8' } }, {}],
    ['', { headers: { 'content-type': 'text/plain; charset=utf-8' } }, { contentType: 'text/plain' }],
    ['', { headers: {} }, { contentType: 'text/plain' }],
    ['form: state is missing; form: code was not there', { form: { state: '1' } }, { body: 'code' }],
    ['body differs', { text: ['a', 'b'] }, { body: 'a b' }],
    ['body differs', {}, { body: 'a' }],
    ['', { text: ['a', 'b'] }, { body: 'a\nb' }],
    ['body must be an object', { json: {} }, { body: '{' }],
    ['body must be an object', { json: {} }, json([])],
    ['body must be an object', { json: {} }, json(null)],
    ['body: state is missing', { json: { state: '1' } }, json({})],
    ['body: state must be "1"', { json: { state: '1' } }, json({ state: 1 })],
    ['body: state must be 1', { json: { state: 1 } }, json({ state: '1' })],
    ['body: state must be null', { json: { state: null } }, json({ state: false })],
    ['body: state was not there; body: another name was not there', { json: {} }, json({ state: 1, qz7xqz7x: 2 })],
    ['body: state must be a list of 1', { json: { state: [1] } }, json({ state: [1, 2] })],
    ['body: state must be a list of 1', { json: { state: [1] } }, json({ state: 'a' })],
    ['body: state[1] must be 2', { json: { state: [1, 2] } }, json({ state: [1, 3] })],
    ['', { json: { code: '{{x:number}}', state: ['{{x}}'] } }, json({ code: 7, state: ['7'] })],
    // A name that could be any takes no other's place.
    ['', { query: { '{{name}}': '1', state: '2' } }, query('state=2&other=1')],
    ['', { json: { '{{name}}': 1, state: 2 } }, json({ state: 2, other: 1 })],
  ])('is told: %j', (told, expected, arrived) => {
    const request: RecordedRequest = { ...recorded, ...expected }
    expect(differences(request, { ...came, ...arrived }, new Map()).join('; ')).toBe(told)
  })
})

it('a port that is taken at one of the two addresses is refused, and given back at the other', async () => {
  const other = createServer().listen(0, '::1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  await expect(listenOnLoopback(port)).rejects.toMatchObject({ code: 'EADDRINUSE' })
  await new Promise((resolve) => other.close(resolve))
  const listener = await listenOnLoopback(port)
  expect(listener.port).toBe(port)
  listener.serve((_request, response) => response.end('here'))
  for (const host of ['127.0.0.1', '[::1]']) expect(await (await fetch(`http://${host}:${port}/`)).text()).toBe('here')
  await listener.close()
  await (await listenOnLoopback(port)).close()
})

describe('a replay', () => {
  const request = {
    instance: 'home',
    method: 'POST',
    path: '/',
    headers: {},
    text: ['{{body}}'],
  } satisfies RecordedRequest
  const fixture = {
    format,
    version: 1,
    placeholders: {},
    exchanges: [{ request, answer: { status: 200, headers: {}, form: { a: ['1', '{{body}}'] } } }],
  } satisfies Fixture
  let replay: Replay
  beforeAll(async () => {
    replay = await startReplay(fixture)
  })
  afterAll(() => replay.close())

  /** All that comes back for these bytes, until the connection ends. */
  function answerTo(bytes: string): Promise<string> {
    const socket = connect(Number(new URL(replay.authUrl).port), '127.0.0.1')
    socket.write(bytes)
    return consumers.text(socket)
  }

  it('takes a body of a megabyte, and not one byte more', async () => {
    const send = (bytes: number) => fetch(replay.authUrl, { method: 'POST', body: 'x'.repeat(bytes) })
    expect(await (await send(2 ** 20)).text()).toBe(`a=1&a=${'x'.repeat(2 ** 20)}`)
    const refused = await send(2 ** 20 + 1)
    expect([refused.status, refused.headers.get('x-owner-sso-emulator')]).toEqual([413, '1'])
  })

  it('says what was recorded where another request comes, and that nothing was after the end', async () => {
    await using own = await startReplay(fixture)
    const before = await fetch(own.authUrl)
    expect([before.status, before.headers.get('x-owner-sso-emulator')]).toEqual([409, '1'])
    const said = { error: 'replay_mismatch', error_description: own.mismatches[0], expected: request }
    expect(await before.text()).toBe(`${JSON.stringify(said, undefined, 2)}\n`)
    const answer = await fetch(own.authUrl, { method: 'POST', body: 'x' })
    expect([answer.headers.get('x-owner-sso-emulator'), await answer.text()]).toEqual(['1', 'a=1&a=x'])
    expect([own.replayed, own.isComplete]).toEqual([1, true])
    expect(await (await fetch(own.authUrl)).json()).toMatchObject({ error: 'replay_mismatch', expected: null })
  })

  it('keeps a thousand sentences of what did not fit', async () => {
    const one = 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n'
    const answers = await answerTo(`${one}\r\n`.repeat(1000) + `${one}Connection: close\r\n\r\n`)
    expect(answers.match(/^HTTP\/1\.1 409 /gmu)).toHaveLength(1001)
    expect(replay.mismatches).toHaveLength(1000)
  })

  it.each([
    ['431 Request Header Fields Too Large', `GET / HTTP/1.1\r\nHost: a\r\nA: ${'x'.repeat(16_384)}\r\n\r\n`],
    ['400 Bad Request', 'GET / HTTP/1.1\r\nHost: a\r\nA b\r\n\r\n'],
    ['417 Expectation Failed', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n'],
  ])('answers what is no request with %s, and ends the connection', async (status, bytes) => {
    const answer = await answerTo(bytes)
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status}\r\nx-owner-sso-emulator: 1\r\n`, 'u'))
    expect(answer).toMatch(/^content-length: 0\r\n[^]*\r\n\r\n$/imu)
  })

  it('needs a recording', async () => {
    await expect(startReplay('none.json')).rejects.toMatchObject({ name: 'FixtureError' })
  })

  it('has a body in the form that was recorded, or none', async () => {
    const bodies = [
      { text: ['a', '{{constructor}}'] },
      { html: ['<p>', '</p>'] },
      { json: { a: 1 } },
      { form: { a: '1' } },
      {},
    ]
    const get = { instance: 'home', method: 'GET', path: '/', headers: {} } as const
    const exchanges = bodies.map((body) => ({ request: get, answer: { status: 200, headers: { a: 'b€c' }, ...body } }))
    await using own = await startReplay({ format, version: 1, placeholders: {}, exchanges })
    const answers: string[] = []
    while (answers.length < bodies.length) {
      const answer = await fetch(own.authUrl)
      expect(answer.headers.get('a')).toBe('b?c')
      answers.push(await answer.text())
    }
    expect(answers).toEqual(['a\nconstructor', '<p>\n</p>', '{"a":1}', 'a=1', ''])
  })
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

it('the name of a placeholder is one, whole', () => {
  const good = ['a', '_', 'A.b-c_1', `a${'x'.repeat(79)}`]
  const bad = ['', '1a', '.a', ' a', 'a ', 'a b', 'a\n', `a${'x'.repeat(80)}`]
  expect([...good, ...bad].map((name) => placeholderName.test(name))).toEqual([
    ...good.map(() => true),
    ...bad.map(() => false),
  ])
})

it('a text is spelled with entities for all that is not harmless', () => {
  expect(spell(`&<>"'=+ä€🚗`, 'html')).toBe('&amp;&lt;&gt;&quot;&#x27;&#x3d;&#x2b;&#xe4;&#x20ac;&#x1f697;')
  expect(spell('aZ09_ \n.,:;!?@/()-', 'html')).toBe('aZ09_ \n.,:;!?@/()-')
})

describe('the time that an answer may take', () => {
  beforeEach(() => void jest.useFakeTimers())
  afterEach(() => void jest.useRealTimers())

  /** Milliseconds after which it is over; a process that is held up reads what has come, twenty turns long. */
  function lasting(milliseconds: number): number {
    const { signal } = startResponseLimit(milliseconds)
    let passed = 0
    for (; !signal.aborted && passed < 5000; passed += 1) jest.advanceTimersByTime(1)
    return passed
  }

  it.each([
    // Twenty turns, each of which here takes a millisecond to begin.
    [1000, 1020],
    [201, 221],
    [200, 220],
    [0, 220],
  ])('%i ms are over after %i', (milliseconds, passed) => {
    expect(lasting(milliseconds)).toBe(passed)
  })

  it('ends in many small turns, and leaves nothing behind once the answer is there', () => {
    const limit = startResponseLimit(1000)
    jest.advanceTimersByTime(799)
    expect(jest.getTimerCount()).toBe(1)
    jest.advanceTimersByTime(1)
    // The first of the turns is behind the sockets.
    expect([limit.signal.aborted, jest.getTimerCount()]).toEqual([false, 1])
    limit.end()
    expect(jest.getTimerCount()).toBe(0)
    const other = startResponseLimit(1000)
    other.end()
    expect(jest.getTimerCount()).toBe(0)
  })
})

describe('a request to the service', () => {
  const most = 8 * 1024 * 1024
  const encodings: Readonly<Record<string, Buffer>> = {
    gzip: gzipSync('as it was'),
    'x-gzip': gzipSync('as it was'),
    deflate: deflateSync('as it was'),
    br: brotliCompressSync('as it was'),
    ' GZIP ': gzipSync('as it was'),
    identity: Buffer.from('as it was'),
  }
  const sent: Record<string, Buffer> = {
    largest: Buffer.alloc(most),
    larger: Buffer.alloc(most + 1),
    bomb: gzipSync(Buffer.alloc(most + 1)),
    broken: Buffer.from('as it was'),
  }
  const server = createHttpServer((request, response) => {
    const [, kind = '', name = ''] = decodeURIComponent(request.url ?? '').split('/')
    const names = request.rawHeaders.filter((_each, index) => index % 2 === 0)
    if (kind === 'cut') request.socket.destroy()
    else if (kind === 'headers')
      response
        .writeHead(200, { 'x-content-encoding': 'none', 'content-encoding-x': 'none', a: 'x'.repeat(Number(name)) })
        .end()
    else if (kind === 'encoded')
      response.writeHead(203, { 'content-encoding': name }).end(encodings[name] ?? 'as it was')
    else if (kind === 'empty') response.writeHead(200, { 'content-encoding': 'gzip', 'x-a': '1' }).end()
    else if (kind === 'sent')
      response.writeHead(200, ['bomb', 'broken'].includes(name) ? { 'content-encoding': 'gzip' } : {}).end(sent[name])
    else
      response
        .setHeader('connection', 'close')
        .setHeader('keep-alive', 'x')
        .end(JSON.stringify({ names, host: request.headers.host, length: request.headers['content-length'] }))
  })
  const connection = new Socket()
  const upstream = createUpstream({ minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' })
  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterAll(async () => {
    upstream.close()
    connection.destroy()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const address = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const send = (
    path: string,
    more: {
      method?: string
      connection?: Socket
      headers?: readonly (readonly [string, string])[]
      body?: Buffer
    } = {},
  ) =>
    upstream.send({
      url: `${address()}${path}`,
      method: 'GET',
      headers: [],
      body: Buffer.alloc(0),
      connection,
      signal: new AbortController().signal,
      ...more,
    })

  it('has the headers of the client but for those of its connection, and a length where it has a body', async () => {
    const headers = [
      'Connection',
      'keep-alive',
      'Proxy-Authorization',
      'TE',
      'Trailer',
      'transfer-encoding',
      'Upgrade',
      'Expect',
      'Content-Length',
      'Host',
      'X-Host',
      'Hosts',
      'Accept',
    ].map((name) => [name, 'x'] as const)
    const told = async (method: string, body = ''): Promise<unknown> => {
      const outcome = await send('/', { method, headers, body: Buffer.from(body) })
      if (outcome.kind !== 'answer') return outcome
      expect(outcome.answer.headers.map(([name]) => name.toLowerCase())).toEqual(['date'])
      return JSON.parse(outcome.answer.body.toString())
    }
    const passed = ['X-Host', 'Hosts', 'Accept', 'Connection']
    const host = new URL(address()).host
    expect(await told('GET')).toEqual({ names: ['Host', ...passed], host })
    expect(await told('POST')).toEqual({ names: ['Host', 'Content-Length', ...passed], host, length: '0' })
    expect(await told('PUT', 'a')).toEqual({ names: ['Host', 'Content-Length', ...passed], host, length: '1' })
  })

  it.each(Object.keys(encodings))('reads an answer that is encoded as %j', async (name) => {
    const { kind, answer } = (await send(`/encoded/${encodeURIComponent(name)}`)) as {
      kind: string
      answer?: SeenResponse
    }
    const names = answer?.headers.map(([header]) => header.toLowerCase())
    expect([kind, answer?.status, names, answer?.body.toString()]).toEqual(['answer', 203, ['date'], 'as it was'])
  })

  it('says why it can not read any other', async () => {
    const reason = 'its answer is encoded in a way that can not be read: leave accept-encoding out'
    expect(await send('/encoded/compress')).toEqual({ kind: 'unreachable', reason })
  })

  it('reads one of 8 MiB, and no larger, however it is encoded', async () => {
    const { answer } = (await send('/sent/largest')) as { answer?: { body: Buffer } }
    expect(answer?.body.length).toBe(most)
    expect(await send('/sent/larger')).toEqual({ kind: 'unreachable', reason: 'its answer is larger than 8 MiB' })
    for (const name of ['bomb', 'broken'])
      expect(await send(`/sent/${name}`)).toEqual({
        kind: 'unreachable',
        reason: 'its answer is not valid gzip, or larger than 8 MiB',
      })
    expect(await send('/empty')).toMatchObject({ kind: 'answer', answer: { status: 200, body: Buffer.alloc(0) } })
  })

  it('waits two minutes for an answer, the last of them in small turns', async () => {
    const timer = jest.spyOn(globalThis, 'setTimeout')
    await send('/empty')
    const delays = timer.mock.calls.map(([, delay]) => delay)
    timer.mockRestore()
    expect(delays).toContain(119_800)
  })

  it('reads headers of 64 KiB in all, and passes on those that only look like others', async () => {
    const { answer } = (await send('/headers/60000')) as { answer?: SeenResponse }
    expect(answer?.headers.map(([name]) => name)).toEqual(['x-content-encoding', 'content-encoding-x', 'a', 'Date'])
    expect(await send('/headers/66000')).toEqual({ kind: 'cut' })
  })

  it('goes over one connection for each of the client’s, which ends with it', async () => {
    const sockets = new Set<Socket>()
    const note = ({ socket }: { socket: Socket }): void => void sockets.add(socket)
    server.on('request', note)
    const [one, other] = [new Socket(), new Socket()]
    await Promise.all([send('/encoded/br', { connection: one }), send('/encoded/br', { connection: one })])
    await send('/encoded/br', { connection: one })
    expect(sockets.size).toBe(1)
    await send('/encoded/br', { connection: other })
    expect(sockets.size).toBe(2)
    server.off('request', note)
    const [first] = [...sockets]
    const ended = once(first!, 'close')
    one.emit('close')
    await ended
    expect([...sockets].map(({ destroyed }) => destroyed)).toEqual([true, false])
    // What is known of a client goes with it.
    server.on('request', note)
    await send('/encoded/br', { connection: one })
    server.off('request', note)
    const again = once([...sockets][2]!, 'close')
    one.emit('close')
    await again
    // And all of it with the recorder.
    const last = once([...sockets][1]!, 'close')
    upstream.close()
    await last
  })

  it('that is not answered was cut, given up, or never arrived', async () => {
    expect(await send('/cut', { method: 'POST', body: Buffer.from('x') })).toEqual({ kind: 'cut' })
    const gone = upstream.send({
      url: `${address()}/`,
      method: 'GET',
      headers: [],
      body: Buffer.alloc(0),
      connection,
      signal: AbortSignal.abort(),
    })
    expect(await gone).toEqual({ kind: 'none' })
    const unused = createServer().listen(0, '127.0.0.1')
    await once(unused, 'listening')
    const { port } = unused.address() as AddressInfo
    await new Promise((resolve) => unused.close(resolve))
    const away = upstream.send({
      url: `http://127.0.0.1:${port}/`,
      method: 'GET',
      headers: [],
      body: Buffer.alloc(0),
      connection,
      signal: new AbortController().signal,
    })
    expect(await away).toEqual({ kind: 'unreachable', reason: 'ECONNREFUSED' })
  })
})

describe('a fixture is written whole or not at all', () => {
  const fixture: Fixture = { format, version: 1, placeholders: {}, exchanges: [] }
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fixture-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('for its owner alone', async () => {
    const file = join(folder, 'login.json')
    await writeFixture(file, { ...fixture, version: 2 as 1 })
    await writeFixture(file, fixture)
    expect([await readFile(file, 'utf8'), (await stat(file)).mode & 0o777]).toEqual([
      `${JSON.stringify(fixture, undefined, 2)}\n`,
      0o600,
    ])
    expect(await readdir(folder)).toEqual(['login.json'])
  })

  it('and says what stood in its way, and leaves nothing behind', async () => {
    await mkdir(join(folder, 'taken'))
    await expect(writeFixture(join(folder, 'taken'), fixture)).rejects.toMatchObject({ syscall: 'rename' })
    await expect(writeFixture(join(folder, 'none/login.json'), fixture)).rejects.toMatchObject({ syscall: 'open' })
    expect((await readdir(folder)).toSorted()).toEqual(['login.json', 'taken'])
  })
})

describe('a port of this machine', () => {
  const original = Object.getOwnPropertyDescriptor(Server.prototype, 'listen')?.value as Server['listen']
  const others: Server[] = []
  let tried: number[] = []
  /** Another program takes the second address just before we do, so many times. */
  function faster(times: number): void {
    tried = []
    Server.prototype.listen = function listenLater(this: Server, port: number, host: string, done: () => void) {
      if (host === '::1') tried.push(port)
      if (host !== '::1' || tried.length > times) return Reflect.apply(original, this, [port, host, done])
      const other = createServer()
      others.push(other)
      const listen = () => Reflect.apply(original, this, [port, host, done])
      // Where it is taken already, that is as good.
      Reflect.apply(original, other.once('error', listen), [port, host, listen])
      return this
    } as Server['listen']
  }
  afterEach(async () => {
    Server.prototype.listen = original
    for (const other of others.splice(0)) await new Promise((resolve) => other.close(resolve))
  })

  it('that is free at one address alone is given back, and another is tried, five at the most', async () => {
    faster(4)
    const listener = await listenOnLoopback()
    expect([tried.length, tried.indexOf(listener.port)]).toEqual([5, 4])
    await listener.close()
    faster(9)
    await expect(listenOnLoopback()).rejects.toMatchObject({ code: 'EADDRINUSE' })
    expect(tried).toHaveLength(5)
  })

  it('is listened on with limits, and without IPv6 at the one address that there is', async () => {
    const made: HttpServer[] = []
    Server.prototype.listen = function listenOnce(this: HttpServer, port: number, host: string) {
      made.push(this)
      if (host !== '::1') return Reflect.apply(original, this, [port, host])
      const failure = Object.assign(new Error('listen'), { syscall: 'listen', code: 'EADDRNOTAVAIL' })
      queueMicrotask(() => this.emit('error', failure))
      return this
    } as Server['listen']
    const listener = await listenOnLoopback()
    expect(made).toHaveLength(2)
    expect(made[0]).toMatchObject({
      maxHeaderSize: 16_384,
      headersTimeout: 30_000,
      requestTimeout: 60_000,
      keepAliveTimeout: 60_000,
    })
    listener.serve((_request, response) => response.end('here'))
    expect(await (await fetch(`http://127.0.0.1:${listener.port}/`)).text()).toBe('here')
    // Nothing can be said on a connection that was ended already.
    const ended = new PassThrough().end()
    made[0]!.emit('clientError', new Error('late'), ended)
    expect(ended.destroyed).toBe(true)
    let isClosed = false
    made[0]!.once('close', () => (isClosed = true))
    await listener.close()
    expect(isClosed).toBe(true)
  })

  it('that was asked for is tried once, and free again after it', async () => {
    faster(0)
    const first = await listenOnLoopback()
    await first.close()
    faster(1)
    await expect(listenOnLoopback(first.port)).rejects.toMatchObject({ code: 'EADDRINUSE' })
    expect(tried).toEqual([first.port])
    for (const other of others.splice(0)) await new Promise((resolve) => other.close(resolve))
    const again = await listenOnLoopback(first.port)
    expect(again.port).toBe(first.port)
    await again.close()
  })
})

describe('a recorder', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'recorder-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('puts no address of its own in place of one that the client named, and writes what is under way when it ends', async () => {
    const urls: (string | undefined)[] = []
    let arrived: () => void = () => undefined
    const isAsked = new Promise<void>((resolve) => (arrived = resolve))
    const service = createHttpServer((request, response) => {
      urls.push(request.url)
      if (request.url === '/never') return arrived()
      const location = new URL(request.url ?? '/', upstream).searchParams.get('redirect_uri') ?? ''
      return response.writeHead(302, { location, 'x-other': location }).end(location)
    }).listen(0, '127.0.0.1')
    await once(service, 'listening')
    const upstream = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
    const file = join(folder, 'login.json')
    const lines: string[] = []
    const recorder = await startRecorder({ upstream, fixture: file, onExchange: (line) => lines.push(line) })
    const asked = async (redirectUri: string): Promise<unknown[]> => {
      const query = new URLSearchParams({ redirect_uri: redirectUri })
      const answer = await fetch(`${recorder.authUrl}/a?${query.toString()}`, { redirect: 'manual' })
      return [answer.status, answer.headers.get('location'), answer.headers.get('x-other'), await answer.text()]
    }
    expect(await asked('')).toEqual([302, '', '', ''])
    const own = `${recorder.authUrl}/void/callback`
    expect(await asked(own)).toEqual([302, own, own, own])
    // One of the service's own that the client has named stays in a redirect, and there alone.
    const named = `${upstream}/void/callback`
    expect(await asked(named)).toEqual([302, named, own, own])
    expect((await asked('https://app.example.com/callback'))[1]).toBe('https://app.example.com/callback')
    expect(urls).toEqual(
      ['', named, named, 'https://app.example.com/callback'].map(
        (uri) => `/a?${new URLSearchParams({ redirect_uri: uri }).toString()}`,
      ),
    )

    const left = fetch(`${recorder.authUrl}/never`).then(
      () => 'answered',
      () => 'left',
    )
    await isAsked
    await recorder.close()
    expect(await left).toBe('left')
    const written: Fixture = JSON.parse(await readFile(file, 'utf8'))
    expect(written.exchanges.map(({ answer }) => (typeof answer === 'string' ? answer : answer.status))).toEqual([
      302,
      302,
      302,
      302,
      'none',
    ])
    expect(lines.map((line) => line.replace(/^GET \S+/u, 'GET'))).toEqual([
      'GET → 302',
      'GET → 302',
      'GET → 302',
      'GET → 302',
      'GET → none',
    ])
    service.closeAllConnections()
    await new Promise((resolve) => service.close(resolve))
  })

  it('records a thousand exchanges, and passes on what comes after them', async () => {
    const service = createHttpServer((_request, response) => response.end()).listen(0, '127.0.0.1')
    await once(service, 'listening')
    const lines: string[] = []
    const upstream = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
    await using recorder = await startRecorder({ upstream, onExchange: (line) => lines.push(line) })
    const { host, port } = new URL(recorder.authUrl)
    const one = `GET / HTTP/1.1\r\nHost: ${host}\r\n`
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(`${one}\r\n`.repeat(1000) + `${one}Connection: close\r\n\r\n`)
    const answers = await consumers.text(socket)
    expect(answers.match(/^HTTP\/1\.1 200 /gmu)).toHaveLength(1001)
    const large = await fetch(recorder.authUrl, { method: 'POST', body: 'x'.repeat(2 ** 20 + 1) })
    expect([large.status, large.headers.get('x-owner-sso-emulator')]).toEqual([413, '1'])
    expect([recorder.fixture.exchanges.length, lines.slice(999)]).toEqual([
      1000,
      ['GET / → 200', 'passed on, but no longer recorded: a recording has at most 1000 exchanges'],
    ])
    service.closeAllConnections()
    await new Promise((resolve) => service.close(resolve))
  })

  it('and a replay tell of each exchange once it is over', async () => {
    const request = { instance: 'home', method: 'GET', path: '/', headers: {} } as const
    const answers = [{ status: 200, headers: {} }, 'cut', 'none'] as const
    const lines: string[] = []
    let told: () => void = () => undefined
    const replay = await startReplay(
      { format, version: 1, placeholders: {}, exchanges: answers.map((answer) => ({ request, answer })) },
      { onExchange: (line) => (lines.push(line), told()) },
    )
    const ended = async (path: string, bytes = ''): Promise<void> => {
      const isTold = new Promise<void>((resolve) => (told = resolve))
      const socket = connect(Number(new URL(replay.authUrl).port), '127.0.0.1').on('error', () => undefined)
      socket.resume().write(`GET ${path} HTTP/1.1\r\nHost: ${new URL(replay.authUrl).host}\r\n\r\n${bytes}`)
      if (lines.length === 2) await once(socket, 'connect')
      if (lines.length === 2) while (!replay.isComplete) await new Promise(setImmediate)
      if (lines.length === 2) socket.destroy()
      await isTold
      socket.destroy()
    }
    await ended('/')
    await ended('/')
    await ended('/')
    await ended('/other')
    expect(lines).toEqual([
      '1 of 3: GET / → 200',
      '2 of 3: GET / → cut',
      '3 of 3: GET / → none',
      'Exchange 3 of 3: no further request was recorded, but the recording has ended',
    ])
    await replay.close()
    await expect(fetch(replay.authUrl)).rejects.toThrow('fetch failed')
  })
})

it('a placeholder within a text stands for the least that fits, decoded where it is a part of a URL', () => {
  const fitted = (template: string, text: string, ...known: [string, string][]): unknown => {
    const bindings: Bindings = new Map(known)
    return fits(template, text, bindings) && Object.fromEntries(bindings)
  }
  expect(fitted('a={{x}}&b={{y}}', 'a=1&b=2&b=3')).toEqual({ x: '1', y: '2&b=3' })
  expect(fitted('/{{x:url}}/{{y}}/', '/a%20b/c%20d/')).toEqual({ x: 'a b', y: 'c%20d' })
  expect(fitted('/{{x:url}}/', '/%zz/')).toEqual({ x: '%zz' })
  expect(fitted('a\n{{x}}', 'a\nb\nc')).toEqual({ x: 'b\nc' })
  expect(fitted('({{x}}) [$.*+?^{}|]', '(1) [$.*+?^{}|]')).toEqual({ x: '1' })
  expect(fitted('{{x:url}}!{{y}}', 'a%20b!2', ['x', 'a b'])).toEqual({ x: 'a b', y: '2' })
  for (const other of ['xa={{x}}', 'a={{x}}x', 'A={{x}}']) expect(fitted(other, 'a=1')).toBe(false)
  expect(fitted('{{x}}-{{x}}', '1-1')).toEqual({ x: '1' })
  expect(fitted('{{x}}-{{x}}', '1-2')).toBe(false)
  expect(fitted('{{x}}', 'Ann@A.example', ['x', 'ann@a.example'])).toEqual({ x: 'ann@a.example' })
  expect([fitted('{{x}}', 'Ann', ['x', 'ann']), fitted('{{x}}', 'ann')]).toEqual([false, { x: 'ann' }])
})

it('each sign of an address is known in each spelling', () => {
  const to = [['http://[::1]:4000/a-b.c', 'https://[fe80::1]/x-y.z']] as const
  const spellings: Readonly<Record<string, readonly string[]>> = {
    ':': [':', '%3a', '%253A', '&#x25;3a', '&#37;3A', '&#x3a;', '&#58;', '&colon;'],
    '/': ['/', '\\/', '%2f', '%252F', '&#x25;2f', '&#37;2F', '&#x2f;', '&#47;', '&sol;'],
    '.': ['.', '%2e', '%252E', '&#x25;2e', '&#37;2E', '&#x2e;', '&#46;', '&period;'],
    '[': ['[', '%5b', '%255B', '&#x25;5b', '&#37;5B', '&#x5b;', '&#91;', '&lbrack;'],
    ']': [']', '%5d', '%255D', '&#x25;5d', '&#37;5D', '&#x5d;', '&#93;', '&rbrack;'],
    '-': ['-', '%2d', '%252D', '&#x25;2d', '&#37;2D', '&#x2d;', '&#45;'],
  }
  for (const [sign, ways] of Object.entries(spellings)) {
    for (const way of ways) {
      const [from, into] = to[0].map((address) => address.replaceAll(sign, () => way))
      expect(swapped(`<${from}>`, to)).toBe(`<${into}>`)
    }
    // Two spellings of one sign in one address are no spelling of it.
    const mixed = to[0][0].replace(sign, ways[1] ?? '')
    const isMixed = mixed.includes(sign)
    expect([sign, swapped(mixed, to) === mixed]).toEqual([sign, isMixed])
  }
  for (const tail of ['d', '-', '_', '.d', '0']) expect(swapped(`${to[0][0]}${tail}`, to)).toBe(`${to[0][0]}${tail}`)
  for (const tail of ['.', '/', '', ' d', '. d']) expect(swapped(`${to[0][0]}${tail}`, to)).toBe(`${to[0][1]}${tail}`)
})

describe('the command', () => {
  let folder = ''
  let printed: string[] = []
  let signals: Record<string, () => void> = {}
  const print = (...words: unknown[]): true => {
    printed.push(words.join(' '))
    return true
  }
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'command-'))
    printed = []
    signals = {}
    jest.spyOn(console, 'log').mockImplementation((...words) => void print(...words))
    jest.spyOn(console, 'error').mockImplementation((...words) => void print('error:', ...words))
    jest.spyOn(process.stdout, 'write').mockImplementation((text) => print(text))
    jest.spyOn(process, 'once').mockImplementation((name, listener) => {
      signals[String(name)] = () => listener()
      return process
    })
  })
  afterEach(async () => {
    jest.restoreAllMocks()
    process.exitCode = undefined
    await rm(folder, { recursive: true })
  })

  /** What was printed, without what differs each time. */
  const shown = (): string[] =>
    printed.splice(0).map((text) => text.replaceAll(folder, 'FOLDER').replaceAll(/(?<=\d|localhost):\d+/gu, ':PORT'))

  it.each<[string[], number | undefined]>([
    [['--help'], undefined],
    [['--version'], undefined],
    [['record', '--help'], undefined],
    [['replay', '--help'], undefined],
    [['replay', 'none.json', '--help'], undefined],
    [[], 2],
    [['record'], 2],
    [['record', '--upstream', 'http://auth.example.com'], 2],
    [['record', '--upstream', 'https://a.example', '--regional-upstream', 'http://b.example'], 2],
    [['record', '--upstream', 'https://a.example', '--transport', 'quic'], 2],
    [['record', '--upstream', 'https://a.example', '--fixture', 'none/login.json'], 2],
    [['record', '--upstream', 'https://a.example', '--port', '65536'], 2],
    [['record', '--upstream', 'http://a.example', '--port', '65535'], 2],
    [['replay', 'no Option a.json'], 2],
    [['record', '--upstream', 'https://a.example', '--port', '000080'], 2],
    [['record', '--upstream', 'https://a.example', '--port', 'x80'], 2],
    [['record', '--upstream', 'https://a.example', '--port', '80x'], 2],
    [['replay'], 2],
    [['replay', 'one.json', 'other.json'], 2],
  ])('says %j what it said in the last release', async (args, exitCode) => {
    await runRecorder(args)
    const [before, after] = [process.cwd(), 'HERE']
    const said = shown().map((text) => text.replaceAll(before, after))
    expect([process.exitCode, args.includes('--version') ? said.length : said]).toMatchSnapshot()
    expect(process.exitCode).toBe(exitCode)
  })

  it.each([
    ['listen', 'EADDRINUSE', 'Port 80 is taken. Choose another --port, or leave it out for any free one.'],
    [
      'listen',
      'EACCES',
      "Port 80 can't be listened on (EACCES). Choose another --port, or leave it out for any free one.",
    ],
    ['open', 'EACCES', "login.json can't be read (EACCES)."],
  ])('says of a failed %s (%s): %s', async (syscall, code, sentence) => {
    const place = syscall === 'listen' ? { port: 80 } : { path: 'login.json' }
    jest.spyOn(Server.prototype, 'listen').mockImplementation(() => {
      throw Object.assign(new Error(code), { syscall, code, ...place })
    })
    await runRecorder(['record', '--upstream', 'https://a.example', '--fixture', join(folder, 'login.json')])
    expect([printed, process.exitCode]).toEqual([[`error: @owner-sso/recorder: ${sentence}`], 2])
  })

  it('records until it is told to end, and replays what it has recorded', async () => {
    let arrived: () => void = () => undefined
    const service = createHttpServer((request, response) =>
      request.url === '/never' ? arrived() : response.end('Sign in'),
    ).listen(0, '127.0.0.1')
    await once(service, 'listening')
    const upstream = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
    const fixture = join(folder, 'login.json')
    const addressIn = (): string => /http:\/\/127\S+/u.exec(printed.join())?.[0] ?? ''
    const isOver = async (address: string): Promise<void> => {
      const isThere = (): Promise<boolean> =>
        fetch(address).then(
          () => true,
          () => false,
        )
      while (await isThere()) await new Promise(setImmediate)
    }
    const ended = async (signal: string): Promise<void> => {
      const count = printed.length
      signals[signal]?.()
      while (printed.length === count) await new Promise(setImmediate)
    }
    const said = async (lines: number): Promise<void> => {
      while (printed.filter((line) => line.includes(' of 2: ')).length < lines) await new Promise(setImmediate)
    }
    const record = ['record', '--upstream', upstream, '--fixture', fixture]
    await runRecorder([...record, '--port', '0', '--regional-upstream', 'http://localhost:9', '--transport', 'modern'])
    expect(Object.keys(signals)).toEqual(['SIGINT', 'SIGTERM'])
    await ended('SIGINT')
    expect(shown()).toMatchSnapshot('nothing')
    await runRecorder(record)
    for (const path of ['/a', '/b']) await (await fetch(`${addressIn()}${path}`)).text()
    await ended('SIGTERM')
    expect(shown()).toMatchSnapshot('two exchanges')
    // What is under way when it ends is an exchange as well.
    await runRecorder(['record', '--upstream', upstream, '--fixture', join(folder, 'other.json')])
    const recording = addressIn()
    const isAsked = new Promise<void>((resolve) => (arrived = resolve))
    void fetch(`${recording}/never`).catch(() => undefined)
    await isAsked
    signals['SIGINT']?.()
    while (!printed.some((line) => line.includes(' exchanges in '))) await new Promise(setImmediate)
    await isOver(recording)
    expect(shown().slice(1)).toEqual(['  GET /never → none', '\n1 exchanges in FOLDER/other.json'])

    await runRecorder(['replay', fixture, '--once', '--port', '0'])
    const complete = addressIn()
    for (const path of ['/a', '/b']) await (await fetch(`${complete}${path}`)).text()
    await said(2)
    await isOver(complete)
    expect([process.exitCode, shown()]).toMatchSnapshot('replayed')
    await runRecorder(['replay', fixture, '--once'])
    await (await fetch(`${addressIn()}/b`)).text()
    while (process.exitCode === undefined) await new Promise(setImmediate)
    expect([process.exitCode, shown()]).toMatchSnapshot('another request')
    process.exitCode = undefined
    const { port } = service.address() as AddressInfo
    await runRecorder(['replay', fixture, '--port', `${port}`])
    expect(printed.splice(0).join()).toMatch(new RegExp(`\\b${port}\\b`, 'u'))
    process.exitCode = undefined
    await runRecorder(['replay', fixture])
    const lasting = addressIn()
    for (const path of ['/a', '/b', '/a']) await (await fetch(`${lasting}${path}`)).text()
    await said(3)
    signals['SIGINT']?.()
    await isOver(lasting)
    expect([process.exitCode, shown()]).toMatchSnapshot('replayed until it is told to end')

    service.closeAllConnections()
    await new Promise((resolve) => service.close(resolve))
  })
})
