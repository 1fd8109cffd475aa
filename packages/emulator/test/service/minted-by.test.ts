import { once } from 'node:events'
import { connect, constants, type ClientHttp2Session } from 'node:http2'
import { Agent, request } from 'node:https'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from '@jest/globals'
import { startEmulator, type Emulator, type EmulatorOptions } from '../../src/index.ts'
import { type ClientResponse, Client, json } from '../client.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close()
})

async function start(options: EmulatorOptions = {}): Promise<Emulator> {
  const emulator = await startEmulator({ tls: true, http2: true, ...options })
  open.push(emulator)
  return emulator
}

interface Wire {
  readonly http: '1.1' | '2'
  readonly tls: 'TLSv1.2' | 'TLSv1.3'
}

/** The client of the other tests, on a wire of this test's choosing. */
class WireClient extends Client {
  readonly #ask: (method: string, url: URL, headers: Record<string, string>, body: string) => Promise<ClientResponse>

  constructor(emulator: Emulator, { http, tls }: Wire, base = emulator.authUrl) {
    super(emulator, { base, userAgent: 'wire/1' })
    const secure = { ca: emulator.ca, minVersion: tls, maxVersion: tls } as const
    if (http === '2') {
      const session = connect(base, secure)
      open.push({ close: () => session.destroy() })
      this.#ask = overHttp2(session)
    } else {
      const agent = new Agent({ ...secure, keepAlive: true })
      open.push({ close: () => agent.destroy() })
      this.#ask = overHttp1(agent)
    }
  }

  override async send(path: string, { method = 'GET', body, headers }: RequestInit = {}): Promise<ClientResponse> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const sent = { ...this.headers, ...(cookie && { cookie }), ...Object.fromEntries(new Headers(headers)) }
    const type = body instanceof URLSearchParams ? { 'content-type': 'application/x-www-form-urlencoded' } : {}
    const answer = await this.#ask(
      method,
      new URL(path, this.base),
      { ...type, ...sent },
      body === undefined || body === null ? '' : await new Response(body).text(),
    )
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]*)=([^;]*)/u.exec(line) ?? []
      this.cookies.set(name, value)
    }
    return answer
  }
}

const overHttp2 =
  (
    session: ClientHttp2Session,
  ): ((method: string, url: URL, headers: Record<string, string>, body: string) => Promise<ClientResponse>) =>
  async (method, url, headers, body) => {
    const stream = session.request(
      { ':method': method, ':path': url.pathname + url.search, ...headers },
      { endStream: body === '' },
    )
    if (body !== '') stream.end(body)
    const [{ ':status': status = 0, ...received }] = (await once(stream, 'response')) as [
      Record<string, string | string[]>,
    ]
    return { status: Number(status), headers: headersOf(received), text: await text(stream) }
  }

const overHttp1 =
  (
    agent: Agent,
  ): ((method: string, url: URL, headers: Record<string, string>, body: string) => Promise<ClientResponse>) =>
  (method, url, headers, body) =>
    new Promise((resolve, reject) => {
      request(url, { method, agent, headers }, (answer) => {
        void text(answer).then((content) =>
          resolve({ status: answer.statusCode ?? 0, headers: headersOf(answer.headers), text: content }),
        )
      })
        .on('error', reject)
        .end(body)
    })

function headersOf(received: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const pairs = Object.entries(received).flatMap(([name, value]) => [value ?? []].flat().map((each) => [name, each]))
  return new Headers(pairs)
}

async function login(emulator: Emulator, wire: Wire): Promise<Record<string, string>> {
  return new WireClient(emulator, wire).login('plain@example.com')
}

async function vehicles(
  emulator: Emulator,
  token: string,
  wire: Wire = { http: '1.1', tls: 'TLSv1.2' },
): Promise<number> {
  const client = new WireClient(emulator, wire, emulator.ownerApiUrl)
  return (await client.send('/api/1/vehicles', { headers: { authorization: `Bearer ${token}` } })).status
}

const modern: Wire = { http: '2', tls: 'TLSv1.3' }
const documented: Wire = { http: '1.1', tls: 'TLSv1.2' }

