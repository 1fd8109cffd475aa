/** Each limit at it and one beyond it, and what is taken only as a whole with a bad head and a bad tail. */
import { describe, expect, it } from '@jest/globals'
import { readCookies } from '../src/http/service-request.ts'
import { createClock } from '../src/service/clock.ts'
import { createCounters } from '../src/service/counters.ts'
import { createExpiringMap } from '../src/service/expiring-map.ts'
import { checkFault } from '../src/faults/fault-checks.ts'
import { isLoopback } from '../src/http/listeners.ts'
import { masked, unmasked } from '../src/journal/masking.ts'
import { isCodeVerifier, isPostedBack } from '../src/service/strictness.ts'
import { scenarios } from '../src/switches/scenarios.ts'
import {
  base32,
  checkEach,
  isArrayOf,
  isRecord,
  isScalar,
  isUrl,
  oneOf,
  orFalse,
  orNull,
  text,
} from '../src/options/checks.ts'

it('each scenario is what the last release said: a change of it is one for its users', () => {
  expect(scenarios).toMatchSnapshot()
})

describe('a fault', () => {
  it.each<[object]>([
    [{}],
    [{ delay: 0, drip: 0.5, dripFrom: 'body', endless: false }],
    [{ status: 200, bodyLength: 0, interim: 0 }],
    [{ status: 599, bodyLength: 1024 ** 3, interim: 1_000_000 }],
    [{ headers: { a: 'x', b: ['x', 'y'] }, body: null }],
    [{ hold: Promise.resolve() }],
    [{ commit: 'before', drop: 'half-close', firewall: 'script' }],
    [{ status: undefined }],
  ])('may be %j', (fault) => {
    expect(() => checkFault(fault)).not.toThrow()
  })

  it.each<[string, unknown]>([
    ['delay', -1],
    ['hold', {}],
    ['hold', null],
    ['commit', 'never'],
    ['drop', 'now'],
    ['status', 199],
    ['status', 600],
    ['status', 200.5],
    ['status', '200'],
    ['headers', { a: 1 }],
    ['headers', { a: ['x', 1] }],
    ['headers', ['a']],
    ['firewall', 'yes'],
    ['drip', Infinity],
    ['dripFrom', 'tail'],
    ['bodyLength', -1],
    ['bodyLength', 1024 ** 3 + 1],
    ['endless', 1],
    ['interim', -1],
    ['interim', 1_000_001],
    ['other', 1],
  ])('may not be %s: %j', (name, value) => {
    expect(() => checkFault({ [name]: value })).toThrow(TypeError)
    expect(() => checkFault({ [name]: value })).toThrow(`ield ${name}`)
  })
})

describe('a check', () => {
  it('says what is wrong, with the path to it', () => {
    const checks = { tls: oneOf(true, 'old') }
    expect(() => checkEach('option', '', [], checks)).toThrow('The options must be an object')
    expect(() => checkEach('option', 'a.b.', null, checks)).toThrow('Option a.b must be an object')
    expect(() => checkEach('option', 'a.', { toString: 1 }, checks)).toThrow('Unknown option a.toString')
    expect(() => checkEach('field', 'a.', { tls: false }, checks)).toThrow("Field a.tls must be true or 'old'")
    expect(() => checkEach('field', 'a.', { tls: undefined }, checks)).not.toThrow()
  })

  it.each<[string, (value: unknown) => boolean, readonly unknown[], readonly unknown[]]>([
    ['text', text().accepts, ['x'], ['', 1]],
    ['false or text', orFalse(text()).accepts, [false, 'x'], [true, null, '']],
    ['null or text', orNull(text()).accepts, [null, 'x'], [undefined, false, '']],
    ['a record', isRecord, [{}], [[], null, 'x']],
    ['a list of scalars', (value) => isArrayOf(value, isScalar), [[], [1, 'x']], [[true], {}, '']],
    ['an address', isUrl, ['a:b', 'https://x'], ['x', 1, new URL('https://x')]],
    ['a secret in base32', base32().accepts, ['MY', 'JBSWY3DP'], ['', 'A', '1', 7]],
  ])('of %s takes what it is, and nothing else', (_what, accepts, good, bad) => {
    expect(good.map(accepts)).toEqual(good.map(() => true))
    expect(bad.map(accepts)).toEqual(bad.map(() => false))
  })
})

it.each([
  ['127.0.0.1', true],
  ['127.255.255.255', true],
  ['localhost', true],
  ['::1', true],
  ['127.0.0.1.example', false],
  ['x127.0.0.1', false],
  ['127.0.0', false],
  ['127.0.0.1000', false],
  ['0.0.0.0', false],
  ['::', false],
])('the address %s is for this machine alone: %s', (host, isOwn) => {
  expect(isLoopback(host)).toBe(isOwn)
})

it.each<['document' | 'lenient', string, boolean]>([
  ['document', 'a'.repeat(86), true],
  ['document', 'a'.repeat(85), false],
  ['document', 'a'.repeat(87), false],
  ['document', `-${'a'.repeat(85)}`, false],
  ['lenient', 'a'.repeat(43), true],
  ['lenient', `${'a'.repeat(124)}-._~`, true],
  ['lenient', 'a'.repeat(42), false],
  ['lenient', 'a'.repeat(129), false],
  ['lenient', ` ${'a'.repeat(43)}`, false],
  ['lenient', `${'a'.repeat(43)} `, false],
])('with strictness %s %s is a code verifier: %s', (strictness, verifier, isOne) => {
  expect(isCodeVerifier({ strictness }, verifier)).toBe(isOne)
})

