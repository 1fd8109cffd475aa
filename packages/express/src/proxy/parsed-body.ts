/**
 * A body that a body parser in front of the proxy has read already, written anew.
 */
import type { IncomingMessage } from 'node:http'
import type { Answer } from '../answers/problem.ts'
import { ownerApiErrorAnswer } from '../answers/owner-api-error.ts'
import { property } from '../property.ts'

export interface ParsedBody {
  readonly content: Buffer
  /** In place of the caller's `Content-*` headers. */
  readonly contentType: string
}

/**
 * The bytes of `req.body`, or the answer where they can't be derived from it: a form, a stream that was thrown away, a
 * value that may have been another one before it was parsed.
 */
export function parsedBody(request: IncomingMessage): ParsedBody | Answer {
  const body = property(request, 'body')
  const consumed = ownerApiErrorAnswer('ERR_OWNER_API_BODY_CONSUMED')
  const mediaType = /^[^;\s]*/u.exec(request.headers['content-type'] ?? '')![0].toLowerCase()
  if (Buffer.isBuffer(body)) return bytes(body, request.headers['content-type'] ?? 'application/octet-stream')
  const isJson = mediaType === 'application/json' || mediaType.endsWith('+json')
  if (typeof body === 'string') {
    // The text as it came is as long as it was; that of `"a"`, parsed as JSON, is not.
    const isText = !isJson || Buffer.byteLength(body) === Number(request.headers['content-length'])
    return isText ? written(body, `${mediaType || 'text/plain'}; charset=utf-8`) : consumed
  }
  if (body === undefined) return consumed
  if (!isJson) return consumed
  const text = JSON.stringify(body)
  const isAsLong = Buffer.byteLength(text) === Number(request.headers['content-length'])
  return isExact(body, isAsLong) ? written(text, mediaType) : changed
}

const changed = ownerApiErrorAnswer(
  'ERR_OWNER_API_BODY_CONSUMED',
  'A handler has parsed the body, and a number beyond 2^53 or of more than 15 digits, a -0 or bytes that are no UTF-8 can’t be written again as they came: put the proxy before it.',
)

/**
 * Whether no number in it can stand for several texts: `12345678901234567` was rounded, `1e400` is infinite, `-0` is written `0`, and
 * a fraction of more than 15 digits may have had more of them, unless the text is as long as it was.
 */
function isExact(value: unknown, isAsLong: boolean): boolean {
  if (typeof value === 'number') {
    if (Number.isInteger(value)) return Number.isSafeInteger(value) && !Object.is(value, -0)
    return Number.isFinite(value) && (isAsLong || Number(value.toPrecision(15)) === value)
  }
  return typeof value !== 'object' || value === null || Object.values(value).every((each) => isExact(each, isAsLong))
}

/** Text of a parser, which puts a replacement character where bytes are none of its encoding. */
function written(text: string, contentType: string): ParsedBody | Answer {
  return text.includes('\uFFFD') ? changed : bytes(text, contentType)
}

function bytes(content: Buffer | string, contentType: string): ParsedBody {
  return { content: Buffer.from(content), contentType }
}
