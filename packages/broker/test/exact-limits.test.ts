/** Each limit at it and one beyond it, and what is taken only as a whole with a bad head and a bad tail. */
import { EventEmitter } from 'node:events'
import { type IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import {
  type CurrentTokens,
  type Notes,
  ReauthenticationRequiredError,
  SignedOutError,
  StoreError,
  type TokenStatus,
} from '@owner-sso/core'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { accountTokens } from '../src/account-tokens.ts'
import { accountAlerts } from '../src/alerts/account-alerts.ts'
import { type Alert, alertBody } from '../src/alerts/alert.ts'
import { commandAlert } from '../src/alerts/command.ts'
import { mqttAlert } from '../src/alerts/mqtt.ts'
import { webhookAlert } from '../src/alerts/webhook.ts'
import { isSignedWebhook, signedHeaders, webhookKey } from '../src/alerts/signature.ts'
import { alertTypeOf, begun, claimed, concluded, isDone, noteIn } from '../src/alerts/noted-alert.ts'
import { auditTo } from '../src/audit.ts'
import { type ClientKey, type KeptClient, shownClient } from '../src/clients/client.ts'
import { endingBy, rotated } from '../src/clients/rotation.ts'
import { newSecret, sha256 } from '../src/clients/secret.ts'
import { clientUses } from '../src/clients/uses.ts'
import { fieldsOfText, tokenRequestFields } from '../src/http/token-request.ts'
import { ago, duration } from '../src/status-page/duration.ts'
import { statusPageCode, statusPageTopic, takeCode } from '../src/status-page/entry-code.ts'
import { failuresOf } from '../src/status-page/failures.ts'
import { entryPage } from '../src/status-page/pages/entry-page.ts'
import { messagePage } from '../src/status-page/pages/layout.ts'
import { type AccountRow, overviewPage } from '../src/status-page/pages/overview-page.ts'
import { browserPage, passcodePage, signInPage } from '../src/status-page/pages/sign-in-pages.ts'
import { sharedSignIns } from '../src/status-page/shared-sign-ins.ts'
import { sharedTries } from '../src/status-page/shared-tries.ts'
import { statusPage, type StatusPageOptions } from '../src/status-page/status-page.ts'
import { submissions } from '../src/status-page/submissions.ts'
import { isEqual, visitorKey, visitorsOf } from '../src/status-page/visitor.ts'
import { waitingSignIns } from '../src/status-page/waiting-sign-ins.ts'
import { checkedInvitation } from '../src/clients/invitation.ts'
import { clientListNotes, parseClientList } from '../src/clients/client-list.ts'
import { accountInHeader, admit, bearerKey } from '../src/http/caller.ts'
import { type Call, clientOf, type Surroundings } from '../src/http/call.ts'
import { answerCurrentToken, opaqueTag, waitOf } from '../src/http/current-token.ts'
import { type Door, localDoor, openDoor, proxiedDoor } from '../src/http/door.ts'
import { guardRefusal, isOwnHost } from '../src/http/guard.ts'
import { livingIdToken, secondsLeft } from '../src/http/lifetime.ts'
import { callLimits, networkOf } from '../src/http/limits.ts'
import type { RefusedCall } from '../src/http/refusal.ts'
import { reportsTo } from '../src/http/report.ts'
import { answerTokenRequest } from '../src/http/token-endpoint.ts'
import { tokenChanges } from '../src/http/token-changes.ts'
import { ClientsError } from '../src/index.ts'
import { fresh } from '../src/notes/fresh.ts'
import { storeNotes } from '../src/notes/shared-notes.ts'
import { parseBrokerOptions, type TokenBrokerOptions } from '../src/options.ts'

/** What it comes to; the error where it throws one. */
function outcomeOf(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    return error
  }
}

/** Whether it does not throw. */
function isTaken(act: () => unknown): boolean {
  return !(outcomeOf(act) instanceof TypeError)
}

it.each([
  ['a', true],
  ['aB_.-@ 9', true],
  ['ß', true],
  ['x'.repeat(64), true],
  ['x'.repeat(65), false],
  [' a', false],
  ['a ', false],
  ['_', false],
  ['a\nb', false],
  ['a/b', false],
  ['/ab', false],
  ['ab/', false],
  ['/a', false],
  ['a/', false],
])('a client may be called %j: %s', (name, isName) => {
  expect(isTaken(() => checkedInvitation({ name, accounts: ['ann'] }))).toBe(isName)
})

it('an invitation has what was asked for, and nothing that was not', () => {
  const ahead = Math.floor(Date.now() / 1000) + 60
  expect(checkedInvitation({ name: 'a', accounts: ['Ann@Example.com', 'ann@example.com'] })).toStrictEqual({
    name: 'a',
    accounts: ['ann@example.com'],
    scope: ['token'],
  })
  const more = { scope: ['proxy', 'proxy'] as const, expiresAt: ahead + 0.5, limits: { callsPerMinute: 1 } }
  expect(checkedInvitation({ name: 'a', accounts: ['ann'], ...more })).toStrictEqual({
    name: 'a',
    accounts: ['ann'],
    scope: ['proxy'],
    expires_at: ahead,
    limits: { callsPerMinute: 1 },
  })
  for (const wrong of [{ scope: [] }, { scope: ['all'] }, { accounts: [] }, { limits: { callsPerMinute: 0 } }]) {
    expect(isTaken(() => checkedInvitation({ name: 'a', accounts: ['ann'], ...wrong } as never))).toBe(false)
  }
})

it('an invitation that ends now has ended', () => {
  const ending = (expiresAt: number) => isTaken(() => checkedInvitation({ name: 'a', accounts: ['ann'], expiresAt }))
  expect([ending(Date.now() / 1000), ending(Date.now() / 1000 + 60)]).toEqual([false, true])
})

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