it('a hidden input comes back as it is; with strictness lenient also as the source of the page has it', () => {
  const document = { strictness: 'document' } as never
  const lenient = { strictness: 'lenient' } as never
  expect([isPostedBack(document, 'a&b', 'a&b'), isPostedBack(document, 'a&amp;b', 'a&b')]).toEqual([true, false])
  expect([isPostedBack(lenient, 'a&b', 'a&b'), isPostedBack(lenient, 'a&amp;b', 'a&b')]).toEqual([true, true])
  expect([isPostedBack(lenient, undefined, undefined), isPostedBack(lenient, 'x', undefined)]).toEqual([true, false])
})

describe('the log, masked', () => {
  const fields = (query: string): object => masked.query(query)

  it('shows names that look like names, of a hundred fields', () => {
    const name = `_${'x'.repeat(39)}`
    expect(fields(`${name}=1`)).toEqual({ [name]: '[masked]' })
    expect(fields(`${name}x=1`)).toEqual({ '[masked]': '[masked]' })
    for (const odd of ['1a', '-a', 'a b', 'a/', '']) expect(fields(`${odd}=1`)).toEqual({ '[masked]': '[masked]' })
    expect(fields('count=1&count=2&scope=a&scope=b')).toEqual({ count: '[masked]', scope: ['a', 'b'] })
    expect(fields('alone')).toEqual({ '[masked]': '[masked]' })
    const many = Array.from({ length: 101 }, (_, index) => `n${index}=1`)
    expect(Object.keys(fields(many.join('&')))).toHaveLength(100)
  })

  it('shows of headers and cookies the names, and the scheme of a credential', () => {
    expect(
      masked.requestHeaders({
        authorization: 'bearer secret',
        'proxy-authorization': 'Basic',
        cookie: 'a=secret; secret; =secret; b=',
        referer: 'https://a.example/path?code=secret',
        accept: 'text/html',
      }),
    ).toEqual({
      authorization: 'bearer [masked]',
      'proxy-authorization': '[masked]',
      cookie: 'a=[masked]; [masked]; [masked]; b=[masked]',
      referer: 'https://a.example/path',
      accept: 'text/html',
    })
    expect(masked.requestHeaders({ authorization: 'XBearer secret' })).toEqual({ authorization: '[masked]' })
    expect(
      masked.answerHeaders({
        'Set-Cookie': ['a=secret; Path=/', 'b=secret'],
        Location: 'https://a.example/x?code=secret&state=s&issuer=i%2F#secret',
        'Content-Type': 'text/html',
        'X-Other': 'secret',
      }),
    ).toEqual({
      'Set-Cookie': ['a=[masked]; Path=/', 'b=[masked]'],
      Location: 'https://a.example/x?code=[masked]&state=s&issuer=i%2F',
      'Content-Type': 'text/html',
      'X-Other': '[masked]',
    })
    expect(masked.answerHeaders({ location: '/x#secret' })).toEqual({ location: '/x' })
    expect(unmasked.answerHeaders({ 'X-Other': 'secret' })).toEqual({ 'X-Other': 'secret' })
    expect(unmasked.requestHeaders({ a: 'secret' })).toEqual({ a: 'secret' })
    expect(unmasked.query('a=secret&b')).toEqual({ a: 'secret', b: '' })
  })

  it('reads a body that is JSON, and no other', () => {
    const body = (content: string) => masked.answerBody('application/json', content)
    expect(body(' {"token_type":"Bearer","access_token":"secret","list":[1,null,true]}')).toEqual({
      token_type: 'Bearer',
      access_token: '[masked]',
      list: ['[masked]', null, true],
    })
    for (const none of ['', 'x{"a":1}', '{"a":', '"a"']) expect(body(none)).toEqual({})
  })
})

it('nothing is counted at the start', () => {
  expect([...new Set(Object.values(createCounters()))]).toEqual([0])
})

it.each([
  ['a=1; b=2=3', { a: '1', b: '2=3' }],
  ['a=1; a=2', { a: '2' }],
  ['=1; b', {}],
  ['a=', { a: '' }],
  ['x=1;y=2', { x: '1', y: '2' }],
])('the cookies of %j are %j', (header, cookies) => {
  expect(Object.fromEntries(readCookies(header))).toEqual(cookies)
})

it('what expires is gone at that moment, and of too many the oldest', () => {
  const clock = createClock()
  clock.freeze()
  const map = createExpiringMap<number>({ clock, lifetime: () => 10, max: 2 })
  map.set('a', 1)
  clock.advance(9)
  map.set('b', 2)
  expect([map.get('a'), [...map.values()]]).toEqual([1, [1, 2]])
  map.set('c', 3)
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([undefined, 2, 3])
  clock.advance(10)
  expect([map.get('b'), [...map.alive()]]).toEqual([undefined, []])
})
