/**
 * The two instances of the service, home and regional: separate hosts with separate accounts.
 */
import type { IncomingMessage } from 'node:http'
import type { Region } from '../options/account-options.ts'

export interface Instance {
  readonly region: Region
  /** Base address, without a trailing slash. */
  readonly url: string
  /** Base address of its token endpoint: the same, or another port. */
  readonly tokenUrl: string
}

export interface Instances {
  readonly home: Instance
  readonly regional: Instance
  /** The instance a request was sent to: by the Host header, else by the port it arrived at. */
  of(request: IncomingMessage): Instance
  /** Whether the port that a request arrived at serves the token endpoint, or all the rest, or both. */
  serves(what: 'token endpoint' | 'rest', request: IncomingMessage): boolean
}

export function createInstances(home: Omit<Instance, 'region'>, regional: Omit<Instance, 'region'>): Instances {
  const instances = { home: { region: 'home', ...home }, regional: { region: 'regional', ...regional } } as const
  const regionalHosts = [regional.url, regional.tokenUrl].map((url) => new URL(url).host)
  const regionalPorts = [regional.url, regional.tokenUrl].map(portOf)
  const isApart = portOf(home.url) !== portOf(regional.url)
  const tokenPorts = [home.tokenUrl, regional.tokenUrl].map(portOf)
  const isMoved = home.tokenUrl !== home.url
  return {
    ...instances,
    of({ headers, socket }) {
      const atRegional = isApart
        ? regionalPorts.includes(socket.localPort)
        : regionalHosts.includes(headers.host?.toLowerCase() ?? '')
      return atRegional ? instances.regional : instances.home
    },
    serves(what, { socket }) {
      return !isMoved || tokenPorts.includes(socket.localPort) === (what === 'token endpoint')
    },
  }
}

function portOf(url: string): number | undefined {
  return Number(new URL(url).port)
}

/** The `issuer` of redirects and tokens: the authorization server's base path (interface document, "Authorization code"). */
export function issuerOf(instance: Instance): string {
  return `${instance.url}/oauth2/v3`
}
