import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import type { TokenManager } from '@owner-sso/core'
import { useEmulator } from '@owner-sso/emulator/jest'
import { ownerApiProxy, ownerFetch } from '../src/index.ts'
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
])('the outbound proxy of %s', (_name, call) => {
  it('is asked for a tunnel, and sees no token in it', async () => {
    recording = await startRecordingProxy()
    expect((await call(emulator.ownerApiUrl, withPassword(recording))).status).toBe(200)
    const seen = recording.seen()
    expect(seen.match(/CONNECT [^ ]+/gu)).toEqual([`CONNECT ${new URL(emulator.ownerApiUrl).host}`])
    expect(seen).toContain(`proxy-authorization: Basic ${Buffer.from('user:p@ss-word').toString('base64')}`)
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

  it('that refuses the tunnel is told by its status, and no password with it', async () => {
    recording = await startRecordingProxy(407)
    const { failure } = await call(emulator.ownerApiUrl, withPassword(recording))
    const told = inspect(failure, { depth: 9, showHidden: true })
    expect(told).toContain('The outbound proxy refused the tunnel (407)')
    expect(told).not.toMatch(/p%40ss-word|p@ss-word|Basic/u)
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
