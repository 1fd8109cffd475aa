/**
 * The connection of one login or one refresh: TLS settings, cookies, an outbound proxy, and sockets that are handed to a
 * request only once they are connected and verified.
 *
 * That last rule is what lets an error say whether its request may have reached the service.
 */
import type { Agent as HttpAgent } from 'node:http'
import type { Agent as HttpsAgent } from 'node:https'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { HttpProxyAgent, HttpsProxyAgent } from 'hpagent'
import type { ProxyAgentRequestOptions } from 'hpagent'
import { createCookieAgent, HttpCookieAgent, HttpsCookieAgent } from 'http-cookie-agent/http'
import type { CookieOptions } from 'http-cookie-agent/http'
import type { SessionCookies } from './cookie-jar.ts'
import type { SsoSettings } from './sso-settings.ts'

/** Agents that keep one connection per host alive, until they are closed. */
export interface Connection {
  readonly httpAgent: HttpAgent
  readonly httpsAgent: HttpsAgent
  /** Ends every socket, also those that are still connecting. */
  close(): void
}

/** Opens nothing yet. Every login and every refresh has its own. */
export function openConnection(settings: Pick<SsoSettings, 'tls' | 'proxy'>, cookies: SessionCookies): Connection {
  const closed = new AbortController()
  // The agent's types come from another copy of tough-cookie's; it reads no more of the jar than this.
  const common = { cookies: cookies as unknown as CookieOptions, keepAlive: true, maxSockets: 1 }
  const secure = {
    ...common,
    minVersion: 'TLSv1.2',
    maxVersion: settings.tls.maxVersion ?? 'TLSv1.2',
    rejectUnauthorized: true,
    ...(settings.tls.ca === undefined ? {} : { ca: settings.tls.ca }),
  } as const
  // The signal ends a CONNECT that the proxy never answers; node:http takes it, hpagent's types don't know it.
  const via = settings.proxy && {
    proxy: settings.proxy,
    proxyRequestOptions: { signal: closed.signal } as ProxyAgentRequestOptions,
  }
  const httpAgent = via ? new HttpProxyCookieAgent({ ...common, ...via }) : new HttpCookieAgent(common)
  const httpsAgent = via ? new HttpsProxyCookieAgent({ ...secure, ...via }) : new HttpsCookieAgent(secure)
  handOutConnectedSockets(httpAgent, closed.signal)
  handOutConnectedSockets(httpsAgent, closed.signal)
  return {
    httpAgent,
    httpsAgent,
    close() {
      closed.abort()
      httpAgent.destroy()
      httpsAgent.destroy()
    },
  }
}

const HttpProxyCookieAgent = createCookieAgent(HttpProxyAgent)
const HttpsProxyCookieAgent = createCookieAgent(HttpsProxyAgent)

/** Keeps each new socket until its TCP connection, and its TLS handshake if it has one, has succeeded. */
function handOutConnectedSockets(agent: HttpAgent, closed: AbortSignal): void {
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) => {
    const settle = (error: Error | null, socket: Duplex | undefined): void => {
      if (!socket || error || isConnected(socket)) {
        callback?.(error, socket as Duplex)
        return
      }
      const end = (): unknown => socket.destroy()
      const finish = (failure: Error | null): void => {
        socket.off('error', finish).off(connectedEvent(socket), succeed)
        closed.removeEventListener('abort', end)
        callback?.(failure, socket)
      }
      const succeed = (): void => finish(null)
      socket.once('error', finish).once(connectedEvent(socket), succeed)
      closed.addEventListener('abort', end, { once: true })
    }
    // A proxy agent calls back with its socket. net.createConnection returns it, and calls back later with nothing.
    const socket = connect(options, (error, given: Duplex | undefined) => {
      if (error || given) settle(error, given)
    })
    if (socket) settle(null, socket)
    return undefined
  }
}

function isConnected(socket: Duplex): boolean {
  const { connecting, secureConnecting } = socket as Partial<TLSSocket & { secureConnecting: boolean }>
  return connecting !== true && secureConnecting !== true
}

function connectedEvent(socket: Duplex): 'connect' | 'secureConnect' {
  return 'encrypted' in socket ? 'secureConnect' : 'connect'
}
