/**
 * The two instances of the service, home and regional: separate hosts with separate accounts.
 */
import type { IncomingMessage } from 'node:http'
import type { Region } from '../options/account-options.ts'

export interface Instance {
  readonly region: Region
  readonly url: string
  /** Base address of its token endpoint: the same, or another port. */
  readonly tokenUrl: string
}

export interface Instances {
  readonly home: Instance
  readonly regional: Instance
  /** The instance a request was sent to, by its Host header. */
  of(request: IncomingMessage): Instance
  /** Whether the port that a request arrived at serves the token endpoint, or all the rest, or both. */
  serves(what: 'token endpoint' | 'rest', request: IncomingMessage): boolean
}

export function createInstances(home: Omit<Instance, 'region'>, regional: Omit<Instance, 'region'>): Instances {
  const instances = { home: { region: 'home', ...home }, regional: { region: 'regional', ...regional } } as const
  const regionalHosts = [regional.url, regional.tokenUrl].map((url) => new URL(url).host)
  const tokenPort = Number(new URL(home.tokenUrl).port)
  const isMoved = home.tokenUrl !== home.url
  return {
    ...instances,
    of: ({ headers }) => instances[regionalHosts.includes(headers.host?.toLowerCase() ?? '') ? 'regional' : 'home'],
    serves: (what, { socket }) => !isMoved || (socket.localPort === tokenPort) === (what === 'token endpoint'),
  }
}

/** The `issuer` of redirects and tokens: the authorization server's base path (interface document, "Authorization code"). */
export function issuerOf(instance: Instance): string {
  return `${instance.url}/oauth2/v3`
}