describe('a signed webhook', () => {
  const secretOf = (bytes: number): string => Buffer.alloc(bytes, 7).toString('base64')
  const secret = secretOf(32)
  const signedAt = (at: string, sent = at): Record<string, string> => ({
    ...signedHeaders(webhookKey(secret), 'id', at as unknown as number, 'body'),
    'webhook-timestamp': sent,
  })

  it.each([
    [23, false],
    [24, true],
    [64, true],
    [65, false],
  ])('may have a secret of %i bytes: %s', (bytes, isSecret) => {
    expect(isTaken(() => webhookKey(secretOf(bytes)))).toBe(isSecret)
    expect(isTaken(() => webhookKey(`whsec_${secretOf(bytes)}`))).toBe(isSecret)
    expect(isTaken(() => webhookKey(`x whsec_${secretOf(bytes)}`))).toBe(false)
  })

  it.each(['AAAA=', '=AAAA', ' ', '-', '\n', 'AAAAwhsec_'])('may not have a secret with %j in it', (odd) => {
    expect(isTaken(() => webhookKey(secretOf(30)))).toBe(true)
    expect(isTaken(() => webhookKey(`${odd}${secretOf(30)}`))).toBe(false)
    expect(isTaken(() => webhookKey(`${secretOf(30)}${odd}A`))).toBe(false)
  })

  it.each([
    [0, true],
    [300, true],
    [-300, true],
    [301, false],
    [-301, false],
  ])('that is %i s old is new: %s', (age, isNew) => {
    expect(isSignedWebhook(secret, signedAt('1790000000'), 'body', 1_790_000_000 + age)).toBe(isNew)
  })

  it.each([' 1790000000', '1790000000 ', '+1790000000', '1.79e9', '0001790000000'])(
    'has no time written %j, though the signature is right',
    (at) => {
      expect(isSignedWebhook(secret, signedAt(at), 'body', 1_790_000_000)).toBe(false)
    },
  )

  it('is not what lacks a header, or has another version or no signature', () => {
    const right = signedAt('1790000000')
    const judge = (headers: object): boolean => isSignedWebhook(secret, { ...headers }, 'body', 1_790_000_000)
    expect(judge({ ...right, 'webhook-signature': `v0,x ${right['webhook-signature']}` })).toBe(true)
    expect(judge({ ...right, 'webhook-signature': right['webhook-signature']?.replace('v1', 'v2') })).toBe(false)
    for (const name of Object.keys(right)) expect(judge({ ...right, [name]: undefined })).toBe(false)
    const named = signedHeaders(webhookKey(secret), 'undefined', 1_790_000_000, 'body')
    expect([judge(named), judge({ ...named, 'webhook-id': undefined })]).toEqual([true, false])
  })
})

it.each([
  ['owner-sso', true],
  ['/a/b$', true],
  ['', false],
  ['a/', false],
  ['$a', false],
  ['a+', false],
  ['#', false],
])('alerts may be told to the topic %j: %s', (topic, isTopic) => {
  expect(isTaken(() => mqttAlert({ url: 'mqtts://mqtt.example', topic }))).toBe(isTopic)
})

it.each([
  ['mqtts://mqtt.example', true],
  ['wss://mqtt.example', true],
  ['mqtt://127.0.0.1', true],
  ['mqtt://mqtt.example', false],
  ['ws://127.0.0.1', false],
  ['mqtts://name@mqtt.example', false],
  ['mqtts://:password@mqtt.example', false],
  ['mqtt.example', false],
])('alerts may be told to %s: %s', (url, isSafe) => {
  const outcome = outcomeOf(() => mqttAlert({ url }))
  const refused = url.includes('@')
    ? 'url of MQTT must be without a user name and password: give username and password'
    : 'url of MQTT must be an mqtts address, or mqtt on a loopback host'
  expect(outcome instanceof TypeError ? outcome.message : 'taken').toBe(isSafe ? 'taken' : refused)
})

it.each([
  ['a'.repeat(64), true],
  ['A'.repeat(64), true],
  ['a'.repeat(65), false],
  [`x${'a'.repeat(64)}`, false],
  ['a'.repeat(63), false],
])('a list of clients may have the hash %s: %s', (keySha256, isHash) => {
  const read = () => parseClientList({ clients: [{ name: 'home', keySha256, accounts: ['ann'] }] }, 'it')
  const keysOf = (): unknown => read().clients[0]?.keys
  const refused = expect.any(ClientsError)
  expect(outcomeOf(keysOf)).toEqual(isHash ? [{ sha256: 'a'.repeat(64) }] : refused)
})

it('a list of clients says of each what it was invited for, and that it ends, also its older keys', () => {
  const [one, other] = ['a'.repeat(64), 'b'.repeat(64)]
  const client = {
    name: 'home',
    keySha256: one,
    olderKeys: [{ keySha256: other, expiresAt: '2027-01-31T12:00:00Z' }],
    accounts: ['Ann@example.com', 'ann@example.com', 'sub:7'],
    scope: ['token', 'proxy', 'token'],
    invitedAt: '2026-01-31T12:00:00.900Z',
    expiresAt: '2028-01-31T12:00:00Z',
    limits: { callsPerMinute: 1 },
  }
  const listed = (more: object) => parseClientList({ clients: [{ ...client, ...more }] }, 'it').clients[0]
  expect(listed({})).toEqual({
    name: 'home',
    keys: [{ sha256: other, expires_at: Date.parse('2027-01-31T12:00:00Z') / 1000 }, { sha256: one }],
    accounts: ['ann@example.com', 'sub:7'],
    scope: ['token', 'proxy'],
    invited_at: Date.parse('2026-01-31T12:00:00Z') / 1000,
    expires_at: Date.parse('2028-01-31T12:00:00Z') / 1000,
    limits: { callsPerMinute: 1 },
  })
  for (const wrong of [
    { name: '' },
    { name: 7 },
    { accounts: [] },
    { accounts: [''] },
    { accounts: 'ann' },
    { olderKeys: {} },
    { olderKeys: [{}] },
    { scope: [] },
    { scope: ['all'] },
    { invitedAt: 'soon' },
    { expiresAt: 7 },
    { limits: {} },
    { limits: { callsPerMinute: 0 } },
    { limits: { callsPerMinute: 1.5 } },
  ]) {
    expect([wrong, outcomeOf(() => listed(wrong))]).toEqual([wrong, expect.any(ClientsError)])
  }
})

it('an error of the clients has the cause that it was given, and else none', () => {
  const cause = new Error('EACCES')
  expect(new ClientsError('unreadable', 'It can’t be read.', cause).cause).toBe(cause)
  expect('cause' in new ClientsError('busy', 'Try again.')).toBe(false)
  const told = { name: 'ClientsError', code: 'ERR_BROKER_CLIENTS', reason: 'busy', message: 'Try again.' }
  expect(new ClientsError('busy', 'Try again.')).toMatchObject(told)
})

