/** Each limit at it and one beyond it: what a call is, who makes it, and what it is answered with. */
import { EventEmitter } from 'node:events'
import { type IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { type CurrentTokens, SignedOutError, StoreError } from '@owner-sso/core'
import type { KeptClient } from '../../src/clients/client.ts'
import { fieldsOfText, tokenRequestFields } from '../../src/http/token-request.ts'
import { accountInHeader, admit, bearerKey } from '../../src/http/caller.ts'
import { type Call, clientOf, type Surroundings } from '../../src/http/call.ts'
import { answerCurrentToken, opaqueTag, waitOf } from '../../src/http/current-token.ts'
import { type Door, localDoor, openDoor, proxiedDoor } from '../../src/http/door.ts'
import { guardRefusal, isOwnHost } from '../../src/http/guard.ts'
import { livingIdToken, secondsLeft } from '../../src/http/lifetime.ts'
import { callLimits, networkOf } from '../../src/http/limits.ts'
import type { RefusedCall } from '../../src/http/refusal.ts'
import { reportsTo } from '../../src/http/report.ts'
import { answerTokenRequest } from '../../src/http/token-endpoint.ts'
import { tokenChanges } from '../../src/http/token-changes.ts'
import { ClientsError } from '../../src/index.ts'
import { outcomeOf } from '../outcome-of.ts'

it.each([
  ['Bearer aA0-._~+/=', 'aA0-._~+/='],
  ['bearer  key', 'key'],
  ['XBearer key', undefined],
  ['Bearer key more', undefined],
  ['Bearer', undefined],
  ['Basic key', undefined],
  [undefined, undefined],
])('the key in Authorization: %s is %s', (authorization, key) => {
  expect(bearerKey({ headers: { authorization } } as IncomingMessage)).toBe(key)
})

it.each([
  ['W/"tag"', 'tag'],
  ['"tag"', 'tag'],
  [' tag ', 'tag'],
  ['a"b', 'a"b'],
  ['"a"b"', 'a"b'],
  ['aW/"b', 'aW/"b'],
])('the entity tag %s holds %s', (tag, opaque) => {
  expect(opaqueTag(tag)).toBe(opaque)
})

it.each([
  [undefined, 30_000],
  ['0', 0],
  ['60', 60_000],
  ['61', 60_000],
  ['99999', 60_000],
  ['100000', undefined],
  ['', undefined],
  ['x1', undefined],
  ['1x', undefined],
  ['-1', undefined],
])('a caller that asks to wait for %s s waits for %s ms', (wait, milliseconds) => {
  const query = new URLSearchParams(wait === undefined ? {} : { wait })
  const refusal = expect.objectContaining({ code: 'ERR_BROKER_MALFORMED_REQUEST' })
  expect(outcomeOf(() => waitOf(query))).toEqual(milliseconds ?? refusal)
})

it.each([
  ['localhost:12345', true],
  ['localhost:123456', false],
  ['[::1]', true],
  ['[::1]x', false],
  ['x[::1]', false],
  ['Home.Example', true],
  ['home.example.', false],
  [undefined, false],
])('the host %s is this broker’s own: %s', (host, isOwn) => {
  expect(isOwnHost(host, new Set(['home.example']))).toBe(isOwn)
})

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::', '2001:db8:0:0'],
  ['2001:db8:1:2:3:ffff:5:6', '2001:db8:1:2'],
  ['::2:3:4:5:6:7:8', '0:2:3:4'],
  ['::5:6:7:8', '0:0:0:0'],
  ['::1', '0:0:0:0'],
  ['::ffff:192.0.2.1', '0:0:0:0:0:ffff:c000:201'],
])('the address %s counts as %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

it('a token that is over has no seconds left, and the rest is rounded down', () => {
  const left = (ahead: number) =>
    secondsLeft({ access_token: '', token_type: 'Bearer', expires_at: Date.now() / 1000 + ahead })
  expect([left(-5), left(0)]).toEqual([0, 0])
  expect([59, 60]).toContain(left(60.5))
})

it('whoever keeps a log is told of a list of clients that can’t be read, and not of a call that was refused', () => {
  const told: unknown[] = []
  const { answerTo } = reportsTo((problem) => void told.push(problem))
  const request = { method: 'GET', headers: {}, url: '/token' } as IncomingMessage
  expect(answerTo(new ClientsError('malformed', 'It is not JSON.'), request)).toMatchObject({
    status: 503,
    problem: { code: 'ERR_BROKER_CLIENTS' },
  })
  expect(told).toHaveLength(1)
  const warned = jest.spyOn(process, 'emitWarning').mockReturnValue(undefined)
  const codes = [new ClientsError('busy', 'Try again.'), new SignedOutError(), new Error('a bug')].map((error) => {
    const { problem } = answerTo(error, request)
    return [problem.code, told.length, warned.mock.calls.length]
  })
  expect(codes).toEqual([
    ['ERR_BROKER_CLIENTS', 2, 0],
    ['ERR_SSO_SIGNED_OUT', 3, 0],
    ['ERR_BROKER_INTERNAL', 4, 1],
  ])
  warned.mockRestore()
})

it.each<[string | undefined, string | undefined, string]>([
  ['192.0.2.1, 192.0.2.2 ', '127.0.0.1', '192.0.2.2'],
  ['192.0.2.1', '127.0.0.1', '192.0.2.1'],
  ['192.0.2.1,', '127.0.0.1', '127.0.0.1'],
  [undefined, '127.0.0.1', '127.0.0.1'],
  [undefined, undefined, 'unknown'],
])('a call forwarded for %s through %s comes from %s', (forwarded, remoteAddress, address) => {
  const request = { headers: { 'x-forwarded-for': forwarded }, socket: { remoteAddress } } as never
  expect(proxiedDoor.addressOf(request)).toBe(address)
  expect([openDoor, localDoor].map(({ addressOf }) => addressOf(request))).toEqual([
    remoteAddress ?? 'unknown',
    'unix socket',
  ])
})

describe('a call, with its surroundings', () => {
  const tokens = { access_token: 'the-token', token_type: 'Bearer', expires_at: 4e9, id_token: 'unreadable' }
  /** What was answered, as it went over the wire, and what else happened. */
  async function answered(
    act: (call: Call, around: Surroundings) => Promise<void>,
    body: string,
    { door = openDoor, ...more }: { readonly door?: Door } & Record<string, unknown> = {},
  ) {
    const log: unknown[] = []
    const request = Object.assign(new PassThrough(), {
      headers: { 'content-type': 'application/json' },
      socket: { remoteAddress: '192.0.2.1' },
    }) as unknown as IncomingMessage
    const response = new ServerResponse(request)
    response.sendDate = false
    const socket = new PassThrough()
    response.assignSocket(socket as never)
    const client = { name: 'home', accounts: ['ann'], scope: ['token'], keys: [] }
    const around = {
      tokens: { accounts: () => ['ann'] },
      clients: {
        find: async (secret: string) => (secret === 'right' ? client : undefined),
        replaceSecret: async (used: string, grace: number) => `${used} ${grace}`,
        noteUse: (...use: unknown[]) => log.push(use),
      },
      tokensOf: async () => tokens,
      limits: {
        countCall: async ({ name }: KeptClient) => void log.push(name),
        countWrongKey: async (address: string) => void log.push(address),
      },
      audit: (entry: object) => log.push(entry),
      reports: reportsTo(undefined),
      ...more,
    } as unknown as Surroundings
    const call = { request, response, door, query: new URLSearchParams(), told: {} }
    const over = act(call, around)
    Object(request).end(body)
    const failure: unknown = await over.then(
      () => undefined,
      (error: unknown) => error,
    )
    const [head = '', content = ''] = String(socket.read() ?? '').split('\r\n\r\n')
    return { head: head.split('\r\n'), content, log, failure }
  }

  const rotating: typeof answered extends (act: infer Act, ...more: never[]) => unknown ? Act : never = (
    call,
    around,
  ) => answerTokenRequest(call, around, { rotates: true, grace: 7 })
  const grant = (refresh_token: string): string => JSON.stringify({ grant_type: 'refresh_token', refresh_token })

  it('for a token gets the next refresh token, or keeps its own while none can be stored', async () => {
    const { head, content, log } = await answered(rotating, grant('right'))
    expect(head.slice(0, 5)).toEqual([
      'HTTP/1.1 200 OK',
      'content-type: application/json; charset=utf-8',
      `content-length: ${content.length}`,
      'cache-control: no-store',
      'pragma: no-cache',
    ])
    expect(JSON.parse(content)).toEqual({
      access_token: 'the-token',
      refresh_token: 'right 7',
      id_token: 'unreadable',
      expires_in: expect.any(Number),
      token_type: 'Bearer',
    })
    const from = { by: 'refresh', address: '192.0.2.1' }
    const told = { client: 'home', account: 'ann' }
    expect(log).toEqual(['home', ['home', '192.0.2.1'], { ...from, event: 'token', ...told }])
    const failing = async (error: Error): Promise<unknown> => {
      const clients = {
        find: async () => ({ name: 'home', accounts: ['ann'], scope: ['token'], keys: [] }),
        replaceSecret: async () => {
          throw error
        },
        noteUse: () => undefined,
      }
      const { refresh_token, error: code } = JSON.parse((await answered(rotating, grant('right'), { clients })).content)
      return refresh_token ?? code
    }
    const warned = jest.spyOn(process, 'emitWarning').mockReturnValue(undefined)
    expect([
      await failing(new StoreError('unavailable', 'It is down.')),
      await failing(new ClientsError('unwritable', 'It is full.')),
      await failing(new Error('a bug')),
    ]).toEqual(['right', 'right', 'temporarily_unavailable'])
    warned.mockRestore()
  })

  it('with a wrong key is counted, and one without any is not', async () => {
    const find = (secret?: string) =>
      answered(async (call, around) => {
        expect(await clientOf(secret, call, around)).toBeUndefined()
      }, '')
    expect([(await find('wrong')).log, (await find()).log]).toEqual([['192.0.2.1'], []])
    const scopes = { name: 'home', accounts: ['ann'], scope: ['proxy'], keys: [] }
    const clients = { find: async () => scopes, noteUse: () => undefined }
    expect(JSON.parse((await answered(rotating, grant('right'), { clients })).content)).toMatchObject({
      error: 'invalid_grant',
    })
    const others = { find: async () => ({ ...scopes, scope: ['token'], accounts: ['ann', 'bob'] }), noteUse: () => {} }
    const { content } = await answered(rotating, grant('right'), { clients: others })
    expect(JSON.parse(content)).toMatchObject({ error: expect.stringMatching(/^invalid_(?:grant|request)$/u) })
  })

  it('on a Unix socket is for the only account, and looks at no more than two', async () => {
    const ask = async (...names: string[]): Promise<unknown> => {
      const seen: string[] = []
      function* accounts(): Generator<string> {
        for (const name of names) {
          seen.push(name)
          yield name
        }
      }
      const act = (call: Call, around: Surroundings) => answerCurrentToken(call, around, {} as never)
      const { content, failure } = await answered(act, '', { door: localDoor, tokens: { accounts } })
      return [content, failure, seen]
    }
    const none = expect.objectContaining({ code: 'ERR_BROKER_NO_ACCOUNT' })
    expect([await ask('ann'), await ask(), await ask('ann', 'bob'), await ask('ann', 'bob', 'eve')]).toEqual([
      ['the-token', undefined, ['ann']],
      ['', none, []],
      ['', none, ['ann', 'bob']],
      ['', none, ['ann', 'bob']],
    ])
  })
})

it.each<[string, string | undefined, object | undefined]>([
  ['{"a":"1"}', 'application/json', { a: '1' }],
  ['{"a":"1"}', ' Application/JSON ; charset=utf-8', { a: '1' }],
  ['a=1&b=', 'application/x-www-form-urlencoded', { a: '1', b: '' }],
  ['a=1&a=1', 'application/x-www-form-urlencoded', undefined],
  ['{"a":1,"b":"1"}', 'application/json', { b: '1' }],
  ['[]', 'application/json', undefined],
  ['null', 'application/json', undefined],
  ['"a"', 'application/json', undefined],
  ['{', 'application/json', undefined],
  ['{"a":"1"}', 'text/json', undefined],
  ['a=1', undefined, undefined],
])('the fields of %s, sent as %s, are %j', (body, type, fields) => {
  expect(fieldsOfText(body, type)).toEqual(fields && new Map(Object.entries(fields)))
})

describe('calls of a client, and wrong keys of an address', () => {
  beforeEach(() => void jest.useFakeTimers())
  afterEach(() => void jest.useRealTimers())
  const refusal = (seconds: number) => ({
    code: 'ERR_BROKER_TOO_MANY_CALLS',
    headers: { 'retry-after': String(seconds) },
  })

  it('are counted for a minute, each by itself', async () => {
    const limits = callLimits({ callsPerMinute: 1, wrongKeysPerMinute: 2 })
    const callOf = (name: string, callsPerMinute?: number) =>
      limits.countCall({
        name,
        accounts: ['ann'],
        scope: ['token'],
        keys: [],
        ...(callsPerMinute !== undefined && { limits: { callsPerMinute } }),
      })
    await callOf('a')
    await expect(callOf('a')).rejects.toMatchObject(refusal(60))
    for (let call = 0; call < 2; call += 1) {
      await callOf('b', 2)
      await limits.countWrongKey('192.0.2.1')
    }
    await expect(callOf('b', 2)).rejects.toMatchObject(refusal(60))
    await expect(limits.countWrongKey('192.0.2.1')).rejects.toMatchObject(refusal(60))
    await limits.countWrongKey('192.0.2.2')
    await jest.advanceTimersByTimeAsync(59_001)
    await expect(callOf('a')).rejects.toMatchObject(refusal(1))
    await jest.advanceTimersByTimeAsync(1000)
    await callOf('a')
  })
})

describe('callers that wait for the next token', () => {
  beforeEach(() => void jest.useFakeTimers())
  afterEach(() => void jest.useRealTimers())

  const current = (access_token: string): CurrentTokens => ({ access_token, token_type: 'Bearer', expires_at: 1 })
  /** What is told here of a refresh, and what waits: a caller hangs up by `close`. */
  const waitingRoom = (mostWaiting: number, found = () => Promise.resolve(current('new'))) => {
    const told: ((event: { readonly account: string }) => void)[] = []
    const looks: string[] = []
    const on = (_event: string, listener: (typeof told)[number]) => {
      told.push(listener)
      return () => void told.splice(told.indexOf(listener), 1)
    }
    const tokensOf = (account: string) => {
      looks.push(account)
      return found()
    }
    const changes = tokenChanges({ on } as never, tokensOf, mostWaiting)
    const wait = (client: string, response = new EventEmitter(), account = 'ann') => ({
      response,
      next: changes.next(client, account, current('old'), 30_000, response as ServerResponse),
    })
    return { told, looks, changes, wait }
  }
  const tooMany = { code: 'ERR_BROKER_TOO_MANY_CALLS', headers: { 'retry-after': '1' } }

  it('are 32 of one client at the most, and as many of all as there may be', async () => {
    const one = waitingRoom(1024)
    for (let call = 0; call < 32; call += 1) void one.wait('a')
    await expect(one.wait('a').next).rejects.toMatchObject(tooMany)
    const others = one.wait('b')
    one.changes.close()
    expect(await others.next).toBeUndefined()
    const few = waitingRoom(2)
    const calls = [few.wait('a'), few.wait('b')]
    await expect(few.wait('c').next).rejects.toMatchObject(tooMany)
    calls[0]?.response.emit('close')
    expect(await calls[0]?.next).toBeUndefined()
    // There is room again.
    const later = few.wait('c')
    few.changes.close()
    expect(await later.next).toBeUndefined()
  })

  it('do not wait, nor take a place, where they have hung up already', async () => {
    const { wait } = waitingRoom(1)
    // While the current token was looked up, for one: no event tells of it any more.
    expect(await wait('a', Object.assign(new EventEmitter(), { destroyed: true })).next).toBeUndefined()
    expect(jest.getTimerCount()).toBe(0)
  })

  it('are answered by one look for all of an account, and leave nothing behind', async () => {
    const { told, looks, changes, wait } = waitingRoom(1024)
    const [first, second, other] = [wait('a'), wait('b'), wait('a', new EventEmitter(), 'bob')]
    // Two times of their own, and a look for each account.
    expect(jest.getTimerCount()).toBe(5)
    await jest.advanceTimersByTimeAsync(999)
    expect(looks).toEqual([])
    for (const tell of told) tell({ account: 'ann' })
    expect(await Promise.all([first.next, second.next])).toEqual([current('new'), current('new')])
    expect(looks).toEqual(['ann'])
    expect([first, second].map(({ response }) => response.listenerCount('close'))).toEqual([0, 0])
    expect(jest.getTimerCount()).toBe(3)
    // Nobody waits for ann any more.
    await jest.advanceTimersByTimeAsync(1)
    expect([looks, await other.next, jest.getTimerCount()]).toEqual([['ann', 'bob'], current('new'), 0])
    changes.close()
    expect(told).toEqual([])
  })

  it('get nothing once their time is over, and are looked for each second until then', async () => {
    const { looks, changes, wait } = waitingRoom(1024, () => Promise.resolve(current('old')))
    const { next, response } = wait('a')
    await jest.advanceTimersByTimeAsync(29_999)
    expect([looks.length, response.listenerCount('close')]).toEqual([29, 1])
    await jest.advanceTimersByTimeAsync(1)
    expect([await next, response.listenerCount('close')]).toEqual([undefined, 0])
    void wait('a')
    changes.close()
    expect(jest.getTimerCount()).toBe(0)
  })

  it('are told why there is no token', async () => {
    const { told, wait } = waitingRoom(1024, () => Promise.reject(new TypeError('signed out')))
    const { next, response } = wait('a')
    for (const tell of told) tell({ account: 'ann' })
    await expect(next).rejects.toThrow('signed out')
    // The look of the second is still to come; the caller's own time is not.
    expect([response.listenerCount('close'), jest.getTimerCount()]).toEqual([0, 1])
  })
})

describe('the body of a token request', () => {
  const requestOf = (type: string, more: object = {}) =>
    Object.assign(new PassThrough(), { headers: { 'content-type': type }, ...more })
  const fieldsFrom = (request: object) => tokenRequestFields(request as IncomingMessage)
  const refusalOf = (request: object) => fieldsFrom(request).catch((error: RefusedCall) => error.code)
  const listenersOf = (request: PassThrough) => ['data', 'end', 'close'].map((name) => request.listenerCount(name))
  const form = 'application/x-www-form-urlencoded'
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] }))
  afterEach(() => void jest.useRealTimers())

  it('leaves nothing behind, whether it is read, too long, or breaks off', async () => {
    const whole = Object.assign(new PassThrough({ autoDestroy: false }), { headers: { 'content-type': form } })
    const before = listenersOf(whole)
    const fields = fieldsFrom(whole)
    whole.end('a=ü')
    expect(await fields).toEqual(new Map([['a', 'ü']]))
    expect([listenersOf(whole), jest.getTimerCount()]).toEqual([before, 0])
    const long = requestOf(form)
    const tooLong = refusalOf(long)
    for (const size of [16_384, 1]) long.write('x'.repeat(size))
    expect(await tooLong).toBe('ERR_BROKER_BODY_TOO_LARGE')
    // What still comes is thrown away.
    expect(long.readableFlowing).toBe(true)
    const broken = requestOf(form)
    const brokenOff = refusalOf(broken)
    broken.write('a=')
    broken.destroy()
    expect(await brokenOff).toBe('ERR_BROKER_MALFORMED_REQUEST')
    for (const request of [whole, long, broken]) expect(listenersOf(request)).toEqual(before)
    expect(jest.getTimerCount()).toBe(0)
  })

  it('is what a parser of the application made of it, if it is an object, and none where it is packed', async () => {
    const read = { readableDidRead: true }
    const parsed = Object.defineProperties(requestOf(form, { body: { a: '1' } }), {
      readableDidRead: { value: true },
    })
    expect(await fieldsFrom(parsed)).toEqual(new Map([['a', '1']]))
    expect(await fieldsFrom({ ...read, headers: { 'content-encoding': 'gzip' } })).toBeUndefined()
    for (const body of [null, 'a=2', undefined]) {
      expect(await fieldsFrom({ ...read, body, headers: { 'content-encoding': 'gzip' } })).toBeUndefined()
    }
    const unread = requestOf(form, { body: { a: '1' } })
    const fields = fieldsFrom(unread)
    unread.end('a=2')
    expect(await fields).toEqual(new Map([['a', '2']]))
  })
})

