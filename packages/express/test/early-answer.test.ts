import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { createServer as createTlsServer } from 'node:tls'
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import axios from 'axios'
import { generate } from 'selfsigned'
import { attachBearer, ownerApiProxy, ownerFetch } from '../src/index.ts'
import { listen } from './servers.ts'
import { account, token } from './tokens.ts'

/** An owner API that answers while most of the request is still to come, and ends the connection. */
let ownerApi: Server | undefined
let certificate: { readonly cert: string; readonly private: string }

beforeAll(async () => {
  const altNames = [{ type: 7 as const, ip: '127.0.0.1' }]
  certificate = await generate(undefined, {
    keyType: 'ec',
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames },
    ],
  })
})
afterEach(async () => {
  ownerApi?.close()
  await once(ownerApi!, 'close')
})

/** @param connection - below TLS, where there is TLS */
type Ending = (socket: Socket, answer: string, connection: Socket) => void

const endings: [string, Ending][] = [
  ['closes', (socket, answer) => void socket.end(answer, () => socket.destroy())],
  ['resets', (socket, answer, connection) => void socket.write(answer, () => connection.resetAndDestroy())],
]

async function answering(isSecure: boolean, status: number, end: Ending): Promise<string> {
  const body = `the answer ${'x'.repeat(20_000)} is whole`
  const answer = `HTTP/1.1 ${status} Early\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  let connection: Socket
  const serve = (socket: Socket): void => {
    socket.on('error', () => undefined)
    socket.once('data', () => end(socket.pause(), answer, connection))
  }
  const { cert, private: key } = certificate
  ownerApi = isSecure ? createTlsServer({ cert, key }, serve) : createServer(serve)
  ownerApi.prependListener('connection', (socket: Socket) => (connection = socket))
  ownerApi.listen(0, '127.0.0.1')
  await once(ownerApi, 'listening')
  return `${isSecure ? 'https' : 'http'}://127.0.0.1:${(ownerApi.address() as AddressInfo).port}`
}

/** There is no other. */
const tokens = { getAccessToken: async () => token, invalidate: async () => false }

/** Sends a body of some megabytes. */
type Call = (target: string, body: Buffer) => Promise<{ readonly status: number; readonly body: string }>

/** Pieces as a caller reads them from a file. */
function* piecesOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += 65_536) yield body.subarray(at, at + 65_536)
}

const throughProxy =
  (framing: 'length' | 'chunks'): Call =>
  async (target, body) => {
    const tls = { ca: certificate.cert }
    const proxy = ownerApiProxy({ target, tokens, account, authorize: true, tls })
    const home = await listen(proxy)
    const headers = framing === 'length' ? { 'content-length': body.length } : {}
    const call = httpRequest(`${home.url}/api/1/upload`, { method: 'POST', headers })
    Readable.from(piecesOf(body)).pipe(call)
    const [answer] = await once(call, 'response')
    const told = { status: answer.statusCode, body: await text(answer) }
    await home.close()
    await proxy.close()
    return told
  }

const withFetch =
  (bodyOf: (body: Buffer) => RequestInit['body']): Call =>
  async (target, body) => {
    const call = ownerFetch({ target, tokens, account, tls: { ca: certificate.cert } })
    const init: object = { method: 'POST', body: bodyOf(body), duplex: 'half' }
    const answer = await call('/api/1/upload', init)
    return { status: answer.status, body: await answer.text() }
  }

const withAxios =
  (adapter: 'http' | 'fetch'): Call =>
  async (target, body) => {
    const instance = axios.create({ baseURL: target, adapter, validateStatus: () => true, responseType: 'text' })
    const tls = { ca: certificate.cert }
    const { status, data } = await attachBearer(instance, { tokens, account, tls }).post<string>('/api/1/upload', body)
    return { status, body: data }
  }

const body = Buffer.alloc(3_000_000, 'x')

describe.each<[string, Call]>([
  ['ownerApiProxy, by length', throughProxy('length')],
  ['ownerApiProxy, in chunks', throughProxy('chunks')],
  ['ownerFetch', withFetch((all) => new Uint8Array(all))],
  ['ownerFetch of a stream', withFetch((all) => Readable.toWeb(Readable.from(piecesOf(all))) as never)],
  ['attachBearer', withAxios('http')],
  ['attachBearer with the adapter fetch', withAxios('fetch')],
])('an upload through %s', (_name, call) => {
  it.each(
    [false, true].flatMap((isSecure) =>
      endings.flatMap(([how, end]) => [413, 401].map((status) => [isSecure, how, status, end] as const)),
    ),
  )('is answered early (TLS: %s) by an owner API that then %s: %i', async (isSecure, _how, status, end) => {
    const target = await answering(isSecure, status, end)
    // Which of the two comes first, the answer or the failing write, is chance.
    for (let n = 0; n < 3; n += 1) {
      expect(await call(target, body)).toEqual({ status, body: expect.stringMatching(/^the answer x+ is whole$/u) })
    }
  })
})
