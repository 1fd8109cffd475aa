import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { createSso, createTokenManager } from '@owner-sso/core'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import {
  accountAlerts,
  brokerClients,
  type BrokerClients,
  commandAlert,
  isSignedWebhook,
  mqttAlert,
  statusPage,
  tokenBroker,
  webhookAlert,
} from '../src/index.ts'

const sso = createSso({ authUrl: 'https://auth.example.com' })
const store = memoryTokenStore()
const tokens = createTokenManager({ sso, store })
const url = 'https://alerts.example.com'
const secret = Buffer.alloc(32).toString('base64')

let folder: string
let clients: BrokerClients
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'owner-sso-options-'))
  clients = brokerClients({ file: join(folder, 'clients.json') })
})
afterAll(() => rm(folder, { recursive: true }))

/** What a caller without a compiler may write. */
const any = (value: unknown): never => value as never

describe('a mistyped option is a TypeError that names it, what takes it, and what was meant', () => {
  const invitation = { name: 'program', accounts: ['plain@example.com'] }
  const broker = (): ReturnType<typeof tokenBroker> => tokenBroker({ tokens, clients })

  it.each<[call: string, typed: string, meant: string, (typo: object) => unknown]>([
    ['tokenBroker', 'rotationgrace', 'rotationGrace', (typo) => tokenBroker({ tokens, clients, ...typo })],
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
    ['brokerClients', 'fiel', 'file', (typo) => brokerClients(any(typo))],
    ['invite', 'expiresat', 'expiresAt', (typo) => clients.invite({ ...invitation, ...typo })],
    ['limits', 'callsperminute', 'callsPerMinute', (typo) => clients.invite({ ...invitation, limits: typo })],
    ['rotate', 'garce', 'grace', (typo) => clients.rotate('program', typo)],
    ['accountAlerts', 'signInURL', 'signInUrl', (typo) => accountAlerts({ tokens, store, channels: [], ...typo })],
    ['commandAlert', 'timout', 'timeout', (typo) => commandAlert({ command: ['true'], ...typo })],
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
  ['brokerClients()', () => brokerClients(any(undefined)), 'brokerClients takes an object with file, store'],
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
  ['isSignedWebhook()', () => isSignedWebhook(any(undefined), {}, ''), 'The secret of a webhook must be 24 to 64'],
  ['isSignedWebhook(secret)', () => isSignedWebhook(secret, any(undefined), ''), 'headers must be an object'],
  ['isSignedWebhook(secret, headers)', () => isSignedWebhook(secret, {}, any({})), 'body must be text'],
  ['find()', () => clients.find(any(undefined)), 'secret must be text'],
  ['replaceSecret()', () => clients.replaceSecret(any(undefined), 0), 'secret must be text'],
  ['commandAlert({})', () => commandAlert(any({})), 'command of an alert must be a list such as'],
  ['commandAlert of text', () => commandAlert(any({ command: 'text' })), 'command of an alert must be a list such as'],
  ['commandAlert of nothing', () => commandAlert(any({ command: [] })), 'command of an alert must be a list such as'],
  ['mqttAlert()', () => mqttAlert(any(undefined)), 'mqttAlert takes an object with url, '],
  ['statusPage()', () => statusPage(any(undefined)), 'statusPage takes an object with tokens, '],
])('%s is a TypeError that says what it lacks', async (_call, take, lack) => {
  await expect((async () => take())()).rejects.toThrow(lack)
  await expect((async () => take())()).rejects.toThrow(TypeError)
})

it('a mistyped name in a clients’ file that a person wrote is refused, and the name of a later release is not', async () => {
  const file = join(folder, 'written.json')
  const client = { name: 'program', keySha256: 'ab'.repeat(32), accounts: ['plain@example.com'], owner: 'Ann' }
  await writeFile(file, JSON.stringify({ clients: [client] }))
  expect(await brokerClients({ file }).list()).toMatchObject([{ name: 'program' }])
  await writeFile(file, JSON.stringify({ clients: [{ ...client, expiresat: '2000-01-01T00:00:00Z' }] }))
  await expect(brokerClients({ file }).list()).rejects.toThrow('client 1: expiresat is mistyped: write expiresAt.')
})

it('listen takes unix for left out where it is undefined', async () => {
  const broker = tokenBroker({ tokens, clients })
  const where: object = { unix: undefined, port: 0 }
  expect((await broker.listen(any(where))).url).toMatch(/^http:\/\/127\.0\.0\.1:/u)
  await broker.close()
})
