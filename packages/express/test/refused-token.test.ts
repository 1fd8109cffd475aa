import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { createSso, createTokenManager, type TokenManager } from '@owner-sso/core'
import { type ChangeableOptions, type Emulator, startEmulator } from '@owner-sso/emulator'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import axios from 'axios'
import {
  attachBearer,
  OwnerApiClosedError,
  OwnerApiTokenRefusedError,
  ownerApiProxy,
  ownerFetch,
} from '../src/index.ts'
import { listen, startOwnerApi } from './servers.ts'
import { account, tokensOf } from './tokens.ts'
import { ownerApiAnswers } from '../../../tests/support/recorded-answers.ts'

let emulator: Emulator
let tokens: TokenManager
const closing: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  emulator = await startEmulator({ firewall: false })
  closing.push(() => emulator.close())
  const sso = createSso({ authUrl: emulator.authUrl })
  tokens = createTokenManager({ issuer: sso, store: memoryTokenStore(), minRefreshInterval: 0 })
  await tokens.save(account, await sso.login({ identity: account, credential: 'correct horse' }))
})
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

/** Calls the vehicles; what comes of it as a status, or as the code of an error or of problem details. */
type Call = () => Promise<unknown>

function withFetch(target = emulator.ownerApiUrl): Call {
  const call = ownerFetch({ tokens, account, target })
  return () => outcome(async () => (await call('/api/1/vehicles')).status)
}

function withAxios(baseURL = emulator.ownerApiUrl): Call {
  const instance = attachBearer(axios.create({ baseURL, validateStatus: () => true }), {
    tokens,
    account,
  })
  return () => outcome(async () => (await instance.get('/api/1/vehicles')).status)
}

/** As axios has it by itself: an answer that is not a success is an error. */
function withStrictAxios(): Call {
  const instance = attachBearer(axios.create({ baseURL: emulator.ownerApiUrl }), { tokens, account })
  const statusOf = (error: unknown): number => {
    if (axios.isAxiosError(error) && error.response) return error.response.status
    throw error
  }
  return () => outcome(() => instance.get('/api/1/vehicles').then(({ status }) => status, statusOf))
}

async function withProxy(target = emulator.ownerApiUrl): Promise<Call> {
  const proxy = ownerApiProxy({ target, tokens, account, authorize: true })
  const home = await listen(proxy)
  closing.push(
    () => proxy.close(),
    () => home.close(),
  )
  return async () => {
    const answer = await fetch(`${home.url}/api/1/vehicles`)
    const body = (await answer.json()) as { code?: string }
    expect(body.code === undefined || answer.status === 502).toBe(true)
    return body.code ?? answer.status
  }
}

async function outcome(call: () => Promise<number>): Promise<unknown> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof OwnerApiClosedError) throw error
    expect(error).toBeInstanceOf(OwnerApiTokenRefusedError)
    return error instanceof OwnerApiTokenRefusedError ? error.code : error
  }
}

const refused = 'ERR_OWNER_API_TOKEN_REFUSED'

describe.each<[string, () => Call | Promise<Call>]>([
  ['ownerFetch', withFetch],
  ['attachBearer', withAxios],
  ['attachBearer, whose errors are answers', withStrictAxios],
  ['ownerApiProxy', withProxy],
])('a 403 to a token that was just issued, with %s', (_, newCall) => {
  it('is an error of its own: no refresh, no loop, and no word of signing in', async () => {
    emulator.change({ mintedBy: { tls: 'TLSv1.3' } })
    const call = await newCall()
    for (let n = 0; n < 3; n += 1) expect(await call()).toBe(refused)
    expect(emulator.counters).toMatchObject({ refreshRequests: 0, ownerApiRefusals: 3 })
    expect((await tokens.status(account)).state).toBe('valid')
  })

  it('after a refresh for a 401 as well, which is made once', async () => {
    const call = await newCall()
    expect(await call()).toBe(200)
    emulator.change({ mintedBy: { tls: 'TLSv1.3' } })
    emulator.revokeAccessTokens(account)
    expect([await call(), await call()]).toEqual([refused, refused])
    expect(emulator.counters).toMatchObject({ refreshRequests: 1, replays: 0 })
  })

  it('is over as soon as the owner API accepts the token', async () => {
    emulator.change({ mintedBy: { tls: 'TLSv1.3' } })
    const call = await newCall()
    expect(await call()).toBe(refused)
    emulator.change({ mintedBy: null })
    expect(await call()).toBe(200)
  })

  it('is the owner API’s own answer, where a call with that token was taken before', async () => {
    const call = await newCall()
    expect(await call()).toBe(200)
    emulator.always('owner-api', { status: 403, body: { error: 'this call is forbidden' } })
    expect(await call()).toBe(403)
  })

  it('is the owner API’s own answer where the token is not fresh', async () => {
    tokens = await tokensOf()
    emulator.always('owner-api', { status: 403, body: { error: 'this call is forbidden' } })
    expect(await (await newCall())()).toBe(403)
  })
})