describe('an emulator with http2', () => {
  it.each<Wire>([
    { http: '2', tls: 'TLSv1.2' },
    { http: '2', tls: 'TLSv1.3' },
    { http: '1.1', tls: 'TLSv1.2' },
    { http: '1.1', tls: 'TLSv1.3' },
  ])('serves a whole login, a refresh and the owner API over %j', async (wire) => {
    const emulator = await start({ firewall: false })
    const client = new WireClient(emulator, wire)
    const tokens = await client.login('plain@example.com')
    const fresh = json(await client.refresh(tokens['refresh_token']))
    expect(await vehicles(emulator, String(fresh['access_token']), wire)).toBe(200)
    expect(emulator.requests.map(({ httpVersion, tlsVersion }) => ({ http: httpVersion, tls: tlsVersion }))).toEqual(
      Array(5).fill(wire),
    )
    expect(new Set(emulator.requests.slice(0, 4).map(({ connection }) => connection)).size).toBe(1)
  })

  it('does not offer it without the option', async () => {
    const emulator = await start({ http2: false })
    const session = connect(emulator.authUrl, { ca: emulator.ca })
    const [error] = (await once(session, 'error')) as [NodeJS.ErrnoException]
    expect(error).toMatchObject({ code: expect.any(String) })
  })

  it('tells the firewall the TLS version, and finds the instance by :authority or Host', async () => {
    const emulator = await start()
    await new WireClient(emulator, { http: '2', tls: 'TLSv1.2' }).open()
    expect(emulator.requests.at(-1)?.tlsVersion).toBe('TLSv1.2')
    const session = connect(emulator.authUrl, { ca: emulator.ca, maxVersion: 'TLSv1.2' })
    open.push({ close: () => session.destroy() })
    const { host } = new URL(emulator.regionalAuthUrl)
    await text(session.request({ ':path': '/oauth2/v3/authorize', host }))
    expect(emulator.requests.at(-1)?.host).toBe(host)
  })

  it('ends a request that its client gives up, and the connection goes on', async () => {
    const emulator = await start({ firewall: false })
    emulator.once('login-page', { hold: new Promise(() => undefined) })
    const session = connect(emulator.authUrl, { ca: emulator.ca })
    open.push({ close: () => session.destroy() })
    const stream = session.request({ ':path': '/oauth2/v3/authorize' }).on('error', () => undefined)
    while (emulator.requests.length === 0) await new Promise(setImmediate)
    stream.close(constants.NGHTTP2_CANCEL)
    while (emulator.requests[0]?.status === undefined) await new Promise(setImmediate)
    expect(emulator.requests[0]?.status).toBe(0)
    expect(await text(session.request({ ':path': '/nowhere' }))).toContain('There is no such page here.')
  })

  it.each(['before-commit', 'mid-body', 'after-commit'] as const)(
    'breaks off an answer over HTTP/2 (%s)',
    async (drop) => {
      const emulator = await start({ firewall: false })
      emulator.once('login-page', { drop })
      const session = connect(emulator.authUrl, { ca: emulator.ca })
      open.push({ close: () => session.destroy() })
      session.on('error', () => undefined)
      session
        .request({ ':path': '/oauth2/v3/authorize' })
        .on('error', () => undefined)
        .resume()
      await once(session, 'close')
      expect(session.destroyed).toBe(true)
    },
  )
})

describe('mintedBy', () => {
  it.each<[string, NonNullable<EmulatorOptions['mintedBy']>, Wire, number]>([
    ['the TLS version', { tls: 'TLSv1.3' }, { http: '1.1', tls: 'TLSv1.3' }, 200],
    ['another TLS version', { tls: 'TLSv1.3' }, documented, 403],
    ['the lower TLS version', { tls: 'TLSv1.2' }, documented, 200],
    ['the HTTP version', { http: '2' }, { http: '2', tls: 'TLSv1.2' }, 200],
    ['another HTTP version', { http: '2' }, documented, 403],
    ['both', { tls: 'TLSv1.3', http: '2' }, modern, 200],
    ['one of both alone', { tls: 'TLSv1.3', http: '2' }, { http: '1.1', tls: 'TLSv1.3' }, 403],
  ])('%s: a token is judged by what it was minted over, not by what brings it', async (_, mintedBy, wire, status) => {
    const emulator = await start({ mintedBy })
    const tokens = await login(emulator, wire)
    expect(await vehicles(emulator, tokens['access_token'] ?? '')).toBe(status)
    expect(emulator.counters).toMatchObject(
      status === 200 ? { ownerApiCalls: 1, ownerApiRefusals: 0 } : { ownerApiCalls: 0, ownerApiRefusals: 1 },
    )
  })

  it('a refresh counts with its own connection', async () => {
    const emulator = await start({ mintedBy: { http: '2' } })
    const tokens = await login(emulator, documented)
    const client = new WireClient(emulator, { http: '2', tls: 'TLSv1.2' })
    const fresh = json(await client.refresh(tokens['refresh_token']))
    const headers = { authorization: `Bearer ${tokens['access_token']}` }
    const refused = await new WireClient(emulator, documented, emulator.ownerApiUrl).send('/api/1/vehicles', {
      headers,
    })
    const error = 'forbidden, see https://developer.example.com/docs/fleet-api'
    expect([refused.status, json(refused)]).toEqual([403, { response: null, error, error_description: '' }])
    expect(await vehicles(emulator, String(fresh['access_token']))).toBe(200)
  })

  it('is shown: what each token was minted over, and why one was refused', async () => {
    const emulator = await start({ mintedBy: { tls: 'TLSv1.3' } })
    const tokens = await login(emulator, { http: '2', tls: 'TLSv1.2' })
    await vehicles(emulator, tokens['access_token'] ?? '')
    const client = new WireClient(emulator, documented)
    const exchanges = json(await client.send('/_emulator/exchanges')) as { exchanges?: { decision?: string }[] }
    expect(JSON.stringify(exchanges)).toContain('minted over TLSv1.2, HTTP/2')
  })
})
