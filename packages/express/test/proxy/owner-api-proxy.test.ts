import { once } from 'node:events'
import { connect, createServer, type IncomingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { SignedOutError } from '@owner-sso/core'
import express, { type Request } from 'express'
import { ownerApiProxy, type OwnerApiProxy, type OwnerApiProxyOptions } from '../../src/index.ts'
import { rawRequest, sendRaw } from '../raw-http.ts'
import { type Listening, listen, type OwnerApi, startOwnerApi } from '../servers.ts'
import { account, token, tokensOf } from '../tokens.ts'

let ownerApi: OwnerApi
const opened: { close(): Promise<void> }[] = []

beforeEach(async () => {
  ownerApi = await startOwnerApi()
})
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
  await ownerApi.close()
})

async function proxyWith(options: Partial<OwnerApiProxyOptions> = {}): Promise<OwnerApiProxy> {
  const proxy = ownerApiProxy({ target: ownerApi.url, tokens: await tokensOf(), account, authorize: true, ...options })
  opened.push(proxy)
  return proxy
}

async function serve(listener: Parameters<typeof listen>[0]): Promise<Listening> {
  const home = await listen(listener)
  opened.unshift(home)
  return home
}

const problemOf = async (answer: Response): Promise<unknown> => {
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(answer.headers.get('cache-control')).toBe('no-store')
  return answer.json()
}

it('explains a 404 that comes of the mount path by the path that works, and no other 404 so', async () => {
  const home = await serve(express().use('/api', await proxyWith()))
  const detailOf = async (path: string): Promise<unknown> => {
    const answer = await fetch(home.url + path)
    expect([path, answer.status]).toEqual([path, 404])
    return Reflect.get(Object(await problemOf(answer)), 'detail')
  }
  expect(await detailOf('/api/1/vehicles')).toMatch(/\/api, at which .* Call \/api\/api\/1\/vehicles, or mount/u)
  expect(await detailOf('/api/2/vehicles')).toBe(
    'This path of the owner API is not available here. Paths here begin with /api/api/1/.',
  )
  expect((await fetch(`${home.url}/api/api/1/vehicles`)).status).toBe(200)
})

it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])(
  'forwards a %s with the token and streams the answer back',
  async (method) => {
    ownerApi.answer((_seen, response) => {
      response
        .writeHead(201, { 'content-type': 'text/plain', etag: '"1"', 'cache-control': 'max-age=60' })
        .end('created')
    })
    const home = await serve(await proxyWith())
    const body = method === 'GET' ? undefined : 'hello'
    const answer = await fetch(`${home.url}/api/1/vehicles?x=%20y`, { method, ...(body && { body }) })
    expect(answer.status).toBe(201)
    expect(await answer.text()).toBe('created')
    expect(answer.headers.get('etag')).toBe('"1"')
    expect(answer.headers.get('cache-control')).toBe('private, no-cache')
    const [seen] = ownerApi.seen
    expect(seen).toMatchObject({ method, url: '/api/1/vehicles?x=%20y' })
    expect(seen?.headers.authorization).toBe(`Bearer ${token}`)
    expect(seen?.body.toString()).toBe(body ?? '')
  },
)

it('answers a HEAD with the headers alone', async () => {
  ownerApi.answer((_seen, response) => response.writeHead(200, { 'content-length': '5' }).end())
  const home = await serve(await proxyWith())
  const answer = await sendRaw(home.port, rawRequest('HEAD', '/api/1/vehicles'))
  expect(answer.status).toBe(200)
  expect(answer.head).toContain('content-length: 5')
  expect(answer.body).toBe('')
})