describe.each<[string, () => Call | Promise<Call>]>([
  ['ownerFetch', withFetch],
  ['attachBearer', withAxios],
  ['ownerApiProxy', withProxy],
])('an owner API that refuses what comes of a refresh, with %s', (_, newCall) => {
  it.each([401, 403] as const)(
    'answers where this process is two refreshes behind, and the first access token still works (%i)',
    async (status) => {
      emulator.change({ refreshedTokens: { status, after: 0 } })
      const store = memoryTokenStore()
      const sso = createSso({ authUrl: emulator.authUrl })
      tokens = createTokenManager({ issuer: sso, store, minRefreshInterval: 0 })
      const other = createTokenManager({ issuer: sso, store, minRefreshInterval: 0 })
      await tokens.save(account, await sso.login({ identity: account, credential: 'correct horse' }))
      await tokens.refresh(account)
      await other.invalidate(account, await other.getAccessToken(account))
      await other.refresh(account)
      const call = await newCall()
      expect([await call(), await call()]).toEqual([200, 200])
      expect(emulator.counters).toMatchObject({ refreshRequests: 2, ownerApiRefusals: 2 })
    },
  )
})

describe.each([
  ['ownerFetch', withFetch],
  ['attachBearer', withAxios],
  ['attachBearer, whose errors are answers', withStrictAxios],
])('a 412, with %s', (_, newCall) => {
  it('of the list that is closed is an error of its own, says what to set, and costs no token', async () => {
    emulator.change({ service: 'current' })
    await expect(newCall()()).rejects.toMatchObject({
      code: 'ERR_OWNER_API_CLOSED',
      message: expect.stringContaining('OWNER_SSO_SERVICE=current'),
    })
    expect(emulator.counters).toMatchObject({ refreshRequests: 0 })
    expect((await tokens.status(account)).state).toBe('valid')
  })

  it('of any endpoint is told, with a byte order mark and other capitals too', async () => {
    const body = '\uFEFF{"response":null,"error":"ONLY available on another API"}'
    emulator.always('owner-api', { status: 412, headers: { 'content-type': 'application/json' }, body })
    await expect(newCall()()).rejects.toMatchObject({ code: 'ERR_OWNER_API_CLOSED' })
  })

  it('in other words is the owner API’s own answer', async () => {
    emulator.always('owner-api', { status: 412, body: { response: null, error: 'the vehicle has changed since' } })
    expect(await newCall()()).toBe(412)
  })
})

