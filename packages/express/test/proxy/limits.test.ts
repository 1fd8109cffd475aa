import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { ownerApiProxy, type OwnerApiProxy, type OwnerApiProxyOptions } from '../../src/index.ts'
import { openSocket, rawRequest, sendRaw, until } from '../raw-http.ts'
import { type Listening, listen, type OwnerApi, startOwnerApi } from '../servers.ts'
import { account, tokensOf } from '../tokens.ts'

let ownerApi: OwnerApi
let proxy: OwnerApiProxy
let home: Listening
/** Answers that the owner API has not given yet. */
let held: ServerResponse[]

beforeEach(async () => {
  ownerApi = await startOwnerApi()
  held = []
})
afterEach(async () => {
  await home.close()
  await proxy.close()
  await ownerApi.close()
})

async function start(options: Partial<OwnerApiProxyOptions>): Promise<void> {
  proxy = ownerApiProxy({ target: ownerApi.url, tokens: await tokensOf(), account, authorize: true, ...options })
  home = await listen(proxy)
}

/** The owner API keeps the next answers to itself; resolves when it has so many. */
function holdAnswers(count: number): Promise<void> {
  return new Promise((resolve) => {
    ownerApi.answer((_seen, response) => {
      held.push(response)
      if (held.length === count) resolve()
    })
  })
}

const call = () => fetch(`${home.url}/api/1/vehicles`)

it('has at most maxConcurrent calls under way, and takes the next one when one has ended', async () => {
  await start({ maxConcurrent: 2 })
  const full = holdAnswers(2)
  const first = [call(), call()]
  await full
  expect(proxy.active()).toBe(2)
  const rejected = await call()
  expect(rejected.status).toBe(503)
  expect(rejected.headers.get('retry-after')).toBe('1')
  expect(await rejected.json()).toMatchObject({ code: 'ERR_OWNER_API_BUSY', status: 503 })
  for (const response of held) response.end('{}')
  expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200])
  ownerApi.answer((_seen, response) => response.end('{}'))
  expect((await call()).status).toBe(200)
})

it('answers 504 where the owner API does not begin to answer', async () => {
  await start({ headersTimeout: 50 })
  void holdAnswers(1)
  const answer = await call()
  expect(answer.status).toBe(504)
  expect(await answer.json()).toMatchObject({ code: 'ERR_OWNER_API_TIMEOUT', status: 504 })
  await until(() => held[0]!.closed)
})

it('counts that time from the last byte of the request, however long an upload takes', async () => {
  await start({ headersTimeout: 50 })
  const socket = await openSocket(home.port)
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
  socket.write(
    'POST /api/1/echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n',
  )
  await new Promise((resolve) => setTimeout(resolve, 200))
  socket.write('3\r\ntwo\r\n0\r\n\r\n')
  await once(socket, 'close')
  expect(text).toMatch(/^HTTP\/1\.1 200 /u)
  expect(ownerApi.seen[0]?.body.toString()).toBe('onetwo')
})

it('cuts an answer that stops in the middle', async () => {
  await start({ bodyTimeout: 50 })
  ownerApi.answer((_seen, response) => response.write('half'))
  await expect(call().then((answer) => answer.text())).rejects.toThrow(/terminated|fetch failed/u)
  await until(() => proxy.active() === 0)
})

it('goes on with an answer that comes in pieces for longer than that', async () => {
  await start({ bodyTimeout: 50 })
  ownerApi.answer((_seen, response) => {
    let pieces = 0
    const timer = setInterval(() => {
      response.write('piece;')
      pieces += 1
      if (pieces < 30) return
      clearInterval(timer)
      response.end()
    }, 5)
  })
  expect(await (await call()).text()).toBe('piece;'.repeat(30))
})

it('ends a call that has taken too long as a whole, however busy it was', async () => {
  await start({ maxDuration: 200 })
  let pieces = 0
  ownerApi.answer((_seen, response) => {
    const timer = setInterval(() => response.write(`data: ${(pieces += 1)}\n\n`), 10)
    response.once('close', () => clearInterval(timer))
  })
  await expect(call().then((answer) => answer.text())).rejects.toThrow(/terminated|fetch failed/u)
  expect(pieces).toBeGreaterThan(1)
})

