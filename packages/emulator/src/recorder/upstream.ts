/**
 * The service that a recording is made of: each request is sent once, as it came, over the TLS that was asked for; nothing
 * is followed.
 */
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest, type Agent } from 'node:https'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import type { SeenHeaders, SeenResponse } from './masking.ts'

export interface UpstreamRequest {
  readonly url: string
  readonly method: string
  readonly headers: SeenHeaders
  readonly body: Buffer
  readonly signal: AbortSignal
}

/** An answer; a connection that was `cut` once the request was sent, a client that went (`none`); or why there was no connection. */
export type UpstreamOutcome = SeenResponse | 'cut' | 'none' | { readonly unreachable: string }

const maxBytes = 8 * 1024 * 1024
const decoders: Readonly<Record<string, (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  identity: (body) => Promise.resolve(body),
}
/** Headers that belong to one connection (RFC 9110 section 7.6.1), and those that are written anew. */
const connectionHeaders =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|content-length|host)$/iu

/** It waits for an answer as long as its client does. The agent is for https alone. */
export async function sendUpstream(agent: Agent, request: UpstreamRequest): Promise<UpstreamOutcome> {
  const { url, method, body, signal } = request
  const { protocol, host } = new URL(url)
  const length = body.length > 0 || method === 'POST' ? ['Content-Length', String(body.length)] : []
  const passed = request.headers.filter(([name]) => !connectionHeaders.test(name)).flat()
  const options = { method, headers: ['Host', host, ...length, ...passed], signal, maxHeaderSize: 65_536 }
  const sent = protocol === 'https:' ? httpsRequest(url, { ...options, agent }) : httpRequest(url, options)
  let isSent = false
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      sent
        .once('finish', () => (isSent = true))
        .once('response', resolve)
        .once('error', reject)
      sent.end(body)
    })
    return await readAnswer(answer)
  } catch (error) {
    sent.destroy()
    if (error instanceof Unreadable) return { unreachable: 'its answer can not be read, or is larger than 8 MiB' }
    if (signal.aborted) return 'none'
    return isSent ? 'cut' : { unreachable: reasonOf(error) }
  }
}

/** The answer with its body decoded, and no longer said to be encoded. */
async function readAnswer(answer: IncomingMessage): Promise<SeenResponse> {
  const body = await readUpTo(answer, maxBytes)
  if (!body) throw new Unreadable()
  const encoding = answer.headers['content-encoding']?.trim().toLowerCase() || 'identity'
  const decode = body.length === 0 ? decoders['identity'] : decoders[encoding]
  const decoded = await decode?.(body, { maxOutputLength: maxBytes }).catch(() => undefined)
  if (!decoded) throw new Unreadable()
  const headers = headerPairs(answer.rawHeaders).filter(
    ([name]) => !connectionHeaders.test(name) && !/^content-encoding$/iu.test(name),
  )
  return { status: answer.statusCode ?? 502, headers, body: decoded }
}

/** The whole body, or undefined if it is larger. */
export async function readUpTo(message: IncomingMessage, most: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of message) {
    if (!Buffer.isBuffer(chunk)) continue
    length += chunk.length
    if (length <= most) chunks.push(chunk)
  }
  return length <= most ? Buffer.concat(chunks) : undefined
}

/** Node's flat list of names and values, in pairs. */
export function headerPairs(raw: readonly string[]): SeenHeaders {
  return raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ''] as const] : []))
}

class Unreadable extends Error {}

/** Why there was no connection: a code like ECONNREFUSED, or what is wrong with the certificate. */
function reasonOf(error: unknown): string {
  const { code, message }: { code?: unknown; message?: unknown } =
    typeof error === 'object' && error !== null ? error : {}
  return String(code ?? message ?? error)
}