it.each([
  [304, 'content-length: 5'],
  // Some clients fail at the length of nothing.
  [204, undefined],
])('passes on a %i that has a Content-Length and no body', async (status, length) => {
  ownerApi.answer((_seen, response) => {
    response.socket!.write(`HTTP/1.1 ${status} x\r\nETag: "one"\r\nContent-Length: 5\r\n\r\n`)
  })
  const problems: unknown[] = []
  const home = await serve(await proxyWith({ onProblem: (error) => problems.push(error) }))
  const twice = `GET /api/1/vehicles HTTP/1.1\r\nHost: x\r\n\r\n${rawRequest('GET', '/api/1/vehicles')}`
  const { head, text } = await sendRaw(home.port, twice)
  expect(text.match(/^HTTP\/1\.1 \d+/gmu)).toEqual([`HTTP/1.1 ${status}`, `HTTP/1.1 ${status}`])
  expect(head).toContain('etag: "one"')
  expect(/^content-length: .*$/mu.exec(head)?.[0]).toBe(length)
  expect(problems).toEqual([])
})

it('says so where the caller repeats the path of the target', async () => {
  const proxy = await proxyWith({ target: `${ownerApi.url}/api/1` })
  const home = await serve(express().use('/cars', proxy))
  const answer = await fetch(`${home.url}/cars/api/1/vehicles`)
  expect(answer.status).toBe(404)
  expect(await problemOf(answer)).toMatchObject({
    detail:
      'The proxy’s target ends in /api/1, which comes before each path. Call /cars/vehicles, or take /api/1 off the target.',
  })
  expect(ownerApi.seen).toEqual([])
})

it('puts the path of the target before the caller’s, and compares the caller’s alone with the allowed paths', async () => {
  const proxy = await proxyWith({ target: `${ownerApi.url}/api/1/`, paths: ['/api/1/vehicles'] })
  const home = await serve(express().use('/cars', proxy))
  expect((await fetch(`${home.url}/cars/vehicles/1?x`)).status).toBe(200)
  expect((await fetch(`${home.url}/cars/vehicles`)).status).toBe(200)
  expect((await fetch(`${home.url}/cars/vehiclesandmore`)).status).toBe(404)
  expect((await fetch(`${home.url}/cars/users`)).status).toBe(404)
  expect(ownerApi.seen.map(({ url }) => url)).toEqual(['/api/1/vehicles/1?x', '/api/1/vehicles'])
})

it('makes one connection for twenty calls in a row', async () => {
  const home = await serve(await proxyWith())
  for (let n = 0; n < 20; n += 1) await (await fetch(`${home.url}/api/1/vehicles`)).text()
  expect(ownerApi.seen).toHaveLength(20)
  expect(ownerApi.connections()).toBe(1)
})

it('forwards headers that an option adds, in both directions', async () => {
  ownerApi.answer((_seen, response) => response.setHeader('X-Page', '2').end())
  const home = await serve(await proxyWith({ requestHeaders: ['X-Tenant'], responseHeaders: ['x-page'] }))
  const answer = await fetch(`${home.url}/api/1/vehicles`, { headers: { 'x-tenant': 'a', 'x-other': 'b' } })
  expect(answer.headers.get('x-page')).toBe('2')
  expect(ownerApi.seen[0]?.headers).toMatchObject({ 'x-tenant': 'a' })
  expect(ownerApi.seen[0]?.headers).not.toHaveProperty('x-other')
})

it.each([
  'https://app.example.org',
  'capacitor://localhost',
  'ionic://localhost',
  'tauri://localhost',
  'http://tauri.localhost',
  'app://.',
  'app://obsidian.md',
  'chrome-extension://abcdefghijklmnop',
  'http://localhost:8100',
])('lets pages of a trusted origin call: %s', async (origin) => {
  const home = await serve(await proxyWith({ trustedOrigins: [origin] }))
  const headers = { origin, 'sec-fetch-site': 'cross-site' }
  expect((await fetch(`${home.url}/api/1/vehicles`, { method: 'POST', headers })).status).toBe(200)
})

