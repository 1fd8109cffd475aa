/**
 * The connections of `ownerFetch`: straight to the owner API, or through a tunnel of the application's choosing. Never through a proxy
 * that the environment names.
 */
import type { Transport } from '@owner-sso/core'
import { Agent, buildConnector } from 'undici'
import { reading } from '../early-answer.ts'
import { throughProxy, tunnelTimeout } from '../tunnel.ts'

/** Straight ones over Node's own TLS, for all who want nothing else. */
let usual: Agent | undefined

const connected = (connect: buildConnector.connector): Agent => new Agent({ connect: reading(connect) })

/** A `fetch` on such connections. Plain http never leaves the machine, and so takes no proxy. */
export function fetchOver(transport: Transport | undefined, proxy: string | undefined): typeof globalThis.fetch {
  // Stated, because the environment could turn it off.
  const tls = { ...transport?.tls, rejectUnauthorized: true }
  let own: Agent | undefined
  const straight = (): Agent =>
    transport === undefined ? (usual ??= connected(buildConnector(tls))) : (own ??= connected(buildConnector(tls)))
  const tunnels = proxy === undefined ? undefined : connected(throughProxy(proxy, { timeout: tunnelTimeout, ...tls }))
  return (input, init) => {
    const isSecure = (input instanceof Request ? input.url : String(input)).startsWith('https:')
    // Node's `fetch` takes a dispatcher, which its types don't know.
    const options: object = { dispatcher: isSecure && tunnels ? tunnels : straight(), ...init }
    return globalThis.fetch(input, options)
  }
}
