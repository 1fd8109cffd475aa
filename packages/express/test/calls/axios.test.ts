import { once } from 'node:events'
import { Readable } from 'node:stream'
import { inspect } from 'node:util'
import { beforeEach, describe, expect, it } from '@jest/globals'
import type { TokenManager } from '@owner-sso/core'
import { useEmulator } from '@owner-sso/emulator/jest'
import axios, { type AxiosError, type AxiosInstance } from 'axios'
import { attachBearer, type OwnerCallOptions } from '../../src/index.ts'
import { listen, startOwnerApi } from '../servers.ts'
import { account, signedInTokens } from '../tokens.ts'
import { withinAMinute } from '../within-a-minute.ts'
import { axiosVersions } from './axios-versions.ts'

const emulator = useEmulator({ firewall: false })
let tokens: TokenManager
let http: AxiosInstance

beforeEach(async () => {
  tokens = await signedInTokens(emulator)
  http = attachBearer(axios.create({ baseURL: emulator.ownerApiUrl }), { tokens, account })
})

const ownerApiRequests = () => emulator.requests.filter(({ path }) => path.startsWith('/api/1/'))

it('calls with the owner’s token', async () => {
  const { status, data } = await http.get<{ count: number }>('/api/1/vehicles', { params: { page: 1 } })
  expect([status, data.count]).toEqual([200, 2])
  const body = { text: 'ü', list: [1] }
  expect((await http.post<unknown>('/api/1/echo', body)).data).toEqual(body)
})

it('refreshes once for many callers whose token was revoked', async () => {
  emulator.revokeAccessTokens(account)
  const answers = await Promise.all(Array.from({ length: 20 }, () => http.get('/api/1/vehicles')))
  expect(answers.every(({ status }) => status === 200)).toBe(true)
  expect(emulator.counters.tokenRefreshes).toBe(1)
})

it('sends a body once more after a 401, transformed once', async () => {
  emulator.revokeAccessTokens(account)
  expect((await http.post<unknown>('/api/1/echo', { a: 1 })).data).toEqual({ a: 1 })
  expect(ownerApiRequests().map(({ status }) => status)).toEqual([401, 200])
})

it('fails where account never settles', async () => {
  const waiting = axios.create({ baseURL: emulator.ownerApiUrl })
  attachBearer(waiting, { tokens, account: () => new Promise(() => undefined) })
  const error = await withinAMinute(() => waiting.get('/api/1/vehicles').catch((thrown: unknown) => thrown))
  expect(error).toMatchObject({ code: 'ERR_OWNER_API_TIMEOUT', message: expect.stringContaining('account') })
  expect(ownerApiRequests()).toEqual([])
})

it('transforms a request and its answer once', async () => {
  const transforming = attachBearer(
    axios.create({
      baseURL: emulator.ownerApiUrl,
      transformRequest: (data: string) => `${data}!`,
      transformResponse: (data: string) => `${data}?`,
    }),
    { tokens, account },
  )
  const headers = { 'content-type': 'text/plain' }
  expect((await transforming.post<unknown>('/api/1/echo', 'hello', { headers })).data).toBe('hello!?')
})

it('does not send a stream again, and the next call is right', async () => {
  emulator.revokeAccessTokens(account)
  const send = () => http.post('/api/1/echo', Readable.from(['x']), { headers: { 'content-type': 'text/plain' } })
  await expect(send()).rejects.toMatchObject({ response: { status: 401 } })
  expect((await send()).status).toBe(200)
  expect(emulator.counters.tokenRefreshes).toBe(1)
})

it.each([
  [401, 2],
  [403, 1],
])(
  'rejects with the owner API’s %i after %i requests, where the token was accepted before',
  async (status, requests) => {
    await http.get('/api/1/vehicles')
    emulator.always('owner-api', { status, body: { error: 'no' } })
    await expect(http.get('/api/1/vehicles')).rejects.toMatchObject({ response: { status, data: { error: 'no' } } })
    expect(ownerApiRequests()).toHaveLength(1 + requests)
  },
)

it('resolves with a 401 where validateStatus says so', async () => {
  emulator.always('owner-api', { status: 401, body: {} })
  expect((await http.get('/api/1/vehicles', { validateStatus: () => true })).status).toBe(401)
})

it.each(['the first token', 'the next token'])('a signal ends the wait for %s, and not its refresh', async (which) => {
  if (which === 'the first token') await tokens.invalidate(account, await tokens.getAccessToken(account))
  else emulator.revokeAccessTokens(account)
  const stopping = new AbortController()
  let goOn = (): void => {}
  const held = new Promise<void>((resolve) => (goOn = resolve))
  emulator.once('refresh', async (response) => {
    stopping.abort()
    await held
    return response
  })
  const failure: unknown = await http
    .get('/api/1/vehicles', { signal: stopping.signal })
    .catch((error: unknown) => error)
  expect(axios.isCancel(failure)).toBe(true)
  expect(failure).toMatchObject({ code: 'ERR_CANCELED', config: { url: '/api/1/vehicles' } })
  goOn()
  expect((await http.get('/api/1/vehicles')).status).toBe(200)
  expect(emulator.counters.tokenRefreshes).toBe(1)
})

