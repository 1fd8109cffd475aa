/** Time limits of processes that are held up while the answer is on its way: what has arrived is read first. */
import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createSecureServer as createHttp2Server } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import { connect, createServer, type Server } from 'node:net'
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { redisTokenStore } from '@owner-sso/token-store-redis'
import { createClient } from 'redis'
import { generate } from 'selfsigned'
import { hasRedis, startRedis } from '../../support/redis-server.ts'
import { isLong } from './deployment/figures.ts'
import { type HeldUp, holdUps, startHeldUp } from './deployment/held-up.ts'

/** Milliseconds of the limit under test, and for how long the process is held up. */
const limit = 600
const duration = 1500

let certificate: { readonly key: string; readonly cert: string }
beforeAll(async () => {
  const altNames = [{ type: 7 as const, ip: '127.0.0.1' }]
  const pem = await generate([{ name: 'commonName', value: 'loopback' }], {
    keySize: 2048,
    extensions: [{ name: 'subjectAltName', altNames }],
  })
  certificate = { key: pem.private, cert: pem.cert }
})

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

type Protocol = 'http' | 'https' | 'HTTP/2'

async function listen(protocol: Protocol, listener: RequestListener): Promise<string> {
  if (protocol === 'HTTP/2') return listenHttp2(listener)
  const server = protocol === 'http' ? createHttpServer(listener) : createHttpsServer(certificate, listener)
  const port = await portOf(server)
  closing.push(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return `${protocol}://127.0.0.1:${port}`
}

async function listenHttp2(listener: RequestListener): Promise<string> {
  // Node's HTTP/2 answers by the listeners of HTTP/1.1.
  const server = createHttp2Server(certificate).on('request', listener)
  const port = await portOf(server)
  closing.push(async () => {
    server.close()
    await once(server, 'close')
  })
  return `https://127.0.0.1:${port}`
}

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.')
  return address.port
}

/** More than a socket gives away in one read, so that it takes several turns of the event loop. */
const padding = 'x'.repeat(150_000)
const tokens = {
  access_token: 'new-access',
  refresh_token: 'new-refresh',
  token_type: 'Bearer',
  expires_in: 300,
  padding,
}

const refreshOf = (authUrl: string, protocol: Protocol): Readonly<Record<string, unknown>> => ({
  authUrl,
  limit,
  ca: certificate.cert,
  transport: { http2: protocol === 'HTTP/2' },
})

const protocols: readonly Protocol[] = ['http', 'https', 'HTTP/2']
/** Each way of being held up over a protocol of its own in the short form, and HTTP/2, which is read by another library. */
const rows = holdUps
  .flatMap((how) => protocols.map((protocol) => ({ how, protocol })))
  .filter(({ how, protocol }) => isLong || protocol === 'HTTP/2' || (how === 'stopped') === (protocol === 'http'))

describe.each(rows)('C6: a process that is $how past its time limit, over $protocol', ({ how, protocol }) => {
  test('reads the token set that came meanwhile', async () => {
    let child: HeldUp | undefined
    const authUrl = await listen(protocol, (_request, response) => {
      const answer = (): unknown =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(tokens))
      void child?.begin().then(answer)
    })
    child = startHeldUp('refresh', refreshOf(authUrl, protocol), { how, duration })
    expect(await child.output).toBe('new-refresh')
  })

  test('gives up on an answer that did not come', async () => {
    let child: HeldUp | undefined
    const authUrl = await listen(protocol, () => void child?.begin())
    child = startHeldUp('refresh', refreshOf(authUrl, protocol), { how, duration })
    expect(await child.output).toBe('ERR_SSO_TIMEOUT')
  })
})

describe.each(holdUps.filter((how) => isLong || how === 'blocked'))(
  'a process that is %s past its time limit',
  (how) => {
    test.each(['headersTimeout', 'maxDuration'])(
      'passes on the owner API’s answer that came meanwhile, as a proxy: %s',
      async (name) => {
        let child: HeldUp | undefined
        const target = await listen('http', (_request, response) => {
          void child?.begin().then(() => response.end(padding))
        })
        child = startHeldUp('proxy', { target, [name]: limit }, { how, duration })
        expect(await child.output).toBe(`200 ${padding.length}`)
      },
    )

    test('passes on the rest of the owner API’s answer that came meanwhile, as a proxy: bodyTimeout', async () => {
      let child: HeldUp | undefined
      const target = await listen('http', (_request, response) => {
        response.write('x')
        void child?.begin().then(() => response.end(padding))
      })
      child = startHeldUp('proxy', { target, bodyTimeout: limit }, { how, duration })
      expect(await child.output).toBe(`200 ${padding.length + 1}`)
    })

    test('goes on with a caller that has read the rest meanwhile, as a proxy: bodyTimeout', async () => {
      const patience = 2000
      // More than all buffers on the way take.
      const target = await listen(
        'http',
        (_request, response) => void response.end(Buffer.alloc(64 * 1024 * 1024, 'x')),
      )
      const child = startHeldUp('slowCaller', { target, bodyTimeout: patience }, { how, duration: patience + 1000 })
      const caller = connect(Number(await child.tells('port')), '127.0.0.1')
      closing.push(async () => void caller.destroy())
      const stuck = child.tells('stuck')
      caller.write('GET /api/1/vehicles HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
      await stuck
      await child.begin()
      caller.on('error', () => undefined).resume()
      expect(await child.output).toBe('whole')
    })

    test('reads the answer to a request with a signal of its own', async () => {
      let child: HeldUp | undefined
      const url = await listen('https', (_request, response) => {
        void child?.begin().then(() => response.end(padding))
      })
      child = startHeldUp('signal', { url, ca: certificate.cert, limit }, { how, duration })
      expect(await child.output).toBe(String(padding.length))
    })
  },
)

const describeWithRedis = hasRedis ? describe : describe.skip

describeWithRedis('a process that is held up past the time limit of a command', () => {
  test.each(holdUps.filter((how) => isLong || how === 'stopped'))(
    'and %s reads the record that Redis answered with',
    async (how) => {
      const redis = await startRedis()
      closing.push(redis.stop)
      const client = createClient({ url: redis.url })
      await client.connect()
      const record = { schema: 1, state: 'firewall', challenges: 0, noted_at: 0, wait: 0, padding } as const
      await redisTokenStore({ client }).swap('someone', 0, record, 'write-1')
      client.destroy()

      let child: HeldUp | undefined
      const { port, hostname } = new URL(redis.url)
      const relay = createServer((socket) => {
        const server = connect(Number(port), hostname)
        closing.push(async () => void socket.destroy())
        server.pipe(socket.on('error', () => server.destroy()))
        socket.on('data', (bytes) => {
          const pass = (): unknown => server.write(bytes)
          void (bytes.includes('GET') ? child?.begin().then(pass) : pass())
        })
      })
      const url = `redis://127.0.0.1:${await portOf(relay)}`
      closing.push(async () => void relay.close())
      child = startHeldUp('redis', { url }, { how, duration: 2500 })
      expect(await child.output).toBe(String(padding.length))
    },
  )
})
