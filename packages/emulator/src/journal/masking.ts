/**
 * What a log may show: names of everything, values of what is no secret, a mask for all else, whatever its name.
 */
import type { IncomingMessage } from 'node:http'
import { maskText, plainFields, words } from '../support/plain-fields.ts'
import { grouped } from '../http/service-request.ts'
import { readJson, type ServiceResponse } from '../http/service-response.ts'

export type Fields = Readonly<Record<string, unknown>>
export type Headers = Readonly<Record<string, string | readonly string[]>>

const plainInRequests = new Set([...plainFields.fixedByClient, ...plainFields.ownOfClient])
const plainInResponses = new Set([
  ...plainFields.fixedByService,
  ...plainFields.sentences,
  ...plainFields.numbers,
  ...plainFields.ownOfService,
])
const wordsInErrors = new Set(plainFields.wordsInErrors)
/** Shown of a redirect: what the client sent comes back, together with what the service says. */
const plainInLocation = new Set([...plainInRequests, 'issuer', 'error', 'error_description'])
const plainResponseHeaders = new Set(
  words('content-type content-length cache-control retry-after www-authenticate transfer-encoding'),
)
/** More fields of one request are not shown, so that nobody fills the log with names. */
const maxFields = 100
/** What looks like a name. A body under a wrong content type is read as one long name, and may hold anything. */
const plausibleName = /^[A-Za-z_][\w.-]{0,39}$/u
const secretHeaders = new Set(['authorization', 'proxy-authorization'])

export function maskQuery(text: string): Readonly<Record<string, string | readonly string[]>> {
  return maskFields(grouped(new URLSearchParams(text)))
}

export function maskRequestHeaders(headers: IncomingMessage['headers']): Readonly<Record<string, string>> {
  return mapValues(headers, maskHeader)
}

export function maskAnswerHeaders(headers: ServiceResponse['headers']): Headers {
  return mapValues(headers, maskResponseHeader)
}

export function maskAnswerFields(fields: Fields): Fields {
  return mapValues(fields, (name, value) => maskDeep(value, name))
}

/** Fields of a form or JSON object, unmasked; none of any other body. */
export function requestFields(contentType: string, text: string): [string, unknown][] {
  if (contentType === 'application/x-www-form-urlencoded') return grouped(new URLSearchParams(text))
  return Object.entries(parsed(text))
}

/** Fields of a JSON object, unmasked; of a page its title and the names of its inputs. */
export function answerFields(contentType: string, text: string): Fields {
  if (contentType === 'application/json') return parsed(text)
  if (contentType !== 'text/html') return {}
  const title = /<title>([^<]{0,80})/iu.exec(text)?.[1]
  const inputs = [...text.matchAll(/<input\b[^>]*?\bname="([^"]*)"/gu)].map(([, name = '']) => [name, ''] as const)
  return {
    ...(title !== undefined && { page: title }),
    ...(inputs.length > 0 && { inputs: Object.fromEntries(inputs) }),
  }
}

function parsed(text: string): Fields {
  // Most bodies are none, or a page: an exception for each would be the journal's greatest expense.
  if (!/^\s*[{[]/u.test(text)) return {}
  try {
    const value: unknown = readJson(text, String)
    return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {}
  } catch {
    return {}
  }
}

export function maskFields<Value>(fields: readonly (readonly [string, Value])[]): Record<string, Value | string> {
  const shown = fields.slice(0, maxFields)
  return Object.fromEntries(
    shown.map(([name, value]) => [isName(name, value) ? name : maskText, isPlain(name, value) ? value : maskText]),
  )
}

/** A name without a value may be a secret that stands alone. */
function isName(name: string, value: unknown): boolean {
  return plainInRequests.has(name) || (plausibleName.test(name) && value !== '')
}

function isPlain(name: string, value: unknown): boolean {
  return plainInRequests.has(name) && [value].flat().every((item) => typeof item === 'string')
}

function maskDeep(value: unknown, name: string, parent?: string): unknown {
  if (Array.isArray(value)) return value.map((item) => maskDeep(item, name, parent))
  if (typeof value === 'object' && value !== null) {
    return mapValues({ ...value }, (inner, item: unknown) => maskDeep(item, inner, name))
  }
  const plain = plainInResponses.has(name) || (wordsInErrors.has(name) && parent === 'error')
  return plain || value === null || typeof value === 'boolean' ? value : maskText
}

function maskHeader(name: string, value: unknown): string {
  const text = String(value)
  if (secretHeaders.has(name))
    return [/^(?:Basic|Bearer|Digest|DPoP)(?=\s)/iu.exec(text)?.[0] ?? [], maskText].flat().join(' ')
  if (name === 'cookie') return text.split(';').map(maskCookie).join('; ')
  // The address of the authorize page may carry a code.
  return name === 'referer' ? (text.split('?')[0] ?? '') : text
}

/** A pair without a name may be a secret that stands alone. */
function maskCookie(pair: string): string {
  const [name = '', value] = pair.trim().split(/[=](.*)/su)
  return value === undefined || name === '' ? maskText : `${name}=${maskText}`
}

function maskResponseHeader(name: string, value: string | readonly string[]): string | readonly string[] {
  if (typeof value !== 'string') return value.map((item) => String(maskResponseHeader(name, item)))
  if (name.toLowerCase() === 'set-cookie') return value.replace(/=[^;]*/u, `=${maskText}`)
  if (name.toLowerCase() === 'location') return maskLocation(value)
  return plainResponseHeaders.has(name.toLowerCase()) ? value : maskText
}

function maskLocation(location: string): string {
  const [address = '', query] = location.replace(/#.*/su, '').split(/\?(.*)/su)
  if (query === undefined) return address
  const parameters = [...new URLSearchParams(query)].map(
    ([name, value]) =>
      `${encodeURIComponent(name)}=${plainInLocation.has(name) ? encodeURIComponent(value) : maskText}`,
  )
  return `${address}?${parameters.join('&')}`
}

function mapValues<In, Out>(
  values: Readonly<Record<string, In>>,
  map: (name: string, value: In) => Out,
): Record<string, Out> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(name, value)]))
}