describe('the options of tokenBroker', () => {
  const given = { tokens: { getTokens: () => undefined }, clients: { find: () => undefined } }
  const parsed = (more: object) => parseBrokerOptions({ ...given, ...more } as unknown as TokenBrokerOptions)

  it('have the defaults that the README tells', () => {
    expect(parsed({})).toMatchObject({
      rotation: { rotates: false, grace: 60 },
      hosts: new Set(),
      limits: { callsPerMinute: 600, wrongKeysPerMinute: 20, waiting: 1024 },
    })
    expect(parsed({ rotation: 'rotate', rotationGrace: 0, hosts: ['Home.Example-1'] })).toMatchObject({
      rotation: { rotates: true, grace: 0 },
      hosts: new Set(['home.example-1']),
    })
  })

  it.each<[object]>([
    [{ unknown: 1 }],
    [{ tokens: {} }],
    [{ clients: {} }],
    [{ rotation: 'sometimes' }],
    [{ rotationGrace: -1 }],
    [{ rotationGrace: Infinity }],
    [{ hosts: 'home.example' }],
    [{ hosts: [' home.example'] }],
    [{ hosts: ['home.example:80'] }],
    [{ hosts: [1] }],
    [{ audit: 'yes' }],
    [{ onProblem: 1 }],
    [{ limits: { callsPerMinute: 0 } }],
    [{ limits: { wrongKeysPerMinute: 1.5 } }],
    [{ limits: { waiting: '1' } }],
  ])('are not %j', (wrong) => {
    const [[name, value] = ['']] = Object.entries(wrong)
    const [limit] = name === 'limits' ? Object.keys(Object(value)) : []
    expect(() => parsed(wrong)).toThrow(TypeError)
    expect(() => parsed(wrong)).toThrow(limit === undefined ? name : `limits.${limit} must`)
  })
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

it.each([
  [-1, 'less than a second'],
  [0.9, 'less than a second'],
  [1, '1 second'],
  [59, '59 seconds'],
  [60, '1 minute'],
  [119, '1 minute'],
  [3600, '1 hour'],
  [3660, '1 hour 1 minute'],
  [86_399, '23 hours 59 minutes'],
  [86_400, '1 day'],
  [90_000, '1 day 1 hour'],
  [172_859, '2 days'],
])('%f seconds are %s', (seconds, words) => {
  expect(duration(seconds)).toBe(words)
})

it('what was less than a second ago was just now', () => {
  expect([ago(1000, 1000.9), ago(1000, 1001), ago(1001, 1000)]).toEqual(['just now', '1 second ago', 'just now'])
})

it.each<[string, string | undefined, object | undefined]>([
  ['{"a":"1"}', 'application/json', { a: '1' }],
  ['{"a":"1"}', ' Application/JSON ; charset=utf-8', { a: '1' }],
  ['a=1&b=', 'application/x-www-form-urlencoded', { a: '1', b: '' }],
  ['a=1&a=1', 'application/x-www-form-urlencoded', undefined],
  ['{"a":1}', 'application/json', undefined],
  ['[]', 'application/json', undefined],
  ['null', 'application/json', undefined],
  ['"a"', 'application/json', undefined],
  ['{', 'application/json', undefined],
  ['{"a":"1"}', 'text/json', undefined],
  ['a=1', undefined, undefined],
])('the fields of %s, sent as %s, are %j', (body, type, fields) => {
  expect(fieldsOfText(body, type)).toEqual(fields && new Map(Object.entries(fields)))
})

it('a client’s secret is 256 random bits, and says what it is', () => {
  expect(newSecret()).toMatch(/^owner-sso-[\w-]{43}$/u)
  expect(newSecret()).not.toBe(newSecret())
  expect(sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
})

describe('the next token of a client', () => {
  const client = (...keys: readonly ClientKey[]) => ({ name: 'a', accounts: ['ann'], scope: ['token'] as const, keys })
  const key = (name: string, expires_at?: number): ClientKey => ({
    sha256: name,
    ...(expires_at !== undefined && { expires_at }),
  })

  it('leaves those before the one that was used a grace, and drops what is over', () => {
    const keys = [key('a', 5), key('b'), key('c', 50), key('d'), key('e')]
    expect(rotated(client(...keys), 'd', 'f', 30, 5).keys).toEqual([
      key('b', 30),
      key('c', 30),
      key('d'),
      key('e'),
      key('f'),
    ])
    expect(rotated(client(key('a')), 'other', 'f', 30, 5).keys).toEqual([key('a')])
    expect([endingBy(key('a', 20), 30), endingBy(key('a', 40), 30)]).toEqual([key('a', 20), key('a', 30)])
  })

  it('is one of eight at the most that it has not used', () => {
    const unused = Array.from({ length: 8 }, (_, index) => key(`n${index}`))
    const { keys } = rotated(client(key('used'), ...unused), 'used', 'new', 30, 5)
    expect(keys).toEqual([key('used'), ...unused.slice(1), key('new')])
    expect(rotated(client(key('used'), ...unused.slice(1)), 'used', 'new', 30, 5).keys).toHaveLength(9)
  })
})

describe('the notes about an alert', () => {
  const now = (): number => Math.floor(Date.now() / 1000)
  const noted = (more: object = {}) => ({ id: 'i', type: 'sign-in.needed', at: now(), told: {}, ...more })
  const notesOf = (...entries: (readonly [string, object])[]): Notes => Object.fromEntries(entries)

  it('are read where each field is there, and not otherwise', () => {
    expect(noteIn(notesOf(['ann', noted()]), 'ann')).toEqual(noted())
    const wrong = [{ id: 1 }, { type: 'other' }, { at: '1' }, { told: null }, { told: 'x' }, { id: undefined }]
    for (const more of wrong) expect(noteIn(notesOf(['ann', noted(more)]), 'ann')).toBeUndefined()
    expect(noteIn(notesOf(), 'toString')).toBeUndefined()
  })

  it('begin where an account stands otherwise than before, and forget after a week that one works', () => {
    expect(begun(notesOf(), 'ann', 'sign-in.restored', undefined)).toEqual({})
    const week = 7 * 86_400
    const others = notesOf(
      ['new', noted({ type: 'sign-in.restored', at: now() - week + 5 })],
      ['old', noted({ type: 'sign-in.restored', at: now() - week - 5 })],
      ['needed', noted({ at: 0 })],
      ['strange', { id: 1 }],
    )
    const after = begun(others, 'ann', 'sign-in.needed', 'no_refresh_token')
    expect(Object.keys(after)).toEqual(['new', 'needed', 'ann'])
    expect(noteIn(after, 'ann')).toMatchObject({ type: 'sign-in.needed', reason: 'no_refresh_token', told: {} })
    expect(begun(after, 'ann', 'sign-in.needed', undefined)).toBe(after)
    expect(noteIn(begun(after, 'ann', 'sign-in.restored', undefined), 'ann')).not.toHaveProperty('reason')
  })

  it('are claimed by one for 90 seconds, and tried again when it is time', () => {
    const first = claimed(notesOf(['ann', noted()]), 'ann', 'i', 'mqtt', 'one')
    const telling = noteIn(first, 'ann')?.told['mqtt']
    expect(telling).toMatchObject({ claim: 'one', tries: 1 })
    expect([89, 90]).toContain((telling?.until ?? 0) - now())
    expect(claimed(first, 'ann', 'i', 'mqtt', 'two')).toBe(first)
    expect(claimed(first, 'ann', 'other', 'mqtt', 'two')).toBe(first)
    expect(concluded(first, 'ann', 'i', 'mqtt', 'two', undefined)).toBe(first)
    const failed = concluded(first, 'ann', 'i', 'mqtt', 'one', now() - 1)
    expect(noteIn(failed, 'ann')?.told).toEqual({ mqtt: { claim: 'one', tries: 1, again_at: now() - 1 } })
    expect(isDone(noteIn(failed, 'ann')?.told['mqtt'])).toBe(false)
    const again = claimed(failed, 'ann', 'i', 'mqtt', 'two')
    expect(noteIn(again, 'ann')?.told['mqtt']).toMatchObject({ claim: 'two', tries: 2 })
    const done = concluded(again, 'ann', 'i', 'mqtt', 'two', undefined)
    expect(isDone(noteIn(done, 'ann')?.told['mqtt'])).toBe(true)
    expect(claimed(done, 'ann', 'i', 'mqtt', 'three')).toBe(done)
    expect([isDone(undefined), isDone({ claim: 'x', tries: 1, until: 1 })]).toEqual([false, false])
  })

  it('fit how an account stands', () => {
    const states = ['valid', 'expired', 'in-doubt', 'signed-out', 'reauthentication-required'] as const
    expect(states.map((state) => alertTypeOf({ state }))).toEqual([
      'sign-in.restored',
      'sign-in.restored',
      undefined,
      'sign-in.needed',
      'sign-in.needed',
    ])
  })
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

describe('time', () => {
  const now = 1_790_000_000
  beforeEach(() => void jest.useFakeTimers({ now: now * 1000, doNotFake: ['nextTick'] }))
  afterEach(() => {
    jest.useRealTimers()
    jest.restoreAllMocks()
  })

  it('of a body is ten seconds', async () => {
    const request = Object.assign(new PassThrough(), { headers: { 'content-type': 'application/json' } })
    const fields = tokenRequestFields(request as unknown as IncomingMessage)
    const outcome = jest.fn()
    fields.catch(outcome)
    request.write('{')
    await jest.advanceTimersByTimeAsync(9990)
    expect(outcome).not.toHaveBeenCalled()
    await jest.advanceTimersByTimeAsync(100)
    expect(outcome).toHaveBeenCalledWith(expect.objectContaining({ code: 'ERR_BROKER_SLOW_BODY' }))
  })

  it('of a store that is to tell how an account stands is half a second', async () => {
    const tokens = { status: () => new Promise<never>(() => undefined), getTokens: () => Promise.resolve('current') }
    const outcome = jest.fn()
    void accountTokens(tokens as never, undefined)('ann').then(outcome)
    await jest.advanceTimersByTimeAsync(490)
    expect(outcome).not.toHaveBeenCalled()
    await jest.advanceTimersByTimeAsync(100)
    expect(outcome).toHaveBeenCalledWith('current')
  })

  it('between two writes of what clients did is a minute', async () => {
    const notes = storeNotes(memoryTokenStore(), 'uses')
    const uses = clientUses(notes, async () => (name) => name === 'a')
    const good = { calls: 1, last_used_at: now, last_address: '192.0.2.9' }
    const odd = [null, 'x', {}, { ...good, calls: '1' }, { ...good, last_used_at: null }, { ...good, last_address: 1 }]
    const before = Object.fromEntries([good, ...odd].map((use, index) => [`n${index}`, use]))
    await notes.change(() => before)
    expect([...(await uses.read())]).toEqual([['n0', good]])
    jest.setSystemTime((now + 0.9) * 1000)
    for (const address of ['192.0.2.1', '192.0.2.2']) uses.note('a', address)
    uses.note('gone', '192.0.2.3')
    await jest.advanceTimersByTimeAsync(59_999)
    expect(await notes.read()).toEqual(before)
    await jest.advanceTimersByTimeAsync(1)
    expect(await notes.read()).toEqual({ a: { calls: 2, last_used_at: now, last_address: '192.0.2.2' } })
  })

  it('of a command is half a minute, and none is counted once it has ended', async () => {
    jest.useRealTimers()
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] })
    const alert = { id: 'a', type: 'sign-in.needed', account: 'ann', at: now } as const
    await commandAlert({ command: ['true'] }).tell(alert)
    expect(jest.getTimerCount()).toBe(0)
    const outcome = commandAlert({ command: ['sleep', '60'] })
      .tell(alert)
      .catch((error: Error) => error.message)
    await jest.advanceTimersByTimeAsync(30_000)
    expect(await outcome).toBe('The command did not end within 30000 ms.')
  })

  it('of accounts is looked at once for all who notice at the same time, and not at all for what is settled', async () => {
    const looks: string[] = []
    const status = async (name: string) => {
      looks.push(name)
      if (name === 'bob') throw new Error('down')
      return { state: 'reauthentication-required' }
    }
    const tokens = { status, accounts: () => [], on: () => () => undefined }
    const failures: unknown[] = []
    const reasons: unknown[] = []
    const tell = async ({ account, reason }: Alert): Promise<void> => {
      if (account === 'eve') throw new Error('nobody is there')
      reasons.push(reason)
    }
    const alerts = accountAlerts({
      tokens: tokens as never,
      store: memoryTokenStore(),
      channels: [{ name: 'mqtt', tell }],
      onFailure: (failure) => failures.push(failure),
    })
    for (let n = 0; n < 3; n += 1) for (const name of ['ann', 'bob', 'eve']) alerts.signInNeeded(name)
    await jest.advanceTimersByTimeAsync(0)
    expect(looks).toEqual(['ann', 'bob', 'eve'])
    expect(reasons).toEqual([undefined])
    alerts.signInNeeded('ann')
    await jest.advanceTimersByTimeAsync(0)
    expect(looks).toEqual(['ann', 'bob', 'eve'])
    alerts.works('ann')
    await alerts.close()
    expect(looks).toEqual(['ann', 'bob', 'eve', 'ann'])
    expect(failures).toEqual([
      { error: new Error('down'), account: 'bob' },
      { error: new Error('nobody is there'), channel: 'mqtt', account: 'eve' },
    ])
    expect(jest.getTimerCount()).toBe(0)
  })

  it('of an entry of the log is in whole seconds, and a log that fails is a warning', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue(undefined)
    const noted: unknown[] = []
    jest.setSystemTime((now + 0.9) * 1000)
    const entry = { event: 'token', by: 'get', address: '192.0.2.1' } as const
    auditTo((each) => void noted.push(each))(entry)
    expect(noted).toEqual([{ ...entry, at: now }])
    auditTo(() => Promise.reject(new Error('full')) as never)(entry)
    await jest.advanceTimersByTimeAsync(0)
    expect(warn.mock.calls).toEqual([['audit failed.', expect.objectContaining({ type: 'OwnerSsoWarning' })]])
  })

  it('between two looks is half a minute, and an alert that fails is told again after 30 s, 2 min, 10 min and an hour', async () => {
    let state = 'valid'
    const tokens = { status: async () => ({ state }), accounts: () => ['ann'], on: () => () => undefined }
    const told: number[] = []
    const tell = (): Promise<never> => {
      told.push(Date.now() / 1000 - now)
      return Promise.reject(new Error('nobody is there'))
    }
    const channels = [{ name: 'mqtt', tell }]
    const alerts = accountAlerts({ tokens: tokens as never, store: memoryTokenStore(), channels })
    await jest.advanceTimersByTimeAsync(1000)
    state = 'reauthentication-required'
    await jest.advanceTimersByTimeAsync(28_999)
    expect(told).toEqual([])
    for (const again of [60, 180, 780, 4380]) {
      await jest.advanceTimersByTimeAsync((now + again - 1) * 1000 - Date.now())
      // A look of one who meets the account a second too early.
      alerts.signInNeeded('ann')
    }
    await jest.advanceTimersByTimeAsync(3 * 3600_000)
    expect(told).toEqual([30, 60, 180, 780, 4380])
    await alerts.close()
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

describe('the status page', () => {
  const now = 1_790_000_000
  beforeEach(() => void jest.useFakeTimers({ now: now * 1000 }))
  afterEach(() => void jest.useRealTimers())
  const at = (seconds: number) => jest.setSystemTime((now + seconds) * 1000)

  it.each([
    ['/status', true],
    ['/a.b/c_d-9', true],
    ['status', false],
    ['x/status', false],
    ['/status/', false],
    ['/status?', false],
    ['/a b', false],
    ['/', false],
    ['', false],
  ])('may be at %j: %s', (path, isPath) => {
    const given = { tokens: { on: () => () => undefined }, store: memoryTokenStore(), path }
    const open = () => statusPage(given as unknown as StatusPageOptions).close()
    expect(isTaken(open)).toBe(isPath)
  })

  it('counts so many tries in so much time, from the first on', async () => {
    const store = memoryTokenStore()
    const tries = sharedTries(store, 'tries', { tries: 2, during: 900 })
    expect([await tries.count('ann'), await tries.count('ann')]).toEqual([0, 0])
    at(1)
    expect([await tries.count('ann'), await tries.count('bob')]).toEqual([899, 0])
    at(899.5)
    expect(await tries.count('ann')).toBe(0.5)
    at(900)
    expect([await tries.count('ann'), await tries.count('ann'), await tries.count('ann')]).toEqual([0, 0, 900])
    await tries.forget('ann')
    expect(await tries.count('ann')).toBe(0)
    // And of nobody else: bob's first try was at 1.
    expect([await tries.count('bob'), await tries.count('bob')]).toEqual([0, 1])
  })

  it('counts no try of a thousand and first name, so that those before it stay counted', async () => {
    const tries = sharedTries(memoryTokenStore(), 'tries', { tries: 1, during: 900 })
    expect(await tries.count('ann')).toBe(0)
    at(1)
    for (let index = 1; index < 1000; index += 1) expect(await tries.count(`name ${index}`)).toBe(0)
    expect(await tries.count('one more')).toBe(899)
    expect(await tries.count('ann')).toBe(899)
    at(900)
    expect(await tries.count('one more')).toBe(0)
  })

  it('knows who came in for 30 days, by a cookie that is among others', () => {
    const visitors = visitorsOf(Buffer.alloc(32, 7), '/status', false)
    const { cookie = '', id } = visitors.fresh(true)
    expect(cookie).toMatch(/; Path=\/status; Max-Age=2592000; HttpOnly; SameSite=Lax$/u)
    const value = cookie.split(';')[0] ?? ''
    const seen = (header?: string) => visitors.of({ headers: { cookie: header } } as IncomingMessage)
    at(30 * 86_400 - 1)
    for (const header of [value, `a=b; ${value}`, `${value}; a=b`]) {
      expect(seen(header)).toEqual({ id, isInside: true, formToken: expect.any(String) })
    }
    for (const header of [`x${value}`, `a=b;${value}`, undefined]) expect(seen(header).isInside).toBe(false)
    const [name, sent = ''] = value.split('=')
    expect(seen(`${name}=${sent.replace('inside', 'outside')}`)).toHaveProperty('cookie')
    at(30 * 86_400)
    expect(seen(value)).toMatchObject({ isInside: false, cookie: expect.any(String) })
    const { cookie: outside = '' } = visitors.fresh(false)
    expect(seen(outside.split(';')[0])).toEqual({
      id: expect.any(String),
      isInside: false,
      formToken: expect.any(String),
    })
  })
})

it('what somebody submits fails with its answer, and the next one begins anew', async () => {
  const once = submissions()
  const exchange = { visitor: { id: 'ann' }, url: new URL('http://a/b'), form: new URLSearchParams() } as never
  const log: string[] = []
  const submit = (text: string) => async () => {
    log.push(text)
    return () => Promise.reject(new Error(text))
  }
  await expect(once(exchange, submit('first'))).rejects.toThrow('first')
  await expect(once(exchange, submit('second'))).rejects.toThrow('second')
  expect(log).toEqual(['first', 'second'])
})

it('a hundred sign-ins wait, and the oldest goes for one more', async () => {
  const waiting = waitingSignIns()
  for (let n = 0; n < 100; n += 1) await waiting.set(`${n}`, { step: 'done', account: 'ann' })
  const isThere = async (visitor: string) => (await waiting.get(visitor, 'done')) !== undefined
  // To look at one makes it the newest.
  expect(await isThere('0')).toBe(true)
  await waiting.set('one more', { step: 'done', account: 'ann' })
  expect([await isThere('0'), await isThere('1'), await isThere('2')]).toEqual([true, false, true])
})

describe('a page for people', () => {
  const context = { path: '/status', formToken: 'the-token', isInside: true }
  const outside = { ...context, isInside: false }
  const notices = [undefined, { kind: 'good', text: 'It \u202eworks <b>.' }, { kind: 'bad', text: 'No.' }] as const
  const factors = ['one', 'two'].map((id) => ({ id, name: `Phone <${id}>`, factorType: 'token:software' }))
  const url = 'https://auth.example.com/authorize?redirect_uri=https%3A%2F%2Fa.example%2Fcallback&state=s'
  const now = 1_790_000_000
  const status = (account: string, state: TokenStatus['state'], more: Partial<TokenStatus> = {}): AccountRow => ({
    account,
    status: { state, ...more },
  })
  const overview = { ...context, accounts: [], clients: [], failures: [], refreshAfter: 0.75, now }
  const client = { name: 'heating', accounts: ['ann@example.com'], scope: ['token'] as const, calls: 0 }

  it.each<[string, readonly unknown[]]>([
    ['the entrance', [entryPage(outside), entryPage(context, notices[2])]],
    ['a message', [messagePage(outside, 'That <did>', 'a\u001b & b')]],
    [
      'the sign-in',
      notices.flatMap((notice) => [
        signInPage({ ...context, identity: '', notice }),
        signInPage({ ...context, account: 'sub:7', identity: 'ann@example.com', notice }),
      ]),
    ],
    [
      'the passcode',
      [undefined, 'two', 'three'].map((chosen) =>
        passcodePage({ ...context, identity: 'ann@example.com', factors, chosen }),
      ),
    ],
    ['no factor', [passcodePage({ ...context, identity: 'a\nb', factors: [], notice: notices[2] })]],
    [
      'the service’s own page',
      [
        browserPage({ ...context, url }),
        browserPage({ ...context, account: 'ann+@example.com', url, notice: notices[2] }),
        browserPage({ ...context, url: 'https://auth.example.com/authorize' }),
      ],
    ],
    ['nothing yet', [overviewPage(overview)]],
    [
      'all that can be',
      [
        overviewPage({
          ...overview,
          notice: notices[1],
          clients: [
            client,
            {
              ...client,
              accounts: ['ann@example.com', 'bob\u202e'],
              scope: ['token', 'proxy'],
              calls: 12,
              last_used_at: now - 61,
              last_address: '192.0.2.1',
              expires_at: now + 60,
            },
            { ...client, name: 'over', scope: ['proxy'], last_used_at: now, expires_at: now },
          ],
          failures: [
            { at: now - 5, what: 'It <failed>\n.', count: 1 },
            { at: now - 65, what: 'Again.', account: 'ann\u202e', count: 2 },
          ],
          accounts: [
            { account: 'unread\u001b', status: undefined },
            status('ann', 'valid', { obtained_at: now - 100, expires_at: now + 300 }),
            status('late', 'valid', { obtained_at: now - 300, expires_at: now + 100 }),
            status('later', 'valid', { obtained_at: now - 300.4, expires_at: now + 100.4 }),
            status('over', 'expired', { obtained_at: now - 400, expires_at: now - 1 }),
            status('new', 'valid', { obtained_at: now, expires_at: now }),
            status('bare', 'valid'),
            status('ahead', 'valid', { obtained_at: now + 100, expires_at: now + 300 }),
            status('in doubt', 'in-doubt', { obtained_at: now - 1, expires_at: now + 1 }),
            status('out', 'signed-out', { expires_at: now + 300 }),
            status('a & b', 'reauthentication-required'),
            status('lives', 'reauthentication-required', { expires_at: now + 61 }),
            status('lived', 'reauthentication-required', { expires_at: now }),
          ],
        }),
      ],
    ],
    ['clients that can’t be read', [overviewPage({ ...overview, clients: undefined })]],
  ])('is as the last release had it: %s', async (_, pages) => {
    expect((await Promise.all(pages)).map(String)).toMatchSnapshot()
  })
})

describe('what stands in the store', () => {
  const now = 1_790_000_000
  beforeEach(() => void jest.useFakeTimers({ now: now * 1000 }))
  afterEach(() => void jest.useRealTimers())
  const at = (seconds: number) => jest.setSystemTime((now + seconds) * 1000)
  const odd = [undefined, null, 7, 'text', [], {}]
  /** An entry without one of its fields, or with one of another kind. */
  const brokenOnes = (entry: object): unknown[] => [
    ...odd.filter((each) => each !== undefined),
    ...Object.entries(entry).flatMap(([name, value]) => [
      { ...entry, [name]: typeof value === 'string' ? 7 : 'text' },
      { ...entry, [name]: null },
    ]),
  ]

  it('of failures is shown for a week, the newest ten, each counted, and what can’t be understood not at all', async () => {
    const store = memoryTokenStore()
    const listeners = new Map<string, (event: object) => void>()
    const stopped: string[] = []
    const on = (name: string, listener: (event: object) => void) => {
      listeners.set(name, listener)
      return () => void stopped.push(name)
    }
    const failures = failuresOf({ on } as never, store)
    const good = { at: now - 1, what: 'good', account: 'ann', count: 3 }
    const { account: _, ...bare } = { ...good, what: 'bare' }
    const notes = storeNotes(store, 'failures')
    for (const none of [{ failures: {} }, { failures: 'text' }, {}]) {
      await notes.change(() => none)
      expect(await failures.list()).toEqual([])
    }
    await notes.change(() => ({ failures: [bare, ...brokenOnes(good), good] }))
    expect(await failures.list()).toEqual([bare, good])
    for (const [name, listener] of listeners) listener({ account: 'bob', error: new Error(`${name} happened`) })
    at(1)
    failures.note('by hand')
    await jest.advanceTimersByTimeAsync(0)
    const listed = async () => (await failures.list()).map(({ what, account, count }) => [what, account, count])
    expect(await listed()).toEqual([
      ['by hand', undefined, 1],
      ['The owner has to sign in again.', 'bob', 1],
      ['The service’s firewall blocks this client for a while.', 'bob', 1],
      ['unsaved happened', 'bob', 1],
      ['The answer to a refresh was lost. It is asked for again.', 'bob', 1],
      ['refresh-failed happened', 'bob', 1],
      ['bare', undefined, 3],
      ['good', 'ann', 3],
    ])
    at(2)
    listeners.get('in-doubt')?.({ account: 'bob' })
    listeners.get('in-doubt')?.({ account: 'ann' })
    await jest.advanceTimersByTimeAsync(0)
    expect((await listed()).slice(0, 3)).toEqual([
      ['The answer to a refresh was lost. It is asked for again.', 'ann', 1],
      ['The answer to a refresh was lost. It is asked for again.', 'bob', 2],
      ['by hand', undefined, 1],
    ])
    for (const what of ['a', 'b', 'c', 'd']) {
      at(3)
      failures.note(what)
      await jest.advanceTimersByTimeAsync(0)
    }
    expect(await failures.list()).toHaveLength(10)
    expect(await failures.list()).not.toContainEqual(good)
    at(2 + 7 * 86_400 - 0.001)
    expect(await failures.list()).toHaveLength(6)
    at(2 + 7 * 86_400)
    expect(await listed()).toHaveLength(4)
    failures.close()
    expect(stopped).toEqual(['refresh-failed', 'in-doubt', 'unsaved', 'blocked', 'reauthentication-required'])
  })

  it('of failures is what this instance knows, where the store does not answer', async () => {
    const down = { ...memoryTokenStore(), read: () => Promise.reject(new Error('down')) }
    const failures = failuresOf({ on: () => () => undefined } as never, down)
    failures.note('once')
    failures.note('once')
    failures.note('once', 'ann')
    const listed = await failures.list()
    expect(listed.map(({ what, account, count }) => [what, account, count])).toEqual([
      ['once', 'ann', 1],
      ['once', undefined, 2],
    ])
  })

  it('of codes for the entrance opens once, in any spelling, for ten minutes', async () => {
    const store = memoryTokenStore()
    const notes = storeNotes(store, statusPageTopic)
    await notes.change(() => ({ key: 'k', codes: { old: now, odd: 'text', later: now + 1 } }))
    const code = await statusPageCode(store)
    expect(code).toMatch(/^[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}$/u)
    const kept = await notes.read()
    expect(kept).toEqual({
      key: 'k',
      codes: { later: now + 1, [Object.keys(Object(kept['codes']))[1] ?? '']: now + 600 },
    })
    expect(await takeCode(store, 'AAAA-AAAA')).toBe(false)
    expect(await notes.read()).toEqual(kept)
    at(599.9)
    expect(await takeCode(store, ` ${code.toLowerCase().replace('-', ' ')}\n`)).toBe(true)
    expect(await takeCode(store, code)).toBe(false)
    expect(await notes.read()).toEqual({ key: 'k', codes: {} })
    const late = await statusPageCode(store)
    at(599.9 + 600.1)
    expect(await takeCode(store, late)).toBe(false)
    for (const codes of [null, 7, 'text']) {
      await notes.change(() => ({ codes }))
      expect(await takeCode(store, late)).toBe(false)
    }
  })

  it('of tries is counted again where it can’t be understood', async () => {
    const store = memoryTokenStore()
    const tries = sharedTries(store, 'tries', { tries: 1, during: 900 })
    expect(await tries.count('ann')).toBe(0)
    const notes = storeNotes(store, 'tries')
    const written = await notes.read()
    const [name = ''] = Object.keys(written)
    const counted = written[name]
    expect(counted).toEqual({ count: 1, until: now + 900 })
    for (const broken of brokenOnes(Object(counted))) {
      await notes.change(() => ({ [name]: broken }))
      expect(await tries.count('ann')).toBe(0)
      expect(await notes.read()).toEqual({ [name]: counted })
    }
    await tries.count('bob')
    const before = await notes.read()
    await tries.forget('nobody')
    expect(await notes.read()).toEqual(before)
    await tries.forget('bob')
    expect(await notes.read()).toEqual({ [name]: counted })
  })

  it('of who signs cookies is made once, and 32 bytes', async () => {
    const store = memoryTokenStore()
    const notes = storeNotes(store, statusPageTopic)
    await notes.change(() => ({ codes: {}, key: 7 }))
    const key = await visitorKey(store)
    expect(key.byteLength).toBe(32)
    expect(await notes.read()).toEqual({ codes: {}, key: key.toString('base64url') })
    expect(await visitorKey(store)).toEqual(key)
    expect([isEqual('a', 'a'), isEqual('a', 'b'), isEqual('a', 'ab'), isEqual('', '')]).toEqual([
      true,
      false,
      false,
      true,
    ])
  })

  it.each([
    ['in memory', () => waitingSignIns()],
    ['shared', () => sharedSignIns(memoryTokenStore())],
  ])('of a sign-in that waits, %s, is found at its step, and taken once', async (_, open) => {
    const waiting = open()
    const signIn = { step: 'done', account: 'ann' } as const
    const other = { step: 'done', account: 'bob' } as const
    await waiting.set('v', signIn)
    await waiting.set('w', other)
    expect(await waiting.get('v', 'done')).toEqual(signIn)
    expect([await waiting.get('v', 'browser'), await waiting.take('v', 'passcode')]).toEqual([undefined, undefined])
    expect(await waiting.get('x', 'done')).toBeUndefined()
    expect([await waiting.take('v', 'done'), await waiting.take('v', 'done')]).toEqual([signIn, undefined])
    await waiting.delete('v')
    expect(await waiting.get('w', 'done')).toEqual(other)
    await waiting.delete('w')
    expect(await waiting.get('w', 'done')).toBeUndefined()
    await waiting.set('v', signIn)
    await waiting.set('v', other)
    expect(await waiting.get('v', 'done')).toEqual(other)
  })

  it('of a sign-in that waits is over after ten minutes', async () => {
    const waiting = sharedSignIns(memoryTokenStore())
    const signIn = { step: 'done', account: 'ann' } as const
    await waiting.set('v', signIn)
    at(599.999)
    expect(await waiting.get('v', 'done')).toEqual(signIn)
    at(600)
    expect(await waiting.get('v', 'done')).toBeUndefined()
  })

  it('of sign-ins that wait has room for fifty, and for 200,000 characters: the oldest go', async () => {
    const store = memoryTokenStore()
    const notes = storeNotes(store, 'sign-ins')
    const waiting = sharedSignIns(store)
    const entry = (until: number, length = 1) => ({ until: now * 1000 + until, nonce: 'n', sealed: 'x'.repeat(length) })
    const names = async () => Object.keys(await notes.read()).map((name) => (name.length > 9 ? 'own' : name))
    await notes.change(() =>
      Object.fromEntries([
        ...Array.from({ length: 50 }, (_, index) => [`n${index}`, entry(index + 1)] as const),
        ...brokenOnes(entry(9)).map((broken, index) => [`b${index}`, broken] as const),
        ['over', entry(0)],
      ]),
    )
    await waiting.set('v', { step: 'done', account: 'ann' })
    expect(await names()).toEqual(['own', ...Array.from({ length: 49 }, (_, index) => `n${49 - index}`)])
    const own = Object.values(await notes.read())[0]
    const { sealed }: { sealed: string } = JSON.parse(JSON.stringify(own))
    await notes.change(() => ({ a: entry(3, 100_000), b: entry(2, 100_000 - sealed.length), c: entry(1) }))
    await waiting.set('v', { step: 'done', account: 'ann' })
    expect(await names()).toEqual(['own', 'a', 'b'])
    await notes.change(() => ({ a: entry(3, 100_000), b: entry(2, 100_001 - sealed.length) }))
    await waiting.set('v', { step: 'done', account: 'ann' })
    expect(await names()).toEqual(['own', 'a'])
  })

  it('of clients has what is known of each, and nothing of what is not', () => {
    const [one, two] = ['a', 'b'].map((digit) => ({ sha256: digit.repeat(64) }))
    const bare: KeptClient = { name: 'bare', accounts: ['ann'], scope: ['token'], keys: [one ?? { sha256: '' }] }
    const full: KeptClient = {
      ...bare,
      name: 'full',
      keys: [{ sha256: 'c'.repeat(64), expires_at: now }, { sha256: 'd'.repeat(64) }, two ?? { sha256: '' }],
      invited_at: now,
      expires_at: now + 1,
      limits: { callsPerMinute: 1 },
    }
    const written = clientListNotes([bare, full])
    expect(JSON.parse(JSON.stringify(written))).toStrictEqual({
      clients: [
        { name: 'bare', keySha256: 'a'.repeat(64), accounts: ['ann'], scope: ['token'] },
        {
          name: 'full',
          keySha256: 'b'.repeat(64),
          olderKeys: [
            { keySha256: 'c'.repeat(64), expiresAt: '2026-09-21T14:13:20.000Z' },
            { keySha256: 'd'.repeat(64) },
          ],
          accounts: ['ann'],
          scope: ['token'],
          invitedAt: '2026-09-21T14:13:20.000Z',
          expiresAt: '2026-09-21T14:13:21.000Z',
          limits: { callsPerMinute: 1 },
        },
      ],
    })
    expect(parseClientList(written, 'it').clients).toEqual([bare, full])
    const { keys: _keys, ...shown } = full
    expect(shownClient(full)).toStrictEqual(shown)
    expect(shownClient(bare)).toStrictEqual({ name: 'bare', accounts: ['ann'], scope: ['token'] })
    expect(() => parseClientList(clientListNotes([bare, { ...full, keys: bare.keys }]), 'The list')).toThrow(
      'The list: two clients have the same API key.',
    )
    expect(() => parseClientList({ clients: {} }, 'The list')).toThrow('The list: clients must be a list.')
    expect(() => parseClientList({ clients: [null] }, 'The list')).toThrow('The list: client 1: it has no name.')
    expect(parseClientList({}, 'it').clients).toEqual([])
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

it.each<[string, object | Error, Error | undefined, readonly unknown[]]>([
  ['works', { state: 'valid' }, undefined, ['works', 'ann']],
  ['works, though the store can’t tell', new Error('down'), undefined, ['works', 'ann']],
  [
    'lives on, though its owner has to sign in',
    { state: 'reauthentication-required', reason: 'grant_revoked' },
    undefined,
    ['signInNeeded', 'ann', 'grant_revoked'],
  ],
  [
    'lives on, and nobody knows why its owner has to sign in',
    { state: 'reauthentication-required' },
    undefined,
    ['signInNeeded', 'ann', 'refresh_token_rejected'],
  ],
  ['is signed out', { state: 'signed-out' }, new SignedOutError(), ['signInNeeded', 'ann', 'signed-out']],
  [
    'is dead',
    { state: 'valid' },
    new ReauthenticationRequiredError('other_owner'),
    ['signInNeeded', 'ann', 'other_owner'],
  ],
  ['can’t be had now', { state: 'valid' }, new Error('network'), []],
])('of an account whose token %s, who is to know is told', async (_, status, failure, told) => {
  const calls: unknown[] = []
  const alerts = {
    works: (...args: unknown[]) => void calls.push('works', ...args),
    signInNeeded: (...args: unknown[]) => void calls.push('signInNeeded', ...args),
  }
  const current = { access_token: 'a', token_type: 'Bearer', expires_at: 1 }
  const tokens = {
    status: () => (status instanceof Error ? Promise.reject(status) : Promise.resolve(status)),
    getTokens: () => (failure === undefined ? Promise.resolve(current) : Promise.reject(failure)),
  }
  for (const listener of [alerts, undefined]) {
    const outcome = await accountTokens(tokens as never, listener)('ann').catch((error: unknown) => error)
    expect(outcome).toBe(failure ?? current)
  }
  expect(calls).toEqual(told)
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

it('an alert says who and when, in words and for programs, and why and where if that is known', () => {
  const alert = { id: 'a-1', account: 'ann', at: 1_790_000_000 } as const
  const timestamp = '2026-09-21T14:13:20.000Z'
  expect(JSON.parse(alertBody({ ...alert, type: 'sign-in.restored' }))).toStrictEqual({
    id: 'a-1',
    type: 'sign-in.restored',
    timestamp,
    data: { account: 'ann', message: 'ann works again.' },
  })
  const more = { type: 'sign-in.needed', reason: 'signed-out', signInUrl: 'https://a.example' } as const
  const message = 'ann has to sign in again. Until then, no program gets a token for it.'
  expect(JSON.parse(alertBody({ ...alert, ...more }))).toStrictEqual({
    id: 'a-1',
    type: 'sign-in.needed',
    timestamp,
    data: { account: 'ann', message, reason: 'signed-out', sign_in_url: 'https://a.example' },
  })
})

it('each channel of an alert has the name under which it is remembered', () => {
  const secret = Buffer.alloc(24, 7).toString('base64')
  const channels = [
    commandAlert({ command: ['true'] }),
    mqttAlert({ url: 'mqtts://a.example' }),
    webhookAlert({ url: 'https://a.example', secret }),
  ]
  expect(channels.map(({ name }) => name)).toEqual(['command', 'mqtt', 'webhook'])
})

it('what is told of one account and channel leaves the others as they are', () => {
  const noted = { id: 'i', type: 'sign-in.needed', at: 1, told: { mqtt: { claim: 'one', tries: 1 } } }
  const notes = { ann: noted, bob: noted }
  const after = claimed(notes, 'ann', 'i', 'webhook', 'two')
  expect(after['bob']).toBe(noted)
  expect(noteIn(after, 'ann')?.told).toEqual({
    mqtt: { claim: 'one', tries: 1 },
    webhook: { claim: 'two', tries: 1, until: expect.any(Number) },
  })
})

it('of many who ask, none gets what was read before they asked, and those who ask meanwhile share one read', async () => {
  const reads: { key: string; end: (value: string) => void; fail: (error: Error) => void }[] = []
  const ask = fresh((key: string) => new Promise<string>((end, fail) => void reads.push({ key, end, fail })))
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  const first = ask('a')
  const [second, third, other] = [ask('a'), ask('a'), ask('b')]
  expect(reads.map(({ key }) => key)).toEqual(['a', 'b'])
  reads[0]?.end('one')
  expect(await first).toBe('one')
  await turn()
  expect(reads.map(({ key }) => key)).toEqual(['a', 'b', 'a'])
  // The second read has begun: whoever asks now was not there before it.
  const fourth = ask('a')
  reads[2]?.fail(new Error('down'))
  expect(await Promise.allSettled([second, third])).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }])
  await turn()
  reads[3]?.end('three')
  expect(await fourth).toBe('three')
  await turn()
  const fifth = ask('a')
  expect(reads).toHaveLength(5)
  reads[4]?.end('four')
  reads[1]?.end('other')
  expect([await fifth, await other]).toEqual(['four', 'other'])
})
