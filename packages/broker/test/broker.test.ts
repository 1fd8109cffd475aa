/** What a client sees of the broker: the service's own words, with the one sign-in behind them. */
import { once } from 'node:events'
import { mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, it, jest } from '@jest/globals'
import { createSso, createTokenManager, notebook, StoreError, type TokenSet, type TokenStore } from '@owner-sso/core'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { generate } from 'selfsigned'
import { brokerClients, tokenBroker } from '../src/index.ts'
import { account, type Home, refreshAt, startHome, tokensIn } from './broker-home.ts'
import { useTimersByHand } from './only-timers.ts'
import { until } from './until.ts'

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

  it('and GET /token give the token that works, with its true time, where the owner API refuses refreshed ones', async () => {
    await using home = await startHome({ withProxy: true })
    const key = await home.invite('thermostat', { scope: ['token', 'proxy'] })
    const works = await home.tokens.getTokens(account)
    home.emulator.applyScenario('refreshed-tokens-refused')
    home.emulator.change({ accessTokenLifetime: 7200 })
    await home.tokens.refresh(account)
    expect((await tokensIn(await home.refresh(key))).access_token).not.toBe(works.access_token)
    const call = await fetch(`${home.url}/api/1/vehicles`, { headers: { authorization: `Bearer ${key}` } })
    expect(call.status).toBe(200)
    const { access_token } = works
    const json = await home.token(key, '', { accept: 'application/json' })
    for (const given of [await tokensIn(await home.refresh(key)), await tokensIn(json)]) {
      expect(given.access_token).toBe(access_token)
      expect(Math.abs(given.expires_in - (works.expires_at - Date.now() / 1000))).toBeLessThan(30)
    }
    expect(await (await home.token(key)).text()).toBe(access_token)
    expect(home.emulator.counters.refreshRequests).toBe(1)
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
    expect(home.audit.at(-1)).toMatchObject({ event: 'rejected', code: 'invalid_grant' })
    // Which of two accounts is meant is the client's mistake, not its token's.
    const several = await home.invite('several', { accounts: [account, 'mfa@example.com'] })
    const rejected = await home.refresh(several)
    expect([rejected.status, await rejected.json()]).toMatchObject([400, { error: 'invalid_request' }])
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
    ['no refresh token', { grant_type: 'refresh_token' }, 'invalid_request'],
    ['a refresh token that is no text', { grant_type: 'refresh_token', refresh_token: { $gt: '' } }, 'invalid_request'],
  ])('rejects %s in the words of RFC 6749', async (_what, fields, error) => {
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
    await home.tokens.save(account, await login(home))
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
    expect(Number((await home.token(other)).headers.get('retry-after'))).toBeGreaterThan(0)
  })

  it('serves the current token while the store does not answer', async () => {
    const store = memoryTokenStore()
    let hangs = false
    const slow: TokenStore = { ...store, read: (name) => (hangs ? new Promise(() => undefined) : store.read(name)) }
    const clients = brokerClients({ store })
    await using home = await startHome({ store: slow, clients })
    const secret = await home.invite('thermostat')
    expect((await home.refresh(secret)).status).toBe(200)
    hangs = true
    expect((await home.refresh(secret)).status).toBe(200)
  })

  it('alerts while the last access token of an account lives on that has to sign in again', async () => {
    await using home = await startHome()
    const secret = await home.invite('thermostat')
    home.emulator.expireRefreshTokens(account)
    await home.tokens.refresh(account).catch(() => undefined)
    expect((await home.refresh(secret)).status).toBe(200)
    expect(home.told).toEqual([`needed ${account} refresh_token_rejected`])
  })

  it('leaves out an id token that has ended', async () => {
    await using home = await startHome()
    const secret = await home.invite('thermostat')
    const idTokenFor = async (exp: number): Promise<string | undefined> => {
      const claims = Buffer.from(JSON.stringify({ exp })).toString('base64url')
      await home.tokens.save(account, { ...JSON.parse(JSON.stringify(await login(home))), id_token: `e30.${claims}.x` })
      return (await tokensIn(await home.refresh(secret))).id_token
    }
    const now = Math.floor(Date.now() / 1000)
    expect([await idTokenFor(now + 600), await idTokenFor(now - 1)]).toEqual([expect.any(String), undefined])
  })

  it('honours a sign-out of another process at once', async () => {
    const store = memoryTokenStore()
    await using home = await startHome({ store })
    const secret = await home.invite('thermostat')
    expect((await home.refresh(secret)).status).toBe(200)
    const elsewhere = createTokenManager({ issuer: createSso({ authUrl: home.emulator.authUrl }), store })
    await elsewhere.forget(account)
    expect((await home.refresh(secret)).status).toBe(400)
    expect(home.told.at(-1)).toBe(`needed ${account} signed-out`)
  })
})

