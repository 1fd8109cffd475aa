import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { createSso, createTokenManager } from '@owner-sso/core'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import {
  accountAlerts,
  admit,
  brokerClients,
  mqttAlert,
  statusPage,
  statusPageCode,
  tokenBroker,
  webhookAlert,
} from '../src/index.ts'

const sso = createSso({ authUrl: 'https://auth.example.com' })
const store = memoryTokenStore()
const tokens = createTokenManager({ issuer: sso, store })
const url = 'https://alerts.example.com'
const secret = Buffer.alloc(32).toString('base64')

const clients = brokerClients({ store })
/** Nothing is made there. */
const folder = tmpdir()

/** What a caller without a compiler may write. */
const any = (value: unknown): never => value as never

describe('a mistyped option is a TypeError that names it, what takes it, and what was meant', () => {
  const invitation = { name: 'program', accounts: ['plain@example.com'] }
  const broker = (): ReturnType<typeof tokenBroker> => tokenBroker({ tokens, clients })

  it.each<[call: string, typed: string, meant: string, (typo: object) => unknown]>([
    ['limits', 'callPerMinute', 'callsPerMinute', (typo) => tokenBroker({ tokens, clients, limits: typo })],
    [
      'ownerApiProxy',
      'traget',
      'target',
      (typo) => tokenBroker({ tokens, clients, proxy: { target: 'https://api.example.com', ...typo } }),
    ],
    ['listen', 'unx', 'unix', (typo) => broker().listen(any(typo))],
    ['listen', 'hosts', 'host', (typo) => broker().listen({ port: 0, ...typo })],
    ['listen', 'mod', 'mode', (typo) => broker().listen({ unix: join(folder, 'socket'), ...typo })],
    ['tls', 'crt', 'cert', (typo) => broker().listen({ port: 0, tls: any(typo) })],
    ['brokerClients', 'stroe', 'store', (typo) => brokerClients(any(typo))],
    ['invite', 'expiresat', 'expiresAt', (typo) => clients.invite({ ...invitation, ...typo })],
    ['limits', 'callsperminute', 'callsPerMinute', (typo) => clients.invite({ ...invitation, limits: typo })],
    ['rotate', 'garce', 'grace', (typo) => clients.rotate('program', typo)],
    ['accountAlerts', 'signInURL', 'signInUrl', (typo) => accountAlerts({ tokens, store, channels: [], ...typo })],
    ['mqttAlert', 'pasword', 'password', (typo) => mqttAlert({ url: 'mqtts://mqtt.example.com', ...typo })],
    ['webhookAlert', 'timeOut', 'timeout', (typo) => webhookAlert({ url, secret, ...typo })],
    ['statusPage', 'htps', 'https', (typo) => statusPage({ tokens, sso, clients, store, ...typo })],
  ])('%s: %s for %s', async (call, typed, meant, take) => {
    const taken = async (): Promise<unknown> => take({ [typed]: 1 })
    await expect(taken()).rejects.toThrow(`${typed} is not an option of ${call}. Did you mean ${meant}?`)
    await expect(taken()).rejects.toThrow(TypeError)
  })
})

