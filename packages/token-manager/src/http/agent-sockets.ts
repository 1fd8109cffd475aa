/**
 * How an agent's sockets are made. They are handed to a request only once they are connected: that lets an error say whether its
 * request may have reached the service. And connections share a TLS context, made of the settings once, and the last TLS session of
 * each host, which saves the next login or refresh a whole handshake.
 *
 * Only sessions of verified connections are kept, and only for these settings with their CA. Nothing of them belongs to an account.
 */
import type { Agent } from 'node:http'
import type { Duplex } from 'node:stream'
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls'
import type { Transport } from './transport.ts'

/** Returns the sockets that are still connecting, which the agent does not know of. */
export function handOutConnectedSockets(agent: Agent): ReadonlySet<Duplex> {
  const connecting = new Set<Duplex>()
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) => {
    const settle = (error: Error | null, socket: Duplex): void => {
      const event = error ? undefined : awaitedEvent(socket)
      if (event === undefined) {
        callback?.(error, socket)
        return
      }
      const finish = (failure: Error | null): void => {
        connecting.delete(socket)
        socket.off(event, succeed).off('error', finish)
        callback?.(failure, socket)
      }
      const succeed = (): void => finish(null)
      socket.once(event, succeed).once('error', finish)
      connecting.add(socket)
    }
    // A proxy agent calls back with its socket. net.createConnection returns it, and calls back later with nothing.
    const socket = connect(options, (error, given) => {
      if (error || given) settle(error, given)
    })
    if (socket) settle(null, socket)
    return undefined
  }
  return connecting
}

/** The event after which a new socket may be written to; `undefined` where it is ready. */
function awaitedEvent(socket: Duplex): 'connect' | 'secureConnect' | undefined {
  if ('secureConnecting' in socket && socket.secureConnecting === true) return 'secureConnect'
  return 'connecting' in socket && socket.connecting === true ? 'connect' : undefined
}

/** One for each `createSso`. */
export interface TlsMemory {
  /** Made at the first connection. */
  context?: SecureContext
  /** By host and port. */
  readonly sessions: Map<string, Buffer>
}

export function sharedContext(memory: TlsMemory, tls: Transport['tls']): SecureContext {
  return (memory.context ??= createSecureContext(tls))
}

/** @param tunnelled - the agent goes through a proxy: its TLS handshake begins before the socket is returned */
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