it('answers 504 where a whole call’s time ends before the answer begins', async () => {
  await start({ maxDuration: 50 })
  void holdAnswers(1)
  expect((await call()).status).toBe(504)
})

const never = (): Promise<never> => new Promise(() => undefined)

it.each([
  ['authorize', { authorize: never }],
  ['account', { account: never }],
])('answers 504 where %s never settles, and tells the log which it was (L9)', async (name, options) => {
  const told: unknown[] = []
  await start({ headersTimeout: 50, onProblem: (error) => told.push(error), ...options })
  const answer = await call()
  expect(answer.status).toBe(504)
  expect(await answer.json()).toMatchObject({ code: 'ERR_OWNER_API_TIMEOUT', detail: 'No answer came in time.' })
  expect(told).toEqual([expect.objectContaining({ message: expect.stringContaining(`${name} has given no result`) })])
  await until(() => proxy.active() === 0)
})

it('answers 504 where a whole call’s time ends before the application has said whose call it is', async () => {
  await start({ maxDuration: 50, account: never })
  expect((await call()).status).toBe(504)
  await until(() => proxy.active() === 0)
})

it('sends nothing where the application says too late whose call it is, or fails too late', async () => {
  const words: ((word: Promise<string>) => void)[] = []
  await start({ headersTimeout: 50, account: () => new Promise((resolve) => words.push(resolve)) })
  expect([(await call()).status, (await call()).status]).toEqual([504, 504])
  words[0]!(Promise.resolve(account))
  words[1]!(Promise.reject(new Error('too late')))
  // What comes of that has its turns before this call is through.
  const last = call()
  await until(() => words.length === 3)
  words[2]!(Promise.resolve(account))
  expect((await last).status).toBe(200)
  expect(ownerApi.seen).toHaveLength(1)
})

it('close() takes no more calls, lets those under way end, and closes the connections', async () => {
  await start({})
  const one = holdAnswers(1)
  const running = call()
  await one
  const closed = proxy.close()
  const rejected = await call()
  expect(rejected.status).toBe(503)
  expect(await rejected.json()).toMatchObject({ code: 'ERR_OWNER_API_CLOSING' })
  held[0]!.end('{"last":true}')
  expect(await (await running).text()).toBe('{"last":true}')
  await closed
  expect(await connectionsOf(ownerApi)).toBe(0)
})

it('close({ timeout }) cuts what is still under way then', async () => {
  await start({})
  const one = holdAnswers(1)
  const running = call()
  await one
  await proxy.close({ timeout: 20 })
  expect((await running).status).toBe(503)
})

it('answers everybody in a rush of callers, and has no call left afterwards', async () => {
  await start({ maxConcurrent: 100 })
  const connections = Array.from({ length: 20 }, () => openSocket(home.port))
  const statuses: Record<string, number> = {}
  await Promise.all(
    connections.map(async (connecting) => {
      const socket = await connecting
      let text = ''
      socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
      const request = 'GET /api/1/vehicles HTTP/1.1\r\nHost: x\r\n\r\n'
      socket.write(request.repeat(499) + rawRequest('GET', '/api/1/vehicles'))
      await once(socket, 'close')
      for (const [, status] of text.matchAll(/HTTP\/1\.1 (\d+)/gu)) statuses[status!] = (statuses[status!] ?? 0) + 1
    }),
  )
  expect(Object.keys(statuses).toSorted()).toEqual(['200', '503'])
  expect(statuses['200']! + statuses['503']!).toBe(10_000)
  expect(proxy.active()).toBe(0)
  expect(ownerApi.connections()).toBeLessThanOrEqual(101)
  expect((await sendRaw(home.port, rawRequest('GET', '/api/1/vehicles'))).status).toBe(200)
  await proxy.close()
  expect(await connectionsOf(ownerApi)).toBe(0)
})

/** Connections that the owner API has open once it has seen all ends. */
async function connectionsOf({ server }: OwnerApi): Promise<number> {
  for (let turn = 0; ; turn += 1) {
    const count = await new Promise<number>((resolve, reject) => {
      server.getConnections((error, open) => (error ? reject(error) : resolve(open)))
    })
    if (count === 0 || turn > 1000) return count
    await new Promise((resolve) => setImmediate(resolve))
  }
}
