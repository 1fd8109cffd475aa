/**
 * The connection of one login or one refresh to one instance: TLS settings, cookies, an outbound proxy, and sockets that are handed to a
 * request only once they are connected and verified.
 *
 * That last rule is what lets an error say whether its request may have reached the service.
 */
import type { Agent as HttpAgent } from 'node:http'
import type { Agent as HttpsAgent } from 'node:https'
import type { Duplex } from 'node:stream'
import { HttpsProxyAgent } from 'hpagent'
import { createCookieAgent, HttpCookieAgent, HttpsCookieAgent } from 'http-cookie-agent/http'
import type { CookieOptions } from 'http-cookie-agent/http'
import type { InstanceCookies } from './cookie-jar.ts'
import type { SsoSettings } from '../sso-settings.ts'

/** Agents that keep one connection alive, until they are closed. */
export interface Connection {
  readonly httpAgent: HttpAgent
  readonly httpsAgent: HttpsAgent
  /** Ends every socket, also those that are still connecting. */
  readonly close: () => void
}

/** Opens nothing yet. Every login and every refresh has its own, for each instance that it speaks to. */
export function openConnection(settings: Pick<SsoSettings, 'tls' | 'proxy'>, cookies: InstanceCookies): Connection {
  const closed = new AbortController()
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the agent's types name tough-cookie's CommonJS twin
  const common = { cookies: cookies as unknown as CookieOptions, keepAlive: true, maxSockets: 1 }
  const secure = {
    ...common,
    minVersion: 'TLSv1.2',
    maxVersion: settings.tls.maxVersion ?? 'TLSv1.2',
    rejectUnauthorized: true,
    ...(settings.tls.ca === undefined ? {} : { ca: settings.tls.ca }),
  } as const
  // The signal ends a CONNECT that the proxy never answers: hpagent passes it on to node:http.
  const proxyRequestOptions = { headers: {}, signal: closed.signal }
  const via = settings.proxy && { proxy: settings.proxy, proxyRequestOptions }
  // Plain http is spoken on this machine alone: to a proxy it would show the password, and lead to the proxy's own loopback.
  const httpAgent = new HttpCookieAgent(common)
  const httpsAgent = via ? new HttpsProxyCookieAgent({ ...secure, ...via }) : new HttpsCookieAgent(secure)
  handOutConnectedSockets(httpAgent, closed.signal)
  handOutConnectedSockets(httpsAgent, closed.signal)
  return {
    httpAgent,
    httpsAgent,
    close: () => {
      closed.abort()
      httpAgent.destroy()
      httpsAgent.destroy()
    },
  }
}

const HttpsProxyCookieAgent = createCookieAgent(HttpsProxyAgent)

/** Keeps each new socket until its TCP connection, and its TLS handshake if it has one, has succeeded. */
function handOutConnectedSockets(agent: HttpAgent, closed: AbortSignal): void {
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) => {
    const settle = (error: Error | null, socket: Duplex): void => {
      const event = error ? undefined : awaitedEvent(socket)
      if (event === undefined) {
        callback?.(error, socket)
        return
      }
      const settled = new AbortController()
      const finish = (failure: Error | null): void => {
        settled.abort()
        socket.off(event, succeed).off('error', finish)
        callback?.(failure, socket)
      }
      const succeed = (): void => finish(null)
      socket.once(event, succeed).once('error', finish)
      closed.addEventListener('abort', () => socket.destroy(), { signal: settled.signal })
    }
    // A proxy agent calls back with its socket. net.createConnection returns it, and calls back later with nothing.
    const socket = connect(options, (error, given) => {
      if (error || given) settle(error, given)
    })
    if (socket) settle(null, socket)
    return undefined
  }
}

/** What a new socket has yet to tell before anything may be written to it; `undefined` where it is ready. */
function awaitedEvent(socket: Duplex): 'connect' | 'secureConnect' | undefined {
  if ('secureConnecting' in socket && socket.secureConnecting === true) return 'secureConnect'
  return 'connecting' in socket && socket.connecting === true ? 'connect' : undefined
}
