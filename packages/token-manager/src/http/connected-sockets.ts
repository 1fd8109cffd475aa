/**
 * An agent's sockets, handed to a request only once they are connected, and their TLS handshake, if they have one, is done.
 *
 * That is what lets an error say whether its request may have reached the service.
 */
import type { Agent } from 'node:http'
import type { Duplex } from 'node:stream'

/**
 * Keeps each new socket until its TCP connection, and its TLS handshake if it has one, has succeeded.
 *
 * @returns those that are still connecting, which the agent does not know of
 */
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
