/**
 * The two instances of the service, home and regional: separate hosts with separate accounts.
 */
import type { IncomingMessage } from 'node:http'

/** Which of the two instances an account belongs to. */
export type Region = 'home' | 'regional'

export interface Instance {
  readonly region: Region
  /** Base address, without a trailing slash. */
  readonly url: string
}

export interface Instances {
  readonly home: Instance
  readonly regional: Instance
  /** The instance a request was sent to: by the Host header, else by the port it arrived at. */
  of(request: IncomingMessage): Instance
}

export function createInstances(homeUrl: string, regionalUrl: string): Instances {
  const home: Instance = { region: 'home', url: homeUrl }
  const regional: Instance = { region: 'regional', url: regionalUrl }
  const regionalHost = new URL(regionalUrl).host
  const ownPort = new URL(homeUrl).port === new URL(regionalUrl).port ? undefined : Number(new URL(regionalUrl).port)
  return {
    home,
    regional,
    of(request) {
      const atRegional =
        ownPort === undefined
          ? request.headers.host?.toLowerCase() === regionalHost
          : request.socket.localPort === ownPort
      return atRegional ? regional : home
    },
  }
}

/** The `issuer` of redirects and tokens: the authorization server's base path (interface document, "Authorization code"). */
export function issuerOf(instance: Instance): string {
  return `${instance.url}/oauth2/v3`
}
