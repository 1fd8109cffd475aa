/**
 * The connections of `attachBearer`: straight to the owner API, or through a tunnel of the application's choosing. Never
 * through a proxy that the environment names: axios hands it http requests whole, and its older versions https requests too.
 */
import http from 'node:http'
import https from 'node:https'
import type { Transport } from '@owner-sso/core'
import { Agent as Dispatcher, buildConnector } from 'undici'
import { reading } from '../early-answer.ts'
import { property } from '../property.ts'
import { throughProxy, TunnelAgent, tunnelTimeout } from '../tunnel.ts'
import { watched } from './watched-agent.ts'

/** As Node's own global agents; those may have been given the environment's proxies (`NODE_USE_ENV_PROXY`). */
const keepAlive = { keepAlive: true, scheduling: 'lifo', timeout: 5000 } as const
/** Set here because NODE_TLS_REJECT_UNAUTHORIZED could turn it off. */
const verified = { rejectUnauthorized: true } as const

/** Straight and verified connections of one kind of TLS. */
export interface Straight {
  readonly httpAgent: http.Agent
  readonly httpsAgent: https.Agent
  /** What TLS is spoken with. */
  readonly tls: object
  /** Of undici, for `fetch`. */
  dispatcher(): Dispatcher
}

/** @param tls - where it is not Node's own */
export function straightConnections(tls: object = {}): Straight {
  let dispatcher: Dispatcher | undefined
  const secure = { ...tls, ...verified }
  return {
    httpAgent: new http.Agent(keepAlive),
    httpsAgent: new https.Agent({ ...keepAlive, ...secure }),
    tls: secure,
    dispatcher: () => (dispatcher ??= new Dispatcher({ connect: reading(buildConnector(secure)) })),
  }
}

/** The connections of callers who name no transport. */
const usual = straightConnections()

/** For `fetch` of https addresses. */
export function tunnelsThrough(proxy: string, { tls }: Straight): Dispatcher {
  return new Dispatcher({ connect: reading(throughProxy(proxy, { timeout: tunnelTimeout, ...tls })) })
}

/** Those for a transport. */
export function connectionsOf(transport: Transport | undefined): Straight {
  return transport === undefined ? usual : straightConnections(transport.tls)
}

/**
 * What of axios's configuration decides how a call travels.
 *
 * @param url - where to: plain http never leaves the machine, and so takes no proxy
 * @param straight - where the application gives no agents of its own
 * @param config - of axios, with the application's own agents, `proxy` and `fetchOptions`, if it has any
 * @throws TypeError for a proxy without an address
 */
export function connectionsFor(url: URL, config: { readonly [name: string]: unknown }, straight: Straight): object {
  const httpsAgent = config['httpsAgent'] ?? straight.httpsAgent
  const named = proxyAddress(config['proxy'])
  const proxy = url.protocol === 'https:' ? named : undefined
  return {
    httpAgent: watched(config['httpAgent'] ?? straight.httpAgent),
    httpsAgent: watched(proxy ? tunnel(proxy, httpsAgent) : httpsAgent),
    proxy: false,
    maxRedirects: 0,
    // For axios's fetch adapter, which knows neither agents nor a number of redirects.
    fetchOptions: {
      dispatcher: proxy ? tunnelsThrough(proxy.href, straight) : straight.dispatcher(),
      ...Object(config['fetchOptions']),
      redirect: 'manual',
    },
  }
}

/** One CONNECT for each call: the proxy sees an address, and what is encrypted. */
function tunnel(proxy: URL, agent: unknown): TunnelAgent {
  return new TunnelAgent(proxy.href, { ...Object(property(agent, 'options')), keepAlive: false, ...verified })
}

/** axios's `proxy` as an address; `undefined` where none was given: `false`, and no word at all. */
function proxyAddress(proxy: unknown): URL | undefined {
  if (typeof proxy !== 'object' || proxy === null) return undefined
  const text = (name: string, of: unknown = proxy): string => {
    const value = property(of, name)
    return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  }
  const protocol = (text('protocol') || 'http').replace(/:$/u, '')
  const address = `${protocol}://${text('hostname') || text('host')}:${text('port')}`
  if (!/^https?$/u.test(protocol) || !URL.canParse(address)) {
    throw new TypeError('proxy must have a host and a port, and http or https as its protocol')
  }
  const url = new URL(address)
  const auth = property(proxy, 'auth')
  url.username = encodeURIComponent(text('username', auth))
  url.password = encodeURIComponent(text('password', auth))
  return url
}
