/**
 * A server of the broker's own: where it may listen, and with what limits.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerOptions } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Duplex } from 'node:stream'
import { createSecureContext } from 'node:tls'
import {
  checkOption,
  checkOptions,
  isLoopback,
  kinds,
  type OptionRows,
  startTimeLimit,
  withBrackets,
} from '@owner-sso/core'
import { drainOf } from '@owner-sso/express/support'
import { type BrokerHandler, type Door, localDoor, openDoor, proxiedDoor } from '../http/door.ts'
import { type ListenOnSocket, listenOnSocket, socketRows } from './unix-socket.ts'

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
  readonly reject: (request: IncomingMessage, socket: Duplex) => void
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

const portRows: OptionRows<ListenOnPort> = {
  port: kinds.whole(0, 65_535),
  host: { must: 'an address or a name, without a port', fits: isHost },
  tls: kinds.any,
  behindTlsProxy: kinds.boolean,
}

/** @throws TypeError that names the option; the system's error */
export async function listenAt(options: ListenOptions, listener: Listener): Promise<BrokerServer> {
  const given: Partial<ListenOnSocket & ListenOnPort> = options
  checkOptions('listen', given, { ...socketRows, ...portRows })
  const { unix, mode, port, host = '127.0.0.1', tls, behindTlsProxy = false } = given
  if (listener.also !== undefined) checkOption('also, the second argument of listen,', kinds.function, listener.also)
  if (unix !== undefined) {
    requireNone('unix', options, portRows)
    const server = createServer(limits, requestListener(listener, localDoor))
    const end = prepare(server, listener)
    const remove = await listenOnSocket(server, { unix, mode })
    return { url: `unix:${unix}`, server, close: () => end().then(remove) }
  }
  if (port === undefined) throw new TypeError('listen takes unix, the path of a socket, or port')
  requireNone('port', options, socketRows)
  if (tls !== undefined) checkCertificate(tls)
  const shown = withBrackets(host)
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

/** @throws TypeError where an option belongs to the other kind of place */
function requireNone(place: string, options: ListenOptions, others: object): void {
  const other = Object.entries(options).find(([name, value]) => value !== undefined && Object.hasOwn(others, name))
  if (other !== undefined) throw new TypeError(`${other[0]} is not an option of listen with ${place}`)
}

/** Checks certificate and key before a caller meets a wrong one. The error shows neither: a key may be in the wrong option. */
function checkCertificate(tls: NonNullable<ListenOnPort['tls']>): void {
  checkOptions('tls', tls, { cert: kinds.any, key: kinds.any })
  const { cert, key } = tls
  checkOption('tls.cert', { must: 'a certificate in PEM', fits: () => isContext({ cert }) }, cert)
  checkOption('tls.key', { must: 'the certificate’s key in PEM', fits: () => isContext({ cert, key }) }, key)
}

function isContext(pem: Partial<NonNullable<ListenOnPort['tls']>>): boolean {
  try {
    createSecureContext(pem)
    // Node takes nothing at all for a context without a certificate.
    return Object.values(pem).every((text: unknown) => String(text).includes('-----BEGIN '))
  } catch {
    return false
  }
}

function isHost(host: unknown): boolean {
  if (typeof host !== 'string') return false
  const shown = withBrackets(host)
  if (!URL.canParse(`http://${shown}`)) return false
  const { username, port, pathname, search, hash } = new URL(`http://${shown}`)
  return `${username}${port}${search}${hash}` === '' && pathname === '/' && !shown.endsWith('/')
}

function requestListener({ handle, also }: Listener, door: Door): RequestListener {
  const handler = handle(door)
  return (request, response) => handler(request, response, also && (() => also(request, response)))
}

/** Sets a server up. Returns what ends it. */
function prepare(server: Server, { reject }: Listener): () => Promise<void> {
  server.maxConnections = mostConnections
  server.on('connect', reject)
  const drain = drainOf(server)
  let closed: Promise<void> | undefined
  const close = (): Promise<void> => drain().finally(startTimeLimit(patience, () => server.closeAllConnections()))
  return () => (closed ??= close())
}
