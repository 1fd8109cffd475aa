/**
 * A request and its answer as a recording shows them.
 */
import type { Parameters, RecordedAnswer, RecordedBody, RecordedRequest } from './fixture.ts'
import { maskAddress, maskJson, maskName, maskParameters, maskPath } from './field-masks.ts'
import { maskHtml } from './html-mask.ts'
import type { Mask } from './pseudonyms.ts'
import { maskText } from './text-mask.ts'

export type SeenHeaders = readonly (readonly [name: string, value: string])[]

/** A request as the client sent it. */
export interface SeenRequest {
  readonly instance: 'home' | 'regional'
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: SeenHeaders
  readonly body: Buffer
}

/** An answer as the client got it. */
export interface SeenResponse {
  readonly status: number
  readonly headers: SeenHeaders
  readonly body: Buffer
}

/** The headers that a login depends on. All others are left out. */
const maskers: Readonly<Record<string, (mask: Mask, value: string) => string>> = {
  'content-type': (mask, value) => maskText(mask, value),
  accept: (mask, value) => maskText(mask, value),
  location: (mask, value) => maskAddress(mask, value),
  origin: (mask, value) => maskAddress(mask, value),
  referer: (mask, value) => maskAddress(mask, value),
  'retry-after': (mask, value) => (/^\d{1,5}$/u.test(value) ? value : maskText(mask, value)),
  'set-cookie': maskSetCookie,
}

export function maskRequest(mask: Mask, { instance, method, url, headers, body }: SeenRequest): RecordedRequest {
  const [path = '', query = ''] = url.split(/\?(.*)/su)
  const cookies = headers.filter(([name]) => name.toLowerCase() === 'cookie').flatMap(([, value]) => value.split(';'))
  return {
    instance,
    method,
    path: maskPath(mask, path),
    ...(query && { query: maskParameters(mask, new URLSearchParams(query)) }),
    ...(cookies.length > 0 && { cookies: Object.fromEntries(cookies.map((pair) => maskCookie(mask, pair))) }),
    headers: maskHeaders(mask, headers),
    ...maskBody(mask, headers, body),
  }
}

export function maskResponse(mask: Mask, { status, headers, body }: SeenResponse): RecordedAnswer {
  return { status, headers: maskHeaders(mask, headers), ...maskBody(mask, headers, body) }
}

function maskHeaders(mask: Mask, headers: SeenHeaders): Parameters {
  const shown = headers.flatMap(([written, value]) => {
    const name = written.toLowerCase()
    return Object.hasOwn(maskers, name) ? [[name, maskers[name]?.(mask, value) ?? ''] as const] : []
  })
  const all = (name: string): string[] => shown.filter(([each]) => each === name).map(([, value]) => value)
  return Object.fromEntries(shown.map(([name, value]) => [name, all(name).length > 1 ? all(name) : value]))
}

function maskCookie(mask: Mask, pair: string): readonly [name: string, value: string] {
  const [name = '', value = ''] = pair.trim().split(/[=](.*)/su)
  return [maskName(mask, name), value && mask.value('cookie', value)]
}

/** `name=value; Path=/; Max-Age=7200`: what the attributes say is no secret, as long as they are the known ones. */
function maskSetCookie(mask: Mask, header: string): string {
  const [pair = '', ...attributes] = header.split(';')
  const shown = attributes.map((attribute) => attribute.trim()).filter((attribute) => plainAttribute.test(attribute))
  return [maskCookie(mask, pair).join('='), ...shown].join('; ')
}

const plainAttribute =
  /^(?:path=\/(?:oauth2(?:\/v3)?\/?(?:authorize|token)?)?|max-age=-?\d{1,9}|expires=\w{3},? \d\d[ -]\w{3}[ -]\d{2,4} [\d:]{8} GMT|httponly|secure|partitioned|samesite=(?:lax|strict|none))$/iu

function maskBody(mask: Mask, headers: SeenHeaders, body: Buffer): RecordedBody {
  if (body.length === 0) return {}
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1].toLowerCase() ?? ''
  const text = body.toString('utf8')
  if (!Buffer.from(text).equals(body)) return { text: [mask.value('body', body.toString('base64'))] }
  if (type.includes('application/x-www-form-urlencoded'))
    return { form: maskParameters(mask, new URLSearchParams(text)) }
  try {
    return { json: maskJson(mask, JSON.parse(text)) }
  } catch {
    // What claims to be JSON may well be a page.
    return type.includes('html') || /^\s*</u.test(text)
      ? { html: maskHtml(mask, text).split('\n') }
      : { text: maskText(mask, text).split('\n') }
  }
}