it('lets go of the connection of a streamed 401 where there is no other token', async () => {
  emulator.once('refresh', { status: 503 })
  const gone: Promise<unknown>[] = []
  const refusing = await listen((_request, response) => {
    gone.push(once(response, 'close'))
    response.writeHead(401).write('{')
  })
  const streaming = attachBearer(axios.create({ baseURL: refusing.url, responseType: 'stream' }), { tokens, account })
  await expect(streaming.get('/api/1/vehicles')).rejects.toMatchObject({ code: 'ERR_SSO_REFRESH_IN_DOUBT' })
  await Promise.all(gone)
  await refusing.close()
})

describe('the token', () => {
  it('is in no error and no response that the application sees', async () => {
    const token = await tokens.getAccessToken(account)
    const outcomes: unknown[] = [await http.get('/api/1/vehicles')]
    emulator.always('owner-api', { status: 500, body: { error: 'no' } })
    outcomes.push(await http.get('/api/1/vehicles').catch((error: unknown) => error))
    outcomes.push(await http.get('/api/1/vehicles', { signal: AbortSignal.abort() }).catch((error: unknown) => error))
    emulator.always('owner-api', { drop: 'before-commit' })
    outcomes.push(await http.get('/api/1/vehicles').catch((error: unknown) => error))
    emulator.always('owner-api', { delay: 60_000 })
    outcomes.push(await http.get('/api/1/vehicles', { timeout: 50 }).catch((error: unknown) => error))
    for (const outcome of outcomes) {
      expect(inspect(outcome, { depth: Infinity, showHidden: true }).includes(token)).toBe(false)
      const json = outcome instanceof Error ? JSON.stringify(outcome) : ''
      expect(json.includes(token)).toBe(false)
    }
    expect((outcomes[1] as AxiosError).config?.url).toBe('/api/1/vehicles')
  })

  it('is seen by no interceptor', async () => {
    let seen = ''
    http.interceptors.request.use((config) => {
      seen = String(config.headers)
      return config
    })
    await http.get('/api/1/vehicles')
    expect(seen).not.toMatch(/bearer/iu)
  })

  it('goes to no path that segments of dots lead to', async () => {
    await expect(http.get('/api/1/vehicles/%2e%2e')).rejects.toThrow('dot segments')
    await expect(http.get('vehicles/..', { baseURL: `${emulator.ownerApiUrl}/api/1` })).rejects.toThrow('dot segments')
  })

  it('goes to no other origin', async () => {
    const elsewhere = await startOwnerApi()
    await expect(http.get(`${elsewhere.url}/api/1/vehicles`)).rejects.toThrow(TypeError)
    await expect(http.get('/api/1/vehicles', { baseURL: elsewhere.url })).rejects.toThrow(TypeError)
    expect(elsewhere.seen).toEqual([])
    await elsewhere.close()
  })

  it('follows no redirect', async () => {
    const elsewhere = await startOwnerApi()
    const redirecting = await listen((_request, response) => response.writeHead(302, { location: elsewhere.url }).end())
    const one = attachBearer(axios.create({ baseURL: redirecting.url }), { tokens, account })
    await expect(one.get('/api/1/vehicles')).rejects.toMatchObject({ response: { status: 302 } })
    expect(elsewhere.seen).toEqual([])
    await redirecting.close()
    await elsewhere.close()
  })

  it('travels over plain http on loopback alone', async () => {
    const one = attachBearer(axios.create(), { tokens, account })
    await expect(one.get('http://owner-api.example.com/api/1/vehicles')).rejects.toThrow('https')
    expect((await one.get(`${emulator.ownerApiUrl}/api/1/vehicles`)).status).toBe(200)
  })
})

it('rejects with ERR_SSO_SIGNED_OUT where nobody is signed in', async () => {
  const signedOut = attachBearer(axios.create({ baseURL: emulator.ownerApiUrl }), { tokens, account: () => undefined })
  await expect(signedOut.get('/api/1/vehicles')).rejects.toMatchObject({ code: 'ERR_SSO_SIGNED_OUT' })
})

it.each<[string, unknown, object]>([
  ['axios instance', {}, {}],
  ['tokens must be', axios.create(), { tokens: undefined }],
  ['account must be', axios.create(), { account: '' }],
  ['target must be', axios.create(), { target: 'http://owner-api.example.com' }],
  ['target must be', axios.create({ baseURL: '/relative' }), {}],
])('rejects wrong arguments at once: %s', (message, instance, wrong) => {
  const options = { tokens, account, ...wrong } as OwnerCallOptions
  expect(() => attachBearer(instance as AxiosInstance, options)).toThrow(message)
})

it.each(axiosVersions)(
  'fails at once where the owner API switches protocols unasked (axios %s)',
  async (_version, each) => {
    const ownerApi = await startOwnerApi()
    const switching = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'
    ownerApi.answer((_seen, response) => response.socket?.write(switching))
    const one = attachBearer(each.create({ baseURL: ownerApi.url, timeout: 10_000 }), { tokens, account })
    try {
      const error = await one.get('/api/1/vehicles').catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: 'ERR_NETWORK' })
      expect(each.isAxiosError(error)).toBe(true)
      expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain(await tokens.getAccessToken(account))
      // An offer of other protocols is no such answer.
      ownerApi.answer((_seen, response) => response.writeHead(200, { upgrade: 'h2c', connection: 'upgrade' }).end('{}'))
      expect((await one.get('/api/1/vehicles')).status).toBe(200)
    } finally {
      await ownerApi.close()
    }
  },
)
