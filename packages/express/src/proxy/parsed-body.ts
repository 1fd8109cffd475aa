/**
 * A body that a body parser in front of the proxy has read already, written anew.
 */
import type { IncomingMessage } from 'node:http'
import { property } from '../property.ts'

export interface ParsedBody {
  readonly content: Buffer
  /** In place of the caller's `Content-*` headers. */
  readonly contentType: string
}

/** The bytes of `req.body`; `undefined` where they can't be derived from it (a multipart form, a stream that was thrown away). */
export function parsedBody(request: IncomingMessage): ParsedBody | undefined {
  const body = property(request, 'body')
  const mediaType = /^[^;\s]*/u.exec(request.headers['content-type'] ?? '')![0].toLowerCase()
  if (Buffer.isBuffer(body)) return bytes(body, request.headers['content-type'] ?? 'application/octet-stream')
  if (typeof body === 'string') return bytes(body, `${mediaType || 'text/plain'}; charset=utf-8`)
  if (body === undefined) return undefined
  if (mediaType === 'application/json' || mediaType.endsWith('+json')) return bytes(JSON.stringify(body), mediaType)
  const isForm = mediaType === 'application/x-www-form-urlencoded' && typeof body === 'object' && body !== null
  return isForm ? bytes(formOf(body).toString(), mediaType) : undefined
}

function bytes(content: Buffer | string, contentType: string): ParsedBody {
  return { content: Buffer.from(content), contentType }
}

/** A form of scalars, lists (`a=1&a=2`, of one `a[]=1`) and nested values (`a[b]=1`, `a[0][b]=1`), as `express.urlencoded` reads them. */
function formOf(body: object, prefix = '', form = new URLSearchParams()): URLSearchParams {
  for (const [key, value] of Object.entries(body)) {
    const name = prefix === '' ? key : `${prefix}[${key}]`
    const isNested = Array.isArray(value) && value.some((item) => typeof item === 'object')
    if (Array.isArray(value) && !isNested) {
      for (const item of value) form.append(value.length === 1 ? `${name}[]` : name, String(item))
    } else if (typeof value === 'object' && value !== null) formOf(value, name, form)
    else form.append(name, String(value))
  }
  return form
}
