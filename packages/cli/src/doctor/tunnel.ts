/**
 * A tunnel through the outbound proxy for one look, and what is wrong with the proxy where there is none.
 */
import type { Socket } from 'node:net'
import { openTunnel, systemCode, type TunnelFailure } from '@owner-sso/core'
import { exitCodes } from '../failure/command-error.ts'
import type { Given } from '../settings/settings.ts'
import { type Finding, problem } from '../terminal/finding.ts'

/** There is no tunnel. */
export class TunnelError extends Error {
  readonly finding: Finding
  constructor(text: string, fix: string) {
    super(text)
    this.finding = problem('outbound proxy', text, fix, exitCodes.network)
  }
}

/** @throws TunnelError */
export async function tunnelThrough(proxy: Given<string>, url: URL, signal: AbortSignal): Promise<Socket> {
  const { hostname: host, port } = url
  const tunnel = await openTunnel({ proxy: proxy.value, host, port: port || 443, signal })
  if (tunnel.outcome === 'open') return tunnel.socket
  throw new TunnelError(...textAndFix(tunnel, proxy, `${host}:${port || 443}`))
}

function textAndFix(failure: TunnelFailure, { value, from }: Given<string>, to: string): [text: string, fix: string] {
  const { origin, protocol, host } = new URL(value)
  const named = `The outbound proxy ${origin}`
  if (failure.outcome !== 'rejected') {
    return [`${named} can’t be reached (${codeOf(failure)}).`, `Start it, or correct its address in ${from}.`]
  }
  const { status, hasLogin } = failure
  if (status === 407) {
    const text = hasLogin ? 'does not accept this user and password' : 'asks for a user name and a password'
    return [`${named} ${text} (407).`, `Set OWNER_SSO_PROXY=${protocol}//USER:PASSWORD@${host}, both percent-encoded.`]
  }
  if (status >= 500) {
    const fix = 'Check that address, and whether the proxy has a way to it.'
    return [`${named} can’t reach ${to} (${status}).`, fix]
  }
  return [`${named} rejects a tunnel to ${to} (${status}).`, 'Ask whoever runs it to allow CONNECT there.']
}

function codeOf(failure: Exclude<TunnelFailure, { outcome: 'rejected' }>): string {
  switch (failure.outcome) {
    case 'unreachable':
      return systemCode(failure.error) ?? 'no answer'
    case 'closed':
      return 'ECONNRESET'
    case 'aborted':
      return 'ETIMEDOUT'
    case 'no-http':
      return 'its answer is no HTTP'
  }
}
