/**
 * An agent for https through an outbound proxy: that is asked for a tunnel (CONNECT, RFC 9110 section 9.3.6) with the service's TLS
 * inside, so it sees an address and nothing else.
 */
import { Agent, type AgentOptions } from 'node:https'
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { mostHeaderBytes } from './answer-bounds.ts'
import { brokenConnection } from './broken-connection.ts'

export interface TunnelAgentOptions extends AgentOptions {
  /** The proxy's address, with its user and password if it wants them. */
  readonly proxy: string
}

export class TunnelAgent extends Agent {
  readonly #proxy: URL
  /** Sockets whose tunnel is not there yet. */
  readonly #asking = new Set<Socket>()

  constructor({ proxy, ...options }: TunnelAgentOptions) {
    super(options)
    this.#proxy = new URL(proxy)
  }

  override createConnection(...[options, callback]: Parameters<Agent['createConnection']>): undefined {
    const host = options.host ?? 'localhost'
    const target = `${isIP(host) === 6 ? `[${host}]` : host}:${options.port}`
    const socket = connectTo(this.#proxy)
    this.#asking.add(socket)
    askForTunnel(socket, this.#proxy, target, (error) => {
      this.#asking.delete(socket)
      if (!error) {
        const inTunnel = { ...options, socket }
        callback?.(null, super.createConnection(inTunnel)!)
        return
      }
      socket.on('error', () => undefined).destroy()
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- with an error, nobody looks at the socket
      callback?.(error, undefined as never)
    })
    return undefined
  }

  override destroy(): void {
    for (const socket of this.#asking) socket.destroy()
    super.destroy()
  }
}

function connectTo({ protocol, hostname, port }: URL): Socket {
  const host = hostname.replaceAll(/[[\]]/gu, '')
  if (protocol === 'http:') return connect({ host, port: Number(port || 80) })
  const servername = isIP(host) === 0 ? host : ''
  // Stated, because the environment could turn it off.
  return connectTls({ host, port: Number(port || 443), servername, rejectUnauthorized: true })
}

/** An answer's head. */
const oneHead = /^HTTP\/1\.[01] (\d{3})[^]*?\r?\n\r?\n/u

/** @param done - called once, with the error of a connection to the proxy, or with one that has its status as code */
function askForTunnel(socket: Socket, proxy: URL, target: string, done: (error?: Error) => void): void {
  let received = ''
  let bytes = 0
  const end = (error?: Error): void => {
    socket.off('data', read).off('error', failed).off('close', cut)
    done(error)
  }
  // Whatever its kind: it is about the proxy, which `syscall` tells.
  const failed = (error: Error): void => end(Object.assign(error, { syscall: 'connect' }))
  const cut = (): void => failed(brokenConnection())
  const refuse = (code: string): void => end(Object.assign(new Error('no tunnel'), { code }))
  const read = (chunk: Buffer): void => {
    bytes += chunk.length
    received += chunk.toString('latin1')
    let status = ''
    // Interim answers may come before the one that counts.
    for (let head = oneHead.exec(received); head && status === ''; head = oneHead.exec(received)) {
      received = received.slice(head[0].length)
      if (!/^1(?!01)/u.test(head[1]!)) status = head[1]!
    }
    if (status === '') {
      if (bytes > mostHeaderBytes || !'HTTP/1.'.startsWith(received.slice(0, 7))) refuse('PROXY_SPEAKS_NO_HTTP')
      return
    }
    if (!status.startsWith('2')) {
      refuse(status === '407' && proxy.username === '' ? 'PROXY_WANTS_PASSWORD' : `PROXY_${status}`)
      return
    }
    socket.pause()
    if (received !== '') socket.unshift(Buffer.from(received, 'latin1'))
    end()
  }
  socket.on('data', read).once('error', failed).once('close', cut)
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${authorization(proxy)}\r\n`)
}

function authorization({ username, password }: URL): string {
  if (username === '' && password === '') return ''
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return `Proxy-Authorization: Basic ${Buffer.from(pair).toString('base64')}\r\n`
}
