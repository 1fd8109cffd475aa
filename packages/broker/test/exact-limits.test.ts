/** Each limit at it and one beyond it, and what is taken only as a whole with a bad head and a bad tail. */
import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from '@jest/globals'
import { mqttAlert } from '../src/alerts/mqtt.ts'
import { isSignedWebhook, signedHeaders, webhookKey } from '../src/alerts/signature.ts'
import { checkedInvitation } from '../src/clients/invitation.ts'
import { parseClientList } from '../src/clients/client-list.ts'
import { bearerKey } from '../src/http/caller.ts'
import { opaqueTag, waitOf } from '../src/http/current-token.ts'
import { isOwnHost } from '../src/http/guard.ts'
import { secondsLeft } from '../src/http/lifetime.ts'
import { networkOf } from '../src/http/limits.ts'
import { reportsTo } from '../src/http/report.ts'
import { ClientsError } from '../src/index.ts'
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
  expect(isTaken(() => mqttAlert({ url }))).toBe(isSafe)
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
    const [name = ''] = Object.keys(wrong)
    expect(() => parsed(wrong)).toThrow(TypeError)
    expect(() => parsed(wrong)).toThrow(name)
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
})
