/**
 * One request as the endpoints see it: the instance it was sent to, its query, cookies and body.
 */
import type { IncomingMessage } from 'node:http'
import { connectionOf } from './http2-bridge.ts'
import type { Instance } from './instances.ts'

export interface ServiceRequest {
  readonly instance: Instance
  readonly query: URLSearchParams
  readonly cookies: ReadonlyMap<string, string>
  readonly contentType: string
  readonly body: string
  readonly userAgent: string
  readonly address: string
  readonly tlsVersion: string | undefined
  readonly httpVersion: string
}

export type Fields = ReadonlyMap<string, string>

export function readServiceRequest(request: IncomingMessage, instance: Instance, body: string): ServiceRequest {
  const url = request.url ?? ''
  const at = url.indexOf('?')
  const { tlsVersion, httpVersion } = connectionOf(request)
  return {
    instance,
    query: new URLSearchParams(at === -1 ? '' : url.slice(at + 1)),
    cookies: readCookies(request.headers.cookie ?? ''),
    contentType: mediaTypeOf(request),
    body,
    userAgent: request.headers['user-agent'] ?? '',
    address: request.socket.remoteAddress ?? '',
    tlsVersion,
    httpVersion,
  }
}

export function mediaTypeOf({ headers }: IncomingMessage): string {
  return mediaType(headers['content-type'] ?? '')
}

export function mediaType(contentType: string): string {
  return contentType.split(';')[0]?.trim().toLowerCase() ?? ''
}

/**
 * The fields of a JSON object that are strings, or undefined if the body is none. Whatever else a client sends, such as
 * `"client_secret": null`, is ignored. A list of one string is that string in the field `listed`.
 */
export function readJsonFields(body: string, listed?: string): Fields | undefined {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const fields = new Map<string, string>()
  const sentFields: [string, unknown][] = Object.entries(value)
  for (const [name, sent] of sentFields) {
    const field = name === listed && Array.isArray(sent) && sent.length === 1 ? sent[0] : sent
    if (typeof field === 'string') fields.set(name, field)
  }
  return fields
}

/** A form body, or undefined if a name comes twice (RFC 6749 section 3.2). */
export function readFormFields(body: string): Fields | undefined {
  const parameters = new URLSearchParams(body)
  const fields = new Map(parameters)
  return fields.size === parameters.size ? fields : undefined
}

/** The last of a name counts. */
export function readCookies(header: string): ReadonlyMap<string, string> {
  const cookies = new Map<string, string>()
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=')
    if (at > 0) cookies.set(pair.slice(0, at).trim(), pair.slice(at + 1).trim())
  }
  return cookies
}

/** Names of a query or form with their one value, or all of them. */
export function grouped(parameters: URLSearchParams): [string, string | string[]][] {
  return [...new Set(parameters.keys())].map((name) => {
    const values = parameters.getAll(name)
    return [name, values.length > 1 ? values : values.join('')]
  })
}
