import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import express from 'express'
import { ownerApiProxy, type OwnerApiProxy, type OwnerApiProxyOptions } from '../../src/index.ts'
import { openSocket, rawRequest, until } from '../raw-http.ts'
import { homes, type Listening, listen } from '../servers.ts'
import { account, tokensOf } from '../tokens.ts'

/** An owner API whose requests the test takes one by one, unread. */
interface Upstream extends Listening {
  next(): Promise<[IncomingMessage, ServerResponse]>
}

let upstream: Upstream
let proxy: OwnerApiProxy
let home: Listening
const sockets: Socket[] = []

beforeEach(async () => {
  const waiting: ((exchange: [IncomingMessage, ServerResponse]) => void)[] = []
  const arrived: [IncomingMessage, ServerResponse][] = []
  const listening = await listen((request, response) => {
    const taker = waiting.shift()
    if (taker) taker([request, response])
    else arrived.push([request, response])
  })
  upstream = {
    ...listening,
    next: () => {
      const exchange = arrived.shift()
      return exchange ? Promise.resolve(exchange) : new Promise((resolve) => waiting.push(resolve))
    },
  }
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await home.close()
  await proxy.close()
  await upstream.close()
})

async function start(
  options: Partial<OwnerApiProxyOptions> = {},
  serve: (typeof homes)[number][2] = listen,
): Promise<void> {
  proxy = ownerApiProxy({ target: upstream.url, tokens: await tokensOf(), account, authorize: true, ...options })
  home = await serve(proxy)
}

async function open(bytes: string): Promise<Socket> {
  const socket = await openSocket(home.port)
  sockets.push(socket)
  socket.setEncoding('latin1').write(bytes)
  return socket
}

/** Reads until the text is there. */
async function reads(socket: Socket, text: string): Promise<string> {
  let received = ''
  while (!received.includes(text)) received += String((await once(socket, 'data'))[0])
  return received
}

describe.each(homes)('on %s', (_name, mount, serve) => {
  it('passes the head on before there is a body, and each event before the next one is sent', async () => {
    await start({}, serve)
    const socket = await open(rawRequest('GET', `${mount}/api/1/stream`, ['Accept: text/event-stream']))
    const [, response] = await upstream.next()
    response.writeHead(200, { 'content-type': 'Text/Event-Stream; charset=utf-8' }).flushHeaders()
    const head = await reads(socket, '\r\n\r\n')
    expect(head).toContain('content-type: Text/Event-Stream; charset=utf-8\r\n')
    // Compressing handlers in front would hold each event back until they have enough of them.
    expect(head).toContain('cache-control: private, no-cache, no-transform\r\n')
    for (const event of ['one', 'two', 'three']) {
      response.write(`data: ${event}\n\n`)
      await reads(socket, `data: ${event}\n\n`)
    }
    response.end()
    await once(socket, 'close')
    expect(proxy.active()).toBe(0)
  })

  it('passes each piece of an upload on before the next one comes', async () => {
    await start({}, serve)
    const head = [
      `POST ${mount}/api/1/upload HTTP/1.1`,
      'Host: x',
      'Transfer-Encoding: chunked',
      'Connection: close',
      '',
      '',
    ]
    const socket = await open(head.join('\r\n') + '3\r\none\r\n')
    const [request, response] = await upstream.next()
    expect(String((await once(request, 'data'))[0])).toBe('one')
    socket.write('3\r\ntwo\r\n')
    expect(String((await once(request, 'data'))[0])).toBe('two')
    socket.write('0\r\n\r\n')
    await once(request, 'end')
    response.end('{}')
    await reads(socket, '{}')
  })
})

it('frees the owner API when the caller hangs up in the middle of an answer', async () => {
  await start()
  const socket = await open(rawRequest('GET', '/api/1/stream'))
  const [, response] = await upstream.next()
  response.write('data: one\n\n')
  await reads(socket, 'one')
  socket.destroy()
  await once(response, 'close')
  expect(response.writableFinished).toBe(false)
  expect(proxy.active()).toBe(0)
})

