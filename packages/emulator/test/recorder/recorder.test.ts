import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { once } from 'node:events'
import { createServer, get, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRecorder, type Recorder, type RecorderOptions } from '../../src/index.ts'
import { useEmulator } from '../../src/jest.ts'
import { Client, codeOf, demoCredential, json, locationOf } from '../client.ts'

const emulator = useEmulator({ tls: true, mfaAt: 'form-submission' })
let folder: string
let file: string
const open: { close(): Promise<unknown> }[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recorder-'))
  file = join(folder, 'login.json')
})
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
  await rm(folder, { recursive: true })
})

async function record(options: Partial<RecorderOptions> = {}): Promise<Recorder> {
  const { authUrl: upstream, regionalAuthUrl: regionalUpstream, ca } = emulator
  const recorder = await startRecorder({
    upstream,
    regionalUpstream,
    ...(ca && { upstreamCa: ca }),
    fixture: file,
    ...options,
  })
  open.push(recorder)
  return recorder
}

/** A service of our own, that may do anything. */
async function serve(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push({
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  })
  const address = server.address() as AddressInfo
  return `http://127.0.0.1:${address.port}`
}

const pointedAt = (recorder: Recorder, base = recorder.authUrl): Client =>
  new Client({ authUrl: recorder.authUrl }, { base, userAgent: 'my-program/2.1' })

describe('a recorder', () => {
  it('passes each request on once, as it came, over TLS 1.2', async () => {
    const recorder = await record()
    const client = pointedAt(recorder)
    const tokens = await client.login('plain@example.com')
    await client.refresh(tokens['refresh_token'])
    expect(tokens['access_token']).toMatch(/^ey/u)
    expect(emulator.requests.map(({ method, path, status }) => `${method} ${path} ${status}`)).toEqual([
      'GET /oauth2/v3/authorize 200',
      'POST /oauth2/v3/authorize 302',
      'POST /oauth2/v3/token 200',
      'POST /oauth2/v3/token 200',
    ])
    expect(new Set(emulator.requests.map(({ tlsVersion }) => tlsVersion))).toEqual(new Set(['TLSv1.2']))
    expect(new Set(emulator.requests.map(({ headers }) => headers['user-agent']))).toEqual(new Set(['my-program/2.1']))
    expect(emulator.requests[0]?.query['redirect_uri']).toBe(`${emulator.authUrl}/void/callback`)
    expect(emulator.requests[0]?.host).toBe(new URL(emulator.authUrl).host)
  })

  it('speaks the TLS that its option transport names, with the program’s own User-Agent', async () => {
    emulator.change({ firewall: false })
    await pointedAt(await record({ transport: 'modern' })).login('plain@example.com')
    expect(new Set(emulator.requests.map(({ tlsVersion }) => tlsVersion))).toEqual(new Set(['TLSv1.3']))
    expect(new Set(emulator.requests.map(({ headers }) => headers['user-agent']))).toEqual(new Set(['my-program/2.1']))
  })

  it.each(['quic', null, {}])('rejects the transport %j', async (transport) => {
    const wrong: object = { transport }
    await expect(record(wrong)).rejects.toThrow(/Option transport/u)
  })

  it('puts its own addresses in the place of the service’s, the other region’s too', async () => {
    const recorder = await record()
    const home = pointedAt(recorder)
    const { page } = await home.open({ login_hint: 'regional@example.com' })
    expect(page.status).toBe(303)
    expect(locationOf(page).origin).toBe(recorder.regionalAuthUrl)
    const far = pointedAt(recorder, recorder.regionalAuthUrl)
    const { page: farPage, hidden } = await far.open({ redirect_uri: home.redirectUri })
    expect(farPage.text).not.toContain(new URL(emulator.authUrl).port)
    const query = far.query({ redirect_uri: home.redirectUri })
    const answer = await far.post({ ...hidden, identity: 'regional@example.com', credential: demoCredential }, query)
    expect(locationOf(answer).href).toMatch(`${home.redirectUri}?code=`)
    expect(locationOf(answer).searchParams.get('issuer')).toBe(`${recorder.regionalAuthUrl}/oauth2/v3`)
    const tokens = json(await far.exchange(codeOf(answer), { redirect_uri: home.redirectUri }))
    expect(tokens['token_type']).toBe('Bearer')
    expect(recorder.fixture.exchanges.map(({ request }) => request.instance)).toEqual([
      'home',
      'regional',
      'regional',
      'regional',
    ])
  })

  it('leaves a redirect URI of the client’s own alone', async () => {
    const redirectUri = 'https://app.example/come-home'
    const upstream = await serve((_request, response) => {
      response.writeHead(302, { location: `${redirectUri}?code=c0de-1&issuer=${encodeURIComponent(upstream)}` }).end()
    })
    const recorder = await startRecorder({ upstream })
    open.push(recorder)
    const answer = await pointedAt(recorder).post({}, new URLSearchParams({ redirect_uri: redirectUri }))
    expect(locationOf(answer).href).toBe(`${redirectUri}?code=c0de-1&issuer=${encodeURIComponent(recorder.authUrl)}`)
    const [exchange] = recorder.fixture.exchanges
    expect(exchange?.request.query).toEqual({ redirect_uri: '{{origin.1}}/come-home' })
    expect(exchange?.answer).toMatchObject({
      headers: { location: '{{origin.1}}/come-home?code={{code.1:url}}&issuer={{home:url}}' },
    })
  })
})

