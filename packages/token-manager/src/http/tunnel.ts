import type { Socket } from 'node:net'
import { onAbort } from '../support/abort.ts'
import { withBrackets, withoutBrackets } from '../support/addresses.ts'
import { mostHeaderBytes } from './answer-bounds.ts'

/** What {@link openTunnel} is asked for. */
export interface TunnelRequest {
  /** The proxy's address, with its user and password if it wants them. */
  readonly proxy: string
  /** Where the tunnel leads: an IPv6 address with brackets or without. */
  readonly host: string
  readonly port: number | string
  /** Ends the attempt, which has no time limit of its own. */
  readonly signal?: AbortSignal | undefined
}

/** A paused socket, or why there is none. */
/** A paused socket, or why there is none. */
export type TunnelOutcome = { readonly outcome: 'open'; readonly socket: Socket } | TunnelFailure

/** Why there is no tunnel. */
export type TunnelFailure =
  /** Nobody answers at the proxy's address, or not with a certificate for it. */
  | { readonly outcome: 'unreachable'; readonly error: Error }
  /** By its status; `hasLogin` where the proxy was given a user or a password. */
  | { readonly outcome: 'rejected'; readonly status: number; readonly hasLogin: boolean }
  | { readonly outcome: 'closed' | 'no-http' | 'aborted' }

/**
 * Opens a tunnel through an outbound proxy (CONNECT, RFC 9110 section 9.3.6). One attempt, and a failure is an outcome.
 *
 * @throws URIError for a user or a password that is not percent-encoded
 *
 * @example
 * const tunnel = await openTunnel({ proxy: 'http://proxy:3128', host: 'api.example.com', port: 443 })
 * if (tunnel.outcome === 'open') tunnel.socket.end()
 */
export async function openTunnel({ proxy, host, port, signal }: TunnelRequest): Promise<TunnelOutcome> {
  const address = new URL(proxy)
  const login = loginOf(address)
  const target = `${withBrackets(host)}:${port}`
  const authorization = login && `Proxy-Authorization: Basic ${Buffer.from(login).toString('base64')}\r\n`
  const socket = await connectTo(address)
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${authorization}\r\n`)
  const answer = await answerOn(socket, signal)
  if (typeof answer === 'number' && answer >= 200 && answer <= 299) return { outcome: 'open', socket }
  socket.on('error', () => undefined).destroy()
  return typeof answer === 'number' ? { outcome: 'rejected', status: answer, hasLogin: login !== '' } : answer
}

/** The option `proxy`. No error shows it: there may be a password in it. @throws TypeError */
export function proxyOf({ proxy }: { readonly proxy?: unknown }): string | undefined {
  if (proxy === undefined) return undefined
  const url = typeof proxy === 'string' && URL.canParse(proxy) ? new URL(proxy) : undefined
  if (typeof proxy !== 'string' || (url?.protocol !== 'http:' && url?.protocol !== 'https:')) {
    throw new TypeError('proxy must be an http or https address')
  }
  if (!isPercentEncoded(url.username) || !isPercentEncoded(url.password)) {
    throw new TypeError('proxy must have its user name and password percent-encoded')
  }
  return proxy
}

function isPercentEncoded(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined
  } catch {
    return false
  }
}

/** Empty where the address names nobody. */
function loginOf({ username, password }: URL): string {
  return username + password && `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
}

async function connectTo({ protocol, hostname, port }: URL): Promise<Socket> {
  // Here, because core's import loads this file: a token that is good for longer needs no sockets.
  const { connect, isIP } = await import('node:net')
  const host = withoutBrackets(hostname)
  if (protocol === 'http:') return connect({ host, port: Number(port || 80) })
  const { connect: connectTls } = await import('node:tls')
  const servername = isIP(host) === 0 ? host : ''
  // Stated, because the environment could turn it off.
  return connectTls({ host, port: Number(port || 443), servername, rejectUnauthorized: true })
}

const oneHead = /^HTTP\/1\.[01] (\d{3})[^]*?\r?\n\r?\n/u

/** @returns the status that counts; the socket is paused then, and what follows its head is still to be read */
function answerOn(socket: Socket, signal: AbortSignal | undefined): Promise<number | TunnelFailure> {
  return new Promise((resolve) => {
    let received = ''
    let bytes = 0
    let letGo: (() => void) | undefined
    const end = (answer: number | TunnelFailure): void => {
      letGo?.()
      socket.off('data', read).off('error', failed).off('close', cut).pause()
      resolve(answer)
    }
    const failed = (error: Error): void => end({ outcome: 'unreachable', error })
    const cut = (): void => end({ outcome: 'closed' })
    const read = (chunk: Buffer): void => {
      bytes += chunk.length
      received += chunk.toString('latin1')
      // Interim answers may come before the one that counts.
      for (let head = oneHead.exec(received); head; head = oneHead.exec(received)) {
        received = received.slice(head[0].length)
        if (/^1(?!01)/u.test(head[1]!)) continue
        end(Number(head[1]))
        if (received !== '') socket.unshift(Buffer.from(received, 'latin1'))
        return
      }
      if (bytes > mostHeaderBytes || !'HTTP/1.'.startsWith(received.slice(0, 7))) end({ outcome: 'no-http' })
    }
    socket.on('data', read).once('error', failed).once('close', cut)
    letGo = onAbort(signal, () => end({ outcome: 'aborted' }))
  })
}
