/**
 * The proxy of one program, on loopback: it stands for the service at the service's hosts, where it answers refreshes and
 * nothing else, and tunnels to every other host without a look.
 */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import type { BrokerHandler } from '@owner-sso/broker'
import { startTimeLimit, withoutBrackets } from '@owner-sso/core'
import type { RunCertificate } from './run-certificate.ts'

export interface InterceptingProxy {
  readonly url: string
  /** For a program that has ended: waits until its connections have, at most a second, and cuts what is left. */
  readonly close: () => Promise<void>
}

export interface InterceptingProxyOptions {
  /** The service's, as a URL has them: without 443. */
  readonly hosts: ReadonlySet<string>
  readonly certificate: RunCertificate
  readonly answerRefresh: BrokerHandler
  /** The program has come to the service's place; a problem completes a sentence that begins with its name. */
  readonly saw: (problem?: string) => void
  readonly sawTunnel: (host: string) => void
}

/** Endpoint 6, and what older clients have for it. */
const tokenPaths = new Set(['/oauth2/v3/token', '/oauth/token'])

const patience = 1000

/** Milliseconds, and connections at the same time: others of this machine can come here as well. `silence`: of a tunnel. */
const limits = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 5000 }
const [silence, mostConnections] = [900_000, 1000]

export async function interceptingProxy(options: InterceptingProxyOptions): Promise<InterceptingProxy> {
  const { hosts, saw, sawTunnel } = options
  const services = new Map([...hosts].map((host) => [withoutRoot(host), serviceAt(host, options)]))
  const connections = new Set<Duplex>()

  const proxy = createServer(limits, (request, response) => {
    const host = URL.canParse(request.url ?? '') ? withoutRoot(new URL(request.url ?? '').host) : ''
    // Others of this machine may send words here, which are not to be shown.
    const shown = services.has(host) ? host : 'others'
    saw(
      `sends https to ${shown} through a proxy without encryption, as axios does before 1.16.1, and was rejected. Update it.`,
    )
    plainAnswer(response, 501, 'This proxy takes https through a tunnel (CONNECT), and nothing else.')
  })
  proxy.maxConnections = mostConnections
  proxy.on('connection', (socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  proxy.on('connect', ({ url = '' }, socket, head) => {
    socket.on('error', () => undefined)
    const address = `https://${url}`
    if (!URL.canParse(address)) return void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
    const { host, hostname, port } = new URL(address)
    socket.unshift(head)
    const service = services.get(withoutRoot(host))
    if (service === undefined) {
      sawTunnel(host)
      return tunnel(socket, withoutBrackets(hostname), Number(port || 443))
    }
    socket.write(established)
    service.emit('connection', socket)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const address = proxy.address()
  if (typeof address !== 'object' || address === null) throw new Error('A port has an address.')
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      proxy.close()
      const open = [...connections]
      const closed = open.map((socket) => new Promise((resolve) => socket.once('close', resolve)))
      const endLimit = startTimeLimit(patience, () => open.forEach((socket) => socket.destroy()))
      await Promise.all(closed)
      endLimit()
    },
  }
}

/** A host may be written with the dot of the root at its end, and is the same one. */
function withoutRoot(host: string): string {
  return host.replace(/\.(?=$|:)/u, '')
}

const established = 'HTTP/1.1 200 Connection Established\r\n\r\n'

function tunnel(socket: Duplex, host: string, port: number): void {
  let refusal = 'HTTP/1.1 502 Bad Gateway\r\n\r\n'
  const upstream = connect({ host, port, allowHalfOpen: true, timeout: silence }, () => {
    refusal = ''
    socket.write(established)
    socket.pipe(upstream).pipe(socket)
  })
  upstream.on('timeout', () => upstream.destroy(new Error('Nobody said anything.')))
  upstream.on('error', () => socket.end(refusal, () => socket.destroy()))
  socket.on('close', () => upstream.destroy())
}

/** What stands for the service at one of its hosts. It listens nowhere: connections are handed to it. */
function serviceAt(host: string, { certificate, answerRefresh, saw }: InterceptingProxyOptions): TlsServer {
  const distrusted = (): void =>
    saw(
      `ended its connection to ${host} before it asked: it pins the service’s certificate, or trusts no authority that ` +
        'its environment names. Point it at owner-sso broker instead.',
    )
  const asked = new WeakSet<object>()
  // A server that listens nowhere holds nobody to its own time limits.
  const limitOf = new WeakMap<object, () => void>()
  const limit = (socket: Duplex): void => {
    limitOf.get(socket)?.()
    const cut = (): void => {
      asked.add(socket)
      socket.destroy()
    }
    limitOf.set(socket, startTimeLimit(limits.requestTimeout, cut))
  }
  const answer: RequestListener = (request, response) => {
    const { socket } = request
    asked.add(socket)
    request.once('end', () => limitOf.get(socket)?.())
    response.once('finish', () => limit(socket))
    const [path = ''] = (request.url ?? '').split('?')
    const isRefresh = tokenPaths.has(path)
    saw(isRefresh ? undefined : `asked ${host} for something else than a refresh, such as a sign-in, and was rejected.`)
    if (isRefresh) return answerRefresh(request, response)
    plainAnswer(response, 403, `owner-sso broker run stands for ${host}, and answers only refreshes there.`)
  }
  const { cert, key } = certificate
  return createTlsServer({ cert, key, handshakeTimeout: limits.headersTimeout }, answer)
    .on('tlsClientError', distrusted)
    .on('secureConnection', (socket) => {
      limit(socket)
      socket.once('close', () => {
        limitOf.get(socket)?.()
        // Some clients look at the certificate when the handshake is over.
        if (!asked.has(socket)) distrusted()
      })
    })
}

function plainAnswer(response: Parameters<RequestListener>[1], status: number, sentence: string): void {
  response
    .writeHead(status, {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      connection: 'close',
    })
    .end(`${sentence}\n`)
}