it('frees the owner API when the caller hangs up before there is an answer', async () => {
  await start()
  const socket = await open(rawRequest('GET', '/api/1/slow'))
  const [, response] = await upstream.next()
  socket.destroy()
  await once(response, 'close')
  expect(proxy.active()).toBe(0)
})

it('frees the owner API when the caller hangs up in the middle of an upload', async () => {
  await start()
  const socket = await open('POST /api/1/upload HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nhalf')
  const [request, response] = await upstream.next()
  await once(request, 'data')
  socket.destroy()
  await once(response, 'close')
  expect(request.complete).toBe(false)
  expect(proxy.active()).toBe(0)
})

it('sends nothing for a caller that hangs up while the token is on its way', async () => {
  const asked: ((token: string) => void)[] = []
  const getAccessToken = () => new Promise<string>((resolve) => asked.push(resolve))
  await start({ tokens: { getAccessToken, invalidate: () => Promise.resolve() } })
  let requests = 0
  upstream.server.on('request', () => (requests += 1))
  const gone = await open(rawRequest('GET', '/api/1/vehicles'))
  await until(() => asked.length === 1)
  gone.destroy()
  await until(() => proxy.active() === 0)
  asked[0]!('token')

  const socket = await open(rawRequest('GET', '/api/1/vehicles'))
  await until(() => asked.length === 2)
  asked[1]!('token')
  const [, response] = await upstream.next()
  response.end('{}')
  await reads(socket, '{}')
  expect(requests).toBe(1)
})

it('keeps no place for a caller that was gone before its request got here', async () => {
  const app = express()
  app.use((_request, response, next) => response.once('close', () => next()))
  await start({}, (handler) => listen(app.use(handler)))
  const entered = once(home.server, 'request')
  const socket = await open(rawRequest('GET', '/api/1/vehicles'))
  const [, response] = (await entered) as [IncomingMessage, ServerResponse]
  const closed = once(response, 'close')
  socket.destroy()
  await closed
  expect(proxy.active()).toBe(0)
})

describe('calls that wait behind another one on a connection that closes', () => {
  const three = ['first', 'second', 'third'].map((name) => `GET /api/1/${name} HTTP/1.1\r\nHost: x\r\n\r\n`).join('')

  it('free the owner API and their places', async () => {
    await start()
    const socket = await open(three)
    const calls = [await upstream.next(), await upstream.next(), await upstream.next()]
    const closed = Promise.all(calls.map(([, response]) => once(response, 'close')))
    expect(proxy.active()).toBe(3)
    socket.destroy()
    await closed
    expect(proxy.active()).toBe(0)
  })

  it('take no place where they get here later', async () => {
    const held: (() => void)[] = []
    await start({}, (handler) => {
      const app = express().use((_request, _response, next) => void held.push(next))
      return listen(app.use(handler))
    })
    const connected: Promise<[Socket]> = once(home.server, 'connection') as Promise<[Socket]>
    const socket = await open(three)
    const [connection] = await connected
    await until(() => held.length === 3)
    const closed = once(connection, 'close')
    socket.destroy()
    await closed
    for (const next of held) next()
    expect(proxy.active()).toBe(0)
  })
})

it('reports no error where a caller hangs up in the middle of a small body', async () => {
  const errors: unknown[] = []
  let handler: Parameters<(typeof homes)[number][2]>[0] = () => {}
  await start({}, (given) => {
    handler = given
    return listen((request, response) => handler(request, response, (error) => errors.push(error)))
  })
  const socket = await open('POST /api/1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf')
  await until(() => proxy.active() === 1)
  socket.destroy()
  await until(() => proxy.active() === 0)
  expect(errors).toEqual([])
})

it('gives the caller an answer that comes before its upload has ended', async () => {
  await start()
  const socket = await open(
    'POST /api/1/upload HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\nConnection: close\r\n\r\nstart',
  )
  const [request, response] = await upstream.next()
  await once(request, 'data')
  response.writeHead(413, { connection: 'close' }).end('too much')
  const answer = reads(socket, 'too much')
  socket.write('x'.repeat(1_000_000))
  expect(await answer).toMatch(/^HTTP\/1\.1 413 /u)
})

