/**
 * Whether an address can be reached, over which TLS version, and what time it is there. One request, no login.
 */
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import { connect, TLSSocket } from 'node:tls'
import { systemCode, withoutBrackets, withTimeLimit } from '@owner-sso/core'
import { exitCodes } from '../failure/command-error.ts'
import type { UsableConnection } from '../settings/configured-service.ts'
import { type Finding, good, note, problem } from '../terminal/finding.ts'
import { TunnelError, tunnelThrough } from './tunnel.ts'

const timeout = 5000

/** Seconds that this machine's clock may be wrong: passcodes are good for 30. */
const tolerableSkew = 10

/** What was found at an address, and its page where it answered. */
export interface Reached {
  readonly findings: Finding[]
  readonly page: Page | undefined
}

/**
 * @param about - what the findings call it
 * @param url - the address that they name
 * @param how - it is spoken to, over HTTP/1.1 in any case
 * @param at - what is asked there
 */
export async function reachAt(about: string, url: string, how: UsableConnection, at: string = url): Promise<Reached> {
  try {
    const page = await pageAt(at, how)
    const { status, type, tls, date } = page
    const through = how.proxy === undefined ? '' : ' through the outbound proxy'
    const over = tls === undefined ? 'without TLS' : `over ${tls}${through}`
    const blocked = (status === 403 || status === 429) && type.startsWith('text/html')
    const reached = blocked
      ? problem(
          about,
          `A firewall answers (${status}).`,
          'Wait 15 minutes or more, and send nothing.',
          exitCodes.firewall,
        )
      : good(about, `reached ${over}`)
    return { findings: [reached, ...(date === undefined ? [] : [clock(date)])], page }
  } catch (error) {
    if (error instanceof TunnelError) return { findings: [error.finding], page: undefined }
    const code = systemCode(error) ?? 'no answer'
    const text = `${url} can’t be reached (${code}).`
    return { findings: [problem(about, text, advice[code] ?? defaultAdvice, exitCodes.network)], page: undefined }
  }
}

const defaultAdvice = 'Check the address, and whether this machine has a network.'
const trust = 'If its certificate authority is a private one, give its PEM file with --ca.'
const advice: Readonly<Record<string, string>> = {
  ENOTFOUND: 'There is no such host: check the address for a typing mistake.',
  EAI_AGAIN: 'Names can’t be looked up: check the network.',
  ECONNREFUSED: 'Nothing listens there: check the port, and whether the service is running.',
  ETIMEDOUT: 'It does not answer: a firewall on the way may drop the request.',
  DEPTH_ZERO_SELF_SIGNED_CERT: trust,
  SELF_SIGNED_CERT_IN_CHAIN: trust,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: trust,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: trust,
  CERT_HAS_EXPIRED: 'Its certificate has expired, or this machine’s clock is wrong.',
  EPROTO: 'No TLS version is common to both: try another --transport.',
}

/** An answer to one GET, with as much of its text as a login page has. */
export interface Page {
  readonly status: number
  readonly type: string
  readonly text: string
  readonly tls: string | undefined
  /** Seconds that this machine's clock is ahead, as far as the answer tells. */
  readonly date: number | undefined
}

/** Bytes. */
const longestPage = 512 * 1024

/** @throws TunnelError, or what the system says */
export function pageAt(url: string, how: UsableConnection): Promise<Page> {
  return withTimeLimit(timeout, async (signal) => {
    const response = await responseOf(new URL(url), how, signal)
    const answer = head(response)
    const pieces: Buffer[] = []
    let bytes = 0
    for await (const piece of response) {
      pieces.push(piece)
      bytes += piece.length
      if (bytes > longestPage) break
    }
    return { ...answer, text: Buffer.concat(pieces).toString() }
  })
}

async function responseOf(
  url: URL,
  { transport, proxy }: UsableConnection,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { tls, userAgent } = transport
  const isSecure = url.protocol === 'https:'
  const options = { method: 'GET', headers: { 'user-agent': userAgent, accept: '*/*' }, ...tls, signal } as const
  // Plain http is for this machine alone.
  const socket = isSecure && proxy !== undefined ? await tunnelThrough(proxy, url, signal) : undefined
  const host = withoutBrackets(url.hostname)
  const way =
    socket === undefined
      ? { agent: false as const }
      : { createConnection: () => connect({ ...tls, socket, host, servername: isIP(host) === 0 ? host : '' }) }
  return new Promise((resolve, reject) => {
    const request = isSecure ? requestHttps : requestHttp
    request(url, { ...options, ...way }, resolve)
      .on('error', (error) =>
        reject(error.name === 'AbortError' ? Object.assign(new Error(), { code: 'ETIMEDOUT' }) : error),
      )
      .end()
  })
}

function head({ statusCode = 0, headers, socket }: IncomingMessage): Omit<Page, 'text'> {
  const there = Date.parse(headers.date ?? '')
  return {
    status: statusCode,
    type: headers['content-type'] ?? '',
    tls: socket instanceof TLSSocket ? (socket.getProtocol() ?? undefined) : undefined,
    date: Number.isNaN(there) ? undefined : Math.round((Date.now() - there) / 1000),
  }
}

function clock(skew: number): Finding {
  const size = Math.abs(skew)
  if (size <= tolerableSkew) return good('clock', `right, to ${Math.max(1, size)} s`)
  const text = `This machine’s clock is ${size} s ${skew === size ? 'ahead' : 'behind'}: passcodes would be wrong.`
  return note('clock', text, 'Set it, and keep it synchronised: timedatectl set-ntp true')
}
