/**
 * What goes to the owner API of a caller's request: its body, which is none, held in memory, or a stream, and its headers.
 */
import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import type { Answer } from '../answers/problem.ts'
import { declaresBody } from '../door/entry.ts'
import { connectionNames } from './header-names.ts'
import { parsedBody } from './parsed-body.ts'

export interface RequestBody {
  /** Bytes can be sent again after a 401, a stream can't. */
  readonly content?: Buffer | PassThrough
  /** Bytes, where the caller said so. */
  readonly length?: number
  /** In place of the caller's `Content-*` headers. */
  readonly contentType?: string
}

const none: RequestBody = {}

/**
 * The body of a request.
 *
 * @param bufferLimit - bytes: a body of a known length up to that is read first
 * @returns a promise only where there is something to wait for
 */
export function requestBody(
  request: IncomingMessage,
  bufferLimit: number,
): RequestBody | Answer | Promise<RequestBody> {
  if (!declaresBody(request)) return none
  if (request.readableDidRead) return parsedBody(request)
  const declared = request.headers['content-length']
  const length = declared === undefined ? undefined : Number(declared)
  if (length !== undefined && length <= bufferLimit) return readBody(request)
  return { content: streamOf(request), ...(length !== undefined && { length }) }
}

function readBody(request: IncomingMessage): Promise<RequestBody> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .once('end', () => resolve({ content: Buffer.concat(chunks) }))
      .once('error', reject)
  })
}

/**
 * A stream for undici, which destroys what it is given when an answer comes early: the request itself would take the
 * caller's connection with it.
 */
function streamOf(request: IncomingMessage): PassThrough {
  const stream = new PassThrough()
  stream.on('error', () => {})
  // What the caller has still to send is read all the same: the next call comes behind it, and a caller may send all of it
  // before it looks at the answer.
  stream.once('close', () => request.unpipe(stream).resume())
  return request.pipe(stream)
}

/** Those of the caller's headers that are on the list, as a flat array of names and values. */
export function upstreamHeaders(
  { headers }: IncomingMessage,
  names: readonly string[],
  userAgent: string,
  { contentType, length }: RequestBody,
): string[] {
  const hopByHop = connectionNames(headers.connection)
  const flat = ['user-agent', userAgent]
  for (const name of names) {
    // Own properties alone: what somebody put on Object.prototype is no header.
    if (!Object.hasOwn(headers, name) || hopByHop?.has(name)) continue
    const value = headers[name]
    if (contentType !== undefined && name.startsWith('content-')) continue
    if (typeof value === 'string') flat.push(name, value)
  }
  // A body that was parsed is written anew: uncompressed, and in UTF-8.
  if (contentType !== undefined) flat.push('content-type', contentType)
  if (length !== undefined) flat.push('content-length', String(length))
  return flat
}
