import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import type { TokenManager } from '@owner-sso/core'
import { useEmulator } from '@owner-sso/emulator/jest'
import axios from 'axios'
import { attachBearer, ownerApiProxy, ownerFetch } from '../src/index.ts'
import { type RecordingProxy, startRecordingProxy } from './recording-proxy.ts'
import { listen, startOwnerApi } from './servers.ts'
import { account, signedInTokens } from './tokens.ts'

const emulator = useEmulator({ tls: true, firewall: false })
let tokens: TokenManager
let recording: RecordingProxy

beforeEach(async () => {
  tokens = await signedInTokens(emulator)
})
afterEach(() => recording.close())

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))
const loopback = ['127.0.0.1', ...(hasIpv6 ? ['::1'] : [])]

/** One call, and what failed on its way. */
type Call = (target: string, proxy: string) => Promise<{ readonly status?: number; readonly failure?: unknown }>

const withFetch: Call = async (target, proxy) => {
  const call = ownerFetch({ tokens, account, target, proxy, tls: { ca: emulator.ca } })
  return call('/api/1/vehicles').catch((failure: unknown) => ({ failure }))
}

const withAxios: Call = async (target, proxy) => {
  const instance = attachBearer(axios.create({ baseURL: target }), { tokens, account, proxy, tls: { ca: emulator.ca } })
  return instance.get('/api/1/vehicles').catch((failure: unknown) => ({ failure }))
}

const withProxy = async (target: string, proxy: string, more: { connectTimeout?: number } = {}): ReturnType<Call> => {
  let failure: unknown
  const onProblem = (error: unknown): void => void (failure = error)
  const options = {
    target,
    tokens,
    account,
    authorize: true,
    proxy,
    tls: { ca: emulator.ca },
    onProblem,
    ...more,
  } as const
  const ownerApi = ownerApiProxy(options)
  const home = await listen(ownerApi)
  const { status } = await fetch(`${home.url}/api/1/vehicles`)
  await home.close()
  await ownerApi.close()
  return { status, failure }
}

/** The proxy's address, with a user name and a password that has to be encoded. */
const withPassword = ({ port }: { readonly port: number }): string => `http://user:p%40ss-word@127.0.0.1:${port}`

describe.each<[string, Call]>([
  ['ownerFetch', withFetch],
  ['ownerApiProxy', (target, proxy) => withProxy(target, proxy)],
  ['attachBearer', withAxios],
])('the outbound proxy of %s', (_name, call) => {
  it('is asked for a tunnel, and sees no token in it', async () => {
    recording = await startRecordingProxy()
    expect((await call(emulator.ownerApiUrl, withPassword(recording))).status).toBe(200)
    const seen = recording.seen()
    expect(seen.match(/CONNECT [^ ]+/gu)).toEqual([`CONNECT ${new URL(emulator.ownerApiUrl).host}`])
    expect(seen).toContain(`Proxy-Authorization: Basic ${Buffer.from('user:p@ss-word').toString('base64')}`)
    expect(seen).not.toContain(await tokens.getAccessToken(account))
  })

  it.each(loopback)('is found at %s', async (host) => {
    recording = await startRecordingProxy(undefined, host)
    expect((await call(emulator.ownerApiUrl, recording.url)).status).toBe(200)
    expect(recording.seen()).toContain(`CONNECT ${new URL(emulator.ownerApiUrl).host}`)
  })

  it('has no part in plain http, which never leaves this machine', async () => {
    recording = await startRecordingProxy()
    const plain = await startOwnerApi()
    expect((await call(plain.url, recording.url)).status).toBe(200)
    expect(recording.seen()).toBe('')
    await plain.close()
  })

  it.each<[number, string, RegExp]>([
    [407, '', /\(407\): it asks for a user and a password. .* as http:\/\/USER:PASSWORD@HOST:PORT/u],
    [407, 'user:p%40ss-word@', /\(407\): it does not accept the user and the password of its address/u],
    [403, 'user:p%40ss-word@', /\(403\): ask whoever runs it to allow CONNECT to 127\.0\.0\.1:\d+/u],
    [502, '', /\(502\): it can’t reach 127\.0\.0\.1:\d+/u],
    [503, '', /\(503\): it can’t reach/u],
    [302, '', /\(302\): ask whoever runs it/u],
  ])(
    'that rejects the tunnel with %i is told by its status, with no password (user: %j)',
    async (status, user, words) => {
      recording = await startRecordingProxy(status)
      const { failure } = await call(emulator.ownerApiUrl, `http://${user}127.0.0.1:${recording.port}`)
      const told = inspect(failure, { depth: 9, showHidden: true })
      expect(told).toContain('The outbound proxy rejected the tunnel')
      expect(told).toMatch(words)
      expect(told).not.toMatch(/p%40ss-word|p@ss-word|Basic \w/u)
    },
  )

  it.each([
    'HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\n',
    'HTTP/1.0 299 Good\n\n',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Wait\r\nX: y\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
  ])('has made a tunnel where its last answer is %j', async (answers) => {
    recording = await startRecordingProxy(answers)
    expect((await call(emulator.ownerApiUrl, recording.url)).status).toBe(200)
  })

  it.each([
    ['SSH-2.0-x\r\n', /gave an answer that is no HTTP/u],
    [`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(9000)}`, /gave an answer that is no HTTP/u],
    ['', /closed the connection without an answer/u],
    ['HTTP/1.1 100 Continue\r\n\r\n', /closed the connection without an answer/u],
  ])('that answers %j is told', async (answer, words) => {
    const other = createServer((socket) => {
      socket.on('error', () => undefined).once('data', () => socket.end(answer))
    }).listen(0, '127.0.0.1')
    await once(other, 'listening')
    recording = await startRecordingProxy()
    const { port } = other.address() as AddressInfo
    const { failure } = await call(emulator.ownerApiUrl, `http://127.0.0.1:${port}`)
    expect(inspect(failure, { depth: 9 })).toMatch(words)
    other.close()
  })

  it('that is not there is told', async () => {
    recording = await startRecordingProxy()
    const { failure } = await call(emulator.ownerApiUrl, 'http://127.0.0.1:1')
    expect(inspect(failure, { depth: 9 })).toMatch(/The outbound proxy can’t be reached: .*ECONNREFUSED/u)
  })
})

it('the outbound proxy has connectTimeout for its whole answer, however it goes on', async () => {
  recording = await startRecordingProxy()
  const slow = createServer((socket) => {
    socket.on('error', () => undefined).write('HTTP/1.1 200 OK\r\n')
    const dripping = setInterval(() => socket.write('a: b\r\n'), 20)
    socket.once('close', () => clearInterval(dripping))
  }).listen(0, '127.0.0.1')
  await once(slow, 'listening')
  const { port } = slow.address() as AddressInfo
  const { failure } = await withProxy(emulator.ownerApiUrl, `http://127.0.0.1:${port}`, { connectTimeout: 100 })
  expect(inspect(failure)).toContain('The outbound proxy did not answer in time')
  slow.close()
})

it('ownerFetch takes no proxy beside a fetch, which makes its own connections', async () => {
  recording = await startRecordingProxy()
  expect(() => ownerFetch({ tokens, account, fetch, proxy: recording.url })).toThrow(
    'proxy and fetch can’t be given together',
  )
})
