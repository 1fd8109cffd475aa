import { once } from 'node:events'
import { createServer, get, type RequestListener } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import express, { type Request } from 'express'
import { createProxyMiddleware } from 'http-proxy-middleware'
import { ownerApiBearer, ownerApiProxy, type OwnerApiProxy } from '../../src/index.ts'
import { rawRequest, sendRaw } from '../raw-http.ts'
import { account, tokensOf } from '../tokens.ts'

/** The head of the owner API's answer, each character a byte. */
let upstreamHead: string
let ownerApi: Server
let target: string
let proxy: OwnerApiProxy
const servers: Server[] = []

const portOf = (server: Server): number => (server.address() as AddressInfo).port

async function listening<Listener extends Server>(server: Listener): Promise<Listener> {
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

beforeEach(async () => {
  ownerApi = await listening(
    createTcpServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => socket.end(`HTTP/1.1 ${upstreamHead}\r\nConnection: close\r\n\r\nok`, 'latin1'))
    }),
  )
  target = `http://127.0.0.1:${portOf(ownerApi)}`
  const responseHeaders = ['x-name']
  proxy = ownerApiProxy({ target, tokens: await tokensOf(), account, authorize: true, responseHeaders })
})
afterEach(async () => {
  await proxy.close({ timeout: 0 })
  for (const server of servers.splice(0)) {
    server.close()
    await once(server, 'close')
  }
})

const homes: [string, () => Promise<RequestListener> | RequestListener][] = [
  ['bare node:http', () => proxy],
  ['Express', () => express().use(proxy)],
  [
    'Express that has set headers of its own',
    () =>
      express()
        .use((_request, response, next) => {
          response.set({ 'Content-Length': '7', 'Content-Disposition': 'inline', 'Set-Cookie': 'own=1' })
          next()
        })
        .use(proxy),
  ],
  [
    'a handler that sends the whole answer, behind ownerApiBearer',
    async () =>
      express().use(ownerApiBearer({ tokens: await tokensOf(), account }), (_request, response, next) => {
        get(target, (answer) => {
          response.set(answer.headersDistinct as Record<string, string[]>)
          buffer(answer).then((body) => response.send(body), next)
        }).on('error', next)
      }),
  ],
  [
    'http-proxy-middleware behind ownerApiBearer',
    async () =>
      express().use(ownerApiBearer({ tokens: await tokensOf(), account }), createProxyMiddleware<Request>({ target })),
  ],
]

const utf8 = (text: string): string => Buffer.from(text).toString('latin1')
const everyByte = [...Array(256).keys()].filter((byte) => byte >= 0x20 && byte !== 0x7f)
const values: [string, string][] = [
  ['a name in UTF-8', utf8('attachment; filename="účtenka.csv"')],
  ['a name that Latin-1 lacks', utf8('attachment; filename="12 €.csv"')],
  ['what ends a line when its low bytes are taken', utf8('attachment; filename="a"čĊSet-Cookie: sid=evil')],
  ['every byte', `x${String.fromCharCode(...everyByte)}\t~`],
]
const lines = (name: string, value: string): [string, string][] => [
  ['behind a length', `Content-Length: 2\r\n${name}: ${value}`],
  ['before a length', `${name}: ${value}\r\nContent-Length: 2`],
  ['twice', `Content-Length: 2\r\n${name}: ${value}\r\n${name}: ${value}`],
  ['without a length', `${name}: ${value}`],
]

it.each(homes)('a header’s value passes byte for byte, with nothing added: %s', async (_where, home) => {
  const port = portOf(await listening(createServer(await home())))
  for (const name of ['Content-Disposition', 'Content-Language', 'X-Name']) {
    for (const [what, value] of values) {
      for (const [where, head] of lines(name, value)) {
        upstreamHead = `200 OK\r\n${head}`
        const { status, text } = await sendRaw(port, rawRequest('GET', '/api/1/invoice'))
        const got = text.split('\r\n').filter((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`))
        const wanted = where === 'twice' ? [value, value] : [value]
        const passed = got.map((line) => line.slice(name.length + 2)).join(', ')
        expect([name, what, where, status, passed]).toEqual([name, what, where, 200, wanted.join(', ')])
        expect(text).not.toMatch(/^set-cookie: sid/imu)
      }
    }
  }
})

it('a header with any other byte does not pass, also where the owner API’s parser lets it', async () => {
  const port = portOf(await listening(createServer(proxy)))
  for (const byte of ['\x00', '\x01', '\x0b', '\x1f', '\x7f', '\r', '\n', '\r\n ', '\n ']) {
    upstreamHead = `200 OK\r\nContent-Length: 2\r\nX-Name: a${byte}Set-Cookie: sid=evil`
    const { status, head } = await sendRaw(port, rawRequest('GET', '/api/1/invoice'))
    expect([byte, head]).toEqual([byte, expect.not.stringMatching(/evil/u)])
    expect(status === 200 || status === 502).toBe(true)
  }
})

it('over HTTP/2 the bytes are the same', async () => {
  // Its requests and responses are shaped like those of node:http.
  const home = await listening(createHttp2Server((request, response) => proxy(request as never, response as never)))
  const session = connectHttp2(`http://127.0.0.1:${portOf(home)}`)
  for (const [what, value] of values) {
    upstreamHead = `200 OK\r\nContent-Length: 2\r\nContent-Disposition: ${value}`
    const call = session.request({ ':path': '/api/1/invoice' })
    const [headers] = (await once(call, 'response')) as [Record<string, string>]
    expect([what, headers['content-disposition']]).toEqual([what, value])
    await buffer(call)
  }
  session.close()
})

it.each([
  ['/api/1/účtenka', '/api/1/%C3%BA%C4%8Dtenka'],
  ['/api/1/a?name=€', '/api/1/a?name=%E2%82%AC'],
  ['../1/Ċ', '/api/1/%C4%8A'],
])('a redirect to %s in UTF-8 leads to %s', async (there, here) => {
  const port = portOf(await listening(createServer(proxy)))
  upstreamHead = `302 Found\r\nLocation: ${utf8(there)}`
  const { head } = await sendRaw(port, rawRequest('GET', '/api/1/invoice'))
  expect(head.split('\r\n')).toContain(`location: ${here}`)
})
