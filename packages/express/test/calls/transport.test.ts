import { beforeEach, describe, expect, it } from '@jest/globals'
import type { TokenManager, TransportOption, TransportOptions } from '@owner-sso/core'
import { useEmulator } from '@owner-sso/emulator/jest'
import axios from 'axios'
import { attachBearer, ownerApiProxy, ownerFetch } from '../../src/index.ts'
import { listen } from '../servers.ts'
import { account, signedInTokens } from '../tokens.ts'

const emulator = useEmulator({ tls: true, firewall: false })
let tokens: TokenManager

beforeEach(async () => {
  tokens = await signedInTokens(emulator)
})

type Call = (transport: TransportOption) => Promise<number>

const withFetch: Call = async (transport) => {
  const call = ownerFetch({ tokens, account, target: emulator.ownerApiUrl, transport })
  return (await call('/api/1/vehicles')).status
}
const withAxios =
  (adapter: 'http' | 'fetch'): Call =>
  async (transport) => {
    const instance = axios.create({ baseURL: emulator.ownerApiUrl, adapter })
    return (await attachBearer(instance, { tokens, account, transport }).get('/api/1/vehicles')).status
  }
const withProxy: Call = async (transport) => {
  const proxy = ownerApiProxy({ target: emulator.ownerApiUrl, tokens, account, authorize: true, transport })
  const home = await listen(proxy)
  const { status } = await fetch(`${home.url}/api/1/vehicles`)
  await home.close()
  await proxy.close()
  return status
}

describe.each<[string, Call]>([
  ['ownerFetch', withFetch],
  ['attachBearer', withAxios('http')],
  ['attachBearer with the adapter fetch', withAxios('fetch')],
  ['ownerApiProxy', withProxy],
])('the transport of %s', (_, call) => {
  it.each<[string, TransportOptions, string]>([
    ['TLS 1.2', {}, 'TLSv1.2'],
    ['TLS 1.3', { tls: { maxVersion: 'TLSv1.3' } }, 'TLSv1.3'],
  ])('%s, and a User-Agent', async (_name, { tls }, tlsVersion) => {
    expect(await call({ tls: { ...tls, ca: emulator.ca }, userAgent: 'fleet/1' })).toBe(200)
    const asked = emulator.requests.at(-1)
    expect([asked?.path, asked?.tlsVersion, asked?.headers['user-agent']]).toEqual([
      '/api/1/vehicles',
      tlsVersion,
      'fleet/1',
    ])
  })

  it('is checked, and so is the certificate', async () => {
    await expect(call('quic' as never)).rejects.toThrow(/transport/u)
    const before = emulator.requests.length
    // The proxy answers for what it can't reach.
    const outcome = await call('modern').catch((error: unknown) => error)
    expect(outcome).not.toBe(200)
    expect(emulator.requests.length).toBe(before)
  })
})

it('headers of the calling code come before the transport’s User-Agent', async () => {
  const transport = { tls: { ca: emulator.ca }, userAgent: 'fleet/1' }
  const call = ownerFetch({ tokens, account, target: emulator.ownerApiUrl, transport })
  await call('/api/1/vehicles', { headers: { 'user-agent': 'own/1' } })
  const instance = attachBearer(axios.create({ baseURL: emulator.ownerApiUrl }), { tokens, account, transport })
  await instance.get('/api/1/vehicles', { headers: { 'User-Agent': 'own/1' } })
  expect(emulator.requests.slice(-2).map(({ headers }) => headers['user-agent'])).toEqual(['own/1', 'own/1'])
})

it('ownerFetch takes no transport for a fetch that is not its own', () => {
  const options = { tokens, account, target: emulator.ownerApiUrl, transport: 'modern', fetch } as const
  expect(() => ownerFetch(options)).toThrow(/transport/u)
})
