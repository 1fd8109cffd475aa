/**
 * What connections to the service share: a TLS context, made of the settings once, and the last TLS session of each host. The
 * connection of the next login or refresh resumes that session, which saves a whole handshake.
 *
 * Only sessions of verified connections are kept, and only for these settings with their CA. Nothing in it belongs to an
 * account.
 */
import type { Agent } from 'node:http'
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls'
import type { Transport } from './transport.ts'

/** One for each `createSso`. */
export interface TlsMemory {
  /** Made at the first connection. */
  context?: SecureContext
  /** By host and port. */
  readonly sessions: Map<string, Buffer>
}

/** The TLS context of every connection. */
export function sharedContext(memory: TlsMemory, tls: Transport['tls']): SecureContext {
  return (memory.context ??= createSecureContext(tls))
}

/**
 * Offers the kept session on each new connection of an agent, and keeps the one that it is given.
 *
 * @param tunnelled - the agent goes through a proxy: its TLS handshake begins before the socket is returned
 */
export function shareSessions(agent: Agent, { sessions }: TlsMemory, tunnelled: boolean): void {
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) => {
    const name = `${options.host}:${options.port}`
    const session = sessions.get(name)
    const follow = (socket: unknown): void => {
      if (socket instanceof TLSSocket) keepSessions(socket, sessions, name)
    }
    const isEarly = tunnelled || !takesSessions(TLSSocket.prototype)
    const early = isEarly && session && { session }
    const connected = connect(early ? { ...options, ...early } : options, (error, socket) => {
      follow(socket)
      callback?.(error, socket)
    })
    if (connected) follow(connected)
    // Not among the options: node:tls would decode the session and its certificate twice, which takes longer than a request.
    if (!isEarly && session && takesSessions(connected)) connected.setSession(session)
    return connected
  }
}

/** A method of `node:tls` sockets that its documentation leaves out. */
function takesSessions(socket: object | null | undefined): socket is { setSession(session: Buffer): void } {
  return socket instanceof Object && 'setSession' in socket
}

/** TLS 1.2 sends a session before the certificate is checked; TLS 1.3 after that, and often two. */
function keepSessions(socket: TLSSocket, sessions: Map<string, Buffer>, name: string): void {
  let last: Buffer | undefined
  socket.on('session', (session: Buffer) => {
    if (socket.authorized) sessions.set(name, session)
    else last = session
  })
  socket.once('secureConnect', () => {
    if (last !== undefined && socket.authorized) sessions.set(name, last)
  })
  socket.once('error', () => {
    if (!socket.authorized) sessions.delete(name)
  })
}
