import { describe, expect, it } from '@jest/globals'
import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { startEmulator, type Emulator } from '../../src/index.ts'
import { useEmulator } from '../../src/jest.ts'

const emulator = useEmulator()

interface Asked {
  readonly at?: Emulator
  readonly method?: string
  readonly path?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string
}

/** One request with any Host and Origin, which `fetch` would not let us choose. */
async function ask({ at = emulator, path = '/nowhere', headers, body, method }: Asked = {}) {
  const { port } = new URL(at.authUrl)
  const sent = request({ host: '127.0.0.1', port, path: `/_emulator${path}`, method: method ?? 'GET', headers })
  sent.end(body)
  const [answer]: IncomingMessage[] = await once(sent, 'response')
  if (!answer) throw new Error('no answer')
  return { status: answer.statusCode, headers: answer.headers, text: await text(answer) }
}

/** Past the guard there is nothing at this address. */
const pastTheGuard = 404

describe('the guard of /_emulator', () => {
  it('lets in whoever is on this machine, under any name of loopback', async () => {
    const { port } = new URL(emulator.authUrl)
    const hosts = ['localhost', `localhost:${port}`, `127.0.0.1:${port}`, `127.1.2.3:${port}`, `[::1]:${port}`, '[::1]']
    for (const host of hosts) expect([host, (await ask({ headers: { host } })).status]).toEqual([host, pastTheGuard])
  })

  it('rejects a Host that is no name of loopback: a page of its owner would be same-origin', async () => {
    for (const host of [
      'example.com',
      'example.com:80',
      'localhost.example.com',
      '127.0.0.1.example.com',
      '10.0.0.1',
      // Loopback only to who reads a part of it.
      'localhos[t]',
      '[12]7.0.0.1',
      'local:1host',
    ]) {
      const answer = await ask({ headers: { host } })
      expect([host, answer.status, answer.text]).toEqual([host, 403, expect.stringContaining('Host must be')])
    }
  })

  it('rejects a request that names no Host', async () => {
    const socket = connect(Number(new URL(emulator.authUrl).port), '127.0.0.1')
    socket.write('GET /_emulator/nowhere HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n')
    expect(await text(socket)).toMatch(/^HTTP\/1.1 403 /u)
  })

  it('rejects the page of another origin, another port of this machine too', async () => {
    const host = new URL(emulator.authUrl).host
    const refused = ['https://example.com', `https://${host}`, emulator.ownerApiUrl, 'null', '']
    for (const origin of refused) {
      expect([origin, (await ask({ headers: { host, origin } })).status]).toEqual([origin, 403])
    }
    expect((await ask({ headers: { host, origin: `http://${host}` } })).status).toBe(pastTheGuard)
  })

  it('compares the origin’s scheme with its own', async () => {
    await using secure = await startEmulator({ tls: true })
    const statusFrom = async (origin: string): Promise<number | undefined> => {
      const options = { ca: secure.ca, headers: { origin }, agent: false as const }
      const [answer] = await once(httpsRequest(`${secure.authUrl}/_emulator/nowhere`, options).end(), 'response')
      answer.resume()
      return answer.statusCode
    }
    const { host } = new URL(secure.authUrl)
    expect([await statusFrom(`https://${host}`), await statusFrom(`http://${host}`)]).toEqual([pastTheGuard, 403])
  })

  it('rejects what a browser says another site asked for', async () => {
    for (const site of ['cross-site', 'same-site', 'anything']) {
      expect([site, (await ask({ headers: { 'sec-fetch-site': site } })).status]).toEqual([site, 403])
    }
    for (const site of ['same-origin', 'none']) {
      expect([site, (await ask({ headers: { 'sec-fetch-site': site } })).status]).toEqual([site, pastTheGuard])
    }
  })

  it('lets another site link to the inspector’s page, and to nothing else; nor frame or fetch it', async () => {
    const link = { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    expect((await ask({ path: '', headers: link })).status).toBe(200)
    expect((await ask({ path: '/state', headers: link })).status).toBe(403)
    expect((await ask({ path: '', method: 'POST', headers: link })).status).toBe(403)
    for (const other of [{ 'sec-fetch-dest': 'iframe' }, { 'sec-fetch-mode': 'no-cors' }]) {
      expect([other, (await ask({ path: '', headers: { ...link, ...other } })).status]).toEqual([other, 403])
    }
  })

  it('takes a body as JSON alone, which no form of another site can send', async () => {
    const body = '{}'
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', undefined]) {
      const headers = { 'content-length': 2, ...(type !== undefined && { 'content-type': type }) }
      expect([type, (await ask({ method: 'POST', headers, body })).status]).toEqual([type, 415])
    }
    expect((await ask({ method: 'POST', headers: { 'content-type': 'application/json' }, body })).status).toBe(
      pastTheGuard,
    )
    expect((await ask({ method: 'POST' })).status).toBe(pastTheGuard)
    const one = { 'content-length': 1, 'content-type': 'text/plain' }
    expect((await ask({ method: 'POST', headers: one, body: ' ' })).status).toBe(415)
    const none = { 'content-length': 0, 'content-type': 'text/plain' }
    expect((await ask({ method: 'POST', headers: none })).status).toBe(pastTheGuard)
    const socket = connect(Number(new URL(emulator.authUrl).port), '127.0.0.1')
    socket.write('POST /_emulator/nowhere HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 404 /u)
    const plain = { 'content-length': 2, 'content-type': 'text/plain' }
    expect((await ask({ method: 'HEAD', headers: plain, body })).status).toBe(pastTheGuard)
    expect((await ask({ method: 'GET', headers: plain, body })).status).toBe(pastTheGuard)
  })

  it('keeps such requests from the log, the counters and the firewall', async () => {
    await using own = await startEmulator({ firewall: { maxRequests: 1 } })
    for (let time = 0; time < 5; time += 1) expect((await ask({ at: own })).status).toBe(pastTheGuard)
    expect(own.requests).toEqual([])
    expect(own.counters.challenges).toBe(0)
  })

  it('says what is wrong as JSON that no page of another site can read', async () => {
    const answer = await ask({ path: '/nowhere', headers: { origin: 'https://example.com' } })
    expect(JSON.parse(answer.text)).toEqual({ error: 'forbidden', error_description: expect.any(String) })
    expect(answer.headers['access-control-allow-origin']).toBeUndefined()
  })
})

describe('without the inspector', () => {
  it('there is no such page', async () => {
    await using without = await startEmulator({ inspector: false })
    for (const path of ['', '/state', '/events', '/exchanges']) {
      const answer = await ask({ at: without, path })
      expect([answer.status, answer.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
    }
  })
})
