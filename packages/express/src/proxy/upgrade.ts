/**
 * Whether a request asks for a connection that speaks another protocol, such as WebSocket.
 */
import type { IncomingMessage } from 'node:http'

/**
 * An offer of HTTP/2 (`Upgrade: h2c`) asks for nothing: clients that know HTTP/2 make it with their requests over plain http,
 * and go on in HTTP/1.1 where nobody takes it up (RFC 9110 section 7.8).
 */
export function asksForUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined && headers.upgrade.split(',').some((name) => name.trim().toLowerCase() !== 'h2c')
}