it('runs on a server of node:http2, where no header says that a body follows', async () => {
  const proxy = await proxyWith()
  // Its requests and responses are shaped like those of node:http.
  const server = createServer((request, response) => proxy(request as never, response as never))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const session = connect(url)
  const statusOf = async (method: string, body: string, headers = {}): Promise<unknown> => {
    const call = session.request({ ':method': method, ':path': '/api/1/vehicles', ...headers }, { endStream: !body })
    if (body) call.end(body)
    const [answer] = (await once(call, 'response')) as [IncomingHttpHeaders]
    await buffer(call)
    return answer[':status']
  }
  expect(await statusOf('POST', '{"a":1}', { origin: url })).toBe(200)
  expect(await statusOf('POST', '{"a":2}', { 'content-length': '7' })).toBe(200)
  expect(await statusOf('GET', 'body')).toBe(400)
  expect(await statusOf('POST', '{}', { origin: 'https://evil.example' })).toBe(403)
  expect(await statusOf('DELETE', '')).toBe(200)
  expect(ownerApi.seen.map(({ method, body }) => `${method} ${body.toString()}`)).toEqual([
    'POST {"a":1}',
    'POST {"a":2}',
    'DELETE ',
  ])
  session.close()
  server.close()
  await once(server, 'close')
})

describe('who may call', () => {
  it('asks authorize first, and takes nothing but true for a yes', async () => {
    let accountsAsked = 0
    const accountOf = () => {
      accountsAsked += 1
      return account
    }
    const problems: unknown[] = []
    const onProblem = (error: unknown): unknown => problems.push(error)
    for (const answer of [false, Promise.resolve(false), undefined, 'yes', 1]) {
      const home = await serve(await proxyWith({ authorize: () => answer as boolean, account: accountOf, onProblem }))
      const rejection = await fetch(`${home.url}/api/1/vehicles`)
      expect(rejection.status).toBe(403)
      expect(await problemOf(rejection)).toMatchObject({
        code: 'ERR_OWNER_API_FORBIDDEN',
        status: 403,
        title: 'Forbidden',
      })
    }
    expect(ownerApi.seen).toEqual([])
    expect(accountsAsked).toBe(0)
    // Whoever returns these takes them for a yes.
    const told = (came: string) => new TypeError(`authorize must return true or false${came}`)
    expect(problems).toEqual([told('; text came'), told('; a number came')])
  })

  it('takes the account of the request’s user', async () => {
    const app = express()
    app.use((request, _response, next) => {
      if (request.query['in'] !== undefined) Object.assign(request, { user: { account } })
      next()
    })
    const proxy = ownerApiProxy({
      target: ownerApi.url,
      tokens: await tokensOf(),
      authorize: (request: Request) => request.query['blocked'] === undefined,
    })
    opened.push(proxy)
    const home = await serve(app.use(proxy))
    expect((await fetch(`${home.url}/api/1/vehicles?in`)).status).toBe(200)
    expect((await fetch(`${home.url}/api/1/vehicles?in&blocked`)).status).toBe(403)
    const answer = await fetch(`${home.url}/api/1/vehicles`)
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toBe('OwnerSso realm="owner API"')
    expect(await problemOf(answer)).toMatchObject({ code: 'ERR_SSO_SIGNED_OUT', status: 401 })
  })

  it.each([
    ['nobody', () => undefined],
    ['an empty name', () => ''],
    ['an account that never signed in', () => 'stranger@example.com'],
    ['an account that a promise tells', () => Promise.resolve('stranger@example.com')],
  ])('answers %s with 401', async (_who, accountOf) => {
    const home = await serve(await proxyWith({ account: accountOf }))
    expect((await fetch(`${home.url}/api/1/vehicles`)).status).toBe(401)
    expect(ownerApi.seen).toEqual([])
  })
})

