import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { createSso, createTokenManager, type TokenManager } from '@owner-sso/core'
import { useEmulator } from '@owner-sso/emulator/jest'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { ownerApiProxy, type OwnerApiProxy } from '../../src/index.ts'
import { openSocket, rawRequest, sendRaw, until } from '../raw-http.ts'
import { type Listening, listen } from '../servers.ts'
import { account, signedInTokens } from '../tokens.ts'

const emulator = useEmulator({ firewall: false })
let tokens: TokenManager
let proxy: OwnerApiProxy
let home: Listening

beforeEach(async () => {
  tokens = await signedInTokens(emulator)
  await start(tokens)
})
/** Closed after a test, in this order. */
const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of [...opened.splice(0), home, proxy]) await each.close()
})

async function start(from: TokenManager): Promise<void> {
  proxy = ownerApiProxy({ target: emulator.ownerApiUrl, tokens: from, account, authorize: true, replayLimit: 1000 })
  home = await listen(proxy)
}

const call = (path: string, init?: RequestInit) => fetch(`${home.url}${path}`, init)
const ownerApiRequests = () => emulator.requests.filter(({ path }) => path.startsWith('/api/1/'))

it('refreshes once for a hundred callers whose token was revoked, and none of them sees a 401', async () => {
  emulator.revokeAccessTokens(account)
  const answers = await Promise.all(Array.from({ length: 100 }, () => call('/api/1/vehicles')))
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 100 }, () => 200))
  expect(emulator.counters.tokenRefreshes).toBe(1)
  expect(emulator.counters.replays).toBe(0)
  expect(emulator.counters.ownerApiCalls).toBe(100)
})

it('sends a small body once more, whole', async () => {
  emulator.revokeAccessTokens(account)
  const body = JSON.stringify({ text: 'ünïcode', filler: 'x'.repeat(500) })
  const answer = await call('/api/1/echo', { method: 'POST', body, headers: { 'content-type': 'application/json' } })
  expect(answer.status).toBe(200)
  expect(await answer.text()).toBe(body)
  expect(ownerApiRequests().map(({ status }) => status)).toEqual([401, 200])
})

it('sends a body of exactly the limit once more, whole', async () => {
  emulator.revokeAccessTokens(account)
  const body = 'x'.repeat(1000)
  const answer = await call('/api/1/echo', { method: 'POST', body, headers: { 'content-type': 'text/plain' } })
  expect(answer.status).toBe(200)
  expect(await answer.text()).toBe(body)
  expect(ownerApiRequests().map(({ status }) => status)).toEqual([401, 200])
})

it.each([
  ['over the limit', { 'Content-Length': '1001' }, 'x'.repeat(1001)],
  ['of unknown length', { 'Transfer-Encoding': 'chunked' }, '5\r\nhello\r\n0\r\n\r\n'],
])('answers a body %s with the 401, and the next call is right', async (_name, headers, body) => {
  emulator.revokeAccessTokens(account)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const send = () => sendRaw(home.port, rawRequest('POST', '/api/1/echo', lines, body))
  const first = await send()
  expect(first.status).toBe(401)
  expect(first.body).toContain('invalid_token')
  expect(first.head).toContain('www-authenticate: OwnerSso realm="owner API"')
  expect((await send()).status).toBe(200)
  expect(ownerApiRequests().map(({ status }) => status)).toEqual([401, 200])
  expect(emulator.counters.tokenRefreshes).toBe(1)
})

it('sends a request twice at most: the 401 of a brand-new token is the caller’s', async () => {
  emulator.always('owner-api', { status: 401, body: { error: 'this path is not for you' } })
  const answer = await call('/api/1/vehicles')
  expect(answer.status).toBe(401)
  expect(answer.headers.get('www-authenticate')).toBe('OwnerSso realm="owner API"')
  expect(await answer.json()).toEqual({ error: 'this path is not for you' })
  expect(ownerApiRequests()).toHaveLength(2)
  expect(emulator.counters.tokenRefreshes).toBe(1)
})