it.each<[call: string, () => unknown, lack: string]>([
  ['tokenBroker()', () => tokenBroker(any(undefined)), 'tokenBroker takes an object with tokens, clients, '],
  ['listen()', () => tokenBroker({ tokens, clients }).listen(any(undefined)), 'listen takes an object with unix, '],
  ['listen({})', () => tokenBroker({ tokens, clients }).listen(any({})), 'listen takes unix, the path of a socket, or'],
  ['brokerClients()', () => brokerClients(any(undefined)), 'brokerClients takes an object with store'],
  [
    'listen with both',
    () => tokenBroker({ tokens, clients }).listen(any({ unix: 'a', port: 0 })),
    'port is not an option of listen with unix',
  ],
  [
    'listen with the mode of a socket',
    () => tokenBroker({ tokens, clients }).listen(any({ mode: 0o600, port: 0 })),
    'mode is not an option of listen with port',
  ],
  [
    'listen with another handler',
    () => tokenBroker({ tokens, clients }).listen({ port: 0 }, any({})),
    'also, the second argument of listen, must be a function',
  ],
  ['invite()', () => clients.invite(any(undefined)), 'invite takes an object with name, accounts, '],
  ['accountAlerts()', () => accountAlerts(any(undefined)), 'accountAlerts takes an object with tokens, '],
  [
    'accountAlerts with a channel that tells nobody',
    () => accountAlerts(any({ tokens, store, channels: [{ name: 'sms' }] })),
    'channels must be a list of { name, tell }',
  ],
  ['accountAlerts without channels', () => accountAlerts(any({ tokens, store })), 'channels must be a list of { name,'],
  [
    'accountAlerts with a list of accounts',
    () => accountAlerts(any({ tokens, store, channels: [], accounts: ['plain@example.com'] })),
    'accounts must be a function that resolves to a list of names',
  ],
  ['revoke()', () => clients.revoke(any(undefined)), 'name must be the name of a client'],
  ['rotate()', () => clients.rotate(any(undefined)), 'name must be the name of a client'],
  ['webhookAlert({ url })', () => webhookAlert(any({ url })), 'The secret of a webhook must be 24 to 64 bytes'],
  ['find()', () => clients.find(any(undefined)), 'secret must be text'],
  ['mqttAlert()', () => mqttAlert(any(undefined)), 'mqttAlert takes an object with url, '],
  ['statusPage()', () => statusPage(any(undefined)), 'statusPage takes an object with tokens, '],
])('%s is a TypeError that says what it lacks', async (_call, take, lack) => {
  await expect((async () => take())()).rejects.toThrow(lack)
  await expect((async () => take())()).rejects.toThrow(TypeError)
})

