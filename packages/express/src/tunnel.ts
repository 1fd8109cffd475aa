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
  const [what, code = 'ERR_PROXY_TUNNEL'] = problemOf(tunnel, `${request.host}:${request.port}`)
  throw Object.assign(new Error(`The outbound proxy ${what}`), { code })
}

function problemOf(failure: TunnelFailure, target: string): [what: string, code?: string | undefined] {
  switch (failure.outcome) {
    case 'unreachable':
      return [`can’t be reached: ${failure.error.message}`, systemCode(failure.error)]
    case 'closed':
      return ['closed the connection without an answer', 'ECONNRESET']
    case 'no-http':
      return ['gave an answer that is no HTTP', 'ERR_INVALID_PROTOCOL']
    case 'aborted':
      return ['did not answer in time', 'ETIMEDOUT']
    case 'rejected': {
      const { status, hasLogin } = failure
      const password = hasLogin
        ? 'it does not accept the user and the password of its address. Correct them there, percent-encoded'
        : 'it asks for a user and a password. Put both into its address, percent-encoded, as http://USER:PASSWORD@HOST:PORT'
      const other =
        status >= 500
          ? `it can’t reach ${target}. Check both addresses`
          : `ask whoever runs it to allow CONNECT to ${target}`
      return [`rejected the tunnel (${status}): ${status === 407 ? password : other}`]
    }
  }
}
