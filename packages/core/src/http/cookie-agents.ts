/**
 * How the requests of a login carry its cookies: agents that send and keep them, and what lets an axios accept a jar. A refresh
 * is one request without cookies, and loads none of this.
 */
import { wrapper } from 'axios-cookiejar-support'
import { HttpsProxyAgent } from 'hpagent'
import { type CookieOptions, createCookieAgent, HttpCookieAgent, HttpsCookieAgent } from 'http-cookie-agent/http'
import type { Agents } from './connection.ts'
import { instanceCookies, type InstanceCookies } from './cookie-jar.ts'

/** The cookies of one instance, and what carries them. */
export interface CarriedCookies extends InstanceCookies {
  readonly agents: Agents
  /** Lets the requests of an axios have a jar. */
  readonly admitJars: (client: object) => void
}

const HttpsProxyCookieAgent = createCookieAgent(HttpsProxyAgent)

/** {@link instanceCookies}, with the agents that carry them. */
export function carriedCookies(origin: string, restored?: readonly string[]): CarriedCookies {
  const own = instanceCookies(origin, restored)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the agent's types name tough-cookie's CommonJS twin
  const cookies = own as unknown as CookieOptions
  return {
    ...own,
    agents: {
      http: (options) => new HttpCookieAgent({ ...options, cookies }),
      https: (options) => new HttpsCookieAgent({ ...options, cookies }),
      proxied: (options) => new HttpsProxyCookieAgent({ ...options, cookies }),
    },
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its types name axios's CommonJS twin; it needs the interceptors alone
    admitJars: (client) => void wrapper(client as Parameters<typeof wrapper>[0]),
  }
}
