import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals'
import { FirewallChallengeError, StoreError, UnreachableError } from '@owner-sso/core'
import express, { type RequestHandler } from 'express'
import passport from 'passport'
import session from 'express-session'
import { ownerApiBearer, ownerApiProxy, type OwnerApiProxyOptions, ssoErrorHandler } from '../../src/index.ts'
import { type Listening, listen } from '../servers.ts'
import { account, token, tokensOf } from '../tokens.ts'

const opened: { close(): Promise<void> }[] = []
const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
const warnings = (): string[] => warned.mock.calls.map(([message]) => String(message))

beforeEach(() => void warned.mockClear())
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})

async function serve(...handlers: (RequestHandler | express.ErrorRequestHandler)[]): Promise<Listening> {
  const home = await listen(express().use(...handlers))
  opened.push(home)
  return home
}

async function proxyTo(target: string, options: Partial<OwnerApiProxyOptions> = {}): Promise<RequestHandler> {
  const proxy = ownerApiProxy({ target, tokens: await tokensOf(), account, authorize: true, ...options })
  opened.push(proxy)
  return proxy
}

async function call({ url }: Listening, times = 3): Promise<number> {
  let status = 0
  for (let n = 0; n < times; n += 1) status = (await fetch(`${url}/api/1/vehicles`)).status
  return status
}

it('an owner API that fails without a listener is one warning for each cause, with its host, and with no secret', async () => {
  expect(await call(await serve(await proxyTo('http://127.0.0.1:1')))).toBe(502)
  expect(warnings()).toEqual([
    expect.stringMatching(/^ERR_OWNER_API_UNREACHABLE \(127\.0\.0\.1:1\): .* connect ECONNREFUSED 127\.0\.0\.1:1\./u),
  ])
  const hangingUp = createServer((socket) => socket.once('data', () => socket.destroy())).listen(0, '127.0.0.1')
  await once(hangingUp, 'listening')
  const { port } = hangingUp.address() as { port: number }
  expect(await call(await serve(await proxyTo(`http://127.0.0.1:${port}`)))).toBe(502)
  hangingUp.close()
  expect(warnings()).toHaveLength(2)
  expect(warnings()[1]).toContain(`(127.0.0.1:${port})`)
  expect(warned.mock.calls[0]![1]).toMatchObject({ type: 'OwnerSsoWarning', code: 'OWNER_SSO_PROBLEM' })
  expect(JSON.stringify(warned.mock.calls)).not.toContain(token)
})

it('the proxy, the bearer and the error handler warn once for one cause, whatever time the error names', async () => {
  const invalidate = async (): Promise<void> => undefined
  let seconds = 2_000_000_000
  const blocked = { invalidate, getAccessToken: () => Promise.reject(new FirewallChallengeError(seconds++)) }
  const far = {
    invalidate,
    getAccessToken: () => Promise.reject(new UnreachableError('no way to auth.example.com:443')),
  }
  const failing: RequestHandler = (_request, _response, next) =>
    next(new StoreError('unavailable', 'redis.example.com'))
  expect(await call(await serve(await proxyTo('http://127.0.0.1:1', { tokens: blocked })))).toBe(503)
  expect(await call(await serve(ownerApiBearer({ tokens: far, account })))).toBe(502)
  expect(await call(await serve(failing, ssoErrorHandler()))).toBe(503)
  expect(warnings()).toEqual([
    expect.stringMatching(/^ERR_SSO_FIREWALL_CHALLENGE: .*firewall/u),
    expect.stringMatching(/^ERR_SSO_UNREACHABLE: no way to auth\.example\.com:443/u),
    expect.stringMatching(/^ERR_SSO_STORE: .*redis\.example\.com/u),
  ])
})

it('nothing is warned of where there is a listener, or where only the caller can mend it', async () => {
  const onProblem = jest.fn()
  expect(await call(await serve(await proxyTo('http://127.0.0.1:2', { onProblem })))).toBe(502)
  expect(onProblem).toHaveBeenCalledTimes(3)
  expect(await call(await serve(await proxyTo('http://127.0.0.1:2', { account: () => undefined })))).toBe(401)
  expect(warnings()).toEqual([])
})

it('an error of the application’s own is told without its words', async () => {
  const authorize = (): never => {
    throw new Error('SECRET')
  }
  const proxy = await proxyTo('http://127.0.0.1:2', { authorize })
  const home = await listen((request, response) => proxy(request as never, response as never, undefined as never))
  opened.push(home)
  expect(await call(home)).toBe(500)
  expect(warnings()).toEqual([expect.stringMatching(/^ERR_OWNER_API_INTERNAL/u)])
  expect(JSON.stringify(warned.mock.calls)).not.toContain('SECRET')
})

it('a request without req.user is warned of once, with what to check, unless passport.session() runs', async () => {
  const byUser = { account: undefined as never }
  const sessions: RequestHandler[] = [
    session({ secret: 'x', resave: false, saveUninitialized: false }),
    passport.session() as RequestHandler,
  ]
  expect(await call(await serve(...sessions, await proxyTo('http://127.0.0.1:2', byUser)))).toBe(401)
  expect(warnings()).toEqual([])
  expect(await call(await serve(await proxyTo('http://127.0.0.1:2', byUser)))).toBe(401)
  expect(await call(await serve(ownerApiBearer({ tokens: await tokensOf() })))).toBe(401)
  const otherUser: RequestHandler = (request, _response, next) => {
    Object.assign(request, { user: { id: 1 } })
    next()
  }
  expect(await call(await serve(otherUser, ownerApiBearer({ tokens: await tokensOf() })))).toBe(401)
  expect(warnings()).toEqual([
    expect.stringContaining('Is passport.session(), or what else sets req.user, before it?'),
    expect.stringContaining('a req.user without an account'),
  ])
})

it('the last hundred causes are remembered, and not told again', async () => {
  let n = 0
  const failing: RequestHandler = (_request, _response, next) =>
    next(new StoreError('unavailable', `cause ${(n += 1)}`))
  await call(await serve(failing, ssoErrorHandler()), 150)
  expect(warnings().length).toBeLessThanOrEqual(100)
})
