import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { ownerApiProxy, type OwnerApiProxy } from '../../src/index.ts'
import { rawRequest, sendRaw } from '../raw-http.ts'
import { homes, type Listening, listen, type OwnerApi, startOwnerApi } from '../servers.ts'
import { account, token, tokensOf } from '../tokens.ts'

const rejected = [400, 404]

describe.each(homes)('the attack list, on %s', (_home, mount, start) => {
  let ownerApi: OwnerApi
  let elsewhere: Listening
  let strayRequests = 0
  let proxy: OwnerApiProxy
  let home: Listening

  beforeAll(async () => {
    ownerApi = await startOwnerApi()
    elsewhere = await listen((_request, response) => {
      strayRequests += 1
      response.end()
    })
    proxy = ownerApiProxy({ target: ownerApi.url, tokens: await tokensOf(), account, authorize: true })
    home = await start(proxy)
    home.server.on('connect', proxy.reject)
  })
  afterAll(async () => {
    await home.close()
    await proxy.close()
    await ownerApi.close()
    await elsewhere.close()
  })
  beforeEach(() => {
    ownerApi.seen.length = 0
    strayRequests = 0
  })

  const send = (method: string, target: string, lines?: readonly string[], body?: string) =>
    sendRaw(home.port, rawRequest(method, target, lines, body))

  it('forwards an allowed path with its query, and nothing else decides where it goes', async () => {
    const answer = await send('GET', `${mount}/api/1/vehicles/1001/d%C3%A9tails%20x?a=1&b=%2F../..`)
    expect(answer.status).toBe(200)
    expect(ownerApi.seen.map(({ url }) => url)).toEqual(['/api/1/vehicles/1001/d%C3%A9tails%20x?a=1&b=%2F../..'])
    expect(ownerApi.seen[0]!.headers.host).toBe(new URL(ownerApi.url).host)
  })

  describe('L1: paths that one server reads otherwise than another', () => {
    it.each([
      '/api/1/../2/secret',
      '/api/1/vehicles/../../../2',
      '/api/1/%2e%2e/2/secret',
      '/api/1/.%2e/2',
      '/api/1/%2E./2',
      '/api/1/..%2f2',
      '/api/1/..%5c2',
      '/api/1/..\\2',
      '/api/1\\..\\2',
      '/api/1/..;/2',
      '/api/1/..;x=y/2',
      '/api/1;/vehicles',
      '/api/1/vehicles;jsessionid=1',
      '/api/1/%3b/2',
      '/api/1/%252e%252e/2',
      '/api/1/%25%32%65%25%32%65/2',
      '/api/1/%c0%ae%c0%ae/2',
      '/api/1/%c0%af../2',
      '/api/1/%uff0e%uff0e/2',
      '/api/1/%ef%bc%8e%ef%bc%8e/2',
      '/api/1/%ef%bc%8f..%ef%bc%8f2',
      '/api/1/%e2%80%a5/2',
      '/api/1/./vehicles',
      '/api/1/.../vehicles',
      '/api/1//vehicles',
      '/api/1/vehicles//',
      '/api/1/%00',
      '/api/1/vehicles%00.json',
      '/api/1/%0d%0aHost:%20elsewhere',
      '/api/1/%7f',
      '/api/1/%23/2',
      '/api/1/%3f/2',
      '/api/1/%',
      '/api/1/%2',
      '/api/1/%zz',
      '/api/1/x#/../2',
      '/api/1/x?y#z',
      '/api/1/v\u00e9hicules',
      '/api/1',
      '/api/10/vehicles',
      '/api/2/vehicles',
      '/API/1/vehicles',
      '/%61pi/1/vehicles',
      '/api%2f1%2fvehicles',
      '/',
    ])('rejects %s', async (path) => {
      const answer = await send('GET', mount + path)
      expect(rejected).toContain(answer.status)
      expect(ownerApi.seen).toEqual([])
    })
  })

  describe('L2: other origins', () => {
    it.each([
      ['absolute-form', (port: number) => `http://127.0.0.1:${port}/api/1/vehicles`],
      ['absolute-form with the mount path', (port: number) => `http://127.0.0.1:${port}${mount}/api/1/vehicles`],
      ['a path of two slashes', (port: number) => `//127.0.0.1:${port}/api/1/vehicles`],
      ['two slashes behind the mount path', (port: number) => `${mount}//127.0.0.1:${port}/api/1/vehicles`],
      ['a backslash', (port: number) => `${mount}/\\127.0.0.1:${port}/api/1/vehicles`],
      ['user information', (port: number) => `${mount}/@127.0.0.1:${port}/api/1/vehicles`],
      ['no slash at the start', (port: number) => `@127.0.0.1:${port}/api/1/vehicles`],
      ['asterisk-form', () => '*'],
    ])('rejects %s', async (_name, target) => {
      const answer = await send('GET', target(elsewhere.port))
      expect(rejected).toContain(answer.status)
      expect(ownerApi.seen).toEqual([])
      expect(strayRequests).toBe(0)
    })

    it.each(['elsewhere.example', '127.0.0.1:1', 'a@b', '', 'a b', '[::1', 'x'.repeat(300)])(
      'calls the owner API alone, under its own name, whatever Host says (%s)',
      async (host) => {
        await sendRaw(home.port, `GET ${mount}/api/1/vehicles HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
        for (const { headers } of ownerApi.seen) expect(headers.host).toBe(new URL(ownerApi.url).host)
        expect(strayRequests).toBe(0)
      },
    )
  })

  it.each([
    ['with the scheme and the host in front', 'http://app.example.com', ['Host: app.example.com'], 'HTTP/1.1'],
    ['with its own port in front', 'HTTP://APP.example.com:80', ['Host: app.example.com'], 'HTTP/1.1'],
    ['of HTTP/1.0 without a Host', '', [], 'HTTP/1.0'],
    ['to a host with a dot at its end', '', ['Host: app.example.com.', 'Origin: https://app.example.com'], 'HTTP/1.1'],
    ['from a host with a dot', '', ['Host: app.example.com', 'Origin: https://app.example.com.'], 'HTTP/1.1'],
  ])('L2: forwards a request %s', async (_what, front, lines, version) => {
    const head = [`GET ${front}${mount}/api/1/vehicles?x=/ ${version}`, ...lines, 'Connection: close', '', '']
    expect((await sendRaw(home.port, head.join('\r\n'))).status).toBe(200)
    expect(ownerApi.seen.map(({ url }) => url)).toEqual(['/api/1/vehicles?x=/'])
  })

  it.each([
    ['two of Host', '', ['Host: app.example.com', 'Host: app.example.com']],
    ['another host in front than in Host', 'http://elsewhere.example', ['Host: app.example.com']],
    ['another port in front', 'http://app.example.com:81', ['Host: app.example.com']],
    ['another scheme in front', 'ftp://app.example.com', ['Host: app.example.com']],
    ['a user in front', 'http://app.example.com@elsewhere.example', ['Host: elsewhere.example']],
  ])('L2: rejects a request with %s', async (_what, front, lines) => {
    const head = [`GET ${front}${mount}/api/1/vehicles HTTP/1.1`, ...lines, 'Connection: close', '', '']
    expect(rejected).toContain((await sendRaw(home.port, head.join('\r\n'))).status)
    expect(ownerApi.seen).toEqual([])
  })

  it('L3: sends none of the caller’s credentials, addresses, hop-by-hop headers, nor what Connection names', async () => {
    const answer = await sendRaw(
      home.port,
      [
        `GET ${mount}/api/1/vehicles HTTP/1.1`,
        'Host: app.example.com',
        'Authorization: Bearer CALLER-CANARY',
        'Cookie: session=CALLER-CANARY',
        'Cookie2: CALLER-CANARY',
        'Proxy-Authorization: Basic CALLER-CANARY',
        'Proxy-Connection: CALLER-CANARY',
        'X-Forwarded-For: CALLER-CANARY',
        'X-Forwarded-Host: CALLER-CANARY',
        'X-Forwarded-Proto: CALLER-CANARY',
        'X-Real-IP: CALLER-CANARY',
        'X-Original-URL: /CALLER-CANARY',
        'X-HTTP-Method-Override: DELETE',
        'Forwarded: for=CALLER-CANARY',
        'Via: CALLER-CANARY',
        'TE: trailers',
        'Trailer: CALLER-CANARY',
        'Keep-Alive: timeout=CALLER-CANARY',
        'User-Agent: Mozilla/5.0 CALLER-CANARY',
        'Referer: https://app.example.com/CALLER-CANARY',
        'X-Own: CALLER-CANARY',
        'Accept-Language: CALLER-CANARY',
        'Accept: application/json',
        'If-None-Match: "1"',
        'Connection: close, Accept-Language',
        '',
        '',
      ].join('\r\n'),
    )
    expect(answer.status).toBe(200)
    const [seen] = ownerApi.seen
    expect(JSON.stringify(seen)).not.toContain('CALLER-CANARY')
    expect(Object.keys(seen!.headers).toSorted()).toEqual([
      'accept',
      'authorization',
      'connection',
      'host',
      'if-none-match',
      'user-agent',
    ])
    expect(seen!.headers.authorization).toBe(`Bearer ${token}`)
    expect(seen!.headers['user-agent']).toMatch(/^owner-sso\//u)
  })

  it('L4: passes on no cookie, challenge, server name, foreign redirect, CORS or CSP header of the owner API', async () => {
    ownerApi.answer((_seen, response) => {
      response.writeHead(302, {
        'set-cookie': ['upstream=UPSTREAM-CANARY', 'b=UPSTREAM-CANARY'],
        'www-authenticate': 'Bearer UPSTREAM-CANARY',
        server: 'UPSTREAM-CANARY',
        location: `${elsewhere.url}/UPSTREAM-CANARY`,
        'access-control-allow-origin': 'https://UPSTREAM-CANARY.example',
        'access-control-allow-credentials': 'true',
        'content-security-policy': 'UPSTREAM-CANARY',
        'clear-site-data': '"UPSTREAM-CANARY"',
        'x-accel-redirect': '/UPSTREAM-CANARY',
        refresh: '0;url=https://UPSTREAM-CANARY.example',
        'x-own': 'UPSTREAM-CANARY',
        vary: 'accept, UPSTREAM-CANARY',
        connection: 'keep-alive, vary',
        etag: '"2"',
        'content-type': 'text/html',
      })
      response.end('<script>alert(1)</script>')
    })
    const answer = await send('GET', `${mount}/api/1/vehicles`)
    expect(answer.status).toBe(302)
    expect(answer.text).not.toContain('UPSTREAM-CANARY')
    expect(answer.head).toMatch(/^etag: "2"$/mu)
    expect(answer.head).toMatch(/^cache-control: private, no-cache$/mu)
    // A page of the owner API runs no script in the application's origin.
    expect(answer.head).toMatch(/^content-security-policy: sandbox; default-src 'none'$/mu)
    expect(answer.head).toMatch(/^x-content-type-options: nosniff$/mu)
  })

  it.each([
    ['an allowed path of another host', () => `${elsewhere.url}/api/1/vehicles`],
    ['another path', () => '/api/2/vehicles'],
    ['a path that would be rejected', () => '/api/1/a;b'],
    ['nowhere', () => 'http://['],
    ['another host without a scheme', () => '//elsewhere.example/api/1/vehicles'],
    ['another host behind backslashes', () => '/\\elsewhere.example/api/1/vehicles'],
  ])('L4: passes on no redirect to %s', async (_where, location) => {
    ownerApi.answer((_seen, response) => response.writeHead(302, { location: location() }).end())
    const answer = await send('GET', `${mount}/api/1/vehicles`)
    expect(answer.status).toBe(302)
    expect(answer.head).not.toMatch(/^location/imu)
  })

  it('L4: rewrites a redirect within the offered paths to its own mount point', async () => {
    for (const location of ['../vehicles/1?x=y', `//${new URL(ownerApi.url).host}/api/1/vehicles/1?x=y`]) {
      ownerApi.answer((_seen, response) => response.writeHead(307, { location }).end())
      const answer = await send('GET', `${mount}/api/1/moved/vehicle`)
      expect(answer.head).toContain(`location: ${mount}/api/1/vehicles/1?x=y`)
    }
  })

  it.each([
    ['a body', (bearer: string) => ({ headers: {}, body: `{"echo":"${bearer}"}` })],
    ['a body in two pieces', (bearer: string) => ({ headers: {}, body: `${'x'.repeat(60_000)}${bearer}` })],
    ['a header', (bearer: string) => ({ headers: { etag: bearer }, body: '' })],
    ['a redirect', (bearer: string) => ({ headers: { location: `/api/1/x?t=${bearer}` }, body: '' })],
  ])('L5: lets no answer through with the token in %s', async (_where, reply) => {
    ownerApi.answer((seen, response) => {
      const { headers, body } = reply(seen.headers.authorization ?? '')
      response.writeHead(200, headers)
      response.write(body.slice(0, body.length - 100))
      setImmediate(() => response.end(body.slice(body.length - 100)))
    })
    const answer = await send('GET', `${mount}/api/1/vehicles`)
    expect(ownerApi.seen).toHaveLength(1)
    expect(answer.text.includes(token)).toBe(false)
    // Where the token comes in two pieces, the first one may be gone: without the end of its signature it is worth nothing.
    expect(answer.text.includes(token.slice(-32))).toBe(false)
  })

  it('L5: says 502, and why, where nothing of the answer had been passed on', async () => {
    ownerApi.answer((seen, response) => response.writeHead(200).end(`{"echo":"${seen.headers.authorization}"}`))
    const answer = await send('GET', `${mount}/api/1/vehicles`)
    expect(answer.head).toMatch(/^HTTP\/1\.1 502 /u)
    expect(answer.text).toContain('ERR_OWNER_API_TOKEN_ECHOED')
  })

  describe('L6: a request whose end can be told in two ways', () => {
    const smuggled = `GET ${mount}/api/1/smuggled HTTP/1.1\r\nHost: x\r\n\r\n`
    it.each([
      [
        'Content-Length and Transfer-Encoding',
        ['Content-Length: 5', 'Transfer-Encoding: chunked'],
        `0\r\n\r\n${smuggled}`,
      ],
      ['two lengths', ['Content-Length: 0', 'Content-Length: 60'], smuggled],
      ['a list of lengths', ['Content-Length: 5, 5'], smuggled],
      ['a signed length', ['Content-Length: +5'], smuggled],
      ['a hexadecimal length', ['Content-Length: 0x5'], smuggled],
      ['a negative length', ['Content-Length: -1'], smuggled],
      ['an unknown coding', ['Transfer-Encoding: xchunked'], `0\r\n\r\n${smuggled}`],
      ['a coding behind chunked', ['Transfer-Encoding: chunked, identity'], `0\r\n\r\n${smuggled}`],
      ['two codings', ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], `0\r\n\r\n${smuggled}`],
      ['a space before the colon', ['Content-Length : 5'], smuggled],
      ['a folded header', ['X-Fold: a', ' Content-Length: 5'], smuggled],
      ['a folded coding', ['Transfer-Encoding:', ' chunked'], `0\r\n\r\n${smuggled}`],
      ['a NUL', ['X-Nul: a\0b'], ''],
      ['a bare CR', ['X-Cr: a\rTransfer-Encoding: chunked'], `0\r\n\r\n${smuggled}`],
      ['a bad chunk size', ['Transfer-Encoding: chunked'], `0x5\r\nhello\r\n0\r\n\r\n${smuggled}`],
      [
        'an overflowing chunk size',
        ['Transfer-Encoding: chunked'],
        `fffffffffffffffff\r\nhello\r\n0\r\n\r\n${smuggled}`,
      ],
    ])('rejects %s', async (_name, lines, body) => {
      const bytes = [`POST ${mount}/api/1/vehicles HTTP/1.1`, 'Host: app.example.com', ...lines, '', body].join('\r\n')
      const answer = await sendRaw(home.port, bytes)
      expect([400, 501]).toContain(answer.status)
      expect(ownerApi.seen.filter(({ url }) => url.includes('smuggled'))).toEqual([])
    })

    it('rejects a body of a GET', async () => {
      const answer = await send('GET', `${mount}/api/1/vehicles`, ['Content-Length: 5'], 'hello')
      expect(answer.status).toBe(400)
      expect(ownerApi.seen).toEqual([])
    })
  })

  describe('L7: pages of another site', () => {
    it.each([
      ['POST', ['Sec-Fetch-Site: cross-site', 'Origin: https://elsewhere.example']],
      ['POST', ['Sec-Fetch-Site: same-site', 'Origin: https://sub.app.example.com']],
      ['POST', ['Origin: https://elsewhere.example']],
      ['POST', ['Origin: null']],
      ['POST', ['Origin: https://app.example.com.elsewhere.example']],
      ['DELETE', ['Origin: https://app.example.com:8443']],
      ['PUT', ['Sec-Fetch-Site: cross-site']],
      ['GET', ['Sec-Fetch-Site: cross-site']],
      ['GET', ['Origin: https://elsewhere.example']],
      ['POST', ['Origin: capacitor://app.example.com']],
      ['POST', ['Origin: file://']],
    ])('rejects a %s with %j', async (method, lines) => {
      const answer = await send(method, `${mount}/api/1/vehicles/1/command/honk`, lines)
      expect(answer.status).toBe(403)
      expect(JSON.parse(answer.body)).toMatchObject({ code: 'ERR_OWNER_API_CROSS_SITE', status: 403 })
      expect(ownerApi.seen).toEqual([])
    })

    it.each([
      ['POST', ['Sec-Fetch-Site: same-origin', 'Origin: https://app.example.com']],
      ['POST', ['Origin: https://app.example.com']],
      ['POST', ['Origin: http://APP.example.com:80']],
      ['POST', []],
      ['GET', ['Sec-Fetch-Site: same-site']],
      ['GET', ['Sec-Fetch-Site: none']],
    ])('lets a %s with %j through', async (method, lines) => {
      ownerApi.answer((_seen, response) => response.end('{}'))
      expect((await send(method, `${mount}/api/1/vehicles`, lines)).status).toBe(200)
    })
  })

  describe('L8: methods and upgrades', () => {
    it.each(['TRACE', 'OPTIONS', 'PROPFIND', 'PURGE', 'LINK', 'M-SEARCH'])(
      'rejects %s and says what is offered',
      async (method) => {
        const answer = await send(method, `${mount}/api/1/vehicles`)
        expect(answer.status).toBe(405)
        expect(answer.head).toMatch(/^allow: GET, HEAD, POST, PUT, PATCH, DELETE$/mu)
        expect(ownerApi.seen).toEqual([])
      },
    )

    it('rejects CONNECT with an answer', async () => {
      const answer = await send('CONNECT', `127.0.0.1:${elsewhere.port}`)
      expect(answer.status).toBe(405)
      expect(JSON.parse(answer.body)).toMatchObject({ code: 'ERR_OWNER_API_METHOD_NOT_ALLOWED' })
      expect(strayRequests).toBe(0)
    })

    it.each([
      ['websocket', ['Upgrade: websocket', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13']],
      ['one of two', ['Upgrade: h2c, websocket']],
      ['nothing', ['Upgrade:']],
    ])('rejects an upgrade to %s with an answer', async (_protocol, lines) => {
      const head = [`GET ${mount}/api/1/stream HTTP/1.1`, 'Host: app.example.com', ...lines, 'Connection: upgrade']
      const answer = await sendRaw(home.port, [...head, '', ''].join('\r\n'))
      expect(answer.status).toBe(501)
      expect(JSON.parse(answer.body)).toMatchObject({ code: 'ERR_OWNER_API_UPGRADE_REJECTED' })
      expect(ownerApi.seen).toEqual([])
    })

    it('forwards the calls of a client that only offers HTTP/2, and nothing of the offer', async () => {
      const offer = ['Connection: Upgrade, HTTP2-Settings, close', 'Upgrade: h2c', 'HTTP2-Settings: AAEAAEAAAAIAAAAA']
      const head = [`POST ${mount}/api/1/vehicles HTTP/1.1`, 'Host: app.example.com', ...offer, 'Content-Length: 2']
      expect((await sendRaw(home.port, [...head, '', '{}'].join('\r\n'))).status).toBe(200)
      const [{ headers, body } = { headers: {}, body: '' }] = ownerApi.seen
      expect(body.toString()).toBe('{}')
      expect(headers).toMatchObject({ connection: 'keep-alive' })
      expect(Object.keys(headers)).not.toEqual(expect.arrayContaining([expect.stringMatching(/upgrade|http2/u)]))
    })
  })
})

it('rejects an upgrade and a CONNECT that a server hands out as events', async () => {
  const ownerApi = await startOwnerApi()
  const proxy = ownerApiProxy({ target: ownerApi.url, tokens: await tokensOf(), account, authorize: true })
  const home = await listen(proxy)
  home.server.on('upgrade', proxy.reject).on('connect', proxy.reject)
  const upgrade = await sendRaw(
    home.port,
    'GET /api/1/x HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
  )
  expect(upgrade.status).toBe(501)
  expect(upgrade.head).toContain('content-type: application/problem+json')
  expect((await sendRaw(home.port, 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n')).status).toBe(405)
  expect(ownerApi.seen).toEqual([])
  await home.close()
  await proxy.close()
  await ownerApi.close()
})
