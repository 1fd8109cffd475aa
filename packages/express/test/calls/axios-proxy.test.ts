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

describe.each(axiosVersions)('axios %s', (_version, axios) => {
  it('uses no proxy that the environment names', async () => {
    const names = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()])
    process.env = { ...env, ...Object.fromEntries(names.map((name) => [name, proxy.url])), NODE_USE_ENV_PROXY: '1' }
    const options = { tokens, account, tls: { ca: emulator.ca } }
    const secure = attachBearer(axios.create({ baseURL: emulator.ownerApiUrl }), options)
    expect((await secure.get('/api/1/vehicles')).data).toMatchObject({ count: 2 })
    const http = attachBearer(axios.create({ baseURL: plain.url }), options)
    expect((await http.get('/api/1/vehicles')).data).toMatchObject({ count: 0 })
    expect(plain.seen.at(-1)?.headers.authorization).toBe(`Bearer ${token}`)
    expect(proxy.seen()).toBe('')
  })

  it.each(['httpAgent', 'httpsAgent', 'proxy'])('%s of the instance, which would not be used, is refused', (name) => {
    const instance = axios.create({ baseURL: plain.url, [name]: { host: '127.0.0.1', port: 1 } })
    expect(() => attachBearer(instance, { tokens, account })).toThrow(
      `${name} of the axios instance would not be used: give attachBearer the option tls or proxy`,
    )
  })
})

it('ownerFetch uses no proxy that the environment names', async () => {
  process.env = { ...env, HTTP_PROXY: proxy.url, http_proxy: proxy.url, NODE_USE_ENV_PROXY: '1' }
  const answer = await ownerFetch({ tokens, account, target: plain.url })('/api/1/vehicles')
  expect([answer.status, proxy.seen()]).toEqual([200, ''])
})