describe('the file of a recording', () => {
  it('is whole after each exchange, for its owner alone, and holds no secret', async () => {
    const recorder = await record()
    const client = pointedAt(recorder)
    const account = emulator.account('mfa@example.com')
    const { identity } = account
    const { hidden, transaction_id, csrf } = await client.reachPasscode(identity)
    const passcode = account.passcode()
    await client.factors(transaction_id)
    await client.verify({ transaction_id, csrf }, account, { passcode })
    const code = codeOf(await client.post({ ...hidden, identity, credential: demoCredential }))
    const tokens = json(await client.exchange(code))
    const fresh = json(await client.refresh(tokens['refresh_token']))

    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readdir(folder)).toEqual(['login.json'])
    const text = await readFile(file, 'utf8')
    expect(JSON.parse(text)).toEqual(recorder.fixture)
    expect(recorder.fixture.exchanges).toHaveLength(7)
    const inputs = Object.values(hidden).filter((value) => value.length > 8 && value !== 'authenticate')
    const { access_token = '', refresh_token = '' } = tokens
    const own = [demoCredential, client.verifier, client.challenge, 'some state', new URL(emulator.authUrl).host]
    const issued = [code, access_token, refresh_token, fresh['access_token'] ?? '', fresh['refresh_token'] ?? '']
    const secrets = [...own, ...inputs, ...issued, ...client.cookies.values(), identity, passcode, csrf, transaction_id]
    expect(secrets.length).toBeGreaterThan(15)
    expect(secrets).not.toContain('')
    const written = secrets.flatMap((secret) => {
      const bytes = Buffer.from(secret)
      const encoded = [bytes.toString('base64').replaceAll('=', ''), bytes.toString('base64url'), bytes.toString('hex')]
      return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), ...encoded]
    })
    expect(written.filter((secret) => text.includes(secret))).toEqual([])
  })

  it('is not made before the first exchange, nor when the service can’t be reached', async () => {
    const gone = await serve(() => undefined)
    await open.pop()?.close()
    const said: string[] = []
    const recorder = await record({ upstream: gone, onExchange: (line) => said.push(line) })
    const answer = await pointedAt(recorder).send('/oauth2/v3/authorize')
    expect(answer.status).toBe(502)
    expect(answer.text).toMatch(/can't reach the service: ECONNREFUSED/u)
    expect(said).toEqual([expect.stringMatching(/ECONNREFUSED.*nothing was recorded/u)])
    expect(await readdir(folder)).toEqual([])
    expect(recorder.fixture.exchanges).toEqual([])
  })

  it('is written before the client gets the answer: where it can’t be written, the client gets none', async () => {
    const said: string[] = []
    const recorder = await record({ onExchange: (line) => said.push(line) })
    await mkdir(file)
    const answer = await pointedAt(recorder).send('/oauth2/v3/authorize')
    expect([answer.status, answer.text]).toEqual([500, 'The recorder failed; what it printed says why.\n'])
    expect(said.at(-1)).toMatch(/^not recorded: .*EISDIR/u)
  })

  it('is whole again once it can be written', async () => {
    const recorder = await record()
    await rm(folder, { recursive: true })
    expect((await pointedAt(recorder).open()).page.status).toBe(500)
    await mkdir(folder)
    expect((await pointedAt(recorder).open()).page.status).toBe(200)
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ exchanges: { length: 2 } })
  })

  it('never overwrites another file', async () => {
    await writeFile(file, 'mine')
    await expect(record()).rejects.toThrow(/login\.json exists already/u)
    expect(await readFile(file, 'utf8')).toBe('mine')
    await expect(record({ fixture: join(folder, 'none', 'x.json') })).rejects.toThrow(
      /not a folder that can be written/u,
    )
  })

  it('is not made when the service’s certificate is not trusted', async () => {
    const { authUrl: upstream } = emulator
    const recorder = await startRecorder({ upstream, fixture: file })
    open.push(recorder)
    const answer = await pointedAt(recorder).send('/oauth2/v3/authorize')
    expect([answer.status, answer.text]).toEqual([502, expect.stringMatching(/VERIFY|SIGNATURE|SELF_SIGNED/u)])
    expect(await readdir(folder)).toEqual([])
  })

  it('tells of a connection that the service cut, and of an answer that never came', async () => {
    const upstream = await serve((request, response) => {
      if (request.url === '/cut') response.destroy()
      if (request.url === '/late') response.writeHead(200, { 'content-length': '100' }).write('the first')
      if (request.url === '/late') setImmediate(() => response.destroy())
    })
    const recorder = await startRecorder({ upstream })
    open.push(recorder)
    await expect(fetch(`${recorder.authUrl}/cut`)).rejects.toThrow('fetch failed')
    await expect(fetch(`${recorder.authUrl}/late`)).rejects.toThrow('fetch failed')
    await expect(fetch(`${recorder.authUrl}/never`, { signal: AbortSignal.timeout(200) })).rejects.toThrow(/timeout/u)
    while (recorder.fixture.exchanges.length < 3) await new Promise(setImmediate)
    expect(recorder.fixture.exchanges.map(({ answer }) => answer)).toEqual(['cut', 'cut', 'none'])
  })
})

describe('what a recorder rejects', () => {
  it.each([
    [{ upstream: 'http://auth.example.com' }, /Option upstream must be an https address/u],
    [{ upstream: 'auth.example.com' }, /Option upstream/u],
    [{ upstream: 'https://u:p@auth.example.com' }, /Option upstream/u],
    [{ upstream: 'https://a.example', regionalUpstream: 'https://a.example/' }, /Option regionalUpstream/u],
  ])('%j', async (options, message) => {
    await expect(startRecorder(options)).rejects.toThrow(message)
  })

  it('a host name that is not its own, and a region that it was not told of', async () => {
    const recorder = await startRecorder({ upstream: 'https://auth.example.com' })
    open.push(recorder)
    expect((await fetch(`${recorder.regionalAuthUrl}/`)).status).toBe(421)
    const [answer] = await once(get(recorder.authUrl, { headers: { host: 'elsewhere.example' } }), 'response')
    answer.resume()
    expect(answer.statusCode).toBe(421)
  })
})
