/**
 * The caller's body: none, held in memory, or a stream.
 */
import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import type { Answer } from '../answers/problem.ts'
import { declaresBody } from '../door/entry.ts'
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
