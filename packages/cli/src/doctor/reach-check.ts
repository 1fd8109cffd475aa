/**
 * Whether an address can be reached, over which TLS version, and what time it is there. One request, no login.
 */
import { withTimeLimit } from '@owner-sso/core'
import { openConnection, roundTrip, unreachableReason } from '@owner-sso/token-manager/http'
import { exitCodes } from '../failure/command-error.ts'
import type { UsableConnection } from '../settings/configured-service.ts'
import { type Finding, good, note, problem } from '../terminal/finding.ts'

const timeout = 5000

/** Seconds that this machine's clock may be wrong: passcodes are good for 30. */
const tolerableSkew = 10

export interface Page {
  readonly status: number
  readonly header: (name: string) => string | undefined
  readonly text: string
  readonly tls: string | undefined
}

export interface Reached {
  readonly findings: Finding[]
  readonly page?: Page
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
    const { status, header, tls } = page
    const isBlocked = (status === 403 || status === 429) && header('content-type')?.startsWith('text/html') === true
    const over = `over ${tls}${how.proxy === undefined ? '' : ' through the outbound proxy'}`
    const wait = 'Wait 15 minutes or more, and send nothing.'
    const reached = isBlocked
      ? problem(about, `A firewall answers (${status}).`, wait, exitCodes.firewall)
      : good(about, `reached ${tls === undefined ? 'without TLS' : over}`)
    return { findings: [reached, ...clock(Date.parse(header('date') ?? ''))], page }
  } catch (error) {
    const { code = 'ETIMEDOUT', syscall }: { code?: string; syscall?: string } = Object(error)
    // Some pages are larger than any of the service's: they are there.
    if (code === 'ANSWER_TOO_LARGE') return { findings: [good(about, 'reached')] }
    return { findings: [unreachable(about, url, { code, isOfConnection: syscall !== undefined }, how)] }
  }
}

/** One GET. @throws what kept it from an answer: its code, without an error of Node's */
export function pageAt(url: string, { transport, proxy }: UsableConnection): Promise<Page> {
  const target = new URL(url)
  const http1 = { ...transport, http2: false }
  const connection = openConnection(target, {
    transport: http1,
    proxy: proxy?.value,
    tlsMemory: { sessions: new Map() },
  })
  const headers = { 'user-agent': transport.userAgent, accept: '*/*' }
  let tls: string | undefined
  return withTimeLimit(timeout, async (signal) => {
    const sending = { signal, beforeWrite: (agreed: { readonly tls: string | undefined }) => void (tls = agreed.tls) }
    const { status, header, body } = await roundTrip(connection, { method: 'GET', url: target, headers }, sending)
    return { status, header, text: body, tls }
  }).finally(connection.close)
}

function unreachable(
  about: string,
  url: string,
  { code, isOfConnection }: { readonly code: string; readonly isOfConnection: boolean },
  { proxy }: UsableConnection,
): Finding {
  const isOfProxy = proxy !== undefined && (code.startsWith('PROXY_') || isOfConnection)
  const through = isOfProxy ? ` through the outbound proxy ${new URL(proxy.value).origin}` : ''
  const text = `${url} can’t be reached${through}: ${unreachableReason(code)}.`
  return problem(about, text, isOfProxy ? `Start it, or correct ${proxy.from}.` : adviceFor(code), exitCodes.network)
}

function adviceFor(code: string): string {
  if (code === 'EPROTO') return 'No TLS version is common to both: try another --transport.'
  if (code.startsWith('CERT_')) return 'Look at it there, and at this machine’s clock.'
  if (/CERT|UNABLE_TO/u.test(code)) return 'If its certificate authority is a private one, give its PEM file with --ca.'
  return 'Check the address and the port, whether the service is running, and the network.'
}

function clock(there: number): Finding[] {
  if (Number.isNaN(there)) return []
  const skew = Math.round((Date.now() - there) / 1000)
  const size = Math.abs(skew)
  if (size <= tolerableSkew) return [good('clock', `right, to ${Math.max(1, size)} s`)]
  const text = `This machine’s clock is ${size} s ${skew > 0 ? 'ahead' : 'behind'}: passcodes would be wrong.`
  return [note('clock', text, 'Set it, and keep it synchronised: timedatectl set-ntp true')]
}
