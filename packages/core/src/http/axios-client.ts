/**
 * The one file that knows axios and axios-cookiejar-support: how the requests of a login carry its cookies. A refresh is one request
 * without cookies, and loads none of this.
 *
 * axios is given the cookies alone, and a round trip of ours as its adapter: so it follows no redirect, and no AxiosError holds the
 * password.
 */
import { Axios, AxiosHeaders, type AxiosRequestConfig, type AxiosResponse } from 'axios'
import { wrapper } from 'axios-cookiejar-support'
import { type CookieOptions, createCookieAgent, HttpCookieAgent, HttpsCookieAgent } from 'http-cookie-agent/http'
import {
  type Connection,
  type ConnectionCookies,
  type HttpAnswer,
  type HttpClient,
  roundTrip,
  TunnelAgent,
} from '@owner-sso/token-manager/http'
import { type InstanceCookies, instanceCookies } from './cookie-jar.ts'

/** The cookies of one instance, and what carries them. */
export interface CarriedCookies extends InstanceCookies, ConnectionCookies {
  /** Makes requests over a connection that carries them. */
  readonly clientOver: (connection: Connection) => HttpClient
}

// Not axios.create(): that would take over what the application set on its own axios.defaults. It keeps nothing of a request.
const client = new Axios()
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its types name axios's CommonJS twin; it needs the interceptors alone
wrapper(client as unknown as Parameters<typeof wrapper>[0])

/** {@link instanceCookies}, with what carries them. */
export function carriedCookies(origin: string, restored?: readonly string[]): CarriedCookies {
  const own = instanceCookies(origin, restored)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the agent's types name tough-cookie's CommonJS twin
  const cookies = own as unknown as CookieOptions
  return {
    ...own,
    agents: {
      http: (options) => new HttpCookieAgent({ ...options, cookies }),
      https: (options) => new HttpsCookieAgent({ ...options, cookies }),
      proxied: (options) => {
        const TunnelCookieAgent = createCookieAgent(TunnelAgent)
        return new TunnelCookieAgent({ ...options, cookies })
      },
    },
    clientOver: (connection) => async (request, sending) => {
      let answer: Promise<HttpAnswer> | undefined
      const { jar } = own
      const config: AxiosRequestConfig & { readonly jar: typeof jar } = {
        jar,
        adapter: async (given) => {
          answer = roundTrip(connection, request, sending)
          await Promise.allSettled([answer])
          return told(given)
        },
      }
      await client.request(config)
      if (answer === undefined) throw new Error('axios made no request')
      return answer
    },
  }
}

function told(config: AxiosResponse['config']): AxiosResponse {
  return { data: '', status: 200, statusText: '', headers: new AxiosHeaders(), config }
}
