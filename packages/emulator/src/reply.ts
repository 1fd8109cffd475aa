/**
 * An HTTP answer as plain data, so that endpoints decide and one place sends (or, with a fault, spoils) it.
 */
import type { ServerResponse } from 'node:http'
import { type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: string | Readable
  /** What the service decided and why, in one short sentence without a secret; never sent. */
  readonly decision?: string
  /** What was asked for is refused, though the status is one of success. */
  readonly refused?: boolean
}

type Headers = Reply['headers']

export function htmlReply(status: number, body: string, headers: Headers = {}): Reply {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8', ...headers }, body }
}

export function jsonReply(status: number, body: unknown, headers: Headers = {}): Reply {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify(body),
  }
}

export function redirectReply(status: 302 | 303, location: string, headers: Headers = {}): Reply {
  return { status, headers: { location, ...headers }, body: '' }
}

/** The same answer, and why it is given; a refusal that its status doesn't show is named one. */
export function because(decision: string, reply: Reply, refused = false): Reply {
  return { ...reply, decision, ...(refused && { refused }) }
}

/** Writes the answer. An aborted connection ends a streamed one quietly: the client is gone, nobody is left to tell. */
export async function sendReply(response: ServerResponse, { status, headers, body }: Reply): Promise<void> {
  response.statusCode = status
  for (const [name, value] of Object.entries(headers)) {
    response.setHeader(name, typeof value === 'string' ? value : [...value])
  }
  if (typeof body === 'string') {
    response.end(body)
    return
  }
  await pipeline(body, response).catch(() => response.destroy())
}
