import { once } from 'node:events'
import { beforeEach, expect, it } from '@jest/globals'
import type { TokenManager } from '@owner-sso/core'
import { useEmulator } from '@owner-sso/emulator/jest'
import { ownerFetch, type OwnerFetchOptions } from '../../src/index.ts'
import { listen, startOwnerApi } from '../servers.ts'
import { account, signedInTokens } from '../tokens.ts'
import { withinAMinute } from '../within-a-minute.ts'

const emulator = useEmulator({ firewall: false })
let tokens: TokenManager
let call: typeof fetch

beforeEach(async () => {
  tokens = await signedInTokens(emulator)
  call = ownerFetch({ tokens, account, target: emulator.ownerApiUrl })
})

const ownerApiRequests = () => emulator.requests.filter(({ path }) => path.startsWith('/api/1/'))

it('calls with the owner’s token, also with a relative address', async () => {
  for (const address of [
    '/api/1/vehicles',
    `${emulator.ownerApiUrl}/api/1/vehicles`,
    new URL('/api/1/vehicles', emulator.ownerApiUrl),
  ]) {
    expect((await call(address)).status).toBe(200)
  }
  const request = new Request(`${emulator.ownerApiUrl}/api/1/echo`, {
    method: 'POST',
    body: 'hello',
    headers: { 'x-a': 'b' },
  })
  expect(await (await call(request)).text()).toBe('hello')
  expect(ownerApiRequests().at(-1)?.headers['x-a']).toBe('b')
})

it.each(['/api/1/vehicles/..', '/api/1/vehicles/%2e%2E/', '/api/1/.%2e?x', '..', '/api\\..\\1', '/./api/1/vehicles'])(
  'rejects %s, which is the address of something else',
  async (address) => {
    await expect(call(address)).rejects.toThrow(
      new TypeError('the address has dot segments, which lead to another path'),
    )
    expect(emulator.requests.filter(({ path }) => path.startsWith('/api/'))).toEqual([])
  },
)

it('fails where account never settles', async () => {
  const waiting = ownerFetch({ tokens, account: () => new Promise(() => undefined), target: emulator.ownerApiUrl })
  const error = await withinAMinute(() => waiting('/api/1/vehicles').catch((thrown: unknown) => thrown))
  expect(error).toMatchObject({ code: 'ERR_OWNER_API_TIMEOUT', message: expect.stringContaining('account') })
  expect(ownerApiRequests()).toEqual([])
})

it('allows dots that are no path segment', async () => {
  for (const address of ['/api/1/vehicles?next=/../x', '/api/1/vehicles#/..']) {
    expect((await call(address)).status).toBe(200)
  }
  expect((await call('/api/1/vehicles/...')).status).toBe(404)
})

it('replaces an Authorization header of its caller’s', async () => {
  expect((await call('/api/1/vehicles', { headers: { authorization: 'Bearer other' } })).status).toBe(200)
})

it('refreshes once for many callers whose token was revoked', async () => {
  emulator.revokeAccessTokens(account)
  const answers = await Promise.all(Array.from({ length: 20 }, () => call('/api/1/vehicles')))
  expect(answers.every(({ status }) => status === 200)).toBe(true)
  expect(emulator.counters.tokenRefreshes).toBe(1)
})

it.each<[string, NonNullable<RequestInit['body']>]>([
  ['a text', 'hello'],
  ['bytes', new TextEncoder().encode('hello')],
  ['a form', new URLSearchParams({ a: '1' })],
  ['a blob', new Blob(['hello'])],
])('sends %s once more after a 401', async (_kind, body) => {
  emulator.revokeAccessTokens(account)
  const answer = await call('/api/1/echo', { method: 'POST', body })
  expect(answer.status).toBe(200)
  expect((await answer.text()).length).toBeGreaterThan(2)
  expect(ownerApiRequests().map(({ status }) => status)).toEqual([401, 200])
})

it.each([
  ['a stream', () => call('/api/1/echo', { method: 'POST', body: new Blob(['hello']).stream(), duplex: 'half' })],
  [
    'a Request with a body',
    () => call(new Request(`${emulator.ownerApiUrl}/api/1/echo`, { method: 'POST', body: 'hello' })),
  ],
])('does not send %s again, and the next call is right', async (_kind, send) => {
  emulator.revokeAccessTokens(account)
  expect((await send()).status).toBe(401)
  expect((await send()).status).toBe(200)
  expect(emulator.counters.tokenRefreshes).toBe(1)
})

it.each([
  [401, 2],
  [403, 1],
])(
  'resolves with the owner API’s %i after %i requests, where the token was accepted before',
  async (status, requests) => {
    await call('/api/1/vehicles')
    emulator.always('owner-api', { status, body: { error: 'no' } })
    const answer = await call('/api/1/vehicles')
    expect(answer.status).toBe(status)
    expect(await answer.json()).toEqual({ error: 'no' })
    expect(ownerApiRequests()).toHaveLength(1 + requests)
  },
)

