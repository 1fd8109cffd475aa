/** Each limit at it and one beyond it, and what is taken only as a whole with a bad head and a bad tail. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import * as consumers from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { Fixture, RecordedRequest } from '../src/fixture/fixture.ts'
import { checkFixture, format } from '../src/fixture/fixture-checks.ts'
import { onlyPlaceholder, parseTemplate, placeholder, render, spell } from '../src/fixture/placeholders.ts'
import { listenOnLoopback } from '../src/listener.ts'
import { ownAddresses } from '../src/loopback.ts'
import { maskResponse } from '../src/masking/exchange-mask.ts'
import { type Json, maskJson, maskValue } from '../src/masking/field-masks.ts'
import { finished, type Masking } from '../src/masking/masking.ts'
import { maskProgram, maskText } from '../src/masking/text-mask.ts'
import { createPseudonyms } from '../src/masking/pseudonyms.ts'
import { baseAddress, swapped } from '../src/recorder/addresses.ts'
import { clientResponse, swappedBody } from '../src/recorder/client-response.ts'
import { startReplay, type Replay } from '../src/replay/replay.ts'
import { type ArrivedRequest, differences } from '../src/replay/comparison.ts'
import { headerPairs } from '../src/recorder/upstream.ts'
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
  })

  it('each known value next to another, in whatever letters', () => {
    expect(shown('QZ7XQZab7xab', 'qz7xqz', 'ab7xab')).toBe('{{state.1}}{{state.2}}')
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
    expect(await before.json()).toEqual({
      error: 'replay_mismatch',
      error_description: own.mismatches[0],
      expected: request,
    })
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
  })
})
