/**
 * Connections through an outbound proxy: it is asked for a tunnel (CONNECT, RFC 9110 section 9.3.6), with the owner API's TLS inside,
 * so it sees an address and nothing else.
 */
import { Agent, type AgentOptions } from 'node:https'
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { startTimeLimit } from '@owner-sso/core'
import { buildConnector } from 'undici'
import { property } from './property.ts'

/** Milliseconds for a tunnel, where no option says how many. */
export const tunnelTimeout = 10_000

/**
 * For undici's `connect`, of https addresses.
 *
 * @param tls - with the milliseconds that the tunnel may take, and then TLS
 */
export function throughProxy(
  proxy: string,
  tls: buildConnector.BuildOptions & { readonly timeout: number },
): buildConnector.connector {
  const secure = buildConnector(tls)
  return (options, callback) => {
    const { hostname, port } = options
    openTunnel({ proxy, hostname, port: port || 443, timeout: tls.timeout }, (...[error, httpSocket]) => {
      if (error) callback(error, null)
      else secure({ ...options, httpSocket }, callback)
    })
  }
}

/** For node:https: a tunnel for each connection. */
export class TunnelAgent extends Agent {
  constructor(proxy: string, options: AgentOptions) {
    super(options)
    const secure = this.createConnection.bind(this)
    this.createConnection = (to, callback) => {
      const { host, port } = to
      openTunnel({ proxy, hostname: host ?? '', port: port ?? 443, timeout: tunnelTimeout }, (...[error, socket]) => {
        const inTunnel = { ...to, socket }
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- with an error, nobody looks at the socket
        if (error) callback?.(error, undefined as never)
        else callback?.(null, secure(inTunnel)!)
      })
      return undefined
    }
  }
}

interface Tunnel {
  readonly proxy: string
  /** Of the owner API. */
  readonly hostname: string
  readonly port: number | string
  /** Milliseconds. */
  readonly timeout: number
}

/** Calls back once. */
function openTunnel(tunnel: Tunnel, callback: (...outcome: [Error, undefined?] | [null, Socket]) => void): void {
  const proxy = new URL(tunnel.proxy)
  const hostname = withoutBrackets(tunnel.hostname)
  const target = `${isIP(hostname) === 6 ? `[${hostname}]` : hostname}:${tunnel.port}`
  const socket = connectTo(proxy)
  let received = ''
  const endLimit = startTimeLimit(tunnel.timeout, () => fail(failure('did not answer in time', 'ETIMEDOUT')))

  function end(): void {
    endLimit()
    socket.off('data', read).off('error', unreachable).off('close', cut)
  }
  function fail(error: Error): void {
    end()
    socket.on('error', () => undefined).destroy()
    callback(error)
  }
  const unreachable = (error: Error): void => fail(failure(`can’t be reached: ${error.message}`, codeOf(error)))
  const cut = (): void => fail(failure('closed the connection without an answer', 'ECONNRESET'))
  function read(piece: Buffer): void {
    received += piece.toString('latin1')
    const { status, rest } = finalAnswer(received)
    if (status === undefined) {
      if (received.length > longestAnswer || !'HTTP/1.'.startsWith(received.slice(0, 7))) {
        fail(failure('gave an answer that is no HTTP', 'ERR_INVALID_PROTOCOL'))
      }
    } else if (status < 200 || status > 299) fail(refusal(status, target, proxy))
    else {
      end()
      socket.pause()
      if (rest !== '') socket.unshift(Buffer.from(rest, 'latin1'))
      callback(null, socket)
    }
  }
  socket.on('data', read).once('error', unreachable).once('close', cut)
  socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${authorization(proxy)}\r\n`)
}

function connectTo({ protocol, hostname, port }: URL): Socket {
  const host = withoutBrackets(hostname)
  if (protocol === 'http:') return connect({ host, port: Number(port || 80) })
  const servername = isIP(host) === 0 ? host : ''
  // Stated, because the environment could turn it off.
  return connectTls({ host, port: Number(port || 443), servername, rejectUnauthorized: true })
}

const withoutBrackets = (hostname: string): string => hostname.replaceAll(/[[\]]/gu, '')

function authorization({ username, password }: URL): string {
  if (username === '' && password === '') return ''
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return `proxy-authorization: Basic ${Buffer.from(pair).toString('base64')}\r\n`
}

/** Bytes. */
const longestAnswer = 16_384

/** The heads of any number of interim answers (1xx, but for 101, which is none), and of the one that counts. */
const untilFinal = /^(?:HTTP\/1\.[01] 1(?!01)\d\d[^]*?\r?\n\r?\n)*HTTP\/1\.[01] (101|[2-9]\d\d)[^]*?\r?\n\r?\n/u

/** @returns the status that counts, once it is there, and what follows its head */
function finalAnswer(received: string): { readonly status?: number; readonly rest: string } {
  const [heads, status] = untilFinal.exec(received) ?? []
  return heads === undefined ? { rest: '' } : { status: Number(status), rest: received.slice(heads.length) }
}

function refusal(status: number, target: string, proxy: URL): Error {
  const what = `refused the tunnel (${status})`
  if (status === 407) {
    return failure(
      proxy.username === ''
        ? `${what}: it asks for a user and a password. Put both into its address, percent-encoded, as http://USER:PASSWORD@HOST:PORT (for axios: proxy.auth)`
        : `${what}: it does not accept the user and the password of its address. Correct them there, percent-encoded`,
    )
  }
  if (status >= 500) return failure(`${what}: it can’t reach ${target}. Check both addresses`)
  return failure(`${what}: ask whoever runs it to allow CONNECT to ${target}`)
}

function failure(what: string, code = 'ERR_PROXY_TUNNEL'): Error {
  return Object.assign(new Error(`The outbound proxy ${what}`), { code })
}

function codeOf(error: Error): string | undefined {
  const code = property(error, 'code')
  return typeof code === 'string' ? code : undefined
}
