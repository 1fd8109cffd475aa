/**
 * Connections through an outbound proxy: it is asked for a tunnel (CONNECT), with the owner API's TLS inside, so it sees an address
 * and nothing else.
 */
import { Socket } from 'node:net'
import { startTimeLimit } from '@owner-sso/core'
import { HttpProxyAgent, type HttpProxyAgentOptions } from 'hpagent'
import { buildConnector } from 'undici'

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
    const controller = new AbortController()
    // hpagent's own limit begins anew with each byte of the answer.
    const endLimit = startTimeLimit(tls.timeout, () => controller.abort())
    const agent = new HttpProxyAgent(proxyAt(proxy, controller.signal))
    agent.createConnection({ host: hostname, port: port || 443 }, (error: Error | null, httpSocket) => {
      endLimit()
      if (error) callback(inWords(error), null)
      else if (httpSocket instanceof Socket) secure({ ...options, httpSocket }, callback)
    })
  }
}

/**
 * A proxy as hpagent takes it: what node:http asks has a name without the brackets of IPv6.
 *
 * @param signal - ends a CONNECT
 */
export function proxyAt(proxy: string, signal?: AbortSignal): HttpProxyAgentOptions {
  const hostname = new URL(proxy).hostname.replaceAll(/[[\]]/gu, '')
  const proxyRequestOptions = { headers: {}, hostname, ...(signal && { signal }) }
  return { proxy, proxyRequestOptions }
}

/** What hpagent itself says of it. */
function inWords(error: Error): Error {
  const [, status] = /^Bad response: (\d+)$/u.exec(error.message) ?? []
  if (status !== undefined) return new Error(`The outbound proxy refused the tunnel (${status})`)
  if (error.name !== 'AbortError') return error
  return Object.assign(new Error('The outbound proxy did not answer in time'), { code: 'ETIMEDOUT' })
}