describe('GET /token', () => {
  it('answers with text for a shell, with JSON where Accept asks for it, and with 304 to whoever has the current token', async () => {
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

  it('keeps a caller waiting until the token changes or its time is over, and lets go of one that hangs up', async () => {
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

  it('lets go of a caller that waits behind another call on its connection', async () => {
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

  it('keeps a caller waiting for a minute at the most, whatever it asks for', async () => {
    await using home = await startHome({ clients: brokerClients({ store: memoryTokenStore() }) })
    const key = await home.invite('script')
    const etag = encodeURIComponent((await home.token(key)).headers.get('etag') ?? '')
    useTimersByHand()
    try {
      const settled = jest.fn()
      const arrived = once(home.server.server, 'request')
      const waiting = home.token(key, `?after=${etag}&wait=300`).finally(settled)
      await arrived
      await turns()
      await jest.advanceTimersByTimeAsync(59_900)
      await turns()
      expect(settled).not.toHaveBeenCalled()
      await jest.advanceTimersByTimeAsync(100)
      expect((await waiting).status).toBe(304)
    } finally {
      jest.useRealTimers()
    }
  })

  it('gives calls at its end the time of a refresh and its save', async () => {
    await using home = await startHome({ clients: brokerClients({ store: memoryTokenStore() }) })
    const key = await home.invite('script')
    const etag = encodeURIComponent((await home.token(key)).headers.get('etag') ?? '')
    useTimersByHand()
    try {
      const arrived = once(home.server.server, 'request')
      const waiting = home.token(key, `?after=${etag}&wait=44`)
      await arrived
      await turns()
      const closed = home.server.close()
      await jest.advanceTimersByTimeAsync(44_000)
      expect((await waiting).status).toBe(304)
      await closed
    } finally {
      jest.useRealTimers()
    }
  })

  it('gives a caller that waits no token once its client was revoked, by whichever process', async () => {
    const store = memoryTokenStore()
    await using home = await startHome({ store, limits: { waiting: 1 } })
    const key = await home.invite('script')
    const etag = encodeURIComponent((await home.token(key)).headers.get('etag') ?? '')
    const waiting = home.token(key, `?after=${etag}&wait=30`)
    await until(async () => (await home.token(key, `?after=${etag}&wait=0`)).status === 429)
    await brokerClients({ store }).revoke('script')
    await home.tokens.refresh(account)
    const answer = await waiting
    expect([answer.status, await answer.json()]).toEqual([
      401,
      expect.objectContaining({ code: 'ERR_BROKER_UNKNOWN_KEY' }),
    ])
  })

  it('keeps 32 calls of one client waiting, and those of another one beside them', async () => {
    await using home = await startHome()
    const [greedy, modest] = [await home.invite('greedy'), await home.invite('modest')]
    const etag = encodeURIComponent((await home.token(greedy)).headers.get('etag') ?? '')
    const wait = async (key: string): Promise<number> => (await home.token(key, `?after=${etag}&wait=30`)).status
    const calls = Array.from({ length: 33 }, () => wait(greedy))
    expect(await Promise.race(calls)).toBe(429)
    const other = wait(modest)
    await home.tokens.refresh(account)
    expect([await other, (await Promise.all(calls)).filter((status) => status === 200).length]).toEqual([200, 32])
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
    await home.tokens.save('other@example.com', await login(home))
    expect((await get({}))[0]).toBe(400)
    expect((await get({ 'x-owner-account': account }))[0]).toBe(200)
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
    const open = { unix: join(tmpdir(), `${basename(home.folder)}.sock`) }
    await expect(home.broker.listen(open)).rejects.toThrow(`Every user can write to the folder ${tmpdir()}`)
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

it('forwards calls of the owner API for clients with that scope, and never shows them a token', async () => {
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
    home.broker.reject({ method } as IncomingMessage, socket)
    expect(() => socket.emit('error', new Error('reset'))).not.toThrow()
  }
})

it('runs inside an application’s own server, and leaves its other paths alone', async () => {
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
  [{ hosts: ['broker.example:80'] }, /hosts/u],
  [{ hosts: 'broker.example' }, /hosts/u],
  [{ limits: { callsPerMinute: 0 } }, /callsPerMinute/u],
  [{ limits: { wrongKeysPerMinute: 1.5 } }, /wrongKeysPerMinute/u],
  [{ limits: { waiting: '1' } }, /waiting/u],
  [{ onProblem: 1 }, /onProblem/u],
  [{ audit: 'yes' }, /audit/u],
  [{ port: 1 }, /port/u],
  [{ clients: {} }, /clients/u],
  [{ tokens: {} }, /tokens/u],
])('says which option is wrong: %j', async (wrong, message) => {
  await using home = await startHome()
  const options = Object.assign({ tokens: home.tokens, clients: home.clients }, wrong)
  expect(() => Reflect.apply(tokenBroker, undefined, [options])).toThrow(message)
})

it('closes its servers when it is closed, and answers an unknown error with 500', async () => {
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

describe('each call', () => {
  const byKey = (key: string, more: Record<string, string> = {}) => ({ authorization: `Bearer ${key}`, ...more })
  const json = { 'content-type': 'application/json' }
  const grant = (refresh_token: string, more: object = {}): string =>
    JSON.stringify({ grant_type: 'refresh_token', refresh_token, ...more })

  /** Its status, and what the answer calls it. */
  async function answerTo(call: string, headers: Record<string, string> = {}, body = ''): Promise<string> {
    const [method = '', url = ''] = call.split(' ')
    const [answer] = await once(httpRequest(url, { method, headers, agent: false }).end(Buffer.from(body)), 'response')
    const said = await text(answer)
    const { code, error } = said.startsWith('{') ? JSON.parse(said) : {}
    return [answer.statusCode, code ?? error].filter((part) => part !== undefined).join(' ')
  }

  it('is answered with one status and code, and noted with that code', async () => {
    await using home = await startHome({ withProxy: true, hosts: ['broker.example'] })
    const reader = await home.invite('reader')
    const both = await home.invite('both', { scope: ['token', 'proxy'], accounts: [account, 'jörg@example.com'] })
    const caller = await home.invite('caller', { scope: ['proxy'] })
    const tag = (await home.token(reader)).headers.get('etag') ?? ''
    const after = `after=${encodeURIComponent(tag)}`
    const joerg = { 'x-owner-account': Buffer.from('jörg@example.com').toString('latin1') }
    const refresh = 'POST /oauth2/v3/token'
    const calls: readonly (readonly [call: string, headers: Record<string, string>, answer: string, body?: string])[] =
      [
        ['GET /healthz', {}, '200'],
        ['HEAD /healthz?a', {}, '200'],
        ['POST /healthz', {}, '405 ERR_BROKER_METHOD_NOT_ALLOWED'],
        ['GET /', {}, '404 ERR_BROKER_NOT_FOUND'],
        ['GET /', { host: 'evil.example' }, '421 ERR_BROKER_HOST'],
        ['GET /', { host: 'Broker.Example:1' }, '404 ERR_BROKER_NOT_FOUND'],
        ['GET /token', byKey(reader, { origin: 'https://a.example' }), '403 ERR_BROKER_CROSS_SITE'],
        ['GET /token', byKey(reader, { 'sec-fetch-site': 'none' }), '200'],
        [
          'GET /token',
          byKey(reader, { connection: 'upgrade', upgrade: 'websocket' }),
          '501 ERR_BROKER_UPGRADE_REJECTED',
        ],
        ['GET /token', {}, '401 ERR_BROKER_UNKNOWN_KEY'],
        ['GET /token', byKey('wrong'), '401 ERR_BROKER_UNKNOWN_KEY'],
        ['GET /token', byKey(caller), '403 ERR_BROKER_SCOPE'],
        ['HEAD /token', byKey(reader), '200'],
        ['GET /token', byKey(reader, { accept: 'image/png' }), '200'],
        ['GET /token', byKey(reader, { 'if-none-match': `"x", ${tag}` }), '304'],
        ['GET /token?after=x', byKey(reader, { 'if-none-match': tag }), '200'],
        [`GET /token?wait=0&${after}`, byKey(reader), '304'],
        [`GET /token?wait=x&${after}`, byKey(reader), '400 ERR_BROKER_MALFORMED_REQUEST'],
        [`GET /token?wait=-1&${after}`, byKey(reader), '400 ERR_BROKER_MALFORMED_REQUEST'],
        ['GET /token', byKey(both), '400 ERR_BROKER_NO_ACCOUNT'],
        [`GET /token?account=${account}`, byKey(both), '200'],
        ['GET /token', byKey(both, joerg), '401 ERR_SSO_SIGNED_OUT'],
        [
          `GET /token?account=${account}`,
          byKey(both, { 'x-owner-account': 'a@b.c' }),
          '403 ERR_BROKER_ACCOUNT_NOT_ALLOWED',
        ],
        ['PUT /token', byKey(reader), '405 ERR_BROKER_METHOD_NOT_ALLOWED'],
        ['GET /oauth2/v3/token', {}, '405 ERR_BROKER_METHOD_NOT_ALLOWED'],
        [refresh, json, '200', grant(reader)],
        [refresh, json, '200', grant(reader, { client_id: 'ownerapi', scope: ' openid  email offline_access' })],
        [refresh, json, '200', grant(reader, { client_id: 'app', client_secret: 'x', audience: 'y', scope: 'all' })],
        [refresh, json, '400 unsupported_grant_type', grant(reader, { grant_type: 'password' })],
        [refresh, json, '400 invalid_grant', grant('wrong')],
        [refresh, json, '400 invalid_request', grant('')],
        [refresh, json, '400 invalid_grant', grant(caller)],
        [refresh, json, '400 invalid_request', grant(both)],
        [refresh, { ...json, 'x-owner-account': 'nobody@example.com' }, '400 invalid_grant', grant(both)],
        [refresh, { ...json, ...joerg }, '400 login_required', grant(both)],
        [refresh, json, '400 invalid_request', '{}'],
        [refresh, json, '400 invalid_request', '['],
        [refresh, { 'content-encoding': 'gzip', ...json }, '400 invalid_request', grant(reader)],
        [refresh, json, '413 invalid_request', 'x'.repeat(16_385)],
        ['GET /api/1/vehicles', byKey(caller), '200'],
        ['GET /api/1/vehicles', byKey(reader), '403 ERR_BROKER_SCOPE'],
        ['GET /api/1/vehicles', byKey('wrong'), '401 ERR_BROKER_UNKNOWN_KEY'],
        ['GET /api/1/vehicles', byKey(both), '400 ERR_BROKER_NO_ACCOUNT'],
        ['GET /api/1/vehicles', byKey(both, joerg), '401 ERR_SSO_SIGNED_OUT'],
      ]
    for (const [call, headers, expected, body] of calls) {
      const [method, path = ''] = call.split(' ')
      expect([call, body, await answerTo(`${method} ${home.url}${path}`, headers, body)]).toEqual([
        call,
        body,
        expected,
      ])
    }
    // What never came to a client's key is not noted.
    const rejected = home.audit.filter(({ event }) => event === 'rejected')
    expect(rejected.map(({ by, client = 'nobody', code }) => `${by} ${client} ${code}`)).toEqual([
      'get nobody ERR_BROKER_UNKNOWN_KEY',
      'get nobody ERR_BROKER_UNKNOWN_KEY',
      'get caller ERR_BROKER_SCOPE',
      'get reader ERR_BROKER_MALFORMED_REQUEST',
      'get reader ERR_BROKER_MALFORMED_REQUEST',
      'get both ERR_BROKER_NO_ACCOUNT',
      'get both ERR_SSO_SIGNED_OUT',
      'get both ERR_BROKER_ACCOUNT_NOT_ALLOWED',
      'refresh nobody unsupported_grant_type',
      'refresh nobody invalid_grant',
      'refresh nobody invalid_request',
      'refresh caller ERR_BROKER_SCOPE',
      'refresh both ERR_BROKER_NO_ACCOUNT',
      'refresh both ERR_BROKER_ACCOUNT_NOT_ALLOWED',
      'refresh both ERR_SSO_SIGNED_OUT',
      'refresh nobody invalid_request',
      'refresh nobody invalid_request',
      'refresh nobody invalid_request',
      'refresh nobody ERR_BROKER_BODY_TOO_LARGE',
      'proxy reader ERR_BROKER_SCOPE',
      'proxy nobody ERR_BROKER_UNKNOWN_KEY',
      'proxy both ERR_BROKER_NO_ACCOUNT',
    ])
    const log = JSON.stringify(home.audit)
    for (const secret of [reader, both, caller, await home.tokens.getAccessToken(account)])
      expect(log).not.toContain(secret)
    const now = Date.now() / 1000
    expect(home.audit.every(({ at }) => Number.isInteger(at) && at <= now && at > now - 600)).toBe(true)
  }, 60_000)

  it('is answered with 503 where the clients were never read, and the operator is told why', async () => {
    await using home = await startHome()
    const store = memoryTokenStore()
    await notebook(store, 'clients').change(() => ({ clients: 'none' }))
    const problems: unknown[] = []
    const clients = brokerClients({ store })
    const broken = tokenBroker({ tokens: home.tokens, clients, onProblem: (problem) => problems.push(problem) })
    const { url, close } = await broken.listen({ port: 0 })
    expect([
      await answerTo(`GET ${url}/token`, byKey('any')),
      await answerTo(`POST ${url}/oauth2/v3/token`, json, grant('any')),
    ]).toEqual(['503 ERR_BROKER_CLIENTS', '503 temporarily_unavailable'])
    await close()
    expect(problems).toMatchObject([{ reason: 'malformed' }, { reason: 'malformed' }])
  })

  it('is answered although the log fails, which is a warning', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockReturnValue(undefined)
    await using home = await startHome({
      audit: () => {
        throw new Error('full')
      },
    })
    expect((await home.token(await home.invite('reader'))).status).toBe(200)
    expect(warned.mock.calls.map(([what]) => what)).toEqual(['audit failed.'])
    warned.mockRestore()
  })
})

function login({ emulator }: Home): Promise<TokenSet> {
  return createSso({ authUrl: emulator.authUrl }).login({ identity: account, credential: 'correct horse' })
}

/** Lets what is on its way arrive. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
