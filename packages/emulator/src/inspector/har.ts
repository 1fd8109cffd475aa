/**
 * A login as an HTTP archive (HAR 1.2), secrets masked: browsers' developer tools and many others open it.
 */
import { STATUS_CODES } from 'node:http'
import type { Exchange } from '../journal/exchange.ts'
import { maskText } from '../journal/mask.ts'
import type { Fields, Headers } from '../journal/masking.ts'
import { mediaType } from '../http/service-request.ts'
import { version } from '../version.ts'

interface Pair {
  readonly name: string
  readonly value: string
}

/** The object that a `.har` file holds. What the format has no field for is in `comment`. */
export function harOf(exchanges: readonly Exchange[]): object {
  const creator = { name: 'owner-sso emulator', version }
  return { log: { version: '1.2', creator, entries: exchanges.map(entryOf) } }
}

function entryOf(exchange: Exchange): object {
  const { started, duration = 0 } = exchange
  return {
    startedDateTime: new Date(started).toISOString(),
    time: duration,
    request: requestOf(exchange),
    response: responseOf(exchange),
    cache: {},
    timings: { send: 0, wait: duration, receive: 0 },
    comment: commentOn(exchange),
  }
}

function requestOf({ request }: Exchange): object {
  const { method, host, path, query, headers, body, tlsVersion, httpVersion } = request
  const queryString = pairsOf(query)
  const search = new URLSearchParams(queryString.map(({ name, value }): [string, string] => [name, value])).toString()
  const mimeType = headers['content-type']
  return {
    method,
    url: `${tlsVersion === undefined ? 'http' : 'https'}://${host}${path}${search && `?${search}`}`,
    httpVersion: `HTTP/${httpVersion}`,
    cookies: cookieNames([headers['cookie'] ?? '']),
    headers: pairsOf(headers),
    queryString,
    ...(mimeType !== undefined && { postData: { mimeType, ...bodyOf(mediaType(mimeType), body) } }),
    headersSize: -1,
    bodySize: Number(headers['content-length'] ?? 0),
  }
}

function responseOf({ request: { status = 0, httpVersion }, answer }: Exchange): object {
  const headers: Headers = answer?.headers ?? {}
  const mimeType = String(headers['content-type'] ?? '')
  return {
    status,
    statusText: STATUS_CODES[status] ?? '',
    httpVersion: `HTTP/${httpVersion}`,
    cookies: cookieNames([headers['set-cookie'] ?? []].flat()),
    headers: pairsOf(headers),
    content: { size: -1, mimeType, ...(answer && mimeType !== '' && { text: JSON.stringify(answer.body) }) },
    redirectURL: String(headers['location'] ?? ''),
    headersSize: -1,
    bodySize: -1,
  }
}

function bodyOf(type: string, body: Fields): object {
  return type === 'application/x-www-form-urlencoded' ? { params: pairsOf(body) } : { text: JSON.stringify(body) }
}

function pairsOf(values: Fields): Pair[] {
  return Object.entries(values).flatMap(([name, value]) =>
    [value].flat().map((item) => ({ name, value: typeof item === 'string' ? item : JSON.stringify(item) })),
  )
}

/** `name=…; …` of a Cookie or Set-Cookie header. */
function cookieNames(headers: readonly string[]): Pair[] {
  return headers.flatMap((header) =>
    [...header.matchAll(/(?:^|;\s*)([^=;]+)=\[masked\]/gu)].map(([, name = '']) => ({ name, value: maskText })),
  )
}

function commentOn({ decision, fault, challenged }: Exchange): string {
  return [decision, fault !== undefined && `fault: ${fault}`, challenged && 'challenged by the firewall']
    .filter(Boolean)
    .join('; ')
}
