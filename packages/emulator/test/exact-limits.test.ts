/** Each limit at it and one beyond it, and what is taken only as a whole with a bad head and a bad tail. */
import { X509Certificate } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { IncomingMessage, type Server as HttpServer, ServerResponse } from 'node:http'
import { createServer, type AddressInfo, Server, Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { Request, Response } from 'express'
import { setClock } from '../src/control/clock-order.ts'
import { setFirewall } from '../src/control/firewall-order.ts'
import { latency } from '../src/http/latency.ts'
import { mediaType, readCookies, readFormFields, readServiceRequest } from '../src/http/service-request.ts'
import { type ServiceResponse, withReason } from '../src/http/service-response.ts'
import { statusOf } from '../src/http/web-app.ts'
import { eventStream } from '../src/inspector/event-stream.ts'
import { harOf } from '../src/inspector/har.ts'
import { sequenceDiagram } from '../src/inspector/mermaid.ts'
import { createCertificate } from '../src/http/certificate.ts'
import { pageFile } from '../src/inspector/inspector-page.ts'
import { liveState } from '../src/inspector/live-state.ts'
import { createFlows, type Traces } from '../src/journal/flows.ts'
import { createJournal, type Exchange, type Journal } from '../src/journal/journal.ts'
import { createRequestReader } from '../src/journal/request-log.ts'
import { clipped, createRawExchanges, type RawExchange } from '../src/journal/raw-exchanges.ts'
import { checkOptions } from '../src/options/check-options.ts'
import type { Settings } from '../src/options/options.ts'
import { parseEmulatorOptions } from '../src/options/parse-options.ts'
import { captchaPicture, captchaProblem } from '../src/pages/captcha.ts'
import { challengeResponse } from '../src/pages/challenge-page.ts'
import { readForm } from '../src/pages/read-form.ts'
import { accountView, createAccount, createAccountDirectory } from '../src/service/accounts.ts'
import { authorizeCookies } from '../src/service/authorize-responses.ts'
import { readAuthorizationRequest } from '../src/service/authorization-request.ts'
import { createClock } from '../src/service/clock.ts'
import { createCounters } from '../src/service/counters.ts'
import { createAccessTokens } from '../src/service/access-tokens.ts'
import { createCodes } from '../src/service/codes.ts'
import { createExpiringMap } from '../src/service/expiring-map.ts'
import type { Fault } from '../src/faults/fault.ts'
import { isCorrupted } from '../src/faults/corrupted-response.ts'
import { sizedResponse } from '../src/faults/sized-body.ts'
import { checkFault } from '../src/faults/fault-checks.ts'
import { faultWords } from '../src/faults/fault-words.ts'
import { createFaults } from '../src/faults/faults.ts'
import { type EmulatedResponse, transformedResponse } from '../src/faults/transform.ts'
import { hasTwoNames, isLoopback, listen } from '../src/http/listeners.ts'
import { masked, unmasked } from '../src/journal/masking.ts'
import { createFactor } from '../src/service/factors.ts'
import { createFirewall } from '../src/service/firewall.ts'
import { createInstances } from '../src/service/instances.ts'
import { createRefreshTokens } from '../src/service/refresh-tokens.ts'
import { createServiceState, type ServiceState } from '../src/service/service-state.ts'
import { describeMinting } from '../src/service/minting.ts'
import { awaitPasscode, createSessions } from '../src/service/sessions.ts'
import { publicKeys, signToken } from '../src/service/signing-key.ts'
import {
  isCodeVerifier,
  isPasscodeCsrf,
  isPostedBack,
  isRedirectUri,
  withoutLocale,
} from '../src/service/strictness.ts'
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

  it('has nothing twice', () => {
    const twice = new URLSearchParams({ ...parameters, login_hint: 'a' })
    expect(readAuthorizationRequest(twice, () => true)).toMatchObject({ state: 'x' })
    twice.append('login_hint', 'b')
    expect(readAuthorizationRequest(twice, () => true)).toBe('The parameter login_hint must not be repeated.')
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
        accept: 'text/html?q',
      }),
    ).toEqual({
      authorization: 'bearer [masked]',
      'proxy-authorization': '[masked]',
      cookie: 'a=[masked]; [masked]; [masked]; b=[masked]',
      referer: 'https://a.example/path',
      accept: 'text/html?q',
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
    // The word of an error is shown, and no other value of that name.
    expect(body('{"code":"A","error":{"code":"B","other":"C"},"list":[{"code":"D"}]}')).toEqual({
      code: '[masked]',
      error: { code: 'B', other: '[masked]' },
      list: [{ code: '[masked]' }],
    })
    expect(body(' {"token_type":"Bearer","access_token":"secret","list":[1,null,true]}')).toEqual({
      token_type: 'Bearer',
      access_token: '[masked]',
      list: ['[masked]', null, true],
    })
    for (const none of ['', 'x{"a":1}', '{"a":', '"a"']) expect(body(none)).toEqual({})
    const page = '<title>Hi</title><input name="a" value="secret">'
    expect(masked.answerBody('text/html', page)).toEqual({ page: 'Hi', inputs: { a: '[masked]' } })
    expect(masked.answerBody('text/html', '<title>Hi</title>')).toEqual({ page: 'Hi' })
    expect(masked.answerBody('text/plain', page)).toEqual({})
    expect(masked.answerHeaders({ location: '/x?error=login_cancelled&error_description=a&other=secret' })).toEqual({
      location: '/x?error=login_cancelled&error_description=a&other=[masked]',
    })
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
  for (const key of ['a', 'b', 'b']) map.set(key, 7)
  expect([map.get('a'), map.get('b')]).toEqual([7, 7])
  for (const key of ['a', 'c']) map.set(key, 8)
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([8, undefined, 8])
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
      // Where a program of the machine's has been faster than ours, that is as good.
      const taken = (): void => void Reflect.apply(original, this, [port, host, done])
      Reflect.apply(original, other.once('error', taken), [port, host, taken])
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
    const heads: unknown[] = []
    const handler = eventStream(journal, () => 'state')
    const open = (id?: string) => {
      const response = Object.assign(new EventEmitter(), {
        writableNeedDrain: false,
        writeHead: (...head: readonly unknown[]) => heads.push(head),
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
    return { response: open(lastEventId), open, written, heads, told, change, listeners }
  }

  it('begins anew, tells the state each second, and leaves nothing behind', () => {
    const { response, heads, told, change, listeners } = opened([])
    expect(heads).toEqual([[200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' }]])
    expect(told()).toEqual(['reset /0', 'state'])
    expect(jest.getTimerCount()).toBe(1)
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

describe('what is behind the masks', () => {
  const raw = (length: number, answer?: string): RawExchange => ({
    url: '/',
    headers: {},
    contentType: 'text/plain',
    // With the address and the braces of its headers.
    body: 'x'.repeat(length - 3),
    ...(answer !== undefined && { answer: { headers: {}, contentType: 'text/plain', body: answer } }),
  })
  const most = 32 * 1024 ** 2

  it('is kept up to 32 MiB, the oldest make room', () => {
    const kept = createRawExchanges()
    const present = (): number[] => [1, 2, 3, 4].filter((id) => kept.read(id) !== undefined)
    kept.keep(1, raw(3))
    kept.keep(2, raw(most - 3))
    expect(present()).toEqual([1, 2])
    // The same again counts once.
    kept.keep(2, raw(most - 3))
    expect(present()).toEqual([1, 2])
    kept.keep(3, raw(3))
    expect(present()).toEqual([2, 3])
    kept.drop(2)
    kept.drop(2)
    kept.keep(4, raw(most - 8, 'abc'))
    expect(present()).toEqual([3, 4])
    kept.keep(4, raw(most - 8, 'abcd'))
    expect(present()).toEqual([4])
    kept.clear()
    expect(present()).toEqual([])
    kept.keep(1, raw(most))
    expect(present()).toEqual([1])
    kept.keep(2, raw(3))
    expect(present()).toEqual([2])
    kept.clear()
    kept.keep(1, raw(most - 2))
    kept.keep(2, raw(3))
    expect(present()).toEqual([2])
  })

  it('has 64 KiB of a body', () => {
    const [whole, longer] = ['x'.repeat(65_536), 'y'.repeat(65_537)]
    expect([clipped(whole) === whole, clipped(longer) === 'y'.repeat(65_536)]).toEqual([true, true])
    // One that is short stays as it is, even where it is no text that UTF-8 has.
    for (const odd of ['\ud800', '\ud800'.padEnd(65_536, 'x')]) expect(clipped(odd)).toBe(odd)
  })

  it('has the query, and what was answered once something was', () => {
    const kept = createRawExchanges()
    kept.keep(1, { ...raw(3), url: '/a?b=c?d' })
    expect(kept.read(1)).toEqual({ request: { query: { b: 'c?d' }, headers: {}, body: {} }, answer: undefined })
    const answer = { headers: { a: 'b' }, contentType: 'application/json', body: '{"c":1}' }
    kept.keep(1, { ...raw(3), answer })
    expect(kept.read(1)?.answer).toEqual({ headers: { a: 'b' }, body: { c: 1 } })
    expect(kept.read(2)).toBeUndefined()
  })
})

describe('the login that a request belongs to', () => {
  const traces = ({
    query = '',
    session,
    fields = {},
    bearer,
  }: Partial<Record<'query' | 'session' | 'bearer', string>> & Pick<Partial<Traces>, 'fields'>): Traces => ({
    query: new URLSearchParams(query),
    cookies: new Map(session === undefined ? [] : [['sso.sid', session]]),
    fields,
    bearer,
  })

  it('is told by each thing that an answer of it handed out', () => {
    const flows = createFlows()
    const flow = flows.of(traces({ query: 'code_challenge=one' }))
    expect(flow).toEqual({ number: 1, identity: undefined })
    expect(
      flows.learn(flow, { 'set-cookie': ['ak=1', 'sso.sid=s1; Path=/'], location: 'https://x/?state=a?b&code=c1' }, {}),
    ).toBe(flow)
    flows.learn(flow, { 'set-cookie': 'sso.sid=s2' }, { access_token: 'a1', refresh_token: 'r1' })
    flows.learn(flow, { location: ['/?code=listed'], 'set-cookie': 'other=s3' }, { access_token: '', refresh_token: 7 })
    const asked = [
      { query: 'code_challenge=one' },
      { session: 's1' },
      { session: 's2' },
      { fields: { code: 'c1' } },
      { fields: { code: ['c1'] } },
      { fields: { refresh_token: 'r1' } },
      { bearer: 'a1' },
    ]
    for (const each of asked) expect([each, flows.of(traces(each))]).toEqual([each, flow])
    const none = [
      {},
      { session: 'a1' },
      { session: 's3' },
      { bearer: '' },
      { bearer: 'r1' },
      { fields: { code: 'listed' } },
      { fields: { code: 's1', refresh_token: 7 } },
    ]
    for (const each of none) expect([each, flows.of(traces(each))]).toEqual([each, undefined])
  })

  it('begins with a challenge or with tokens alone, and is nobody’s until an e-mail is named', () => {
    const flows = createFlows()
    const first = flows.of(traces({ query: 'code_challenge=one&login_hint=ann%40example.com' }))
    expect(first).toEqual({ number: 1, identity: 'ann@example.com' })
    flows.learn(first, { 'set-cookie': 'sso.sid=s1' }, {})
    expect(flows.of(traces({ session: 's1', fields: { identity: '' } }))?.identity).toBe('ann@example.com')
    expect(flows.of(traces({ session: 's1', query: 'login_hint=cat', fields: { identity: 'bob' } }))?.identity).toBe(
      'bob',
    )
    // The challenge is of this login, the cookie of the last.
    expect(flows.of(traces({ session: 's1', query: 'code_challenge=two' }))).toEqual({ number: 2, identity: undefined })
    expect(flows.learn(undefined, { location: '/?code=c' }, { refresh_token: 'r' })).toBeUndefined()
    expect(flows.learn(undefined, {}, { access_token: 'a' })?.number).toBe(3)
    flows.clear()
    expect(flows.of(traces({ session: 's1' }))).toBeUndefined()
  })
})

it('the picture of a captcha has its letters side by side, each turned otherwise', () => {
  const at = (x: number, turn: number, letter: string): string =>
    `<text x="${x}" y="26" rotate="${turn}" fill="currentColor" font-size="22">${letter}</text>`
  const letters = [at(12, -14, 'A'), at(34, 0, 'B'), at(56, 14, 'C'), at(78, -14, 'D')].join('')
  expect(captchaPicture('ABCD').markup).toBe(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 36" role="img" aria-label="captcha">${letters}</svg>`,
  )
})

it('a captcha is solved by its letters in any case; a wrong answer, or none, shows a new one', () => {
  const answer = (captcha: string | undefined, typed: string | null, kind: 'picture' | 'hcaptcha' = 'picture') => {
    const session = { captcha } as Parameters<typeof captchaProblem>[0]
    const problem = captchaProblem(session, { captcha: true } as Parameters<typeof captchaProblem>[1], typed, kind)
    return [problem, session.captcha === captcha, /^[A-FHK-NPRT-Z]{5}$/u.test(session.captcha ?? '')]
  }
  expect(answer('ABCDE', ' abcde ')).toEqual([undefined, true, true])
  expect(answer('ABCDE', 'ABCDEF')).toEqual(['Captcha does not match', false, true])
  expect(answer('ABCDE', null)).toEqual(['Recaptcha is required', false, true])
  expect(answer(undefined, 'x')).toEqual(['Captcha does not match', false, true])
  expect(answer('ABCDE', 'ABCDE', 'hcaptcha')).toEqual(['Captcha does not match', false, true])
  const unasked = { captcha: undefined } as unknown as Parameters<typeof captchaProblem>[0]
  expect([captchaProblem(unasked, undefined, null, 'picture'), unasked.captcha]).toEqual([undefined, undefined])
})

function textOf({ body }: ServiceResponse): string {
  return typeof body === 'string' ? body : ''
}

it('the challenge page names a reference of its own, and the moment', () => {
  const before = Math.floor(Date.now() / 1000)
  const [, moment = ''] = /&#35;18&#46;[\da-f]{8}&#46;(\d+)&#46;[\da-f]{8}\n/u.exec(textOf(challengeResponse())) ?? []
  expect(Number(moment)).toBeGreaterThanOrEqual(before)
  expect(Number(moment)).toBeLessThanOrEqual(Date.now() / 1000)
  const scripted = challengeResponse('script', 503)
  expect([scripted.status, scripted.body]).toEqual([503, expect.stringMatching(/"\/[\da-f]{24}\?async"/u)])
})

it('the files of the inspector are those of its page alone, under its policy', () => {
  const policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
  const files = ['index.html', 'inspector.js', 'inspector.css']
  const types = ['text/html; charset=utf-8', 'text/javascript; charset=utf-8', 'text/css; charset=utf-8']
  for (const [index, name] of files.entries()) {
    expect(pageFile(name)).toEqual({
      status: 200,
      headers: {
        'content-security-policy': policy,
        'cross-origin-opener-policy': 'same-origin',
        'content-type': types[index],
      },
      body: expect.stringMatching(/\S/u),
    })
  }
  expect(['constructor', '', '../index.js', 'INDEX.HTML'].map(pageFile)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

it('a form that names a field twice is none', () => {
  expect([readFormFields('a=1&b=2'), readFormFields('a=1&a=1')]).toEqual([
    new Map(Object.entries({ a: '1', b: '2' })),
    undefined,
  ])
})

it('a form is read as a browser reads it', () => {
  const page = `<p><input type="hidden" name="outside" value="x"></p><form method="post" action="/a&amp;b">
    <input type="hidden" name="_csrf" value="1&lt;2"><input type="hidden" name="empty">
    <input type="hidden" name="off" value="x" disabled><input type="checkbox" name="box" value="x"><input type="submit">
    <script><input type="hidden" name="script" value="x"></script>
    <input type="email" name="identity"><input name="plain"></form>
    <input type="hidden" name="after" value="x">
    <script>var transaction_id = "t\\"1";</script><script>var _csrf = "other";</script>`
  expect(readForm(page)).toEqual({
    action: '/a&b',
    hidden: new Map(Object.entries({ _csrf: '1<2', empty: '', transaction_id: 't"1' })),
    fields: new Set(['identity', 'plain']),
    message: undefined,
  })
  const said = (more: string): unknown => readForm(`<form><input name="x"></form>${more}`)
  expect(said('<p class="message" role="alert">a &amp; b</p>')).toMatchObject({ action: undefined, message: 'a & b' })
  expect(said('<script>var messages = {"_":["first","second"]};</script>')).toMatchObject({ message: 'first' })
  expect(said('<script>var messages = {};</script>')).toMatchObject({ message: undefined })
  expect(readForm('<input name="x">')).toBeUndefined()
})

describe('the firewall', () => {
  const open = (changes: Partial<Settings> = {}) => {
    const clock = createClock()
    clock.freeze()
    clock.jump(1000)
    const firewall = { maxRequests: 2, windowSeconds: 10, blockSeconds: 20 }
    const settings = { firewall, strictness: 'document', allowBrowsers: false, mintedBy: null, ...changes } as Settings
    const wall = createFirewall(clock, settings)
    const ask = (userAgent = 'x', tlsVersion?: string, address = '127.0.0.1') =>
      wall.blocks({ address, userAgent, tlsVersion } as Parameters<typeof wall.blocks>[0])
    return { clock, wall, ask }
  }

  it('takes so many requests in a window, and then none for a while', () => {
    const { clock, wall, ask } = open()
    expect([ask(), ask(), ask('y'), ask('x', 'TLSv1.2'), ask('x', undefined, '::1')]).toEqual(Array.from({ length: 5 }))
    clock.advance(9)
    expect([ask(), ask()]).toEqual(['more than 2 requests in 10 s', 'this client is blocked'])
    const client = { address: '127.0.0.1', userAgent: 'x', tlsVersion: undefined }
    expect(wall.clients()).toContainEqual({ ...client, requests: 3, windowEndsAt: 1010, blockedUntil: 1029 })
    clock.advance(19)
    expect(ask()).toBe('this client is blocked')
    expect(wall.clients()).toEqual([{ ...client, requests: 0, windowEndsAt: undefined, blockedUntil: 1029 }])
    clock.advance(1)
    expect([ask(), ask(), ask()]).toEqual([undefined, undefined, 'more than 2 requests in 10 s'])
    wall.lift()
    expect([wall.clients(), ask()]).toEqual([[], undefined])
  })

  it('opens a window with the first request, and leaves it at that', () => {
    const { clock, ask } = open()
    expect(ask()).toBeUndefined()
    clock.advance(9)
    expect(ask()).toBeUndefined()
    clock.advance(1)
    expect(ask()).toBeUndefined()
  })

  it('tells clients apart by 256 signs of their User-Agent', () => {
    const { ask } = open()
    const agents = ['a', 'b', 'c'].map((last) => `${'x'.repeat(256)}${last}`)
    expect(agents.map((agent) => ask(agent))).toEqual([undefined, undefined, 'more than 2 requests in 10 s'])
    const others = ['a', 'b', 'c'].map((last) => `${'y'.repeat(255)}${last}`)
    expect(others.map((agent) => ask(agent))).toEqual([undefined, undefined, undefined])
  })

  it('blocks everybody for so long, even where it has no rules', () => {
    const { clock, wall, ask } = open({ firewall: false })
    expect(Array.from({ length: 3 }, () => ask('Mozilla/5.0', 'TLSv1.3'))).toEqual([undefined, undefined, undefined])
    wall.block(5)
    clock.advance(4.5)
    expect([ask(), wall.blockedUntil]).toEqual(['everybody is blocked', 1005])
    clock.advance(0.5)
    expect([ask(), wall.blockedUntil]).toEqual([undefined, undefined])
    wall.block()
    expect(wall.blockedUntil).toBe(1905)
    wall.block(0)
    expect([ask(), wall.blockedUntil]).toEqual([undefined, undefined])
    for (const wrong of [-1, Number.NaN]) expect(() => wall.block(wrong)).toThrow(TypeError)
  })

  it.each<[string, Partial<Settings>, string | undefined]>([
    ['', {}, 'it came with TLS 1.3'],
    [' with strictness lenient', { strictness: 'lenient' }, undefined],
    [' where tokens are minted over it', { mintedBy: { tls: 'TLSv1.3' } }, undefined],
    [' where they are minted over the other', { mintedBy: { tls: 'TLSv1.2' } }, 'it came with TLS 1.3'],
  ])('refuses TLS 1.3%s: %s', (_what, changes, reason) => {
    expect([open(changes).ask('x', 'TLSv1.3'), open(changes).ask('x', 'TLSv1.2')]).toEqual([reason, undefined])
  })

  it('refuses browsers, but for those that are let in', () => {
    const browser = 'its User-Agent is a browser’s'
    expect([open().ask('Firefox/1'), open({ allowBrowsers: true }).ask('Firefox/1')]).toEqual([browser, undefined])
    const some = { allowBrowsers: /Fire/gu }
    expect(['Firefox/1', 'Firefox/1', 'Chrome/1'].map((agent) => open(some).ask(agent))).toEqual([
      undefined,
      undefined,
      browser,
    ])
  })
})

it('a factor has the passcodes of RFC 6238, of this step and one beside it, each once', () => {
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
  const factor = createFactor({ id: 'x', name: 'Phone', totpSecret: secret })
  expect([factor.passcode(59), factor.passcode(60), factor.passcode(1_111_111_109)]).toEqual([
    '287082',
    '359152',
    '081804',
  ])
  expect(['28708', '2870822', ' 287082', '287082 ', '28708x'].map((passcode) => factor.check(passcode, 59))).toEqual(
    Array.from({ length: 5 }, () => 'wrong'),
  )
  expect([factor.check('287082', 119), factor.check('287082', 90)]).toEqual(['wrong', 'wrong'])
  expect([factor.check('287082', 89), factor.check('287082', 59), factor.check('287082', 0)]).toEqual([
    'valid',
    'replayed',
    'replayed',
  ])
  for (let step = 3; step < 150; step += 1) expect(factor.check(factor.passcode(30 * step), 30 * step)).toBe('valid')
  expect(factor.check(factor.passcode(30 * 148), 30 * 149)).toBe('replayed')
  factor.forget()
  expect(factor.check(factor.passcode(30 * 148), 30 * 149)).toBe('valid')
})

it.each<[string, boolean]>([
  ['https://auth.example.com/void/callback', true],
  ['http://[::1]:8080/void/callback', true],
  ['app.name+1://auth/callback', true],
  ['x https://auth.example.com/void/callback', false],
  ['https://auth.example.com/void/callback/', false],
  ['https://auth.example.com/other/callback', false],
  ['ftp://auth.example.com/void/callback', false],
  ['1app://auth/callback', false],
  ['app://other/callback', false],
])('a legacy client may be sent to %s: %s', (uri, isTaken) => {
  expect(isRedirectUri({ strictness: 'lenient' }, [], uri)).toBe(isTaken)
  expect([
    isRedirectUri({ strictness: 'document' }, [], uri),
    isRedirectUri({ strictness: 'document' }, [uri], uri),
  ]).toEqual([false, true])
  expect(isRedirectUri({ strictness: 'lenient', redirectUris: [] }, [], uri)).toBe(false)
})

it('a locale before the path is left out with strictness lenient alone', () => {
  const urls = ['/en_us/a', '/EN_us/en_us/a', '/eng_us/a', '/en_us', '/a/en_us/b', '/e1_us/a']
  expect(urls.map((url) => withoutLocale({ strictness: 'lenient' }, url))).toEqual(['/a', '/en_us/a', ...urls.slice(2)])
  expect(urls.map((url) => withoutLocale({ strictness: 'document' }, url))).toEqual(urls)
})

it('the _csrf of a passcode page is its own; others only where a page shows none, or with strictness lenient', () => {
  const pending = { csrf: 'a&b', loginCsrf: 'c&d', isUnnamed: false }
  const posted = ['a&b', 'a&amp;b', 'c&d', 'c&amp;d', null, undefined, 'x']
  const taken = (strictness: 'document' | 'lenient', isUnnamed: boolean): readonly boolean[] =>
    posted.map((each) => isPasscodeCsrf({ strictness }, each, { ...pending, isUnnamed }))
  expect(taken('document', false)).toEqual([true, false, false, false, false, false, false])
  expect(taken('document', true)).toEqual([true, false, true, false, true, true, false])
  expect(taken('lenient', false)).toEqual([true, true, true, true, true, true, false])
})

it('a fault is told by its words, and its bodies and headers by their names alone', () => {
  expect(
    faultWords({
      drop: 'mid-body',
      delay: 0,
      endless: false,
      headers: { a: 'x' },
      body: 'secret',
      status: undefined,
    } as unknown as Fault),
  ).toBe('drop: mid-body, delay: 0, headers, body')
  expect([faultWords({}), faultWords({ endless: false }), faultWords({ endless: true })]).toEqual([
    undefined,
    undefined,
    'endless',
  ])
})

/** What is said to be wrong with options. */
function problemOf(options: object): string | undefined {
  try {
    checkOptions(options)
  } catch (error) {
    return (error as TypeError).message
  }
  return undefined
}

it.each<[object, string | undefined]>([
  [{ tlsMinVersion: 'TLSv1.2', tlsMaxVersion: 'TLSv1.2' }, undefined],
  [{ tlsMinVersion: 'TLSv1.3' }, undefined],
  [{ tlsMaxVersion: 'TLSv1.2' }, undefined],
  [{ tlsMinVersion: 'TLSv1.3', tlsMaxVersion: 'TLSv1.2' }, 'tlsMinVersion must not be above tlsMaxVersion'],
  [{ mfaAt: 'token-exchange' }, undefined],
  [{ mfaAt: 'toString' }, 'Option mfaAt must be'],
  [{ mfaAt: 7 }, 'Option mfaAt must be'],
])('the options %j are right, or said to be wrong: %s', (options, problem) => {
  expect(String(problemOf(options))).toContain(String(problem))
})

it.each<[object, boolean]>([
  [{ name: 'Phone', totpSecret: 'MY' }, true],
  [{ id: 'x', name: 'Phone', totpSecret: 'MY' }, true],
  [{ id: '', name: 'Phone', totpSecret: 'MY' }, false],
  [{ id: 7, name: 'Phone', totpSecret: 'MY' }, false],
  [{ name: '', totpSecret: 'MY' }, false],
  [{ name: 'Phone', totpSecret: '1' }, false],
  [['Phone'], false],
])('a factor of an account may be %j: %s', (factor, isOne) => {
  const account = { identity: 'a@example.com', credential: 'x', factors: [factor] }
  const problem = 'Option accounts[0].factors must be an array of { id?, name, totpSecret }'
  expect(problemOf({ accounts: [account] })).toBe(isOne ? undefined : problem)
})

it('backup codes have nine characters, and no e-mail is two accounts’', () => {
  const check =
    (...accounts: readonly object[]) =>
    () =>
      checkOptions({ accounts } as Parameters<typeof checkOptions>[0])
  const ann = { identity: 'ann@example.com', credential: 'x' }
  expect(check({ ...ann, backupCodes: ['123456789'] })).not.toThrow()
  for (const code of ['12345678', '1234567890', 123_456_789])
    expect(check({ ...ann, backupCodes: [code] })).toThrow('backupCodes')
  expect(check(ann, { ...ann, identity: ' Ann@example.com' })).toThrow('accounts[1].identity is another account')
  expect(check({ identity: 'ann@example.com' })).toThrow('Option accounts[0].credential is missing')
  expect(check({ credential: 'x' })).toThrow('Option accounts[0].identity is missing')
  for (const region of ['home', 'regional']) expect(check({ ...ann, region })).not.toThrow()
  expect(check({ ...ann, region: '' })).toThrow("region must be 'home' or 'regional'")
})

it('a certificate is for the names of loopback and the host, and for servers alone', async () => {
  const { ca, cert } = await createCertificate('127.0.0.2')
  const [authority, server] = [new X509Certificate(ca), new X509Certificate(cert)]
  expect([authority.ca, server.ca, server.verify(authority.publicKey), server.checkIssued(authority)]).toEqual([
    true,
    false,
    true,
    true,
  ])
  // Both extensions are critical: RFC 5280 sections 4.2.1.3 and 4.2.1.9.
  for (const each of [authority, server]) {
    for (const identifier of ['551d13', '551d0f']) expect(each.raw.toString('hex')).toContain(`0603${identifier}0101ff`)
  }
  expect([authority.subject, server.subject]).toEqual(['CN=owner-sso emulator CA', 'CN=localhost'])
  expect(server.subjectAltName).toBe(
    'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, IP Address:127.0.0.2',
  )
  expect(server.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
  expect(authority.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' })
  expect(server.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' })
  for (const host of ['1.car', 'car.1']) {
    const { subjectAltName } = new X509Certificate((await createCertificate(host)).cert)
    expect(subjectAltName).toMatch(`, DNS:${host}`)
  }
  const named = new X509Certificate((await createCertificate('car.test')).cert)
  expect(named.subjectAltName).toBe('DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:car.test')
})

describe('what the service keeps', () => {
  const clock = createClock()
  beforeEach(() => clock.freeze())
  const home = { region: 'home', url: 'http://127.0.0.1' } as const
  const settings = (changes: Partial<Settings> = {}): Settings =>
    ({
      strictness: 'document',
      hiddenInputs: {},
      sessionLifetime: 900,
      codeLifetime: 300,
      accessTokenLifetime: 100,
      accessTokenFormat: 'opaque',
      refreshTokenLifetime: null,
      expiresIn: 300,
      rotation: 'single-use',
      reuse: 'refuse',
      graceSeconds: 60,
      firewall: { maxRequests: null, windowSeconds: 60, blockSeconds: 900 },
      allowBrowsers: false,
      mintedBy: null,
      ...changes,
    }) as Settings
  const account = createAccount({ identity: 'ann@example.com', credential: 'x' })

  it('is ten thousand sessions, codes and clients of the firewall, the oldest give way', () => {
    const sessions = createSessions(clock, settings())
    const codes = createCodes(clock, settings())
    const firewall = createFirewall(clock, settings())
    const request = { codeChallenge: 'x', redirectUri: 'x', state: 'x' }
    const fill = (index: number) => {
      const session = sessions.create(home, request)
      firewall.blocks({ address: `${index}`, userAgent: '' } as Parameters<typeof firewall.blocks>[0])
      return { session, code: codes.issue({ session, account, complete: true }) }
    }
    const kept = Array.from({ length: 10_000 }, (_, index) => fill(index))
    expect([[...sessions.alive()].length, [...codes.alive()].length, firewall.clients().length]).toEqual([
      10_000, 10_000, 10_000,
    ])
    fill(10_000)
    expect([[...sessions.alive()].length, [...codes.alive()].length, firewall.clients().length]).toEqual([
      10_000, 10_000, 10_000,
    ])
    expect([sessions.find(kept[0]?.session.id, home), sessions.find(kept[1]?.session.id, home)]).toEqual([
      undefined,
      kept[1]?.session,
    ])
    expect([codes.take(kept[0]?.code ?? ''), codes.take(kept[1]?.code ?? '')]).toMatchObject([
      undefined,
      { complete: true },
    ])
    expect(codes.take(kept[1]?.code ?? '')).toBeUndefined()
    expect(firewall.clients()[0]?.address).toBe('1')
  })

  it('is so many tokens, the oldest give way', async () => {
    const accessTokens = createAccessTokens(clock, settings(), 2)
    const tokens = createRefreshTokens({
      clock,
      settings: settings(),
      counters: createCounters(),
      accessTokens,
      max: 2,
    })
    const signedIn = [
      await tokens.signIn(account, home),
      await tokens.signIn(account, home),
      await tokens.signIn(account, home),
    ]
    expect(signedIn.map(({ access_token }) => accessTokens.find(access_token) !== undefined)).toEqual([
      false,
      true,
      true,
    ])
    expect([...tokens.alive()]).toHaveLength(2)
    const [first] = signedIn
    expect(await tokens.refresh(first?.refresh_token ?? '', home, {} as never)).toEqual({
      decision: 'an unknown refresh token',
    })
  })

  it('is alive until it is spent, revoked or over', async () => {
    const changes = { refreshTokenLifetime: 50 }
    const accessTokens = createAccessTokens(clock, settings(changes))
    const counters = createCounters()
    const tokens = createRefreshTokens({ clock, settings: settings(changes), counters, accessTokens })
    const other = createAccount({ identity: 'bob@example.com', credential: 'x' })
    const { refresh_token: first } = await tokens.signIn(account, home)
    await tokens.signIn(other, home)
    const alive = (): readonly [number, number] => [[...tokens.alive()].length, [...accessTokens.alive()].length]
    expect([...tokens.alive()].map(({ value, expiresAt }) => [value.account, expiresAt - clock.now()])).toEqual([
      [account, 50],
      [other, 50],
    ])
    const { tokens: fresh } = await tokens.refresh(first, home, {} as never)
    // The spent one is not, its successor is.
    expect(alive()).toEqual([2, 3])
    expect([tokens.expire(account), tokens.expire(account), alive()]).toEqual([1, 0, [1, 3]])
    expect((await tokens.refresh(fresh?.refresh_token ?? '', home, {} as never)).decision).toBe(
      'the refresh token has expired',
    )
    expect([accessTokens.revoke((token) => token.account === account), accessTokens.revoke(() => true)]).toEqual([2, 1])
    expect(alive()).toEqual([1, 0])
    clock.advance(50)
    expect(alive()).toEqual([0, 0])
  })

  it('forgives no refresh token that was spent before it was told to', async () => {
    const given = settings({ reuse: 'refuse' })
    const accessTokens = createAccessTokens(clock, given)
    const tokens = createRefreshTokens({ clock, settings: given, counters: createCounters(), accessTokens })
    const { refresh_token: first } = await tokens.signIn(account, home)
    await tokens.refresh(first, home, {} as never)
    Object.assign(given, { reuse: 'grace' })
    expect(await tokens.refresh(first, home, {} as never)).toEqual({
      decision: 'a spent refresh token was presented again',
    })
  })

  it('says that a family was revoked', async () => {
    const given = settings({ reuse: 'revoke-family' })
    const accessTokens = createAccessTokens(clock, given)
    const tokens = createRefreshTokens({ clock, settings: given, counters: createCounters(), accessTokens })
    const { refresh_token: first } = await tokens.signIn(account, home)
    await tokens.refresh(first, home, {} as never)
    expect(await tokens.refresh(first, home, {} as never)).toEqual({
      decision: 'a spent refresh token was presented again: its family is revoked',
    })
    expect([[...tokens.alive()], [...accessTokens.alive()]]).toEqual([[], []])
  })

  it.each(['grace', 'grace-stale'] as const)(
    'forgives a spent refresh token for sixty seconds, and until its successor is used (%s)',
    async (reuse) => {
      const accessTokens = createAccessTokens(clock, settings())
      const counters = createCounters()
      const given = settings({ reuse })
      const tokens = createRefreshTokens({ clock, settings: given, counters, accessTokens })
      const refresh = async (token: string) => (await tokens.refresh(token, home, {} as never)).tokens
      const { refresh_token: first } = await tokens.signIn(account, home)
      const second = await refresh(first)
      clock.advance(60)
      const again = await refresh(first)
      expect(again?.refresh_token).toBe(reuse === 'grace' ? second?.refresh_token : first)
      expect(again?.access_token === second?.access_token).toBe(reuse === 'grace')
      clock.advance(0.5)
      expect(await refresh(first)).toBeUndefined()
      clock.advance(-0.5)
      await refresh(second?.refresh_token ?? '')
      expect(await refresh(first)).toBeUndefined()
      const { refresh_token: third } = await tokens.signIn(account, home)
      await refresh(third)
      tokens.expire(account)
      expect([await refresh(third), counters.replays, counters.tokenRefreshes]).toEqual([undefined, 4, 3])
    },
  )
})

it('of functions that fail the first hundred are told, with the order that each was given with', async () => {
  const faults = createFaults(createCounters())
  const broken = (): never => {
    throw new Error('broken')
  }
  faults.always('token', broken)
  faults.once('token', broken)
  for (let count = 0; count < 101; count += 1) {
    await faults.take('token').transform?.({ status: 200, headers: {}, body: '' })
  }
  expect(faults.failures).toHaveLength(100)
  expect(faults.failures.slice(0, 2).map(({ where }) => where)).toEqual(["once('token', …)", "always('token', …)"])
})

it('ten thousand faults may wait at an endpoint, and one endpoint is cleared without the others', () => {
  const faults = createFaults(createCounters())
  for (let count = 0; count < 10_000; count += 1) faults.once('token', {})
  expect(() => faults.once('token', {})).toThrow('Too many faults wait at token: 10000')
  faults.once('refresh', { status: 500 })
  faults.always('refresh', { status: 501 })
  faults.clear('token')
  expect([faults.ordered('token').once, faults.ordered('refresh')]).toEqual([
    [],
    { always: { status: 501 }, once: [{ status: 500 }] },
  ])
  faults.clear()
  expect(faults.ordered('refresh')).toEqual({ always: undefined, once: [] })
})

it('a function of a test gets JSON as what it holds and anything else as text, and no body is null', async () => {
  const bodies: unknown[] = []
  const seen = async (body: string, headers: Record<string, string>, change: Partial<EmulatedResponse> = {}) => {
    const keep = (response: EmulatedResponse): Partial<EmulatedResponse> => {
      bodies.push(response.body)
      return change
    }
    const { status, body: sent } = await transformedResponse({ status: 200, headers, body }, keep, (error) => {
      throw error
    })
    return [status, sent]
  }
  const json = { 'content-type': 'application/json; charset=utf-8' }
  expect(await seen('{"a":1}', { 'content-type': 'text/plain' })).toEqual([200, '{"a":1}'])
  expect(await seen('{"a":1}', {})).toEqual([200, '{"a":1}'])
  expect(await seen('{"a":1}', json)).toEqual([200, '{"a":1}'])
  expect(await seen('{"a":', json)).toEqual([200, '{"a":'])
  expect(await seen('{"a":1}', json, { body: undefined })).toEqual([200, 'null'])
  expect(bodies).toEqual(['{"a":1}', '{"a":1}', { a: 1 }, '{"a":', { a: 1 }])
  expect([await seen('', {}, { status: 599 }), await seen('', {}, { status: 200 })]).toEqual([
    [599, ''],
    [200, ''],
  ])
})

it.each<[Fault, boolean]>([
  [{}, false],
  [{ endless: false, status: 500, delay: 1, bodyLength: 1, dripFrom: 'headers' }, false],
  [{ drop: 'mid-body' }, true],
  [{ drip: 0 }, true],
  [{ endless: true }, true],
  [{ interim: 0 }, true],
])('the fault %j corrupts the bytes of an answer: %s', (fault, does) => {
  expect(isCorrupted(fault)).toBe(does)
})

it.each([
  ['127.0.0.1', true],
  ['localhost', true],
  ['::1', true],
  ['0.0.0.0', true],
  ['::', true],
  ['127.0.0.2', false],
])('what listens on %s has two names: %s', (host, has) => {
  expect(hasTwoNames(host)).toBe(has)
})

it('every server has 16 KiB for headers, 30 s for them, 60 s for a request, and keeps idle connections for 60 s', async () => {
  const original = Object.getOwnPropertyDescriptor(Server.prototype, 'listen')?.value as Server['listen']
  const servers: HttpServer[] = []
  Server.prototype.listen = function keep(this: HttpServer, ...given: never[]) {
    servers.push(this)
    return Reflect.apply(original, this, given)
  } as Server['listen']
  try {
    const tls = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' } as const
    const options = { host: '127.0.0.2', port: 0, tls }
    const certificate = await createCertificate('127.0.0.2')
    for (const each of [options, { ...options, certificate }]) await (await listen(each)).close()
  } finally {
    Server.prototype.listen = original
  }
  const limits = { maxHeaderSize: 16_384, headersTimeout: 30_000, requestTimeout: 60_000, keepAliveTimeout: 60_000 }
  expect(servers).toMatchObject([limits, limits])
})

describe('an order of the control API', () => {
  it('of the clock does what it names alone', () => {
    const clock = createClock()
    clock.freeze()
    clock.jump(1000)
    setClock(clock, {})
    setClock(clock, { reset: false, advance: 5 })
    expect([clock.now(), clock.frozen]).toEqual([1005, true])
    setClock(clock, { advance: -5, frozen: true })
    expect([clock.now(), clock.frozen]).toEqual([1000, true])
    setClock(clock, { jump: '1970-01-01T00:00:07Z', advance: 1 })
    expect([clock.now(), clock.frozen]).toEqual([8, true])
    setClock(clock, { frozen: false })
    expect(clock.frozen).toBe(false)
    setClock(clock, { reset: true })
    expect(clock.offset).toBe(0)
  })

  it('of the firewall does what it names alone', () => {
    const clock = createClock()
    clock.freeze()
    const firewall = createFirewall(clock, {
      firewall: { maxRequests: 2, windowSeconds: 10, blockSeconds: 20 },
    } as Settings)
    const come = (): unknown =>
      firewall.blocks({ address: '127.0.0.1', userAgent: 'x' } as Parameters<typeof firewall.blocks>[0])
    come()
    setFirewall(firewall, {})
    setFirewall(firewall, { block: 5 })
    expect([firewall.clients().length, (firewall.blockedUntil ?? 0) - clock.now()]).toEqual([1, 5])
    setFirewall(firewall, { block: true })
    expect((firewall.blockedUntil ?? 0) - clock.now()).toBe(20)
    setFirewall(firewall, { lift: true })
    expect([firewall.clients(), firewall.blockedUntil]).toEqual([[], undefined])
  })
})

/** A request as Node has it, that came on no connection. */
function incoming(url: string, headers: Readonly<Record<string, string>> = {}): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), { url, headers, method: 'GET' })
}

it('a request is read from its first question mark on, and its media type up to the first semicolon', () => {
  const home = { region: 'home', url: 'http://127.0.0.1' } as const
  const queryOf = (url: string) => [...readServiceRequest(incoming(url), home, '').query]
  expect(queryOf('/oauth2/v3/authorize')).toEqual([])
  expect(queryOf('a=b')).toEqual([])
  expect(queryOf('?a=b')).toEqual([['a', 'b']])
  expect(queryOf('/a?b=c?d&e')).toEqual([
    ['b', 'c?d'],
    ['e', ''],
  ])
  expect(readServiceRequest(incoming('/'), home, 'x')).toMatchObject({ contentType: '', userAgent: '', body: 'x' })
  expect(['Text/HTML ; charset=utf-8; x', '', ';'].map(mediaType)).toEqual(['text/html', '', ''])
})

it('a reason goes with a response, and names a refusal where the status does not', () => {
  const response = { status: 200, headers: {}, body: '' }
  expect(withReason('why', response)).toEqual({ ...response, decision: 'why' })
  expect(withReason('why', response, true)).toEqual({ ...response, decision: 'why', refused: true })
})

it('without latency a request goes on in the same turn, with some it does not', async () => {
  const goesOnAtOnce = async (milliseconds: number): Promise<boolean> => {
    let isOn = false
    const request = incoming('/')
    const handler = latency({ latency: milliseconds } as Settings)
    const next = (): void => {
      isOn = true
    }
    const done = handler(request as Request, new ServerResponse(request) as Response, next)
    const atOnce = isOn
    await done
    expect(isOn).toBe(true)
    return atOnce
  }
  expect([await goesOnAtOnce(0), await goesOnAtOnce(1)]).toEqual([true, false])
})

it('a body is cut or filled up to its size, and the other headers stay', async () => {
  const original = { status: 200, headers: { a: 'b', 'content-length': '3' }, body: 'xyz' }
  const texts = []
  for (const bytes of [2, 5]) {
    const { status, headers, body } = await sizedResponse(original, bytes)
    texts.push([status, headers, typeof body === 'string' ? body : String(await body.toArray())])
  }
  expect(texts).toEqual([
    [200, { a: 'b', 'content-length': '2' }, 'xy'],
    [200, { a: 'b', 'content-length': '5' }, 'xyz  '],
  ])
})

it('a function of a test may answer 200 to 599; what it leaves alone stays', async () => {
  const original = { status: 201, headers: { a: 'b' }, body: 'x', decision: 'why' }
  const failures: unknown[] = []
  const outcome = (change: Partial<EmulatedResponse>): Promise<ServiceResponse> =>
    transformedResponse(
      original,
      () => change,
      (error) => failures.push(error),
    )
  expect(await outcome({})).toEqual(original)
  expect(await outcome({ body: { c: 1 } })).toEqual({
    status: 201,
    headers: { 'content-type': 'application/json; charset=utf-8', a: 'b' },
    body: '{"c":1}',
    decision: 'why',
  })
  expect(failures).toEqual([])
  for (const status of [199, 600, 200.5]) expect((await outcome({ status })).status).toBe(500)
  expect(failures.map(String)).toEqual(Array.from({ length: 3 }, () => 'TypeError: The status must be 200 to 599'))
})

describe('the journal', () => {
  const open = (headers: Readonly<Record<string, string>> = {}, url = '/?code_challenge=x') => {
    const journal = createJournal(createClock())
    const told: unknown[] = []
    const leave = journal.subscribe((exchange) => told.push(exchange && [exchange.id, exchange.version]))
    const enter = () => {
      const request = incoming(url, headers)
      const response = new ServerResponse(request)
      return { response, request, recording: journal.open(request, response, 'home') }
    }
    return { journal, told, leave, enter }
  }

  it('tells of each change under a number of its own, from 1', () => {
    const { journal, told, leave, enter } = open()
    const before = performance.now()
    const { response, request, recording } = enter()
    expect(journal.recordingOf(request)).toBe(recording)
    recording.asked('token', '', {})
    response.statusCode = 418
    response.emit('close')
    expect(told).toEqual([
      [1, 1],
      [1, 2],
      [1, 3],
    ])
    // Nothing was sent.
    expect(journal.requests[0]?.status).toBe(0)
    expect(journal.exchanges[0]?.duration).toBeLessThanOrEqual(performance.now() - before)
    enter()
    journal.clear()
    leave()
    enter()
    expect(told.slice(3)).toEqual([[2, 4], undefined])
    expect(journal.exchanges.map(({ id }) => id)).toEqual([3])
    expect(() => journal.recordingOf(incoming('/'))).toThrow('never opened')
  })

  it('takes an answer of 400 and more for a refusal, and one that says so', () => {
    const { journal, enter } = open()
    const { recording } = enter()
    const isRefusal = (status: number, refused?: true): boolean | undefined => {
      recording.decided({ status, headers: {}, body: '', ...(refused && { refused }) })
      return journal.exchanges[0]?.refused
    }
    expect([isRefusal(399), isRefusal(400), isRefusal(200, true)]).toEqual([false, true, true])
  })

  it('knows a login by a bearer token alone that is one', () => {
    const flowOf = (authorization: string): number | undefined => {
      const { journal, enter } = open({ authorization }, '/')
      journal.adopt('ann@example.com', { access_token: 'a b' })
      const { recording } = enter()
      recording.asked('owner-api', '', {})
      return journal.exchanges[0]?.flow
    }
    expect(['Bearer a b', 'bearer a b', 'XBearer a b', 'Bearer a'].map(flowOf)).toEqual([1, 1, undefined, undefined])
  })

  it('counts answers to what is kept behind the masks', () => {
    const { journal, enter } = open()
    const answer = { status: 200, headers: { 'content-type': 'text/plain' }, body: 'x'.repeat(65_536) }
    for (let count = 0; count < 520; count += 1) enter().recording.answered(answer)
    expect([journal.secretsOf(1), journal.secretsOf(520)]).toMatchObject([undefined, { answer: {} }])
  })

  it('has the last ten thousand exchanges, and nothing of those before', () => {
    const { journal, enter } = open()
    enter().recording.asked('token', '', {})
    expect(journal.secretsOf(1)).toBeDefined()
    for (let count = 1; count < 10_000; count += 1) enter()
    expect([journal.exchanges.length, journal.exchanges[0]?.id]).toEqual([10_000, 1])
    enter()
    expect([journal.exchanges.length, journal.requests.length, journal.exchanges[0]?.id]).toEqual([10_000, 10_000, 2])
    expect(journal.secretsOf(1)).toBeUndefined()
  })

  it('numbers connections from 1', () => {
    const read = createRequestReader()
    const one = incoming('/a?b=c')
    expect([read(one, 5), read(one, 6), read(incoming('/'), 7)]).toMatchObject([
      { connection: 1, at: 5, path: '/a', query: { b: '[masked]' }, host: '', method: 'GET' },
      { connection: 1, at: 6 },
      { connection: 2, path: '/' },
    ])
  })

  it('knows the traces of fifty thousand steps, and forgets the one that was seen the longest ago', () => {
    const flows = createFlows()
    const traces = (code: string): Traces => ({ query: new URLSearchParams(), cookies: new Map(), fields: { code } })
    const learn = (code: string): unknown =>
      flows.learn({ number: Number(code), identity: undefined }, { location: `/?code=${code}` }, {})
    for (let code = 1; code <= 50_000; code += 1) learn(String(code))
    expect(flows.of(traces('1'))?.number).toBe(1)
    learn('1')
    learn('50001')
    expect(['1', '2', '3', '50001'].map((code) => flows.of(traces(code))?.number)).toEqual([1, undefined, 3, 50_001])
  })
})

it('an exchange under way is shown without an answer, as what came over TLS', () => {
  const request = { method: 'GET', host: 'localhost', path: '/a', query: {}, headers: {}, body: {}, httpVersion: '1.1' }
  const exchange = { id: 1, place: 'home', started: 0, request: { ...request, tlsVersion: 'TLSv1.2' } }
  const shown = (more: object): readonly Exchange[] => [{ ...exchange, ...more } as unknown as Exchange]
  expect(harOf(shown({}))).toMatchObject({
    log: {
      entries: [
        {
          time: 0,
          timings: { wait: 0 },
          request: { url: 'https://localhost/a', bodySize: 0 },
          response: { status: 0, statusText: '' },
          comment: '',
        },
      ],
    },
  })
  const linesOf = (more: object): readonly string[] => sequenceDiagram(shown(more)).split('\n').slice(3, -1)
  expect(linesOf({})).toEqual(['    client->>service: GET /a'])
  expect(linesOf({ challenged: true, fault: 'x' }).slice(1)).toEqual([
    '    Note over service: fault: x',
    '    Note over service: firewall',
  ])
  expect(linesOf({ request: { ...request, status: 0 } }).at(-1)).toBe(
    '    service--xclient: the connection was cut after 0 ms',
  )
  expect(linesOf({ request: { ...request, status: 200 }, duration: 1.6, decision: 'why' }).at(-1)).toBe(
    '    service-->>client: 200 in 2 ms: why',
  )
})

it('the cookies of a sign-in are set as recorded, over TLS for TLS alone', () => {
  const cookies = (changes: Partial<Settings>, id?: string): readonly string[] => {
    const settings = { tls: false, strictness: 'document', firewallCookies: ['ak_bmsc', 'other', '_abck'], ...changes }
    const session = id === undefined ? undefined : ({ id } as Parameters<typeof authorizeCookies>[1])
    return authorizeCookies({ settings } as ServiceState, session)['set-cookie'].map((line) =>
      line.replace(/=[\w-]{32}~-1~;/u, '=RANDOM;'),
    )
  }
  const own = 'sso.sid=s; Path=/; HttpOnly; SameSite=Lax'
  const others = ['ak_bmsc=RANDOM; Max-Age=7200; Path=/', 'other=RANDOM; Max-Age=3600; Path=/']
  const last = '_abck=RANDOM; Max-Age=31536000; Path=/'
  expect(cookies({}, 's')).toEqual([...others, own, last])
  expect(cookies({ strictness: 'lenient' }, 's')).toEqual([own, ...others, last])
  expect(cookies({ firewallCookies: [] }, 's')).toEqual([own])
  expect(cookies({ firewallCookies: ['other'] }, 's')).toEqual([own, others[1]])
  expect(cookies({})).toEqual([...others, last])
  expect(cookies({ tls: true, firewallCookies: ['other'] }, 's')).toEqual([
    'sso.sid=s; Path=/; Secure; HttpOnly; SameSite=Lax',
    'other=RANDOM; Max-Age=3600; Path=/; Secure',
  ])
})

it('an account says what it has no passcode for; backup codes that were used come back', () => {
  const options = { identity: 'ann@example.com', credential: 'x', totpSecret: 'MY', backupCodes: ['123456789'] }
  const accounts = createAccountDirectory([options, { identity: 'bob@example.com', credential: 'x' }])
  const [ann, bob] = accounts.all.map((account) => accountView(account, createClock()))
  expect(() => bob?.passcode()).toThrow('bob@example.com has no factor')
  expect(() => ann?.passcode('Phone')).toThrow('ann@example.com has no such factor')
  expect(ann?.passcode()).toBe(ann?.passcode('Device #1'))
  accounts.all[0]?.backupCodes.clear()
  accounts.forget()
  expect(ann?.backupCodes).toEqual(['123456789'])
})

it('the key that signs is told with its name and its use, and each token names it', async () => {
  const coordinate: unknown = expect.any(String)
  const key = { kid: 'owner-sso-emulator', alg: 'ES256' }
  expect(await publicKeys()).toEqual({
    keys: [{ kty: 'EC', crv: 'P-256', x: coordinate, y: coordinate, use: 'sig', ...key }],
  })
  const [head = ''] = (await signToken({})).split('.')
  expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual({ ...key, typ: 'JWT' })
})

it('every default is what the last release had: a change of it is one for its users', () => {
  expect(parseEmulatorOptions()).toMatchSnapshot()
})

it('a refresh token is refused elsewhere, with the reason', async () => {
  const settings = { ...parseEmulatorOptions(), accessTokenFormat: 'opaque' } as const
  const clock = createClock()
  expect(clock.offset).toBe(0)
  const accessTokens = createAccessTokens(clock, settings)
  const tokens = createRefreshTokens({ clock, settings, counters: createCounters(), accessTokens })
  const account = createAccount({ identity: 'ann@example.com', credential: 'x' })
  const [home, regional] = [
    { region: 'home', url: 'http://127.0.0.1' },
    { region: 'regional', url: 'http://localhost' },
  ] as const
  const minting = { tlsVersion: undefined, httpVersion: '1.1' }
  const { access_token, refresh_token } = await tokens.signIn(account, home)
  expect([access_token.length, refresh_token.length]).toEqual([64, 54])
  const decision = async (token: string, place: Parameters<typeof tokens.refresh>[1]): Promise<string> =>
    (await tokens.refresh(token, place, minting)).decision
  expect(await decision(refresh_token, regional)).toBe('a refresh token of the other region')
  expect(await decision(refresh_token, 'owner-api')).toBe('a refresh token of the owner API is refreshed there alone')
  const traded = await tokens.trade({ account, family: 'x', instance: home }, minting)
  expect(await decision(traded.refresh_token ?? '', home)).toBe(
    'a refresh token of the owner API is refreshed there alone',
  )
})

it.each<[string, string, readonly string[]]>([
  ['http://127.0.0.1:1', 'http://localhost:1', ['home', 'regional', 'regional', 'home']],
  ['http://127.0.0.1:1', 'http://127.0.0.1:2', ['regional', 'home', 'home', 'regional']],
])(
  'a request to %s or %s is told by its host name, or by its port where that tells them apart',
  (home, regional, regions) => {
    const instances = createInstances(home, regional)
    const asked: readonly [string | undefined, number][] = [
      ['127.0.0.1:1', 2],
      ['localhost:1', 1],
      ['LOCALHOST:1', 1],
      [undefined, 2],
    ]
    const requests = asked.map(([host, localPort]) => ({ headers: { host }, socket: { localPort } }) as IncomingMessage)
    expect(requests.map((request) => instances.of(request).region)).toEqual(regions)
  },
)

it('what lives is shown with the time that passcodes have left, and the last twelve clients of the firewall', () => {
  const service = createServiceState(
    parseEmulatorOptions(),
    createInstances('http://127.0.0.1:1', 'http://localhost:1'),
  )
  service.clock.freeze()
  service.clock.jump(1_000_000_007)
  for (let count = 1; count <= 13; count += 1) {
    service.firewall.blocks({ address: '127.0.0.1', userAgent: `${count}` } as Parameters<
      typeof service.firewall.blocks
    >[0])
  }
  const session = service.sessions.create(service.instances.home, { codeChallenge: 'x', redirectUri: 'x', state: 'x' })
  const [account] = service.accounts.all
  if (!account) throw new Error('no account')
  const pending = awaitPasscode(service, session, account)
  const stage = (): unknown => liveState(service).sessions.youngest[0]?.stage
  expect(stage()).toBe('waits for a passcode')
  pending.verified = true
  expect(stage()).toBe('passcode verified')
  const { accounts, firewall } = liveState(service)
  expect(accounts[0]?.secondsLeft).toBe(30 - (1_000_000_007 % 30))
  expect(firewall.clients.map(({ userAgent }) => userAgent)).toEqual(
    Array.from({ length: 12 }, (_, index) => `${index + 2}`),
  )
})

it('what a token was minted over is said in words', () => {
  expect([
    describeMinting({ tlsVersion: undefined, httpVersion: '1.1' }),
    describeMinting({ tlsVersion: 'TLSv1.3', httpVersion: '2' }),
    describeMinting(undefined),
  ]).toEqual(['plain http, HTTP/1.1', 'TLSv1.3, HTTP/2', 'issued by hand'])
})
