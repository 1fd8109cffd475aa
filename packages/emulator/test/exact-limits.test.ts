/** Each limit at it and one beyond it, and what is taken only as a whole with a bad head and a bad tail. */
import { EventEmitter, once } from 'node:events'
import { createServer, type AddressInfo, Server } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { Request, Response } from 'express'
import { readCookies } from '../src/http/service-request.ts'
import { statusOf } from '../src/http/web-app.ts'
import { eventStream } from '../src/inspector/event-stream.ts'
import type { Exchange, Journal } from '../src/journal/journal.ts'
import { createAccount } from '../src/service/accounts.ts'
import { readAuthorizationRequest } from '../src/service/authorization-request.ts'
import { createClock } from '../src/service/clock.ts'
import { createCounters } from '../src/service/counters.ts'
import { createExpiringMap } from '../src/service/expiring-map.ts'
import { checkFault } from '../src/faults/fault-checks.ts'
import { isLoopback, listen } from '../src/http/listeners.ts'
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

describe('an authorization request', () => {
  const parameters = {
    client_id: 'ownerapi',
    code_challenge: 'a'.repeat(43),
    code_challenge_method: 'S256',
    redirect_uri: 'https://auth.example.com/void/callback',
    response_type: 'code',
    scope: 'openid email offline_access',
    state: 'x',
  }
  const read = (more: Partial<typeof parameters>) =>
    readAuthorizationRequest(new URLSearchParams({ ...parameters, ...more }), (uri) => uri === parameters.redirect_uri)

  it.each([
    ['a'.repeat(43), true],
    ['-_'.repeat(64), true],
    [`${'a'.repeat(43)}=`, true],
    [`${'a'.repeat(43)}==`, true],
    ['a'.repeat(42), false],
    ['a'.repeat(129), false],
    [`${'a'.repeat(43)}===`, false],
    [` ${'a'.repeat(43)}`, false],
    [`${'a'.repeat(43)} `, false],
  ])('may have the challenge %j: %s', (challenge, isOne) => {
    const codeChallenge = challenge.replace(/=+$/u, '')
    const { redirect_uri: redirectUri, state } = parameters
    const refusal = 'The parameter code_challenge must be a base64url SHA-256 challenge.'
    expect(read({ code_challenge: challenge })).toEqual(isOne ? { codeChallenge, redirectUri, state } : refusal)
  })

  it('has a state of 1024 characters at the most', () => {
    expect(read({ state: 'x'.repeat(1024) })).toMatchObject({ state: 'x'.repeat(1024) })
    const refusal = 'The parameter state must be a random string.'
    expect([read({ state: 'x'.repeat(1025) }), read({ state: '' })]).toEqual([refusal, refusal])
  })
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

it('an account has one subject, however its e-mail is written', () => {
  const subjectOf = (identity: string) => createAccount({ identity, credential: 'x' }).subject
  expect(subjectOf('ann@example.com')).toMatch(/^[\da-f]{32}$/u)
  expect(subjectOf('Ann@Example.com')).toBe(subjectOf('ann@example.com'))
  expect(subjectOf('bob@example.com')).not.toBe(subjectOf('ann@example.com'))
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

it.each<[unknown, number]>([
  [{ status: 399 }, 500],
  [{ status: 400 }, 400],
  [{ status: 499 }, 499],
  [{ status: 500 }, 500],
  [{ status: '400' }, 500],
  [{}, 500],
  [null, 500],
  ['error', 500],
])('the mistake %j is answered with %i', (error, status) => {
  expect(statusOf(error)).toBe(status)
})

describe('a port that is free at one address, and not at the other', () => {
  const original = Object.getOwnPropertyDescriptor(Server.prototype, 'listen')?.value as Server['listen']
  const others: Server[] = []
  let tried: number[] = []
  const options = { host: '127.0.0.1', port: 0, tls: { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' } } as const

  /** Another program is faster, so many times: it takes the second address just before we do. */
  function faster(times: number, instead = '::1'): void {
    Server.prototype.listen = function listenLater(this: Server, port: number, host: string, done: () => void) {
      if (host === '::1') tried.push(port)
      if (host !== '::1' || tried.length > times) return Reflect.apply(original, this, [port, host, done])
      if (instead !== host) return Reflect.apply(original, this, [port, instead, done])
      const other = createServer()
      others.push(other)
      Reflect.apply(original, other, [port, host, () => Reflect.apply(original, this, [port, host, done])])
      return this
    } as Server['listen']
  }
  beforeEach(() => {
    tried = []
  })
  afterEach(async () => {
    Server.prototype.listen = original
    for (const other of others.splice(0)) await new Promise((resolve) => other.close(resolve))
  })
  const isFree = async (port: number): Promise<boolean> => {
    const server = createServer().listen(port, '127.0.0.1')
    others.push(server)
    const [error]: unknown[] = await Promise.race([
      once(server, 'listening'),
      once(server, 'error').catch((cause) => [cause]),
    ])
    return error === undefined
  }

  it('is given back, and the next one is taken, up to five of them', async () => {
    faster(4)
    const listener = await listen(options)
    expect([tried.length, tried.indexOf(listener.port), await isFree(tried[0] ?? 0)]).toEqual([5, 4, true])
    await listener.close()
    tried = []
    faster(9)
    await expect(listen(options)).rejects.toMatchObject({ code: 'EADDRINUSE' })
    expect(tried).toHaveLength(5)
  })

  it('is refused where it was asked for', async () => {
    const free = createServer()
    free.listen(0, '127.0.0.1')
    await once(free, 'listening')
    const { port } = free.address() as AddressInfo
    await new Promise((resolve) => free.close(resolve))
    faster(1)
    await expect(listen({ ...options, port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    expect([tried, await isFree(port)]).toEqual([[port], true])
  })

  it('is taken alone on a machine that does not have the other', async () => {
    faster(1, '2001:db8::1')
    const listener = await listen(options)
    expect(tried).toEqual([listener.port])
    await listener.close()
  })
})

describe('the stream of events', () => {
  beforeEach(() => void jest.useFakeTimers())
  afterEach(() => void jest.useRealTimers())

  const exchange = (id: number, version = id): Exchange =>
    ({ id, version, request: { method: 'GET', path: '/', status: 200, at: 1 } }) as unknown as Exchange

  /** What a page gets that has seen a journal until `lastEventId`. */
  function opened(exchanges: readonly Exchange[], lastEventId?: string) {
    const listeners = new Set<(changed: Exchange | undefined) => void>()
    const journal = {
      exchanges,
      subscribe(listener: (changed: Exchange | undefined) => void) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    } as unknown as Journal
    const written: string[] = []
    const handler = eventStream(journal, () => 'state')
    const open = (id?: string) => {
      const response = Object.assign(new EventEmitter(), {
        writableNeedDrain: false,
        writeHead: () => undefined,
        write: (line: string) => written.push(line),
      })
      handler(
        { headers: { 'last-event-id': id } } as unknown as Request,
        response as unknown as Response,
        () => undefined,
      )
      return response
    }
    const told = (): string[] =>
      written.splice(0).map((line) => {
        const [, event = '', id, data = ''] = /^event: (\w+)\n(?:id: (\S+)\n)?data: (.*)\n\n$/u.exec(line) ?? []
        const ids = event === 'exchange' ? (JSON.parse(data) as { id: number }[]).map(({ id: each }) => each) : []
        return [event, id?.replace(/^[^/]*/u, ''), ids.length > 3 ? ids.length : ids.join(' ')]
          .filter(Boolean)
          .join(' ')
      })
    const change = (changed?: Exchange) => listeners.forEach((listener) => listener(changed))
    return { response: open(lastEventId), open, written, told, change, listeners }
  }

  it('begins anew, tells the state each second, and leaves nothing behind', () => {
    const { response, told, change, listeners } = opened([])
    expect(told()).toEqual(['reset /0', 'state'])
    jest.advanceTimersByTime(999)
    expect(told()).toEqual([])
    jest.advanceTimersByTime(1)
    expect(told()).toEqual(['state'])
    change(exchange(1))
    expect([jest.getTimerCount(), listeners.size]).toEqual([2, 1])
    response.emit('close')
    expect([jest.getTimerCount(), listeners.size]).toEqual([0, 0])
  })

  it('tells of exchanges in batches of 250, a tenth of a second apart, the next at once where more wait', () => {
    const { told, change } = opened(Array.from({ length: 501 }, (_, index) => exchange(index + 1)))
    expect(told()).toEqual(['reset /0', 'exchange /250 250', 'state'])
    jest.advanceTimersByTime(0)
    expect(told()).toEqual(['exchange /500 250'])
    jest.advanceTimersByTime(99)
    expect(told()).toEqual([])
    jest.advanceTimersByTime(1)
    expect(told()).toEqual(['exchange /501 501'])
    // What changes again moves to the end, and is told once.
    for (const [id, version] of [
      [1, 502],
      [2, 503],
      [1, 504],
    ] as const)
      change(exchange(id, version))
    jest.advanceTimersByTime(100)
    expect(told()).toEqual(['exchange /504 2 1'])
    change(exchange(3, 505))
    change()
    expect(told()).toEqual(['reset /0'])
    jest.advanceTimersByTime(100)
    expect(told()).toEqual([])
  })

  it('goes on where a page has stopped, in the order of changes, and not where it knows another run', () => {
    const { open, written, told } = opened([exchange(1, 4), exchange(2, 2), exchange(3, 3)])
    const run = /id: (.*)\/0\n/u.exec(written.join(''))?.[1] ?? ''
    expect(told()).toEqual(['reset /0', 'exchange /4 2 3 1', 'state'])
    open(`${run}/2`)
    expect(told()).toEqual(['exchange /4 3 1', 'state'])
    open(`${run}/4`)
    expect(told()).toEqual(['state'])
    open('other/4')
    expect(told()).toEqual(['reset /0', 'exchange /4 2 3 1', 'state'])
  })

  it('waits for a page that does not keep up', () => {
    const { response, told, change } = opened([])
    told()
    response.writableNeedDrain = true
    change(exchange(1))
    jest.advanceTimersByTime(2000)
    expect(told()).toEqual([])
    response.writableNeedDrain = false
    response.emit('drain')
    jest.advanceTimersByTime(100)
    expect(told()).toEqual(['exchange /1 1'])
    const timers = jest.getTimerCount()
    response.emit('drain')
    expect(jest.getTimerCount()).toBe(timers)
  })
})