describe('what authorize or account throw', () => {
  const boom = () => {
    throw new Error('SECRET of the application')
  }

  it('goes to the application’s error handler where there is one', async () => {
    const proxy = await proxyWith({ authorize: boom })
    const app = express().use(proxy)
    app.use(((error: Error, _request, response, _next) =>
      response.status(418).send(error.message)) satisfies express.ErrorRequestHandler)
    const home = await serve(app)
    const answer = await fetch(`${home.url}/api/1/vehicles`)
    expect([answer.status, await answer.text()]).toEqual([418, 'SECRET of the application'])
  })

  it('is a 500 that tells nothing where there is none', async () => {
    const home = await serve(await proxyWith({ account: boom }))
    const answer = await fetch(`${home.url}/api/1/vehicles`)
    expect(answer.status).toBe(500)
    const problem = await problemOf(answer)
    expect(problem).toMatchObject({ code: 'ERR_OWNER_API_INTERNAL' })
    expect(JSON.stringify(problem)).not.toContain('SECRET')
  })

  it('is answered by the table if it is an SsoError', async () => {
    const proxy = await proxyWith({ authorize: () => Promise.reject(new SignedOutError()) })
    const home = await serve(express().use(proxy))
    expect((await fetch(`${home.url}/api/1/vehicles`)).status).toBe(401)
  })
})

describe('behind a body parser', () => {
  const post = (home: Listening, type: string, body: string | Uint8Array, headers = {}) =>
    fetch(`${home.url}/api/1/echo`, { method: 'POST', body, headers: { 'content-type': type, ...headers } })

  it.each([
    ['express.json', express.json(), 'application/json; charset=utf-8', '{"a":[1,{"b":"ü"}]}', 'application/json'],
    [
      'express.json of fractions',
      express.json(),
      'application/json',
      '[0.30000000000000004,0.1,1e-7]',
      'application/json',
    ],
    ['express.json of a scalar', express.json({ strict: false }), 'application/json', '5', 'application/json'],
    ['express.text', express.text(), 'text/plain; charset=latin1', 'plain', 'text/plain; charset=utf-8'],
    [
      'express.text of JSON',
      express.text({ type: 'application/json' }),
      'application/json',
      '{"a":1e400}',
      'application/json; charset=utf-8',
    ],
    ['express.raw', express.raw(), 'application/octet-stream', 'raw', 'application/octet-stream'],
  ])('%s: the body is written anew', async (_name, parser, type, body, sentType) => {
    const home = await serve(express().use(parser, await proxyWith()))
    expect((await post(home, type, body)).status).toBe(200)
    expect(ownerApi.seen[0]?.body.toString()).toBe(body)
    expect(ownerApi.seen[0]?.headers['content-type']).toBe(sentType)
    expect(ownerApi.seen[0]?.headers['content-length']).toBe(String(Buffer.byteLength(body)))
  })

  it.each<[string, string | Uint8Array, express.RequestHandler?]>([
    ['application/json', '{"id":12345678901234567}'],
    ['application/json', '{"a":[{"b":1e400}]}'],
    ['application/json', '[-1e999]'],
    ['application/json', '{"a":[0.300000000000000041]}'],
    ['application/json', '{"a":123456789012345678.5}'],
    ['application/json', '{"a":-0}'],
    ['application/json', '[-0.0]'],
    ['application/json', '1e21', express.json({ strict: false })],
    ['application/json', '"text"', express.json({ strict: false })],
    ['application/json', Buffer.from('["\xe4"]', 'latin1')],
    ['text/plain', Buffer.from('\xe4', 'latin1'), express.text()],
    ['application/x-www-form-urlencoded', 'a=1', express.urlencoded({ extended: false })],
  ])('rejects a body (%s: %s) whose bytes can’t be told any more, and takes it before the parser', async (...row) => {
    const [type, body, parser = express.json()] = row
    const proxy = await proxyWith()
    const behind = await serve(express().use(parser, proxy))
    const answer = await post(behind, type, body)
    expect(answer.status).toBe(500)
    expect(await problemOf(answer)).toMatchObject({
      code: 'ERR_OWNER_API_BODY_CONSUMED',
      detail: expect.stringContaining('put the proxy before it'),
    })
    expect(ownerApi.seen).toEqual([])
    const before = await serve(express().use(proxy))
    expect((await post(before, type, body)).status).toBe(200)
    expect(ownerApi.seen[0]?.body).toEqual(Buffer.from(body))
  })

  it('writes a body anew whose values have only one text in JSON', async () => {
    const home = await serve(express().use(express.json(), await proxyWith()))
    const text = '{"__proto__":{"a":1},"n":[9007199254740991,0.1,1e-7,0],"s":"\\ud800"}'
    expect((await post(home, 'application/json', text)).status).toBe(200)
    expect(ownerApi.seen[0]?.body.toString()).toBe(text)
  })

  it('forwards a body as it came that the parser did not read', async () => {
    const home = await serve(express().use(express.json(), await proxyWith()))
    expect((await post(home, 'text/plain', 'not JSON')).status).toBe(200)
    expect(ownerApi.seen[0]?.body.toString()).toBe('not JSON')
  })

  it('says what is wrong where another handler has read the body', async () => {
    const swallow: express.RequestHandler = (request, _response, next) => {
      request.resume().once('end', () => next())
    }
    const home = await serve(express().use(swallow, await proxyWith()))
    const answer = await post(home, 'multipart/form-data; boundary=x', '--x--')
    expect(answer.status).toBe(500)
    expect(await problemOf(answer)).toMatchObject({ code: 'ERR_OWNER_API_BODY_CONSUMED' })
    expect(ownerApi.seen).toEqual([])
  })
})