describe('an option of another kind is a TypeError that names it and says what came', () => {
  const page = (more: object) => statusPage(any({ tokens, sso, clients, store, ...more }))
  const broker = (more: object) => tokenBroker(any({ tokens, clients, ...more }))
  const listen = (more: object) => tokenBroker({ tokens, clients }).listen(any(more))
  const alerts = (more: object) => accountAlerts(any({ tokens, store, channels: [], ...more }))
  const invite = (more: object) => clients.invite(any({ name: 'program', accounts: ['plain@example.com'], ...more }))
  const channel = { name: 'sms', tell: async () => undefined }
  const mqtt = (more: object) => mqttAlert(any({ url: 'mqtts://mqtt.example.com', ...more }))
  const request = any({ headers: {} })

  const rows: readonly (readonly [take: (more: object) => unknown, option: string, ...given: unknown[]])[] = [
    [broker, 'tokens', 5, null, {}, Promise.resolve(tokens), [tokens]],
    [broker, 'clients', 'clients.json', {}, { find: true }],
    [broker, 'proxy', true, false, 'https://api.example.com', [], null],
    [broker, 'hosts', 'broker.example', [5], ['broker.example:1'], {}],
    [broker, 'audit', 'audit.log', {}],
    [broker, 'onProblem', true],
    [broker, 'alerts', 5, true, [], {}, { works: () => undefined }],
    [(limits) => broker({ limits }), 'callsPerMinute', '60', 0, 1.5, null, Infinity],
    [(limits) => broker({ limits }), 'wrongKeysPerMinute', true, -1],
    [(limits) => broker({ limits }), 'waiting', [], 0],
    [page, 'tokens', 5, {}],
    [page, 'sso', {}, 'https://auth.example.com'],
    [page, 'clients', [], { list: 1 }],
    [page, 'store', {}, 'file:/data', Promise.resolve(store)],
    [page, 'path', 'status', 5, '/'],
    [page, 'https', 'yes', 1, null],
    [page, 'hosts', 'broker.example', [null]],
    [page, 'alerts', 5, { works: true }],
    [page, 'onProblem', 'log'],
    [listen, 'port', '8700', -1, 70_000, 1.5, null],
    [listen, 'unix', 5, '', '~/broker.sock', true, null],
    [(more) => listen({ unix: join(folder, 'socket'), ...more }), 'mode', '660', 0o1000],
    [(more) => listen({ port: 0, ...more }), 'host', 5, '', 'localhost:80', 'http://localhost', 'a b'],
    [(more) => listen({ port: 0, ...more }), 'behindTlsProxy', 'yes', 1],
    [(tls) => listen({ port: 0, tls }), 'cert', 'cert.pem', '', 5, undefined],
    [(more) => brokerClients(any(more)), 'store', undefined, {}, null, 'redis://localhost', Promise.resolve(store)],
    [invite, 'name', 5, '', 'a\u200Bb'],
    [invite, 'accounts', 'plain@example.com', [], [5]],
    [invite, 'scope', 'token', ['tokens'], []],
    [invite, 'expiresAt', '2030-01-01', new Date(), 1, Date.now() + 1000, Infinity],
    [(limits) => invite({ limits }), 'callsPerMinute', '60', 0],
    [(more) => clients.rotate('program', more), 'grace', '60', true, -1, Infinity, []],
    [({ name }: { name?: unknown }) => clients.revoke(any(name)), 'name', 5, '', {}],
    [({ scope }: { scope?: unknown }) => admit(request, clients, any(scope)), 'scope', 'tokens', ['token']],
    [({ clients: other }: { clients?: unknown }) => admit(request, any(other), 'token'), 'clients', {}, 'file'],
    [({ store: other }: { store?: unknown }) => statusPageCode(any(other)), 'store', {}, 'file:/data'],
    [alerts, 'tokens', {}],
    [alerts, 'store', {}],
    [alerts, 'channels', channel, 'sms', [5], [channel, channel]],
    [alerts, 'accounts', ['plain@example.com'], 'plain@example.com'],
    [alerts, 'signInUrl', 5, 'broker.example/status', 'file:///status'],
    [alerts, 'every', '30', 0, Number.NaN, 1e9],
    [alerts, 'retryAfter', 30, ['30'], [-1]],
    [alerts, 'onFailure', 'log'],
    [mqtt, 'url', 5, 'http://mqtt.example.com'],
    [mqtt, 'username', 5, {}],
    [mqtt, 'password', 5, Buffer.from('x')],
    [mqtt, 'topic', 5, 'a/#', ''],
    [mqtt, 'ca', 5, '', '~/ca.pem'],
    [mqtt, 'timeout', '1', 0],
    [
      (more) => webhookAlert(any({ url, secret, ...more })),
      'url',
      5,
      'alerts.example.com',
      'http://alerts.example.com',
    ],
    [(more) => webhookAlert(any({ url, secret, ...more })), 'secret', 5, 'short', undefined],
    [(more) => webhookAlert(any({ url, secret, ...more })), 'timeout', '1', 0],
  ]
  it.each(rows.map(([take, option, ...givens]) => ({ take, option, givens })))(
    '$option',
    async ({ take, option, givens }) => {
      for (const given of givens) {
        const message = await (async () => take({ [option]: given }))().catch((error: unknown) =>
          error instanceof TypeError ? error.message : error,
        )
        expect([given, message]).toEqual([given, expect.stringMatching(new RegExp(`${option}.* must `, 'u'))])
      }
    },
  )

  it('without a secret in it', () => {
    const typed = 'correct horse'
    const wrong = [
      () => webhookAlert({ url, secret: typed }),
      () => webhookAlert({ url: `http://ann:${typed}@alerts.example.com`, secret }),
      () => mqttAlert({ url: `http://ann:${typed}@mqtt.example.com/${typed}` }),
      () => mqttAlert({ url: typed }),
      () => mqttAlert({ url: 'mqtts://mqtt.example.com', password: any([typed]) }),
    ]
    for (const take of wrong)
      expect(take).toThrow(expect.objectContaining({ message: expect.not.stringContaining(typed) }))
  })
})

it('listen takes unix for left out where it is undefined', async () => {
  const broker = tokenBroker({ tokens, clients })
  const where: object = { unix: undefined, port: 0 }
  expect((await broker.listen(any(where))).url).toMatch(/^http:\/\/127\.0\.0\.1:/u)
  await broker.close()
})