describe('a 403 as people recorded it', () => {
  const about = (what: 'token' | 'list'): string[] =>
    ownerApiAnswers.filter((answer) => answer.status === 403 && answer.about === what).map(({ body }) => body)

  it.each([
    ...about('token'),
    '{"response":null,"error":"Unauthorized: see the documentation"}',
    '{"response":null,"error":"access denied, token"}',
  ])('is about the token: %s', async (body) => {
    emulator.always('owner-api', { status: 403, headers: { 'content-type': 'application/json' }, body })
    expect(await withFetch()()).toBe(refused)
  })

  it.each([
    '{"response":{"vin":"x"},"error":"forbidden, see https://developer.example.com"}',
    '{"response":null,"error":"forbidden by the owner of this vehicle"}',
    '{"response":null,"error":"vehicle: forbidden, asleep"}',
    'forbidden, see https://developer.example.com',
  ])('is about the call: %s', async (body) => {
    emulator.always('owner-api', { status: 403, headers: { 'content-type': 'application/json' }, body })
    expect(await withFetch()()).toBe(403)
  })

  it.each<[string, (body: string) => string | Buffer]>([
    ['identity', (body) => body],
    ['identity', (body) => `\uFEFF${body}`],
    ['identity', (body) => body.replace('forbidden', 'FORBIDDEN')],
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['BR', brotliCompressSync],
  ])('is about the token however it is written (%s, %#)', async (encoding, written) => {
    const ownerApi = await startOwnerApi()
    closing.push(() => ownerApi.close())
    const headers = { 'content-type': 'application/json', 'content-encoding': encoding }
    const [body = ''] = about('token')
    ownerApi.answer((_seen, response) => response.writeHead(403, headers).end(written(body)))
    for (const newCall of [withFetch, withAxios, withProxy])
      expect([newCall.name, await (await newCall(ownerApi.url))()]).toEqual([newCall.name, refused])
  })

  it.each(['text', 'arraybuffer', 'blob'] as const)(
    'is read with axios’s adapter for fetch as %s',
    async (responseType) => {
      const [body] = about('token')
      emulator.always('owner-api', { status: 403, body })
      const instance = axios.create({ baseURL: emulator.ownerApiUrl, adapter: 'fetch', responseType })
      await expect(attachBearer(instance, { tokens, account }).get('/api/1/vehicles')).rejects.toMatchObject({
        code: refused,
      })
    },
  )
})

it('the error holds no token, and no address', () => {
  const error = new OwnerApiTokenRefusedError()
  expect(error).toMatchObject({ name: 'OwnerApiTokenRefusedError', code: refused, status: 403 })
  expect(error.message).toContain('doctor --live')
})

describe.each<[string, () => Call | Promise<Call>]>([
  ['ownerFetch', withFetch],
  ['attachBearer', withAxios],
  ['attachBearer, whose errors are answers', withStrictAxios],
  ['ownerApiProxy', withProxy],
])('a refreshed token that the owner API refuses, with %s,', (_, newCall) => {
  it.each<[string, ChangeableOptions]>([
    ['401', { refreshedTokens: { status: 401, after: 0 } }],
    ['403', { refreshedTokens: { status: 403, after: 0 } }],
  ])(
    'by %s, gives way to the one before it: the caller sees neither, and no further refresh is made',
    async (__, mode) => {
      emulator.change(mode)
      await tokens.refresh(account)
      const call = await newCall()
      for (let n = 0; n < 3; n += 1) expect(await call()).toBe(200)
      expect(emulator.counters).toMatchObject({ refreshRequests: 1, replays: 0 })
      expect(await tokens.status(account)).toMatchObject({ state: 'valid', refreshed_tokens_refused: 1 })
    },
  )

  it('by 403, gives way to the one before it however long ago it was issued', async () => {
    emulator.change({ refreshedTokens: { status: 403, after: 0 }, accessTokenFormat: 'opaque' })
    await tokens.refresh(account)
    expect(await (await newCall())()).toBe(200)
    expect(emulator.counters).toMatchObject({ refreshRequests: 1 })
  })

  it('is kept where the owner API accepts it: the one before it is dropped', async () => {
    await tokens.refresh(account)
    const call = await newCall()
    expect(await call()).toBe(200)
    emulator.revokeAccessTokens(account)
    expect(await call()).toBe(200)
    expect(emulator.counters).toMatchObject({ refreshRequests: 2, replays: 0 })
  })

  it('costs one refresh where the refresh before it has ended the old one', async () => {
    emulator.change({ oldAccessToken: 'ends' })
    const call = await newCall()
    await tokens.refresh(account)
    expect([await call(), await call()]).toEqual([200, 200])
    expect(emulator.counters).toMatchObject({ refreshRequests: 1, replays: 0 })
  })

  it.each([
    { response: null, error: 'Unauthorized missing scopes', error_description: '' },
    { response: null, error: 'mobile_access_disabled' },
    { response: null, error: 'insufficient_scope' },
    { error: 'x'.repeat(5000) },
    ['not an object'],
  ])('is kept where the 403 is about the call (%#)', async (body) => {
    await tokens.refresh(account)
    emulator.once('owner-api', { status: 403, body })
    const call = await newCall()
    expect(await call()).toBe(403)
    expect(await call()).toBe(200)
    expect(await tokens.status(account)).not.toHaveProperty('refreshed_tokens_refused')
  })

  it('is refreshed after a 403 that says in so many words that it is invalid', async () => {
    const call = await newCall()
    expect(await call()).toBe(200)
    emulator.once('owner-api', { status: 403, body: { response: null, error: 'invalid_token' } })
    expect(await call()).toBe(200)
    expect(emulator.counters).toMatchObject({ refreshRequests: 1 })
  })
})