it('neither refreshes nor repeats where the manager refreshed less than a minute ago', async () => {
  const sso = createSso({ authUrl: emulator.authUrl })
  const careful = createTokenManager({ issuer: sso, store: memoryTokenStore(), minRefreshInterval: 60 })
  await careful.save(account, await sso.login({ identity: account, credential: 'correct horse' }))
  await home.close()
  await proxy.close()
  await start(careful)
  emulator.always('owner-api', { status: 401, body: { error: 'no' } })
  await call('/api/1/vehicles')
  const before = { ...emulator.counters, requests: ownerApiRequests().length }
  const answer = await call('/api/1/vehicles')
  expect(answer.status).toBe(401)
  expect(emulator.counters.tokenRefreshes).toBe(before.tokenRefreshes)
  expect(ownerApiRequests()).toHaveLength(before.requests + 1)
})

it.each(['HEAD', 'GET'])('passes a 401 without a body on to %s where there is no other token', async (method) => {
  const refusing = await listen((_request, response) => void response.writeHead(401, { 'content-length': 0 }).end())
  const same: Pick<TokenManager, 'getAccessToken' | 'invalidate'> = {
    getAccessToken: (name) => tokens.getAccessToken(name),
    invalidate: async () => false,
  }
  const other = ownerApiProxy({ target: refusing.url, tokens: same, account, authorize: true })
  const otherHome = await listen(other)
  const answer = await sendRaw(otherHome.port, rawRequest(method, '/api/1/vehicles'))
  expect([answer.status, answer.body]).toEqual([401, ''])
  await otherHome.close()
  await other.close()
  await refusing.close()
})

it.each([403, 429, 500])(
  'passes a %i on where the token was accepted before, and asks for no other token',
  async (status) => {
    expect((await call('/api/1/vehicles')).status).toBe(200)
    emulator.always('owner-api', { status, body: { error: 'no' } })
    const answer = await call('/api/1/vehicles')
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([status, null])
    expect(await answer.json()).toEqual({ error: 'no' })
    expect(ownerApiRequests()).toHaveLength(2)
    expect(emulator.counters.refreshRequests).toBe(0)
  },
)

it('drops a 401 of any length before it asks again', async () => {
  emulator.once('owner-api', { status: 401, body: 'x'.repeat(1_000_000) })
  const answer = await call('/api/1/vehicles')
  expect(answer.status).toBe(200)
  expect(await answer.json()).toMatchObject({ count: 2 })
})

it('reads no more of an endless 401 than it has to', async () => {
  let calls = 0
  let isClosed = false
  const ownerApi = await listen((_request, response) => {
    calls += 1
    if (calls > 1) {
      response.end('{}')
      return
    }
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      response.once('drain', more)
    }
    response.writeHead(401).once('close', () => (isClosed = true))
    more()
  })
  const other = ownerApiProxy({ target: ownerApi.url, tokens, account, authorize: true })
  const otherHome = await listen(other)
  expect((await fetch(`${otherHome.url}/api/1/vehicles`)).status).toBe(200)
  await until(() => isClosed)
  expect(calls).toBe(2)
  await otherHome.close()
  await other.close()
  await ownerApi.close()
})

it.each([
  [4096, 'keeps'],
  [4097, 'gives up'],
])('with a 401 of %d bytes, it %s the connection', async (bytes, does) => {
  let [calls, ended] = [0, 0]
  const ownerApi = await listen((_request, response) => {
    calls += 1
    if (calls > 1) response.end('{}')
    else response.writeHead(401).end(Buffer.alloc(bytes))
  })
  ownerApi.server.on('connection', (socket) => socket.once('close', () => (ended += 1)))
  const other = ownerApiProxy({ target: ownerApi.url, tokens, account, authorize: true })
  const otherHome = await listen(other)
  for (let round = 0; round < 5; round += 1) {
    expect((await fetch(`${otherHome.url}/api/1/vehicles`)).status).toBe(200)
  }
  if (does === 'gives up') await until(() => ended > 0)
  expect([calls, ended]).toEqual([6, does === 'gives up' ? 1 : 0])
  await otherHome.close()
  await other.close()
  await ownerApi.close()
})

