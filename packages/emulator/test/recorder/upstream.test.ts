/** What a recorder makes of any service; how it records a login of the emulator is in the emulator's tests. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, createServer as createSocketServer } from 'node:net'
import * as consumers from 'node:stream/consumers'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from '@jest/globals'
import { type Recorder, type RecorderOptions, startRecorder } from '../../src/index.ts'

const open: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

/** A recorder before a service of our own. */
async function record(service: RequestListener, options: Partial<RecorderOptions> = {}): Promise<Recorder> {
  const server = createServer(service).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const recorder = await startRecorder({ upstream: `http://127.0.0.1:${port}`, ...options })
  open.push(recorder, {
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  })
  return recorder
}

it.each([
  ['http://127.1.2.3', true],
  ['http://[::1]/', true],
  ['https://auth.example.com//', true],
  ['http://auth.example.com', false],
  ['http://localhost.example', false],
  ['ftp://localhost', false],
  ['https://ann@auth.example.com', false],
  ['https://auth.example.com/?a', false],
  ['https://auth.example.com/#a', false],
])('the service may be at %s: %s', async (upstream, isTaken) => {
  const started = startRecorder({ upstream }).then((recorder) => recorder.close())
  const outcome = await started.catch((error: unknown) => String(error))
  expect(String(outcome)).toMatch(isTaken ? /^undefined$/u : /^TypeError: Option upstream/u)
})

it('takes no port whose IPv6 half is another program’s: localhost would lead there', async () => {
  const other = createSocketServer().listen(0, '::1')
  const isThere = await once(other, 'listening').then(
    () => true,
    () => false,
  )
  // Without IPv6 there is no other half.
  if (!isThere) return
  const { port } = other.address() as AddressInfo
  const outcome = await startRecorder({ upstream: 'http://localhost:1', port }).catch((error: unknown) => error)
  await new Promise((resolve) => other.close(resolve))
  expect(outcome).toMatchObject({ code: 'EADDRINUSE' })
  // Its own half was given back.
  const recorder = await startRecorder({ upstream: 'http://localhost:1', port })
  expect(recorder.authUrl).toBe(`http://127.0.0.1:${port}`)
  await recorder.close()
})

describe('what goes on to the service', () => {
  it('is what the client sent, without the headers of the connection', async () => {
    const seen: unknown[] = []
    const recorder = await record((request, response) => {
      seen.push([request.headers.host, request.headers['x-host'], request.headers['proxy-authorization']])
      response.end()
    })
    const headers = { 'x-host': 'x', 'proxy-authorization': 'x' }
    await fetch(recorder.authUrl, { headers })
    expect(seen).toEqual([[expect.not.stringContaining(new URL(recorder.authUrl).host), 'x', undefined]])
  })

  it('has the service’s address in place of the recorder’s, however it is spelled, but not inside a longer address', async () => {
    let arrived = ''
    const recorder = await record((request, response) => {
      void consumers.text(request).then((body) => response.end((arrived = body)))
    })
    const spellings = (address: string): string =>
      [
        address,
        encodeURIComponent(address),
        encodeURIComponent(encodeURIComponent(address)),
        address.replaceAll('/', '\\/'),
        address.replaceAll(':', '&#x3a;').replaceAll('/', '&#x2f;'),
      ].join(' ')
    const longer = `${recorder.authUrl}0/`
    const answer = await fetch(recorder.authUrl, { method: 'POST', body: `${spellings(recorder.authUrl)} ${longer}` })
    expect(arrived).not.toContain(`${recorder.authUrl} `)
    expect(arrived.endsWith(longer)).toBe(true)
    expect(await answer.text()).toBe(`${spellings(recorder.authUrl)} ${longer}`)
  })

  it('is at most a megabyte', async () => {
    const recorder = await record((request, response) => void request.resume().on('end', () => response.end()))
    const send = async (bytes: number): Promise<number> =>
      (await fetch(recorder.authUrl, { method: 'POST', body: 'x'.repeat(bytes) })).status
    expect([await send(2 ** 20), await send(2 ** 20 + 1)]).toEqual([200, 413])
  })
})

describe('what comes back from the service', () => {
  const most = 8 * 1024 * 1024
  const bodies: Readonly<Record<string, readonly [encoding: string, body: Buffer]>> = {
    gzip: ['gzip', gzipSync('as it was')],
    deflate: ['deflate', deflateSync('as it was')],
    br: ['br', brotliCompressSync('as it was')],
    identity: ['identity', Buffer.from('as it was')],
    compress: ['compress', Buffer.from('as it was')],
    largest: ['identity', Buffer.alloc(most)],
    larger: ['identity', Buffer.alloc(most + 1)],
    bomb: ['gzip', gzipSync(Buffer.alloc(most + 1))],
    broken: ['gzip', Buffer.from('as it was')],
  }
  const ask = async (name: string): Promise<Response> => {
    const [encoding, body] = bodies[name] ?? ['', Buffer.alloc(0)]
    const recorder = await record((_request, response) => {
      response.writeHead(203, { 'content-encoding': encoding }).end(body)
    })
    return fetch(recorder.authUrl)
  }

  it.each(['gzip', 'deflate', 'br', 'identity'])('is read where it is encoded as %s', async (name) => {
    const answer = await ask(name)
    expect([answer.status, answer.headers.get('content-encoding'), await answer.text()]).toEqual([
      203,
      null,
      'as it was',
    ])
  })

  it('is 8 MiB at most, however it is encoded', async () => {
    expect((await (await ask('largest')).arrayBuffer()).byteLength).toBe(most)
    for (const name of ['larger', 'bomb', 'broken', 'compress']) {
      const answer = await ask(name)
      expect([answer.status, await answer.text()]).toEqual([502, expect.stringContaining('larger than 8 MiB')])
    }
  })

  it.each([
    ['a=b; Domain=x; Secure; Partitioned; SameSite=None; Path=/', 'a=b; Path=/'],
    ['a=b; SameSite=Lax; Secured; xdomain=1', 'a=b; SameSite=Lax; Secured; xdomain=1'],
    ['__Host-a=b; Domain=x; Secure; SameSite=None', '__Host-a=b; Secure; SameSite=None'],
  ])('has cookies that plain http can keep: %s', async (sent, kept) => {
    const recorder = await record((_request, response) => void response.setHeader('set-cookie', sent).end())
    expect((await fetch(recorder.authUrl)).headers.getSetCookie()).toEqual([kept])
  })
})

it('records a thousand exchanges, and passes on what comes after them', async () => {
  const lines: string[] = []
  const recorder = await record((_request, response) => response.end(), { onExchange: (line) => lines.push(line) })
  const { host, port } = new URL(recorder.authUrl)
  const one = `GET / HTTP/1.1\r\nHost: ${host}\r\n`
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(`${one}\r\n`.repeat(1000) + `${one}Connection: close\r\n\r\n`)
  expect((await consumers.text(socket)).match(/^HTTP\/1\.1 200 /gmu)).toHaveLength(1001)
  expect([recorder.fixture.exchanges.length, lines.at(-1)]).toEqual([
    1000,
    expect.stringContaining('no longer recorded'),
  ])
})

it('has the exchanges that were under way when it ended', async () => {
  let arrived: () => void = () => undefined
  const isAsked = new Promise<void>((resolve) => (arrived = resolve))
  const recorder = await record(() => arrived())
  const left = fetch(recorder.authUrl).catch(() => 'left')
  await isAsked
  await recorder.close()
  expect([await left, recorder.fixture.exchanges.map(({ answer }) => answer)]).toEqual(['left', ['none']])
})
