/** A request without a server. */
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'

/** A request as Node has it, that came on no connection. */
export function incoming(url: string, headers: Readonly<Record<string, string>> = {}): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), { url, headers, method: 'GET' })
}