it('closes the connection of a 401 that does not end: it may be the only connection', async () => {
  const gone: Promise<unknown>[] = []
  const ownerApi = await listen((_request, response) => {
    gone.push(once(response, 'close'))
    if (gone.length === 1) response.writeHead(401).write('{')
    else response.end('{}')
  })
  const other = ownerApiProxy({ target: ownerApi.url, tokens, account, authorize: true, maxConcurrent: 1 })
  const otherHome = await listen(other)
  expect((await fetch(`${otherHome.url}/api/1/vehicles`)).status).toBe(200)
  await Promise.all(gone)
  await otherHome.close()
  await other.close()
  await ownerApi.close()
})

it('asks again also where the 401 broke off', async () => {
  emulator.once('owner-api', { status: 401, body: 'x'.repeat(100_000), drop: 'mid-body' })
  expect((await call('/api/1/vehicles')).status).toBe(200)
})

/** A proxy whose next token comes when the test says so, to an owner API that answers as the test says. */
async function withNextToken(
  answer: RequestListener,
  more: { readonly bodyTimeout?: number } = {},
): Promise<{ readonly next: Promise<(token: string) => void>; readonly port: number }> {
  const ownerApi = await listen(answer)
  let isAsked: (give: (token: string) => void) => void = () => undefined
  const next = new Promise<(token: string) => void>((resolve) => (isAsked = resolve))
  let given = 'the first token, which is long enough'
  const slow: Pick<TokenManager, 'getAccessToken' | 'invalidate'> = {
    getAccessToken: () => Promise.resolve(given),
    invalidate: () =>
      new Promise((resolve) =>
        isAsked((token) => {
          given = token
          resolve(true)
        }),
      ),
  }
  const other = ownerApiProxy({ target: ownerApi.url, tokens: slow, account, authorize: true, ...more })
  const otherHome = await listen(other)
  opened.push(otherHome, other, ownerApi)
  return { next, port: otherHome.port }
}

describe('while the next token is on its way', () => {
  const first = 'Bearer the first token, which is long enough'

  it('the 401 waits for longer than an answer may be silent', async () => {
    const { next, port } = await withNextToken(
      ({ headers }, response) => void response.writeHead(headers.authorization === first ? 401 : 200).end('{}'),
      { bodyTimeout: 50 },
    )
    const answer = sendRaw(port, rawRequest('GET', '/api/1/vehicles'))
    const give = await next
    await setTimeout(200)
    give('the second token')
    expect((await answer).status).toBe(200)
  })

  it('a caller that hangs up ends the call: the request does not go out again', async () => {
    let calls = 0
    const { next, port } = await withNextToken((_request, response) => {
      calls += 1
      response.writeHead(401).end()
    })
    const socket = await openSocket(port)
    socket.write(rawRequest('GET', '/api/1/vehicles'))
    const give = await next
    socket.destroy()
    await once(socket, 'close')
    // The server, in this same process, reads of it within a few turns.
    for (let turns = 0; turns < 100; turns += 1) await setImmediate()
    give('the second token')
    for (let turns = 0; turns < 100; turns += 1) await setImmediate()
    expect(calls).toBe(1)
  })
})

describe('where no other token is to be had', () => {
  beforeEach(() => {
    emulator.revokeAccessTokens(account)
  })

  it('tells that the owner has to sign in again', async () => {
    emulator.expireRefreshTokens(account)
    const answer = await call('/api/1/vehicles')
    expect(answer.status).toBe(401)
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    expect(answer.headers.get('www-authenticate')).toBe('OwnerSso realm="owner API"')
    expect(await answer.json()).toMatchObject({
      status: 401,
      code: 'ERR_SSO_REAUTHENTICATION_REQUIRED',
      reason: 'refresh_token_rejected',
    })
  })

  it('tells when the firewall lets the next refresh through', async () => {
    emulator.always('refresh', { firewall: true })
    const answer = await call('/api/1/vehicles')
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({ code: 'ERR_SSO_FIREWALL_CHALLENGE' })
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(600)
  })

  it('tells when a refresh in doubt is settled', async () => {
    emulator.always('refresh', { drop: 'after-commit' })
    const answer = await call('/api/1/vehicles')
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({ code: 'ERR_SSO_REFRESH_IN_DOUBT' })
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  it('tells that nobody is signed in', async () => {
    await tokens.forget(account)
    const answer = await call('/api/1/vehicles')
    expect(answer.status).toBe(401)
    expect(await answer.json()).toMatchObject({ code: 'ERR_SSO_SIGNED_OUT' })
  })
})
