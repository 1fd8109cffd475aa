import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import express from 'express'
import { ownerApiProxy, type OwnerApiProxy } from '../../src/index.ts'
import { type OwnerApi, startOwnerApi } from '../servers.ts'
import { account, tokensOf } from '../tokens.ts'

let ownerApi: OwnerApi
let proxy: OwnerApiProxy
let server: Server

beforeEach(async () => {
  ownerApi = await startOwnerApi()
  proxy = ownerApiProxy({ target: ownerApi.url, tokens: await tokensOf(), account, authorize: true, maxConcurrent: 1 })
})
afterEach(async () => {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
  await proxy.close()
  await ownerApi.close()
})

const smuggled = 'GET /api/1/smuggled HTTP/1.1\r\nHost: x\r\n\r\n'
const ambiguous = (method: string, path: string, framing = 'Content-Length: 6\r\nTransfer-Encoding: chunked') =>
  `${method} ${path} HTTP/1.1\r\nHost: x\r\n${framing}\r\n\r\n0\r\n\r\n`

/** All that comes back on one connection until the server ends it; the second part goes out once the first was answered. */
async function converse(first: string, second: string): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => socket.write(first))
  let text = ''
  socket.setEncoding('latin1').on('error', () => {})
  socket.on('data', (chunk: string) => {
    if (text === '' && second !== '') socket.write(second)
    text += chunk
  })
  await once(socket, 'close')
  return text
}

const servers: [string, () => Server][] = [
  ['bare', () => createServer({ insecureHTTPParser: true }, proxy)],
  ['Express', () => createServer({ insecureHTTPParser: true }, express().use(proxy))],
]

const requests: [string, string][] = [
  ['Content-Length beside Transfer-Encoding', ambiguous('POST', '/api/1/vehicles')],
  ['a body of a GET', ambiguous('GET', '/api/1/vehicles', 'Transfer-Encoding: chunked')],
  ['two transfer codings', ambiguous('POST', '/api/1/vehicles', 'Transfer-Encoding: identity, chunked')],
  ['a method that is rejected, too', ambiguous('OPTIONS', '/api/1/vehicles')],
  ['a path that is rejected, too', ambiguous('POST', '/elsewhere')],
]

it.each(
  servers.flatMap(([name, start]) =>
    requests.flatMap(([what, request]) => [
      [name, what, 'at once', start, request + smuggled, ''] as const,
      [name, what, 'after the answer', start, request, smuggled] as const,
    ]),
  ),
)(
  'a server with insecureHTTPParser (%s) rejects %s and reads nothing more from the connection (%s)',
  async (...row) => {
    const [, , , start, first, second] = row
    server = start().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const text = await converse(first, second)
    expect(text.match(/HTTP\/1\.1 \d+/gu)).toEqual(['HTTP/1.1 400'])
    expect(text).toMatch(/^connection: close\r$/imu)
    expect(ownerApi.seen).toEqual([])
  },
)

describe('what follows a rejected request in one segment', () => {
  const tails: [string, string][] = [
    ['another route', 'POST /another-route HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody'],
    ['two of them', 'GET /another-route HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2)],
    ['one that waits', 'POST /another-route HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n'],
    ['an upgrade', 'GET /another-route HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'],
    ['a tunnel', 'CONNECT another.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n'],
  ]

  it.each(tails)('reaches no other route of the application: %s', async (_what, tail) => {
    const reached: string[] = []
    const app = express()
      .use((request, _response, next) => {
        reached.push(`${request.method} ${request.url}`)
        next()
      })
      .use('/owner-api', proxy)
      .use((_request, response) => response.end())
    server = createServer({ insecureHTTPParser: true }, app).listen(0, '127.0.0.1')
    for (const event of ['upgrade', 'connect']) {
      server.on(event, (request: IncomingMessage, socket: Socket) => {
        reached.push(`${event} ${request.url}`)
        socket.destroy()
      })
    }
    await once(server, 'listening')
    const text = await converse(ambiguous('POST', '/owner-api/api/1/vehicles') + tail, '')
    expect(reached).toEqual(['POST /owner-api/api/1/vehicles'])
    expect(text.match(/HTTP\/1\.1 \d+/gu)).toEqual(['HTTP/1.1 400'])
    expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n')))).toMatchObject({ code: 'ERR_OWNER_API_MALFORMED_REQUEST' })
  })
})

it('also where the proxy is closing', async () => {
  server = createServer({ insecureHTTPParser: true }, proxy).listen(0, '127.0.0.1')
  await once(server, 'listening')
  await proxy.close()
  const text = await converse(ambiguous('POST', '/api/1/vehicles') + smuggled, '')
  expect(text.match(/HTTP\/1\.1 \d+/gu)).toEqual(['HTTP/1.1 400'])
})