it.each<[readonly string[], Record<string, string>, string | undefined]>([
  [['Host', 'localhost'], {}, undefined],
  [['X', 'host', 'Host', 'localhost'], {}, undefined],
  [['Host', 'localhost', 'hOst', 'localhost'], {}, 'ERR_BROKER_MALFORMED_REQUEST'],
  [['Host', 'a.example'], {}, 'ERR_BROKER_HOST'],
  [['Host', 'broker.example'], {}, undefined],
  [['Host', 'localhost'], { origin: 'null' }, 'ERR_BROKER_CROSS_SITE'],
  [['Host', 'localhost'], { 'sec-fetch-site': 'same-origin' }, 'ERR_BROKER_CROSS_SITE'],
  [['Host', 'localhost'], { 'sec-fetch-site': 'none' }, undefined],
])('a call with the headers %j and %j is refused as %s', (rawHeaders, headers, code) => {
  const at = rawHeaders.findIndex((name) => name.toLowerCase() === 'host' && name !== 'host')
  const request = { rawHeaders, headers: { host: rawHeaders[at + 1], ...headers } }
  expect(guardRefusal(request as unknown as IncomingMessage, new Set(['broker.example']))).toBe(code)
})

it.each<[string | undefined, string | undefined, unknown]>([
  ['Bearer right', undefined, { client: 'home', account: 'ann' }],
  ['Bearer right', 'bob', { client: 'home', account: 'bob' }],
  ['Bearer right', 'caro', { code: 'ERR_BROKER_ACCOUNT_NOT_ALLOWED' }],
  ['Bearer proxy', undefined, { code: 'ERR_BROKER_SCOPE' }],
  ['Bearer both', undefined, { code: 'ERR_BROKER_NO_ACCOUNT' }],
  ['Bearer wrong', undefined, { code: 'ERR_BROKER_UNKNOWN_KEY' }],
  ['Basic right', undefined, { code: 'ERR_BROKER_UNKNOWN_KEY' }],
  [undefined, undefined, { code: 'ERR_BROKER_UNKNOWN_KEY' }],
])('whoever calls with %s for %s is %j', async (authorization, account, admission) => {
  const client = (more: object) => ({ name: 'home', accounts: ['ann'], scope: ['token'], keys: [], ...more })
  const found = new Map<string, object>([
    ['right', client(account === undefined ? {} : { accounts: ['ann', 'bob'] })],
    ['proxy', client({ scope: ['proxy'] })],
    ['both', client({ accounts: ['ann', 'bob'] })],
  ])
  const clients = { find: async (secret: string) => found.get(secret) }
  const request = { headers: { authorization, 'x-owner-account': account } } as unknown as IncomingMessage
  expect(await admit(request, clients as never, 'token')).toEqual(admission)
})

it('an account in a header is UTF-8 that Node has read as Latin-1', () => {
  const named = (header?: string) => accountInHeader({ headers: { 'x-owner-account': header } } as never)
  expect([named(Buffer.from('jörg').toString('latin1')), named()]).toEqual(['jörg', undefined])
})

it('an id token is handed out while it lives, and where it can’t be read', () => {
  const now = 1_790_000_000
  jest.spyOn(Date, 'now').mockReturnValue(now * 1000)
  const token = (claims: object): string => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`
  const kept = [token({ exp: now + 1 }), token({}), 'unreadable', undefined]
  expect(kept.map(livingIdToken)).toEqual(kept)
  expect(livingIdToken(token({ exp: now }))).toBeUndefined()
  jest.restoreAllMocks()
})