describe('an owner API that fails', () => {
  it('is a 502 when it can’t be reached', async () => {
    const home = await serve(await proxyWith({ target: 'http://127.0.0.1:1' }))
    const answer = await fetch(`${home.url}/api/1/vehicles`)
    expect(answer.status).toBe(502)
    expect(await problemOf(answer)).toMatchObject({
      code: 'ERR_OWNER_API_UNREACHABLE',
      detail: 'The owner API can’t be reached, or its answer broke off.',
    })
  })

  it.each([
    ['hangs up', ''],
    ['speaks no HTTP', 'hello\r\n\r\n'],
    ['upgrades unasked', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
    ['says unasked to go on', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'],
    ['sends interim answers without end', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)],
    ['sends headers without end', `HTTP/1.1 200 OK\r\n${'X-Filler: x\r\n'.repeat(5000)}`],
    ['tells two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello'],
  ])('is a 502 when it %s', async (_how, bytes) => {
    ownerApi.answer((_seen, response) => response.socket?.end(bytes))
    const home = await serve(await proxyWith())
    const answer = await fetch(`${home.url}/api/1/vehicles`)
    expect(answer.status).toBe(502)
    expect(await problemOf(answer)).toMatchObject({ code: 'ERR_OWNER_API_UNREACHABLE' })
  })

  it('is a 502 when interim answers go on and on', async () => {
    ownerApi.answer((_seen, response) => response.socket?.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)))
    const home = await serve(await proxyWith())
    expect((await fetch(`${home.url}/api/1/vehicles`)).status).toBe(502)
  })

  it('forwards an answer behind a few interim ones', async () => {
    ownerApi.answer((_seen, response) => {
      response.writeEarlyHints({ link: '</x>; rel=preload' })
      response.end('{}')
    })
    const home = await serve(await proxyWith())
    expect(await (await fetch(`${home.url}/api/1/vehicles`)).text()).toBe('{}')
  })

  it('cuts the caller’s answer short where the owner API’s broke off: half is not taken for the whole', async () => {
    ownerApi.answer((_seen, response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('half')
      setImmediate(() => response.destroy())
    })
    const home = await serve(await proxyWith())
    await expect(fetch(`${home.url}/api/1/vehicles`).then((answer) => answer.text())).rejects.toThrow(
      /terminated|fetch failed/u,
    )
  })
})
