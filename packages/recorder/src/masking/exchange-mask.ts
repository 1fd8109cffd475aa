/**
 * A request and its answer as a fixture shows them. Headers that are on no list lose their value, and some are left out.
 */
import type { Parameters, RecordedAnswer, RecordedBody, RecordedRequest } from '../fixture/fixture.ts'
import { maskAddress, maskJson, maskName, maskParameters, maskPath } from './field-masks.ts'
import { maskHtml } from './html-mask.ts'
import { finished, mask, type Marked, type Masking } from './masking.ts'
import { maskText } from './text-mask.ts'

/** A request as the client sent it. */
export interface SeenRequest {
  readonly instance: 'home' | 'regional'
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
}

/** An answer as the client got it. */
export interface SeenResponse {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
}

/** Headers that belong to one connection or one moment, or that a recording shows elsewhere. */
const omittedHeaders = new Set(
  [
    ['host', 'connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'te', 'trailer', 'upgrade', 'expect'],
    [
      'content-length',
      'content-encoding',
      'date',
      'cookie',
      'x-owner-sso-emulator',
      'etag',
      'last-modified',
      'expires',
    ],
  ].flat(),
)
/** Shown as far as they are made of known words. */
const wordHeaders = new Set(
  [
    ['accept', 'accept-charset', 'accept-encoding', 'accept-language', 'content-type', 'user-agent', 'cache-control'],
    ['content-language', 'pragma', 'vary', 'retry-after', 'www-authenticate', 'x-frame-options'],
  ].flat(),
)
const addressHeaders = new Set(['location', 'origin', 'referer', 'content-location'])

export function maskRequest(masking: Masking, { instance, method, url, headers, body }: SeenRequest): RecordedRequest {
  const [path = '', query = ''] = url.split(/\?(.*)/su)
  const cookies = headers.filter(([name]) => name.toLowerCase() === 'cookie').flatMap(([, value]) => value.split(';'))
  return {
    instance,
    method: finished(maskText(masking, method)),
    path: finished(maskPath(masking, path)),
    ...(query && { query: maskParameters(masking, new URLSearchParams(query)) }),
    ...(cookies.length > 0 && { cookies: maskCookies(masking, cookies) }),
    headers: maskHeaders(masking, headers),
    ...maskBody(masking, headers, body),
  }
}

export function maskResponse(masking: Masking, { status, headers, body }: SeenResponse): RecordedAnswer {
  return { status, headers: maskHeaders(masking, headers), ...maskBody(masking, headers, body) }
}

function maskCookies(masking: Masking, pairs: readonly string[]): Parameters {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = '', value = ''] = pair.trim().split(/[=](.*)/su)
      return [finished(maskName(masking, name)), finished(mask(masking, `cookie.${name}`, value))]
    }),
  )
}

function maskHeaders(masking: Masking, headers: SeenResponse['headers']): Parameters {
  const masked = new Map<string, string[]>()
  for (const [written, value] of headers) {
    const name = written.toLowerCase()
    if (omittedHeaders.has(name)) continue
    const shown = finished(maskName(masking, name))
    masked.set(shown, [...(masked.get(shown) ?? []), finished(maskHeader(masking, name, value))])
  }
  return Object.fromEntries([...masked].map(([name, values]) => [name, values.length > 1 ? values : values.join('')]))
}

function maskHeader(masking: Masking, name: string, value: string): Marked {
  if (name === 'set-cookie') return maskSetCookie(masking, value)
  if (name === 'retry-after' && /^\d{1,5}$/u.test(value)) return value
  if (addressHeaders.has(name)) return maskAddress(masking, value)
  return wordHeaders.has(name) ? maskText(masking, value) : mask(masking, `header.${name}`, value)
}

/** `name=value; Path=/; Max-Age=7200`: what the attributes say is no secret, as long as they are the known ones. */
function maskSetCookie(masking: Masking, header: string): Marked {
  const [pair = '', ...attributes] = header.split(';')
  const [name = '', value = ''] = pair.trim().split(/[=](.*)/su)
  const shown = attributes.map((attribute) => attribute.trim()).filter((attribute) => plainAttribute.test(attribute))
  return [`${maskName(masking, name)}=${value && mask(masking, `cookie.${name}`, value)}`, ...shown].join('; ')
}

const plainAttribute =
  /^(?:path=\/(?:oauth2(?:\/v3)?\/?(?:authorize|token)?)?|max-age=-?\d{1,9}|expires=\w{3},? \d\d[ -]\w{3}[ -]\d{2,4} [\d:]{8} GMT|httponly|secure|partitioned|samesite=(?:lax|strict|none))$/iu

function maskBody(masking: Masking, headers: SeenResponse['headers'], body: Buffer): RecordedBody {
  if (body.length === 0) return {}
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1].toLowerCase() ?? ''
  const text = utf8(body)
  if (text === undefined) return { text: [finished(mask(masking, 'body', body.toString('base64')))] }
  if (type.includes('application/x-www-form-urlencoded'))
    return { form: maskParameters(masking, new URLSearchParams(text)) }
  const json = parsed(text)
  if (json) return { json: maskJson(masking, json.value) }
  // What claims to be JSON may well be a page.
  return type.includes('html') || /^\s*</u.test(text)
    ? { html: lines(maskHtml(masking, text)) }
    : { text: lines(maskText(masking, text)) }
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function utf8(body: Buffer): string | undefined {
  const text = body.toString('utf8')
  return Buffer.from(text).equals(body) ? text : undefined
}

function lines(marked: Marked): string[] {
  return finished(marked).split('\n')
}