it.each([1, 4096, 4097, 100_000])(
  'a 403 of %d bytes reaches the caller of ownerFetch whole, with its address',
  async (bytes) => {
    const ownerApi = await startOwnerApi()
    closing.push(() => ownerApi.close())
    ownerApi.answer((_seen, response) => response.writeHead(403, { 'x-reason': 'scope' }).end('x'.repeat(bytes)))
    const answer = await ownerFetch({ tokens, account, target: ownerApi.url })('/api/1/vehicles')
    expect([answer.status, answer.headers.get('x-reason'), answer.url]).toEqual([
      403,
      'scope',
      `${ownerApi.url}/api/1/vehicles`,
    ])
    expect(await answer.text()).toBe('x'.repeat(bytes))
  },
)

describe('a 403 whose body does not end', () => {
  it.each(['ownerFetch', 'ownerApiProxy'])(
    'is the caller’s, and its connection is let go with it, with %s',
    async (through) => {
      const ownerApi = await startOwnerApi()
      const gone = new Promise<void>((resolve) => {
        ownerApi.answer((_seen, response) => void response.once('close', resolve).writeHead(403).write('{'))
      })
      const proxy = ownerApiProxy({ target: ownerApi.url, tokens, account, authorize: true })
      const home = await listen(proxy)
      closing.push(
        () => ownerApi.close(),
        () => proxy.close(),
        () => home.close(),
      )
      const call = through === 'ownerFetch' ? ownerFetch({ tokens, account, target: ownerApi.url }) : fetch
      const leave = new AbortController()
      const answer = await call(`${through === 'ownerFetch' ? ownerApi.url : home.url}/api/1/vehicles`, {
        signal: leave.signal,
      })
      expect(answer.status).toBe(403)
      leave.abort()
      await gone
      expect(emulator.counters.refreshRequests).toBe(0)
    },
  )
})

describe('a 403 with ownerFetch is', () => {
  /** What comes of calls with a token that was issued so many seconds ago, answered with these statuses. */
  async function outcomesOf(age: number, ...statuses: number[]): Promise<unknown> {
    const ownerApi = await startOwnerApi()
    closing.push(() => ownerApi.close())
    const body = JSON.stringify({ response: null, error: 'forbidden' })
    ownerApi.answer((_seen, response) => response.writeHead(statuses[ownerApi.seen.length - 1] ?? 500).end(body))
    const claims = Buffer.from(JSON.stringify({ iat: Date.now() / 1000 - age })).toString('base64url')
    const issued = await tokensOf(`e30.${claims}.signature`)
    const same = { getAccessToken: () => issued.getAccessToken(account), invalidate: () => Promise.resolve() }
    const call = ownerFetch({ tokens: same, account, target: ownerApi.url })
    const outcomes: unknown[] = []
    for (const _ of statuses) outcomes.push(await outcome(async () => (await call('/api/1/vehicles')).status))
    return outcomes
  }

  it.each([
    [0, refused],
    [840, refused],
    [960, 403],
    [-840, refused],
    [-960, 403],
  ])('about the token that was issued %d s ago, within a quarter of an hour: %s', async (age, ends) => {
    expect(await outcomesOf(age, 403)).toEqual([ends])
  })

  it.each([
    [200, 403],
    [400, 403],
    [404, 403],
    [401, refused],
    [500, refused],
  ])('after a %d, which accepted the token or did not, %s', async (status, ends) => {
    expect(await outcomesOf(0, status, 403)).toEqual([status, ends])
  })
})
