/**
 * An HTTP response as plain data, so that endpoints decide and one place sends (or, with a fault, corrupts) it.
 */
import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { randomUUID } from 'node:crypto'

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

/** What no text of a client contains. */
const mark = randomUUID()
const marked = new RegExp(`"${mark}(-?\\d+)"`, 'gu')
const textOrNumber = /"(?:[^"\\]+|\\.)*"|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/giu

/** As JSON.stringify, with bigints as numbers. @throws TypeError */
export function writeJson(value: unknown): string {
  const text: string | undefined = JSON.stringify(value, (_name, each: unknown) =>
    typeof each === 'bigint' ? `${mark}${each}` : each,
  )
  if (text === undefined) throw new TypeError('The body must be JSON')
  return text.replaceAll(marked, '$1')
}

/** As JSON.parse. @param long - makes something of a whole number that would be rounded. @throws SyntaxError */
export function readJson(text: string, long: (digits: string) => unknown = BigInt): unknown {
  const value: unknown = JSON.parse(text)
  if (!/\d{16}/u.test(text)) return value
  const markedText = text.replaceAll(textOrNumber, (each) =>
    /^-?\d+$/u.test(each) && !Number.isSafeInteger(Number(each)) ? `"${mark}${each}"` : each,
  )
  return JSON.parse(markedText, (_name, each: unknown) =>
    typeof each === 'string' && each.startsWith(mark) ? long(each.slice(mark.length)) : each,
  )
}
