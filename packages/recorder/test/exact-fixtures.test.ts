/** Each limit at it and one beyond it: placeholders, fixtures, and how they are replayed. */
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as consumers from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
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
import { startReplay, type Replay } from '../src/replay/replay.ts'
import { type ArrivedRequest, differences } from '../src/replay/comparison.ts'
import { type Bindings, fits } from '../src/replay/template-match.ts'

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