it('calls once more after a 401 that broke off while the next token was fetched', async () => {
  let asked = 0
  const refusing = await listen((_request, response) => {
    asked += 1
    if (asked === 1) {
      response.writeHead(401).write('{')
      setImmediate(() => response.destroy())
    } else response.end()
  })
  expect((await ownerFetch({ tokens, account, target: refusing.url })('/api/1/vehicles')).status).toBe(200)
  expect(asked).toBe(2)
  await refusing.close()
})

it.each([
  [401, 200],
  [401, 'ERR_SSO_REFRESH_IN_DOUBT'],
])('lets go of the connection of a %i without an end, for %s', async (status, outcome) => {
  if (outcome === 'ERR_SSO_REFRESH_IN_DOUBT') emulator.once('refresh', { status: 503 })
  const gone: Promise<unknown>[] = []
  const refusing = await listen((_request, response) => {
    if (gone.length === 0) {
      gone.push(once(response, 'close'))
      response.writeHead(status).write('{')
    } else response.end()
  })
  const asked = ownerFetch({ tokens, account, target: refusing.url })('/api/1/vehicles')
  expect(
    await asked.then(
      (answer) => answer.status,
      ({ code }) => code,
    ),
  ).toBe(outcome)
  await Promise.all(gone)
  await refusing.close()
})

it.each(['the first token', 'the next token'])('a signal ends the wait for %s, and not its refresh', async (which) => {
  if (which === 'the first token') await tokens.invalidate(account, await tokens.getAccessToken(account))
  else emulator.revokeAccessTokens(account)
  const stopping = new AbortController()
  let goOn = (): void => {}
  const held = new Promise<void>((resolve) => (goOn = resolve))
  emulator.once('refresh', async (response) => {
    stopping.abort(new Error('too long'))
    await held
    return response
  })
  await expect(call('/api/1/vehicles', { signal: stopping.signal })).rejects.toThrow(new Error('too long'))
  goOn()
  expect((await call('/api/1/vehicles')).status).toBe(200)
  expect(emulator.counters.tokenRefreshes).toBe(1)
})

it('asks for no token where its signal has ended already', async () => {
  await tokens.invalidate(account, await tokens.getAccessToken(account))
  await expect(call('/api/1/vehicles', { signal: AbortSignal.abort() })).rejects.toThrow('aborted')
  const request = new Request(`${emulator.ownerApiUrl}/api/1/vehicles`, { signal: AbortSignal.abort() })
  await expect(call(request)).rejects.toThrow('aborted')
  await tokens.settled()
  expect(emulator.counters.refreshRequests).toBe(0)
})

it('sends the token to no other origin, neither by an address nor by a redirect', async () => {
  const elsewhere = await startOwnerApi()
  await expect(call(`${elsewhere.url}/api/1/vehicles`)).rejects.toThrow(TypeError)
  await expect(call(new Request(`${elsewhere.url}/api/1/vehicles`))).rejects.toThrow(TypeError)
  expect(elsewhere.seen).toEqual([])
  const redirecting = await listen((_request, response) => response.writeHead(302, { location: elsewhere.url }).end())
  const answer = await ownerFetch({ tokens, account, target: redirecting.url })('/api/1/vehicles')
  expect([answer.status, elsewhere.seen]).toEqual([302, []])
  await redirecting.close()
  await elsewhere.close()
})

it('sends the token over plain http to loopback alone, where no target is given', async () => {
  const free = ownerFetch({ tokens, account })
  await expect(free('http://owner-api.example.com/api/1/vehicles')).rejects.toThrow('https')
  await expect(free('/api/1/vehicles')).rejects.toThrow('target')
  expect((await free(`${emulator.ownerApiUrl}/api/1/vehicles`)).status).toBe(200)
})

it('calls through a fetch of one’s own', async () => {
  const addresses: string[] = []
  const own: typeof fetch = (input, init) => {
    addresses.push(input instanceof Request ? input.url : input.toString())
    return fetch(input, init)
  }
  const through = ownerFetch({ tokens, account, target: emulator.ownerApiUrl, fetch: own })
  expect((await through('/api/1/vehicles')).status).toBe(200)
  expect(addresses).toEqual([`${emulator.ownerApiUrl}/api/1/vehicles`])
})

it('rejects with ERR_SSO_SIGNED_OUT where nobody is signed in', async () => {
  const signedOut = ownerFetch({ tokens, account: () => undefined, target: emulator.ownerApiUrl })
  await expect(signedOut('/api/1/vehicles')).rejects.toMatchObject({ code: 'ERR_SSO_SIGNED_OUT' })
})

it.each<[string, object | undefined]>([
  ['ownerFetch takes an object with', undefined],
  ['tokens must be', { tokens: {} }],
  ['account must be', { account: '' }],
  ['target must be', { target: 'http://owner-api.example.com' }],
  ['fetch must be', { fetch: 'fetch' }],
])('rejects wrong options at once: %s', (message, wrong) => {
  const options = wrong && { tokens, account, ...wrong }
  expect(() => ownerFetch(options as OwnerFetchOptions)).toThrow(message)
})
