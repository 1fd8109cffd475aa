/**
 * A server of the broker's own: where it may listen, and with what limits.
 */
import { once } from 'node:events'
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createSecureContext } from 'node:tls'
import { checkOptionNames, isLoopback, type OptionNames, startTimeLimit } from '@owner-sso/core'
import { kindOf, requireBoolean, requireFunction, requireOption } from '../given/given.ts'
import { type Door, localDoor, openDoor, proxiedDoor } from '../http/door.ts'
import type { BrokerHandler, RejectUpgrade } from '../http/handler.ts'
import { drainOf } from './drain.ts'
import { type ListenOnSocket, listenOnSocket } from './unix-socket.ts'

/** Where a broker listens. */
export type ListenOptions = ListenOnSocket | ListenOnPort

/** A port: every caller needs a key. */
export interface ListenOnPort {
  /** 0: any free one. */
  readonly port: number
  /** Default `127.0.0.1`. */
  readonly host?: string | undefined
  /** A certificate of the broker's own, and its key, in PEM. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer } | undefined
  /** A proxy that speaks TLS is in front, adds the caller to `X-Forwarded-For`, and nobody else reaches this port. */
  readonly behindTlsProxy?: boolean | undefined
}

/** A server that the broker has opened. */
export interface BrokerServer {
  /** Such as `http://127.0.0.1:8700`, or `unix:/run/owner-sso/broker.sock`. */
  readonly url: string
  readonly server: Server
  /** Takes no more calls, and resolves when those under way are answered; after 45 seconds they are cut. */
  readonly close: () => Promise<void>
}

/** What listens. */
export interface Listener {
  readonly handle: (door: Door) => BrokerHandler
  readonly reject: RejectUpgrade
  readonly also: RequestListener | undefined
}

/** Milliseconds and bytes that a caller has: its requests are short. Long polls are answers, and have no such limit. */
const limits: ServerOptions = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 16_384,
}

/** Connections at the same time. */
const mostConnections = 10_000

/** Milliseconds that calls under way have at the end: one may wait for a refresh, which may take 30 seconds, and for its save. */
const patience = 45_000

const socketOptionNames: OptionNames<ListenOnSocket> = { unix: true, mode: true }
const portOptionNames: OptionNames<ListenOnPort> = { port: true, host: true, tls: true, behindTlsProxy: true }
const optionNames: OptionNames<ListenOnSocket & ListenOnPort> = { ...socketOptionNames, ...portOptionNames }

/** @throws TypeError that names the option; the system's error */
export async function listenAt(options: ListenOptions, listener: Listener): Promise<BrokerServer> {
  checkOptionNames<Partial<ListenOnSocket & ListenOnPort>>('listen', options, optionNames)
  requireFunction('also, the second argument of listen,', listener.also)
  if (isOnSocket(options)) {
    checkOptionNames('listen with unix', options, socketOptionNames)
    const server = createServer(limits, requestListener(listener, localDoor))
    const end = prepare(server, listener)
    const remove = await listenOnSocket(server, options)
    return { url: `unix:${options.unix}`, server, close: () => end().then(remove) }
  }
  const { port, host = '127.0.0.1', tls, behindTlsProxy = false } = options
  const isPort = Number.isInteger(port) && port >= 0 && port <= 65_535
  requireOption(isPort, 'listen takes unix, the path of a socket, or port, a whole number up to 65535', port)
  checkOptionNames('listen with port', options, portOptionNames)
  requireBoolean('behindTlsProxy', behindTlsProxy)
  if (tls !== undefined) checkCertificate(tls)
  const shown = typeof host === 'string' && host.includes(':') ? `[${host}]` : host
  requireOption(isHost(shown), 'host must be an address or a name, without a port', host)
  if (!isLoopback(new URL(`http://${shown}`)) && tls === undefined && !behindTlsProxy) {
    throw new TypeError(
      `host ${host} is not of this machine alone: give tls a certificate, or say behindTlsProxy if a proxy in front has one`,
    )
  }
  const answer = requestListener(listener, behindTlsProxy ? proxiedDoor : openDoor)
  const server = tls === undefined ? createServer(limits, answer) : createTlsServer({ ...limits, ...tls }, answer)
  const close = prepare(server, listener)
  server.listen({ port, host })
  await once(server, 'listening')
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  return { url: `${tls === undefined ? 'http' : 'https'}://${shown}:${bound}`, server, close }
}

/** Checks certificate and key before a caller meets a wrong one. The error shows neither: a key may be in the wrong option. */
function checkCertificate(tls: NonNullable<ListenOnPort['tls']>): void {
  checkOptionNames('tls', tls, { cert: true, key: true })
  const { cert, key } = tls
  requireOption(isContext({ cert }), 'tls.cert must be a certificate in PEM', kindOf(cert))
  requireOption(isContext({ cert, key }), 'tls.key must be the certificate’s key in PEM', kindOf(key))
}

function isContext(pem: Partial<NonNullable<ListenOnPort['tls']>>): boolean {
  // Node takes nothing at all for a context without a certificate.
  if (
    Object.values(pem).some(
      (text: unknown) => !(typeof text === 'string' || text instanceof Uint8Array) || text.length === 0,
    )
  )
    return false
  try {
    createSecureContext(pem)
    return true
  } catch {
    return false
  }
}

function isHost(shown: unknown): boolean {
  if (typeof shown !== 'string' || !URL.canParse(`http://${shown}`)) return false
  const { username, port, pathname, search, hash } = new URL(`http://${shown}`)
  return `${username}${port}${search}${hash}` === '' && pathname === '/' && !shown.endsWith('/')
}

function isOnSocket(options: ListenOptions): options is ListenOnSocket {
  return 'unix' in options && options.unix !== undefined
}

function requestListener({ handle, also }: Listener, door: Door): RequestListener {
  const handler = handle(door)
  if (also === undefined) return (request, response) => handler(request, response)
  return (request, response) => handler(request, response, () => also(request, response))
}

/** Sets a server up. Returns what ends it. */
function prepare(server: Server, { reject }: Listener): () => Promise<void> {
  server.maxConnections = mostConnections
  server.on('connect', reject)
  const drain = drainOf(server)
  let closed: Promise<void> | undefined
  const close = async (): Promise<void> => {
    const endLimit = startTimeLimit(patience, () => server.closeAllConnections())
    await drain()
    endLimit()
  }
  return () => (closed ??= close())
}
