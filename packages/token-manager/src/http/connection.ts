/**
 * The connection of one login or one refresh to one instance: TLS, an outbound proxy, and HTTP/2 where both sides want it.
 */
import { Agent as HttpAgent, type AgentOptions } from 'node:http'
import { Agent as HttpsAgent, type AgentOptions as HttpsAgentOptions } from 'node:https'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { mostHeaderBytes } from './answer-bounds.ts'
import { handOutConnectedSockets, sharedContext, shareSessions, type TlsMemory } from './agent-sockets.ts'
import type { CarriedByHttp2, Http2 } from './http2-session.ts'
import type { Transport } from './transport.ts'
import { TunnelAgent, type TunnelAgentOptions } from './tunnel-agent.ts'
import { withoutBrackets } from '../support/addresses.ts'

/** Keeps one connection alive until it is closed. */
export interface Connection {
  /** For requests over HTTP/1.1: of `node:http` or `node:https`, as the instance's address wants it. */
  readonly agent: HttpAgent
  /**
   * Connects. Present only where HTTP/2 is offered; resolves to `undefined` where the service chose HTTP/1.1: the agent then has
   * the connection.
   *
   * @throws the error of the system or of TLS where there is no connection: nothing was sent
   */
  readonly http2: (() => Promise<Http2 | undefined>) | undefined
  /** Ends every socket, also those that are still connecting. */
  readonly close: () => void
}

export interface ConnectionSettings {
  readonly transport: Transport
  readonly proxy: string | undefined
  readonly tlsMemory: TlsMemory
}

/** Makes an agent of each kind. */
export interface Agents {
  readonly http: (options: AgentOptions) => HttpAgent
  readonly https: (options: HttpsAgentOptions) => HttpsAgent
  readonly proxied: (options: TunnelAgentOptions) => HttpsAgent
}

/** Cookies that a connection carries: its agent does so over HTTP/1.1. */
export interface ConnectionCookies extends CarriedByHttp2 {
  readonly agents: Agents
}

const plainAgents: Agents = {
  http: (options) => new HttpAgent(options),
  https: (options) => new HttpsAgent(options),
  proxied: (options) => new TunnelAgent(options),
}

/** Opens nothing yet. Every login and every refresh has its own, for each instance that it speaks to. */
export function openConnection(origin: URL, settings: ConnectionSettings, cookies?: ConnectionCookies): Connection {
  const agent = agentOf(origin, settings, cookies?.agents ?? plainAgents)
  const connecting = handOutConnectedSockets(agent)
  const offersHttp2 = settings.transport.http2 && origin.protocol === 'https:'
  let agreed: Promise<Http2 | undefined> | undefined
  const openHttp2Connection = async (): Promise<Http2 | undefined> => {
    agreed ??= agree(origin, agent, settings, cookies)
    const http2 = await agreed
    // The service may end a connection between two requests, as it may with HTTP/1.1.
    if (http2?.isOpen() === false) agreed = agree(origin, agent, settings, cookies)
    return agreed
  }
  return {
    agent,
    http2: offersHttp2 ? openHttp2Connection : undefined,
    close: () => {
      for (const socket of connecting) socket.destroy()
      agent.destroy()
      agreed?.then((http2) => http2?.close()).catch(() => undefined)
    },
  }
}

function agentOf(origin: URL, { transport, proxy, tlsMemory }: ConnectionSettings, agents: Agents): HttpAgent {
  // The system looks each minute whether an idle connection still stands: a login may wait for a person's passcode.
  const common = { keepAlive: true, keepAliveMsecs: 60_000, maxSockets: 1 }
  // Plain http is spoken on this machine alone: to a proxy it would show the password, and lead to the proxy's own loopback.
  if (origin.protocol === 'http:') return agents.http(common)
  // Set here because NODE_TLS_REJECT_UNAUTHORIZED could turn it off.
  const secure = { ...common, rejectUnauthorized: true, secureContext: sharedContext(tlsMemory, transport.tls) }
  const agent = proxy === undefined ? agents.https(secure) : agents.proxied({ ...secure, proxy })
  shareSessions(agent, tlsMemory, proxy !== undefined)
  return agent
}

/** Connects, and hands the socket to HTTP/2 or back to the agent, as the service chose (RFC 7301). */
async function agree(
  origin: URL,
  agent: HttpAgent,
  settings: ConnectionSettings,
  cookies: CarriedByHttp2 | undefined,
): Promise<Http2 | undefined> {
  const connect = agent.createConnection.bind(agent)
  const socket = await new Promise<Duplex>((resolve, reject) => {
    const host = withoutBrackets(origin.hostname)
    const options = {
      rejectUnauthorized: true,
      secureContext: sharedContext(settings.tlsMemory, settings.transport.tls),
      host,
      port: Number(origin.port || 443),
      servername: isIP(host) === 0 ? host : '',
      ALPNProtocols: ['h2', 'http/1.1'],
    }
    connect(options, (error, connected) => (error ? reject(error) : resolve(connected)))
  })
  if (socket instanceof TLSSocket && socket.alpnProtocol === 'h2') {
    const { openHttp2 } = await import('./http2-session.ts')
    return openHttp2(origin, socket, mostHeaderBytes, cookies)
  }
  agent.createConnection = (options, callback) => {
    agent.createConnection = connect
    if (socket.destroyed) return connect(options, callback)
    callback?.(null, socket)
    return undefined
  }
  return undefined
}
