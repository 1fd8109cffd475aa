/** What a client sees of the broker: the service's own words, with the one sign-in behind them. */
import { once } from 'node:events'
import { mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, it, jest } from '@jest/globals'
import { createSso, createTokenManager, StoreError, type TokenStore } from '@owner-sso/core'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { generate } from 'selfsigned'
import { brokerClients, tokenBroker } from '../src/index.ts'
import { account, refreshAt, startHome, tokensIn } from './broker-home.ts'

async function* nobody(): AsyncGenerator<string> {}

/** A store that can be taken away. */
function breakable(): { readonly store: TokenStore; isDown: boolean } {
  const inner = memoryTokenStore()
  const state = {
    isDown: false,
    store: {
      read: async (name: string) => (check(), inner.read(name)),
      swap: async (...call: Parameters<TokenStore['swap']>) => (check(), inner.swap(...call)),
      accounts: () => inner.accounts?.() ?? nobody(),
    },
  }
  const check = (): void => {
    if (state.isDown) throw new StoreError('unavailable', 'The store is down.')
  }
  return state
}

describe('the token endpoint', () => {
  it('answers a refresh with the real access token, its true time and the client’s own refresh token', async () => {
    await using home = await startHome()
    const secret = await home.invite('thermostat')
    const answer = await home.refresh(secret)
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store'])
    const tokens = await tokensIn(answer)
    const real = await home.tokens.getTokens(account)
    expect(tokens).toMatchObject({ access_token: real.access_token, refresh_token: secret, token_type: 'Bearer' })
    expect(Math.abs(tokens.expires_in - (real.expires_at - Date.now() / 1000))).toBeLessThan(30)
    expect(home.emulator.counters.tokenRefreshes).toBe(0)
    // What the service sends on a refresh comes along.
    await home.tokens.refresh(account)
    const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: secret })
    const fresh = await tokensIn(await home.refresh(secret, { headers: {}, body: form }))
    expect(fresh.id_token).toEqual((await home.tokens.getTokens(account)).id_token)
    expect(fresh.id_token).toBeDefined()
    expect(fresh.access_token).not.toBe(tokens.access_token)
    expect(home.emulator.counters.tokenRefreshes).toBe(1)
    expect(home.audit).toMatchObject([
      { event: 'token', by: 'refresh', client: 'thermostat', account, address: '127.0.0.1' },
      { event: 'token', by: 'refresh', client: 'thermostat', account },
    ])
    for (const hidden of [secret, tokens.access_token]) expect(JSON.stringify(home.audit)).not.toContain(hidden)
  })

  it('says invalid_grant to what is unknown, revoked, expired or invited for something else, and nothing more', async () => {
    await using home = await startHome()
    const revoked = await home.invite('revoked')
    const [over, caller] = [
      await home.invite('over', { expiresAt: Date.now() / 1000 + 1 }),
      await home.invite('caller', { scope: ['proxy'] }),
    ]
    expect((await home.refresh(revoked)).status).toBe(200)
    expect(await home.clients.revoke('revoked')).toBe(true)
    expect(await home.clients.revoke('revoked')).toBe(false)
    while ((await home.refresh(over)).status === 200) await new Promise((resolve) => setTimeout(resolve, 100))
    for (const secret of [revoked, over, caller, 'owner-sso-unknown', `${revoked}x`]) {
      const answer = await home.refresh(secret)
      expect([answer.status, await answer.json()]).toMatchObject([400, { error: 'invalid_grant' }])
    }
    expect(home.audit.at(-1)).toMatchObject({ event: 'refused', code: 'invalid_grant' })
    // Which of two accounts is meant is the client's mistake, not its token's.
    const several = await home.invite('several', { accounts: [account, 'mfa@example.com'] })
    const refused = await home.refresh(several)
    expect([refused.status, await refused.json()]).toMatchObject([400, { error: 'invalid_request' }])
    const foreignAccount = await home.refresh(several, {
      headers: { 'x-owner-account': 'other@example.com', 'content-type': 'application/json' },
    })
    expect([foreignAccount.status, await foreignAccount.json()]).toMatchObject([400, { error: 'invalid_grant' }])
    const { access_token } = await home.tokens.getTokens(account)
    for (const foreign of [access_token, (await home.emulator.issueTokens(account)).refresh_token]) {
      expect((await home.refresh(foreign)).status).toBe(400)
    }
  })

  it.each([
    ['a missing grant_type', { refresh_token: 'x' }, 'invalid_request'],
    ['another grant', { grant_type: 'password', refresh_token: 'x' }, 'unsupported_grant_type'],
    ['another client', { grant_type: 'refresh_token', client_id: 'other', refresh_token: 'x' }, 'invalid_client'],
    ['another scope', { grant_type: 'refresh_token', refresh_token: 'x', scope: 'openid admin' }, 'invalid_scope'],
    ['no refresh token', { grant_type: 'refresh_token' }, 'invalid_request'],
    ['a refresh token that is no text', { grant_type: 'refresh_token', refresh_token: { $gt: '' } }, 'invalid_request'],
  ])('refuses %s in the words of RFC 6749', async (_what, fields, error) => {
    await using home = await startHome()
    const answer = await home.refresh('', { body: JSON.stringify(fields) })
    expect([answer.status, await answer.json()]).toMatchObject([400, { error }])
  })

  it('ignores null, numbers and objects in fields that nobody knows', async () => {
    await using home = await startHome()
    const refresh_token = await home.invite('thermostat')
    for (const client_secret of [null, 5, { a: 1 }, ['a']]) {
      const body = JSON.stringify({ grant_type: 'refresh_token', refresh_token, client_secret })
      expect((await home.refresh('', { body })).status).toBe(200)
    }
  })

  it('answers at /oauth/token as well, where older clients refresh', async () => {
    await using home = await startHome()
    const secret = await home.invite('thermostat')
    const body = JSON.stringify({ grant_type: 'refresh_token', client_id: 'ownerapi', refresh_token: secret })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${home.url}/oauth/token`, { method: 'POST', headers, body })
    expect([answer.status, await answer.json()]).toMatchObject([200, { refresh_token: secret, token_type: 'Bearer' }])
  })

  it('says what the service says where the owner has to sign in again, alerts, and works again after it', async () => {
    await using home = await startHome()
    const secret = await home.invite('thermostat')
    home.emulator.expireRefreshTokens(account)
    await home.tokens.refresh(account).catch(() => undefined)
    await home.tokens.invalidate(account, await home.tokens.getAccessToken(account))
    const answer = await home.refresh(secret)
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { error: 'login_required', error_description: 'The refresh_token is expired.' },
    ])
    expect((await home.token(secret)).status).toBe(401)
    expect(home.told.at(-1)).toBe(`needed ${account} refresh_token_rejected`)
    const sso = createSso({ authUrl: home.emulator.authUrl })
    await home.tokens.save(account, await sso.login({ identity: account, credential: 'correct horse' }))
    expect((await home.refresh(secret)).status).toBe(200)
    expect(home.told.at(-1)).toBe(`works ${account}`)
  })

  it('serves the current token while the store is down, and says 503 where it has none', async () => {
    const broken = breakable()
    await using home = await startHome({ store: broken.store })
    const [secret, other] = [
      await home.invite('thermostat'),
      await home.invite('other', { accounts: ['other@example.com'] }),
    ]
    expect((await home.refresh(secret)).status).toBe(200)
    broken.isDown = true
    expect((await home.refresh(secret)).status).toBe(200)
    const answer = await home.refresh(other)
    expect([answer.status, await answer.json()]).toMatchObject([503, { error: 'temporarily_unavailable' }])
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await home.token(other)).headers.get('retry-after')).toBeTruthy()
  })

  it('honours a sign-out of another process at once', async () => {
    const store = memoryTokenStore()
    await using home = await startHome({ store })
    const secret = await home.invite('thermostat')
    expect((await home.refresh(secret)).status).toBe(200)
    const elsewhere = createTokenManager({ sso: createSso({ authUrl: home.emulator.authUrl }), store })
    await elsewhere.forget(account)
    expect((await home.refresh(secret)).status).toBe(400)
    expect(home.told.at(-1)).toBe(`needed ${account} signed-out`)
  })

  it('rotates without harm: a lost answer is asked for again, and the former one ends once the new one is used', async () => {
    await using home = await startHome({ rotation: 'rotate', rotationGrace: 0 })
    const first = await home.invite('thermostat')
    const next = async (secret: string): Promise<string> => (await tokensIn(await home.refresh(secret))).refresh_token
    const lost = await next(first)
    const second = await next(first)
    expect(new Set([first, lost, second]).size).toBe(3)
    const third = await next(second)
    for (const over of [first, lost]) expect((await home.refresh(over)).status).toBe(400)
    expect((await home.refresh(second)).status).toBe(200)
    expect((await home.refresh(third)).status).toBe(200)
    await home.clients.revoke('thermostat')
    for (const secret of [second, third]) expect((await home.refresh(secret)).status).toBe(400)
  })
})

describe('GET /token', () => {
  it('is text for a shell, JSON for who asks for it, and nothing until it changes for who has it', async () => {
    await using home = await startHome()
    const key = await home.invite('script')
    const plain = await home.token(key)
    expect(plain.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(await plain.text()).toBe(await home.tokens.getAccessToken(account))
    const json = await home.token(key, '', { accept: 'application/json' })
    expect(await json.json()).toMatchObject({ account, token_type: 'Bearer', expires_in: expect.any(Number) })
    const etag = plain.headers.get('etag') ?? ''
    expect((await home.token(key, '', { 'if-none-match': `"other", ${etag}` })).status).toBe(304)
    await home.tokens.refresh(account)
    expect((await home.token(key, '', { 'if-none-match': etag })).status).toBe(200)
    expect(home.audit.map(({ event }) => event)).toEqual(['token', 'token', 'unchanged', 'token'])
    expect((await home.clients.list())[0]).toMatchObject({ name: 'script', calls: 0 })
    await home.clients.close()
    expect((await home.clients.list())[0]).toMatchObject({ calls: 4, last_address: '127.0.0.1' })
  })

  it('keeps a caller waiting until the token changes, no longer than it wants, and lets it go', async () => {
    await using home = await startHome({ limits: { waiting: 1 } })
    const key = await home.invite('script')
    const etag = encodeURIComponent((await home.token(key)).headers.get('etag') ?? '')
    expect((await home.token(key, `?after=${etag}&wait=1`)).status).toBe(304)
    for (const query of ['?wait=soon', `?after=${etag}&wait=soon`])
      expect((await home.token(key, query)).status).toBe(400)
    const waiting = home.token(key, `?after=${etag}&wait=30`)
    await until(async () => (await home.token(key, `?after=${etag}`)).status === 429)
    await home.tokens.refresh(account)
    const changed = await waiting
    expect(await changed.text()).toBe(await home.tokens.getAccessToken(account))
    expect((await home.token(key, `?after=${etag}`)).status).toBe(200)

    const now = encodeURIComponent(changed.headers.get('etag') ?? '')
    const gone = new AbortController()
    const left = fetch(`${home.url}/token?after=${now}`, {
      headers: { authorization: `Bearer ${key}` },
      signal: gone.signal,
    })
    await until(async () => (await home.token(key, `?after=${now}&wait=0`)).status === 429)
    gone.abort()
    await expect(left).rejects.toThrow('aborted')
    await until(async () => (await home.token(key, `?after=${now}&wait=0`)).status === 304)
  })

  it('lets a caller go that waits behind another call on its connection', async () => {
    await using home = await startHome({ limits: { waiting: 2 } })
    const key = await home.invite('script')
    const etag = encodeURIComponent((await home.token(key)).headers.get('etag') ?? '')
    const call = `GET /token?after=${etag}&wait=300 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`
    const socket = connect(Number(new URL(home.url).port), '127.0.0.1')
    socket.write(call.repeat(2))
    const atOnce = (): Promise<Response> => home.token(key, `?after=${etag}&wait=0`)
    await until(async () => (await atOnce()).status === 429)
    socket.destroy()
    await until(async () => (await atOnce()).status === 304)
    // Each has a place for a second, so both have one at the same time.
    const answers = [1, 2].map(async () => (await home.token(key, `?after=${etag}&wait=1`)).status)
    expect(await Promise.all(answers)).toEqual([304, 304])
  })

  it('needs no key on a Unix socket, whose permissions are the key', async () => {
    await using home = await startHome({ where: (folder) => ({ unix: join(folder, 'broker.sock') }) })
    const path = join(home.folder, 'broker.sock')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    const get = (headers: Record<string, string>): Promise<[number, string]> =>
      new Promise((resolve, reject) => {
        httpRequest({ socketPath: path, path: '/token', headers: { host: 'broker', ...headers } }, (answer) => {
          let body = ''
          answer.setEncoding('utf8').on('data', (chunk) => (body += chunk))
          answer.on('end', () => resolve([answer.statusCode ?? 0, body]))
        })
          .on('error', reject)
          .end()
      })
    expect(await get({})).toEqual([200, await home.tokens.getAccessToken(account)])
    expect((await get({ authorization: 'Bearer wrong' }))[0]).toBe(401)
    expect((await get({ 'x-owner-account': 'other@example.com' }))[0]).toBe(401)
    expect(home.server.server).toMatchObject({
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      keepAliveTimeout: 75_000,
      connectionsCheckingInterval: 5000,
      maxHeaderSize: 16_384,
      maxConnections: 10_000,
    })
    expect(home.audit[0]).toMatchObject({ client: 'unix socket', address: 'unix socket', account })
    await expect(home.broker.listen({ unix: path })).rejects.toThrow(/listens on/u)
    const other = join(home.folder, 'other.sock')
    for (const mode of [-1, 0o1000, 0.5]) {
      await expect(home.broker.listen({ unix: other, mode })).rejects.toThrow('mode must be permissions')
    }
    for (const mode of [0, 0o777]) {
      const open = await home.broker.listen({ unix: other, mode })
      expect((await stat(other)).mode & 0o777).toBe(mode)
      await open.close()
    }
    await writeFile(other, '')
    await expect(home.broker.listen({ unix: other })).rejects.toThrow('is no socket')
    const [missing, file] = [join(home.folder, 'missing'), other]
    for (const [folder, code] of [
      [missing, 'ENOENT'],
      [file, 'ENOTDIR'],
    ] as const) {
      const message = `Nothing can be made in the folder ${folder} (${code}).`
      await expect(home.broker.listen({ unix: join(folder, 'broker.sock') })).rejects.toThrow(message)
    }
    // Its own folder is all that it needs: a service may write to /run/owner-sso, not to /run.
    const inner = join(home.folder, 'inner')
    await mkdir(inner)
    await utimes(home.folder, 1, 1)
    const nested = await home.broker.listen({ unix: join(inner, 'broker.sock') })
    expect([(await stat(home.folder)).mtimeMs, await readdir(inner)]).toEqual([1000, ['broker.sock']])
    await nested.close()
    await home.server.close()
    await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

it('forwards calls of the owner API for those who were invited to that, without a token of theirs', async () => {
  await using home = await startHome({ withProxy: true })
  const [caller, reader] = [
    await home.invite('caller', { scope: ['proxy'] }),
    await home.invite('reader', { accounts: [account, 'other@example.com'] }),
  ]
  const call = (key: string): Promise<Response> =>
    fetch(`${home.url}/api/1/vehicles`, { headers: { authorization: `Bearer ${key}` } })
  const answer = await call(caller)
  expect([answer.status, await answer.json()]).toMatchObject([200, { count: 2 }])
  expect((await home.token(caller)).status).toBe(403)
  expect((await call(reader)).status).toBe(403)
  expect((await call('wrong')).status).toBe(401)
  expect((await home.token(reader)).status).toBe(400)
  expect((await home.token(reader, `?account=${account}`)).status).toBe(200)
  expect((await home.token(reader, '', { 'x-owner-account': 'third@example.com' })).status).toBe(403)
  expect(home.audit[0]).toMatchObject({ event: 'call', by: 'proxy', client: 'caller', account })
  // No proxy is in front: what a caller says of itself counts for nothing.
  await home.token(reader, `?account=${account}`, { 'x-forwarded-for': '192.0.2.9' })
  expect(home.audit.at(-1)).toMatchObject({ event: 'token', address: '127.0.0.1' })
  for (const method of ['CONNECT', 'GET']) {
    const socket = new PassThrough()
    home.broker.refuse({ method } as IncomingMessage, socket)
    expect(() => socket.emit('error', new Error('reset'))).not.toThrow()
  }
})

it('stands in a server of one’s own, and leaves the rest of it alone', async () => {
  await using home = await startHome()
  const secret = await home.invite('thermostat')
  const broker = tokenBroker({ tokens: home.tokens, clients: home.clients })
  const server = createServer((request, response) =>
    broker.handler(request, response, () => response.writeHead(200).end(`own ${request.url}`)),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const bound = server.address()
  const url = `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : 0}`
  try {
    expect((await refreshAt(url, secret)).status).toBe(200)
    expect(await (await fetch(`${url}/status`)).text()).toBe('own /status')
  } finally {
    await broker.close()
    server.closeAllConnections()
    server.close()
  }
  expect((await fetch(`${home.url}/status`)).status).toBe(404)
  expect(await (await fetch(`${home.url}/healthz`)).json()).toEqual({ alive: true })
})

it('listens beyond this machine with TLS alone, or with a proxy in front that has it', async () => {
  await using home = await startHome()
  await expect(home.broker.listen({ port: 0, host: '0.0.0.0' })).rejects.toThrow(/behindTlsProxy/u)
  const server = await home.broker.listen({ port: 0, host: '0.0.0.0', behindTlsProxy: true })
  const key = await home.invite('script')
  const headers = { authorization: `Bearer ${key}`, 'x-forwarded-for': 'forged, 192.0.2.7' }
  expect((await fetch(`${server.url.replace('0.0.0.0', '127.0.0.1')}/token`, { headers })).status).toBe(200)
  expect(home.audit.at(-1)?.address).toBe('192.0.2.7')
  await server.close()
})

it('listens beyond this machine with a certificate of its own', async () => {
  await using home = await startHome()
  const { cert, private: certKey } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keySize: 2048,
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }],
  })
  const server = await home.broker.listen({ port: 0, host: '0.0.0.0', tls: { cert, key: certKey } })
  const headers = { authorization: `Bearer ${await home.invite('script')}` }
  const url = new URL('/token', server.url.replace('0.0.0.0', 'localhost'))
  const [answer] = await once(httpsRequest(url, { ca: cert, headers }).end(), 'response')
  expect([url.protocol, answer.statusCode, await text(answer)]).toEqual([
    'https:',
    200,
    await home.tokens.getAccessToken(account),
  ])
  await server.close()
})

it.each([
  [{ rotation: 'never' }, /rotation/u],
  [{ hosts: ['broker.example:80'] }, /hosts/u],
  [{ limits: { callsPerMinute: 0 } }, /callsPerMinute/u],
  [{ audit: 'yes' }, /audit/u],
  [{ port: 1 }, /port/u],
  [{ clients: {} }, /clients/u],
  [{ tokens: {} }, /tokens/u],
])('says which option is wrong: %j', async (wrong, message) => {
  await using home = await startHome()
  const options = Object.assign({ tokens: home.tokens, clients: home.clients }, wrong)
  expect(() => Reflect.apply(tokenBroker, undefined, [options])).toThrow(message)
})

it('ends its servers with itself, and says that it can’t answer where nobody knows why', async () => {
  await using home = await startHome()
  const key = await home.invite('script')
  const getTokens = () => Promise.reject(new Error('a mistake of ours'))
  const warned = jest.spyOn(process, 'emitWarning').mockReturnValue(undefined)
  const broken = tokenBroker({ tokens: { ...home.tokens, getTokens }, clients: home.clients })
  const { server, url } = await broken.listen({ port: 0 })
  expect(server).toMatchObject({
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    keepAliveTimeout: 75_000,
    maxHeaderSize: 16_384,
    maxConnections: 10_000,
  })
  const answer = await refreshAt(url, key)
  expect([answer.status, await answer.json()]).toEqual([
    500,
    { error: 'temporarily_unavailable', error_description: 'The call could not be answered.' },
  ])
  expect(warned.mock.calls.map(([what]) => what)).toEqual(['the broker failed.'])
  warned.mockRestore()
  await broken.close()
  await expect(refreshAt(url, key)).rejects.toThrow('fetch failed')
})

describe('each answer and each line of the log', () => {
  /** An answer as it came, without what differs from one call to the next. */
  async function answerOf(url: string, method: string, headers: Record<string, string>, body: string): Promise<string> {
    const [answer] = await once(httpRequest(url, { method, headers, agent: false }).end(body), 'response')
    const content = await text(answer)
    const { date: _date, 'content-length': length, ...others } = answer.headers
    // Of a HEAD, the length is that of what it leaves out.
    const isRight = Number(length) === Buffer.byteLength(content) || method === 'HEAD'
    const lines = Object.entries({
      ...others,
      ...(length !== undefined && { 'content-length': isRight ? 'right' : length }),
    })
    return [answer.statusCode, ...lines.map((line) => line.join(': ')), content].join('\n')
  }

  function constant(said: string): string {
    return said
      .replaceAll(/[\w-]{40,}(?:\.[\w-]{20,}){0,2}/gu, 'A_TOKEN')
      .replaceAll(/(?<=W\/")[\w-]{22}(?=")/gu, 'A_TAG')
      .replaceAll(/(?<="expires_(?:in|at)":)\d+/gu, 'A_NUMBER')
      .replaceAll(/(?<="trace_id":|"request_id":|"requestId":)"[\w-]+"/gu, '"AN_ID"')
  }

  it('is what the last release sent and wrote: a change of it is one for its users', async () => {
    await using home = await startHome({ withProxy: true, hosts: ['broker.example'] })
    const reader = await home.invite('reader')
    const both = await home.invite('both', { scope: ['token', 'proxy'], accounts: [account, 'other@example.com'] })
    const caller = await home.invite('caller', { scope: ['proxy'] })
    const tag = (await home.token(reader)).headers.get('etag') ?? ''
    const json = { 'content-type': 'application/json' }
    const grant = (refresh_token: string, more: object = {}): string =>
      JSON.stringify({ grant_type: 'refresh_token', refresh_token, ...more })
    const by = (key: string, more: Record<string, string> = {}) => ({ authorization: `Bearer ${key}`, ...more })
    const calls: readonly (readonly [call: string, headers?: Record<string, string>, body?: string])[] = [
      ['GET /healthz'],
      ['HEAD /healthz?a'],
      ['POST /healthz'],
      ['GET /'],
      ['GET /', { host: 'evil.example' }],
      ['GET /', { host: 'Broker.Example:1' }],
      ['GET /token', { ...by(reader), origin: 'https://a.example' }],
      ['GET /token', { ...by(reader), 'sec-fetch-site': 'cross-site' }],
      ['GET /token', { ...by(reader), 'sec-fetch-site': 'none' }],
      ['GET /token', { ...by(reader), connection: 'upgrade', upgrade: 'websocket' }],
      ['GET /token'],
      ['GET /token', by('wrong')],
      ['GET /token', by(caller)],
      ['HEAD /token', by(reader)],
      ['GET /token', by(reader, { accept: 'application/json' })],
      ['GET /token', by(reader, { accept: 'image/png' })],
      ['GET /token', by(reader, { 'if-none-match': `"x", ${tag}` })],
      ['GET /token?after=x', by(reader, { 'if-none-match': tag })],
      [`GET /token?wait=0&after=${encodeURIComponent(tag)}`, by(reader)],
      [`GET /token?wait=x&after=${encodeURIComponent(tag)}`, by(reader)],
      ['GET /token', by(both)],
      [`GET /token?account=${account}`, by(both)],
      ['GET /token?account=other@example.com', by(both)],
      [`GET /token?account=${account}`, by(both, { 'x-owner-account': 'nobody@example.com' })],
      ['PUT /token', by(reader)],
      ['GET /oauth2/v3/token'],
      ['POST /oauth2/v3/token', json, grant(reader)],
      ['POST /oauth2/v3/token', json, grant(reader, { client_id: 'ownerapi', scope: ' openid  email offline_access' })],
      ['POST /oauth2/v3/token', json, grant(reader, { scope: 'openid all' })],
      ['POST /oauth2/v3/token', json, grant(reader, { client_id: 'other' })],
      ['POST /oauth2/v3/token', json, grant('wrong')],
      ['POST /oauth2/v3/token', json, grant('')],
      ['POST /oauth2/v3/token', json, grant(caller)],
      ['POST /oauth2/v3/token', json, grant(both)],
      ['POST /oauth2/v3/token', { ...json, 'x-owner-account': 'nobody@example.com' }, grant(both)],
      ['POST /oauth2/v3/token', { ...json, 'x-owner-account': 'other@example.com' }, grant(both)],
      ['POST /oauth2/v3/token', json, grant(reader, { grant_type: 'password' })],
      ['POST /oauth2/v3/token', json, '{}'],
      ['POST /oauth2/v3/token', json, '['],
      ['POST /oauth2/v3/token', { 'content-encoding': 'gzip', ...json }, grant(reader)],
      ['POST /oauth2/v3/token', json, 'x'.repeat(16_385)],
      ['GET /api/1/vehicles', by(caller)],
      ['GET /api/1/vehicles', by(reader)],
      ['GET /api/1/vehicles', by('wrong')],
      ['GET /api/1/vehicles', by(both)],
      ['GET /api/1/vehicles', by(both, { 'x-owner-account': 'other@example.com' })],
    ]
    const answers: string[] = []
    for (const [call, headers = {}, body = ''] of calls) {
      const [method = '', path = ''] = call.split(' ')
      const answer = await answerOf(home.url + path, method, headers, body)
      answers.push([call.replace(/W%2F%22.*/u, 'A_TAG'), answer].join('\n'))
    }
    expect(constant(answers.join('\n\n'))).toMatchSnapshot('answers')
    const now = Math.floor(Date.now() / 1000)
    for (const { at } of home.audit) expect([now, at <= now && at > now - 600]).toEqual([now, true])
    expect(home.audit.map(({ at: _at, ...entry }) => entry)).toMatchSnapshot('log')
    expect(home.told).toMatchSnapshot('alerts')
  }, 60_000)

  it('is what the last release sent where the clients can’t be read, or too many call', async () => {
    await using home = await startHome({ limits: { callsPerMinute: 2, wrongKeysPerMinute: 1 } })
    const key = await home.invite('reader')
    const headers = (value: string) => ({ authorization: `Bearer ${value}` })
    const answers: string[] = []
    const get = async (value: string): Promise<void> => {
      answers.push(await answerOf(`${home.url}/token`, 'GET', headers(value), ''))
    }
    for (const each of [key, key, key, 'wrong', 'wrong']) await get(each)
    const json = { 'content-type': 'application/json' }
    const grant = JSON.stringify({ grant_type: 'refresh_token', refresh_token: key })
    answers.push(await answerOf(`${home.url}/oauth2/v3/token`, 'POST', json, grant))
    await writeFile(join(home.folder, 'broken.json'), '[]', { mode: 0o600 })
    const problems: unknown[] = []
    const clients = brokerClients({ file: join(home.folder, 'broken.json') })
    const broken = tokenBroker({ tokens: home.tokens, clients, onProblem: (problem) => problems.push(problem) })
    const server = await broken.listen({ port: 0 })
    answers.push(await answerOf(`${server.url}/token`, 'GET', headers(key), ''))
    answers.push(await answerOf(`${server.url}/oauth2/v3/token`, 'POST', json, grant))
    await server.close()
    expect(constant(answers.join('\n\n')).replaceAll(/(?<=retry-after: )\d{2}$/gmu, 'A_MINUTE')).toMatchSnapshot(
      'answers',
    )
    expect(problems).toEqual([
      expect.objectContaining({ reason: 'malformed' }),
      expect.objectContaining({ reason: 'malformed' }),
    ])
    expect(home.audit.map(({ at: _at, ...entry }) => entry)).toMatchSnapshot('log')
  }, 60_000)
})

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20))
}
