/**
 * Connections through an outbound proxy: it is asked for a tunnel (CONNECT), with the owner API's TLS inside, so it sees an address
 * and nothing else.
 */
import { Socket } from 'node:net'
import { HttpProxyAgent } from 'hpagent'
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
  const agent = new HttpProxyAgent({ proxy })
  return (options, callback) => {
    const { hostname, port } = options
    const to = { host: hostname, port: port || 443, timeout: tls.timeout }
    agent.createConnection(to, (error: Error | null, httpSocket) => {
      if (error) callback(inWords(error), null)
      else if (httpSocket instanceof Socket) secure({ ...options, httpSocket }, callback)
    })
  }
}

/** What hpagent itself says of it. */
function inWords(error: Error): Error {
  const [, status] = /^Bad response: (\d+)$/u.exec(error.message) ?? []
  if (status !== undefined) return new Error(`The outbound proxy refused the tunnel (${status})`)
  if (error.message !== 'Proxy timeout') return error
  return Object.assign(new Error('The outbound proxy did not answer in time'), { code: 'ETIMEDOUT' })
}
