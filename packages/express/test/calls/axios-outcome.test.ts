import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import { inspect, types } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { AxiosError, AxiosRequestConfig } from 'axios'
import { attachBearer, ownerFetch } from '../../src/index.ts'
import { account, token, tokensOf } from '../tokens.ts'
import { axiosVersions } from './axios-versions.ts'

let server: Server
let baseURL: string

beforeAll(async () => {
  server = createServer((request, response) => {
    const { url = '', socket } = request
    if (url === '/silent') return
    if (url === '/hang-up') socket.destroy()
    else if (url === '/redirect') response.writeHead(302, { location: '/ok' }).end()
    else {
      response.writeHead(Number(/\d+/u.exec(url)?.[0] ?? 200), { 'content-type': 'application/json' })
      if (!url.endsWith('/half')) response.end('{"error":"no"}')
      else response.write('{"error":', () => url === '/200/silent/half' || socket.destroy())
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

/** Where in all that can be reached from a value the token is: own properties, symbols, bytes and collections. */
function placesOfToken(value: unknown): string[] {
  const places: string[] = []
  const seen = new Set<unknown>()
  const queue: [unknown, string][] = [[value, '']]
  for (const [one, path] of queue) {
    if (typeof one === 'string' && one.includes(token)) places.push(path)
    if ((typeof one !== 'object' && typeof one !== 'function') || one === null || seen.has(one)) continue
    seen.add(one)
    if (ArrayBuffer.isView(one)) {
      if (Buffer.from(one.buffer, one.byteOffset, one.byteLength).includes(token)) places.push(path)
      continue
    }
    if (one instanceof Map || one instanceof Set) for (const each of one.entries()) queue.push([each, `${path}{}`])
    for (const name of Reflect.ownKeys(one)) {
      const { value: held, get } = Reflect.getOwnPropertyDescriptor(one, name)!
      queue.push([get ? textOf(get, one) : held, `${path}.${String(name)}`])
    }
  }
  if (inspect(value, { depth: Infinity, showHidden: true }).includes(token)) places.push('inspect')
  if (types.isNativeError(value) && JSON.stringify(value).includes(token)) places.push('JSON')
  return places
}

/** What a getter says, if it is a text: some make an object anew each time, without end. */
function textOf(get: () => unknown, one: object): unknown {
  try {
    const value: unknown = Reflect.apply(get, one, [])
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

const failureOf = (call: Promise<unknown>): Promise<AxiosError> =>
  call.then(
    () => Promise.reject(new Error('the call succeeded')),
    (error: unknown) => error as AxiosError,
  )

type Body = AsyncIterable<Uint8Array>

/** `endsAfter`: milliseconds until the caller’s signal ends it. */
const calls: [string, AxiosRequestConfig & { endsAfter?: number }][] = [
  ['an answer of 500', { url: '/500' }],
  ['an answer of 401', { url: '/401' }],
  ['a redirect', { url: '/redirect' }],
  ['a connection that ends', { url: '/hang-up' }],
  ['an answer that is too long', { url: '/200', maxContentLength: 2 }],
  ['a body that is too long', { url: '/200', method: 'POST', data: 'long', maxBodyLength: 1 }],
  ['no answer in time', { url: '/silent', timeout: 50 }],
  ['a signal', { url: '/silent', endsAfter: 50 }],
  ['a body that breaks off', { url: '/200/half' }],
  ['a signal in the middle of a body', { url: '/200/silent/half', endsAfter: 200 }],
]

describe.each(axiosVersions)('axios %s', (_version, axios) => {
  const attached = async (config: AxiosRequestConfig = {}) =>
    attachBearer(axios.create({ baseURL, ...config }), { tokens: await tokensOf(), account })

  describe.each(['json', 'stream', 'arraybuffer', 'text'] as const)('%s: the token can’t be found', (responseType) => {
    it.each(calls)('after %s', async (_what, { endsAfter, ...call }) => {
      const http = await attached({ responseType })
      const outcome: unknown = await http
        .request({ ...call, ...(endsAfter && { signal: AbortSignal.timeout(endsAfter) }) })
        .catch((error: unknown) => error)
      expect(placesOfToken(outcome)).toEqual([])
      const { data, response } = outcome as { data?: Body; response?: { data?: Body } }
      const body = data ?? response?.data
      const end: unknown = responseType === 'stream' && body && (await drained(body).catch((error: unknown) => error))
      expect(placesOfToken([end, outcome])).toEqual([])
    })
  })

  it('the token can’t be found while a body is still on its way', async () => {
    const http = await attached()
    const data = new PassThrough()
    data.write('a part')
    const error = await failureOf(http.post('/500', data, { maxRedirects: 0 }))
    expect([error.response?.status, placesOfToken(error)]).toEqual([500, []])
    data.end()
  })

  it('an error is still an AxiosError with what an application reads from it', async () => {
    const http = await attached({ responseType: 'json' })
    const error = await failureOf(http.get('/500', { headers: { 'x-own': 'kept' }, params: { page: 1 } }))
    expect([axios.isAxiosError(error), error.code, error.response?.status]).toEqual([true, 'ERR_BAD_RESPONSE', 500])
    expect(error.response?.data).toEqual({ error: 'no' })
    expect(error.config).toMatchObject({ url: '/500', params: { page: 1 }, headers: { 'x-own': 'kept' } })
    const aborted = await failureOf(http.get('/silent', { signal: AbortSignal.abort() }))
    expect([axios.isCancel(aborted), aborted.code]).toEqual([true, 'ERR_CANCELED'])
  })

  it('a streamed answer is whole, and one that breaks off says so', async () => {
    const http = await attached({ responseType: 'stream' })
    expect(await drained((await http.get<Body>('/200')).data)).toBe('{"error":"no"}')
    await expect(drained((await http.get<Body>('/200/half')).data)).rejects.toThrow(/aborted|terminated|premature/iu)
  })
})

/** The text of a stream. */
async function drained(body: Body): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

it.each(['/silent', '/hang-up', '/200/half'])('ownerFetch: the token can’t be found after %s', async (path) => {
  const call = ownerFetch({ tokens: await tokensOf(), account, target: baseURL })
  const failure: unknown = await call(path, { signal: AbortSignal.timeout(100) })
    .then((answer) => answer.text())
    .catch((error: unknown) => error)
  expect(failure).toMatchObject({ message: expect.any(String) })
  expect(placesOfToken(failure)).toEqual([])
})
