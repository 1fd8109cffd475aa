import { Agent } from 'node:https'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { TokenManager } from '@owner-sso/core'
import { useEmulator } from '@owner-sso/emulator/jest'
import { attachBearer, ownerFetch } from '../../src/index.ts'
import { type RecordingProxy, startRecordingProxy } from '../recording-proxy.ts'
import { type OwnerApi, startOwnerApi } from '../servers.ts'
import { account, signedInTokens } from '../tokens.ts'
import { axiosVersions } from './axios-versions.ts'

const emulator = useEmulator({ tls: true, firewall: false })
let tokens: TokenManager
let token: string
let proxy: RecordingProxy
let plain: OwnerApi
const { env } = process

beforeAll(async () => {
  tokens = await signedInTokens(emulator)
  token = await tokens.getAccessToken(account)
})
beforeEach(async () => {
  proxy = await startRecordingProxy()
  plain = await startOwnerApi()
})
afterEach(async () => {
  process.env = env
  await proxy.close()
  await plain.close()
})

/** One call over https, with its own CA, and one over http on loopback; what the proxy was sent of them. */
async function callBoth(axios: (typeof axiosVersions)[0][1], config: object = {}): Promise<string> {
  const httpsAgent = new Agent({ ca: emulator.ca })
  const secure = attachBearer(axios.create({ baseURL: emulator.ownerApiUrl, httpsAgent, ...config }), {
    tokens,
    account,
  })
  expect((await secure.get('/api/1/vehicles')).data).toMatchObject({ count: 2 })
  const http = attachBearer(axios.create({ baseURL: plain.url, ...config }), { tokens, account })
  expect((await http.get('/api/1/vehicles')).data).toMatchObject({ count: 0 })
  expect(plain.seen.at(-1)?.headers.authorization).toBe(`Bearer ${token}`)
  httpsAgent.destroy()
  return proxy.seen()
}

describe.each(axiosVersions)('axios %s', (_version, axios) => {
  it('uses no proxy that the environment names', async () => {
    const names = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()])
    process.env = { ...env, ...Object.fromEntries(names.map((name) => [name, proxy.url])) }
    expect(await callBoth(axios)).toBe('')
  })

  it('calls https through a tunnel of the proxy in axios’s configuration, and plain http without the proxy', async () => {
    const auth = { username: 'user', password: 'p@ss' }
    const seen = await callBoth(axios, { proxy: { protocol: 'http', host: '127.0.0.1', port: proxy.port, auth } })
    expect(seen.match(/CONNECT [^ ]+/gu)).toEqual([`CONNECT ${new URL(emulator.ownerApiUrl).host}`])
    expect(seen).toContain(`Proxy-Authorization: Basic ${Buffer.from('user:p@ss').toString('base64')}`)
    // Plain http, which is for this machine alone, went straight.
    expect(seen).not.toContain(token)
  })

  it.each([
    { port: 1 },
    { host: '127.0.0.1', port: 'x' },
    ...['socks', 'xhttp', 'httpx', 'httpss', 'ht:tp', 'http::'].map((protocol) => ({
      protocol,
      host: '127.0.0.1',
      port: 1,
    })),
  ])('sends nothing where the proxy of the configuration is %j', async (wrong) => {
    const http = attachBearer(axios.create({ baseURL: plain.url, proxy: wrong as never }), { tokens, account })
    await expect(http.get('/api/1/vehicles')).rejects.toThrow(TypeError)
    expect(plain.seen).toEqual([])
  })
})

it('ownerFetch uses no proxy that the environment names', async () => {
  process.env = { ...env, HTTP_PROXY: proxy.url, http_proxy: proxy.url, NODE_USE_ENV_PROXY: '1' }
  const answer = await ownerFetch({ tokens, account, target: plain.url })('/api/1/vehicles')
  expect([answer.status, proxy.seen()]).toEqual([200, ''])
})
