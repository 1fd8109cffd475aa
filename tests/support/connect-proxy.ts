/** An outbound proxy on loopback that answers CONNECT, and remembers where to. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'

export interface ConnectProxy {
  readonly proxy: string
  /** `host:port` of each tunnel that was asked for. */
  readonly tunnels: readonly string[]
  readonly close: () => Promise<void>
}

/**
 * @param refusal - the status that a CONNECT gets, in place of a tunnel
 * @param login - `user:password`; who gives it is let through all the same
 * @param at - the address to listen at, what TLS is spoken with, and the status that comes with a tunnel
 */
export async function startConnectProxy(
  refusal?: number,
  login?: string,
  at: { readonly host?: string; readonly tls?: { cert: string; key: string }; readonly success?: number } = {},
): Promise<ConnectProxy> {
  const { host = '127.0.0.1', tls, success = 200 } = at
  const tunnels: string[] = []
  const server = (tls === undefined ? createServer() : createTlsServer(tls)).on('connect', (request, client, head) => {
    tunnels.push(request.url ?? '')
    const isKnown =
      login !== undefined && request.headers['proxy-authorization'] === `Basic ${Buffer.from(login).toString('base64')}`
    if (refusal !== undefined && !isKnown) {
      client.end(`HTTP/1.1 ${refusal} No\r\n\r\n`)
      return
    }
    const { hostname, port } = new URL(`http://${request.url}`)
    const upstream = connect(Number(port), hostname, () => {
      client.write(`HTTP/1.1 ${success} Connection established\r\n\r\n`)
      upstream.write(head)
      upstream.pipe(client).pipe(upstream)
    })
    client.on('error', () => upstream.destroy())
    upstream.on('error', () => client.destroy())
  })
  server.listen(0, host)
  await once(server, 'listening')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server's address
  const { port } = server.address() as AddressInfo
  return {
    proxy: `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    tunnels,
    close: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
