/**
 * An HTTP response as plain data, so that endpoints decide and one place sends (or, with a fault, corrupts) it.
 */
import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { writeJson } from './json.ts'

export interface ServiceResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: string | Readable
  /** What the service decided and why, in one short sentence without a secret; never sent. */
  readonly decision?: string
  /** What was asked for is refused, though the status is one of success. */
  readonly refused?: boolean
}

type Headers = ServiceResponse['headers']

export function htmlResponse(status: number, body: string, headers: Headers = {}): ServiceResponse {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8', ...headers }, body }
}

export function jsonResponse(status: number, body: unknown, headers: Headers = {}): ServiceResponse {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
    body: writeJson(body),
  }
}

export function redirectResponse(status: 302 | 303, location: string, headers: Headers = {}): ServiceResponse {
  return { status, headers: { location, ...headers }, body: '' }
}

/** The same response with the reason for it; a refusal that its status doesn't show is named one. */
export function withReason(decision: string, response: ServiceResponse, refused = false): ServiceResponse {
  return { ...response, decision, ...(refused && { refused }) }
}

/** Writes the response. An aborted connection ends a streamed one quietly: the client is gone, nobody is left to tell. */
export async function sendResponse(
  response: ServerResponse,
  { status, headers, body }: ServiceResponse,
): Promise<void> {
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
