/**
 * One request, from its head to the end of its answer: sent once, over HTTP/1.1 or HTTP/2, and returned as plain data. No redirect
 * is followed, nothing is repeated, and every status is an answer.
 *
 * No error of Node's leaves it: one may carry the request, and so the password, the cookies and the tokens.
 */
import type { ClientRequest, IncomingHttpHeaders } from 'node:http'
import type { ClientHttp2Stream } from 'node:http2'
import type { Readable } from 'node:stream'
import type { ZlibOptions } from 'node:zlib'
import { unlessAborted } from '../support/abort.ts'
import { type ExcessCode, mostBodyBytes } from './answer-bounds.ts'
import type { Connection } from './connection.ts'
import type { RequestHead } from './http2-session.ts'
import { parseJson } from './json-object.ts'
import { systemCode } from '../support/callback-fault.ts'
import { type AgreedTransport, http1Request, http2Request } from './wire-requests.ts'

export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface HttpAnswer {
  readonly status: number
  readonly header: (name: string) => string | undefined
  readonly body: string
}

/** How one request is sent: when it ends at the latest, and what runs on the open connection right before it is written. */
export interface Sending {
  readonly signal: AbortSignal
  /** Throwing keeps the request unsent, and the thrown error is the outcome. */
  readonly beforeWrite: (agreed: AgreedTransport) => void
}

export type HttpClient = (request: HttpRequest, sending: Sending) => Promise<HttpAnswer>

/** A request that got no answer, reduced to what holds no secret. `http-failure.ts` turns it into an error for callers. */
export interface BareFailure {
  readonly kind: 'no answer'
  /** A system code such as `ECONNRESET`, or one of `answer-bounds.ts`. */
  readonly code: string | undefined
  readonly syscall: string | undefined
}

export function isBareFailure(thrown: unknown): thrown is BareFailure {
  return typeof thrown === 'object' && thrown !== null && Object.hasOwn(thrown, 'kind') && 'code' in thrown
}

/** @throws BareFailure, or what `beforeWrite` threw */
export async function roundTrip(connection: Connection, request: HttpRequest, sending: Sending): Promise<HttpAnswer> {
  let unwritten: { readonly error: unknown } | undefined
  const beforeWrite: Sending['beforeWrite'] = (agreed) => {
    try {
      sending.beforeWrite(agreed)
    } catch (error) {
      unwritten = { error }
      throw error
    }
  }
  try {
    return plainAnswer(await rawAnswer(connection, request, { ...sending, beforeWrite }))
  } catch (error) {
    throw unwritten ? unwritten.error : bareFailure(error)
  }
}

interface RawAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

async function rawAnswer(connection: Connection, request: HttpRequest, sending: Sending): Promise<RawAnswer> {
  const { signal, beforeWrite } = sending
  const { body } = request
  const head = headOf(request)
  const http2 = connection.http2 && (await unlessAborted(connection.http2(), signal, outOfTime))
  if (signal.aborted) throw outOfTime()
  return new Promise((resolve, reject) => {
    const stop = (error: unknown): void => {
      reject(error)
      outgoing.destroy()
    }
    const giveUp = (code: ExcessCode): void => stop({ code })
    const outgoing: ClientRequest | ClientHttp2Stream = http2
      ? http2Request(http2, head, { beforeWrite, respond, giveUp })
      : http1Request(connection.agent, head, { beforeWrite, respond, giveUp })
    outgoing.on('error', stop)
    signal.addEventListener('abort', () => stop(outOfTime()), { once: true })
    // HTTP/2 has ended a GET already: to it, an empty text is more than nothing.
    if (body === undefined) outgoing.end()
    // Before a text, Node would write the octets of the cookies as UTF-8.
    else outgoing.end(Buffer.from(body))

    function respond(status: number, headers: IncomingHttpHeaders, answer: Readable): void {
      const chunks: Buffer[] = []
      let bytes = 0
      answer.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        bytes += chunk.length
        if (bytes > mostBodyBytes) giveUp('ANSWER_TOO_LARGE')
      })
      answer.once('end', () => resolve({ status, headers, body: Buffer.concat(chunks) })).on('error', stop)
    }
  })
}

function headOf({ method, url, headers, body }: HttpRequest): RequestHead {
  const length = Buffer.byteLength(body ?? '')
  if (length > mostBodyBytes) throw Object.assign(new Error('too large'), { code: 'REQUEST_TOO_LARGE' })
  return {
    method,
    url,
    headers: {
      ...headers,
      ...(body !== undefined && { 'Content-Length': String(length) }),
      'Accept-Encoding': acceptedEncodings,
    },
  }
}

const outOfTime = (): Error => new Error('aborted')

function plainAnswer({ status, headers, body }: RawAnswer): HttpAnswer {
  // Node names them in lower case.
  const header = (name: string): string | undefined =>
    Object.hasOwn(headers, name) ? String(headers[name]) : undefined
  return { status, header, body: wholeText(body, header('content-encoding')).replace(/^\uFEFF/u, '') }
}

/** Of JSON a missing end of its compression is no loss, and the tokens in it may be the only valid ones. Half a page is no page. */
function wholeText(body: Buffer, encoding: string | undefined): string {
  try {
    return decompressed(body, encoding).toString()
  } catch (error) {
    const text = systemCode(error) === 'Z_BUF_ERROR' ? decompressed(body, encoding, true).toString() : ''
    if (parseJson(text) === undefined) throw error
    return text
  }
}

const acceptedEncodings = 'gzip, compress, deflate, br'

/**
 * A body as it was before the service compressed it (RFC 9110 section 8.4.1); one whose encoding is not known stays as it is.
 *
 * @throws the error of `node:zlib`: `ERR_BUFFER_TOO_LARGE` for more than {@link mostBodyBytes}, `Z_BUF_ERROR` for a missing end
 */
function decompressed(body: Buffer, encoding = '', mayLackEnd = false): Buffer {
  const name = encoding.toLowerCase()
  if (body.length === 0 || !/^(?:(?:x-)?(?:gzip|compress)|deflate|br)$/u.test(name)) return body
  // Loaded by the first body that is compressed.
  const zlib = process.getBuiltinModule('node:zlib')
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = zlib.constants
  const flush = name === 'br' ? BROTLI_OPERATION_FLUSH : Z_SYNC_FLUSH
  const options: ZlibOptions = { maxOutputLength: mostBodyBytes, ...(mayLackEnd && { finishFlush: flush }) }
  if (name === 'br') return zlib.brotliDecompressSync(body, options)
  // Some servers send deflate without the two bytes of zlib before it.
  return name === 'deflate' && body[0] !== 0x78 ? zlib.inflateRawSync(body, options) : zlib.unzipSync(body, options)
}

function bareFailure(error: unknown): BareFailure {
  const { code, syscall }: { code?: unknown; syscall?: unknown } = error ?? {}
  return { kind: 'no answer', code: textOf(code), syscall: textOf(syscall) }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