it.each([
  ['length', 'Content-Length: 4000005', ''],
  ['chunks', 'Transfer-Encoding: chunked', '3d0905'],
])('takes the next call after an answer that came before its upload had ended, by %s', async (_how, framing, size) => {
  await start()
  const socket = await open(`POST /api/1/upload HTTP/1.1\r\nHost: x\r\n${framing}\r\n\r\n${size && `${size}\r\n`}start`)
  const [, early] = await upstream.next()
  // With its connection left open, as an answer of 401 is given.
  early.end('too much')
  await reads(socket, 'too much')
  socket.write('x'.repeat(4_000_000) + (size && '\r\n0\r\n\r\n') + rawRequest('GET', '/api/1/vehicles'))
  const [request, response] = await upstream.next()
  expect(request.url).toBe('/api/1/vehicles')
  response.end('the next answer')
  await reads(socket, 'the next answer')
})

it('takes the next call after an upload to an owner API that can’t be reached', async () => {
  await start({ target: 'http://127.0.0.1:1' })
  const socket = await open('POST /api/1/upload HTTP/1.1\r\nHost: x\r\nContent-Length: 4000005\r\n\r\nstart')
  await reads(socket, 'ERR_OWNER_API_UNREACHABLE')
  socket.write('x'.repeat(4_000_000) + rawRequest('GET', '/elsewhere'))
  expect(await reads(socket, 'ERR_OWNER_API_PATH_NOT_ALLOWED')).toMatch(/^HTTP\/1\.1 404 /mu)
})

it('holds back what the caller does not read, and loses none of it', async () => {
  const size = 32 * 1024 ** 2
  await start()
  let answer: ServerResponse | undefined
  home.server.once('request', (_request, response) => (answer = response))
  const socket = await open(rawRequest('GET', '/api/1/big'))
  socket.pause()
  const [, response] = await upstream.next()
  response.writeHead(200, { 'content-length': size }).end(Buffer.alloc(size, 'x'))
  await until(() => answer?.writableNeedDrain === true)
  let turns = 0
  await until(() => (turns += 1) > 200)
  expect(answer?.writableLength).toBeLessThan(1024 ** 2)
  let received = 0
  socket.on('data', (text: string) => (received += text.length)).resume()
  await once(socket, 'close')
  expect(received).toBeGreaterThan(size)
})

it('leaves an answer alone that the application has given meanwhile', async () => {
  const problems: unknown[] = []
  await start({ onProblem: (problem) => problems.push(problem) })
  let answer: ServerResponse | undefined
  home.server.once('request', (_request, response) => (answer = response))
  const socket = await open(rawRequest('GET', '/api/1/vehicles'))
  socket.pause()
  const [, response] = await upstream.next()
  const size = 32 * 1024 ** 2
  answer?.writeHead(200, { 'content-length': size }).end(Buffer.alloc(size, 'x'))
  response.end('{}')
  await once(response, 'close')
  let received = 0
  socket.on('data', (text: string) => (received += text.length)).resume()
  await once(socket, 'close')
  expect(received).toBeGreaterThan(size)
  expect(problems).toEqual([])
})

it('frees the owner API when the caller leaves a part of the answer unread for too long', async () => {
  await start({ bodyTimeout: 100 })
  const socket = await open(rawRequest('GET', '/api/1/big'))
  socket.pause()
  const [, response] = await upstream.next()
  const chunk = Buffer.alloc(65_536, 'x')
  const more = (): void => {
    while (!response.destroyed && response.write(chunk));
    response.once('drain', more)
  }
  more()
  await once(response, 'close')
  expect(response.writableFinished).toBe(false)
})

it('works behind handlers that wrap writeHead, as compression does', async () => {
  const app = express()
  app.use((_request, response, next) => {
    response.setHeader('content-security-policy', "default-src 'self'").setHeader('x-app', 'mine')
    next()
  })
  await start({}, (handler) => listen(app.use(handler)))
  const socket = await open(rawRequest('GET', '/api/1/vehicles'))
  const [, response] = await upstream.next()
  response.end('{}')
  const text = await reads(socket, '{}')
  expect(text).toContain('x-app: mine')
})
