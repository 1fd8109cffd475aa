/**
 * Connections through an outbound proxy, with the owner API's TLS in the tunnel.
 */
import type { Socket } from 'node:net'
import { openTunnel, systemCode, type TunnelFailure, type TunnelRequest, withTimeLimit } from '@owner-sso/core'
import { buildConnector } from 'undici'

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
    const { hostname: host, port } = options
    tunnelSocket({ proxy, host, port: port || 443 }, tls.timeout).then(
      (httpSocket) => secure({ ...options, httpSocket }, callback),
      (error: Error) => callback(error, null),
    )
  }
}

/** @throws what is wrong with the proxy, and what to do */
async function tunnelSocket(request: TunnelRequest, timeout = tunnelTimeout): Promise<Socket> {
  const tunnel = await withTimeLimit(timeout, (signal) => openTunnel({ ...request, signal }))
  if (tunnel.outcome === 'open') return tunnel.socket
  throw tunnelError(tunnel, `${request.host}:${request.port}`)
}

function tunnelError(failure: TunnelFailure, target: string): Error {
  switch (failure.outcome) {
    case 'unreachable':
      return proxyError(`can’t be reached: ${failure.error.message}`, systemCode(failure.error))
    case 'closed':
      return proxyError('closed the connection without an answer', 'ECONNRESET')
    case 'no-http':
      return proxyError('gave an answer that is no HTTP', 'ERR_INVALID_PROTOCOL')
    case 'aborted':
      return proxyError('did not answer in time', 'ETIMEDOUT')
    case 'rejected':
      return proxyError(`rejected the tunnel (${failure.status}): ${rejection(failure, target)}`)
  }
}

function rejection({ status, hasLogin }: TunnelFailure & { outcome: 'rejected' }, target: string): string {
  if (status === 407) {
    return hasLogin
      ? 'it does not accept the user and the password of its address. Correct them there, percent-encoded'
      : 'it asks for a user and a password. Put both into its address, percent-encoded, as http://USER:PASSWORD@HOST:PORT'
  }
  if (status >= 500) return `it can’t reach ${target}. Check both addresses`
  return `ask whoever runs it to allow CONNECT to ${target}`
}

function proxyError(what: string, code = 'ERR_PROXY_TUNNEL'): Error {
  return Object.assign(new Error(`The outbound proxy ${what}`), { code })
}
