/**
 * The service that a recording is made of: each request is sent once, as it came, over the TLS that was asked for; nothing
 * is followed.
 */
import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { SecureContextOptions } from 'node:tls'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import type { SeenHeaders, SeenResponse } from './exchange-mask.ts'

/** A request for the service, complete but for its address. */
export interface UpstreamRequest {
  readonly url: string
  readonly method: string
  readonly headers: SeenHeaders
  readonly body: Buffer
  /** The client has gone. */
  readonly signal: AbortSignal
}

/** An answer; a connection that was `cut` once the request was sent, a client that went (`none`); or why there was no connection. */
export type UpstreamOutcome = SeenResponse | 'cut' | 'none' | { readonly unreachable: string }

export interface Upstream {
  send(request: UpstreamRequest): Promise<UpstreamOutcome>
  close(): void
}

const maxBytes = 8 * 1024 * 1024
const decoders: Readonly<Record<string, (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
}
/** Headers that belong to one connection (RFC 9110 section 7.6.1), and those that are written anew. */
const connectionHeaders =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|content-length|host)$/iu

/** It waits for an answer as long as its client does. */
export function createUpstream(tls: SecureContextOptions): Upstream {
  const agents = { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true, ...tls }) }
  return {
    send({ url, method, headers, body, signal }) {
      const { protocol, host } = new URL(url)
      const length = body.length > 0 || method === 'POST' ? ['Content-Length', String(body.length)] : []
      const passed = headers.filter(([name]) => !connectionHeaders.test(name)).flat()
      const options = { method, headers: ['Host', host, ...length, ...passed], signal, maxHeaderSize: 65_536 }
      const sent =
        protocol === 'https:'
          ? httpsRequest(url, { ...options, agent: agents.https })
          : httpRequest(url, { ...options, agent: agents.http })
      return exchange(sent, body, signal)
    },
    close() {
      agents.http.destroy()
      agents.https.destroy()
    },
  }
}

async function exchange(sent: ClientRequest, body: Buffer, signal: AbortSignal): Promise<UpstreamOutcome> {
  let isSent = false
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      sent
        .once('finish', () => (isSent = true))
        .once('response', resolve)
        .once('error', reject)
      sent.end(body)
    })
    const chunks: Buffer[] = []
    let length = 0
    for await (const chunk of answer) {
      if (!Buffer.isBuffer(chunk)) continue
      chunks.push(chunk)
      length += chunk.length
      if (length > maxBytes) throw new Unreadable()
    }
    return await readable(answer, Buffer.concat(chunks))
  } catch (error) {
    sent.destroy()
    if (error instanceof Unreadable) return { unreachable: 'its answer can not be read, or is larger than 8 MiB' }
    if (signal.aborted) return 'none'
    return isSent ? 'cut' : { unreachable: reasonOf(error) }
  }
}

/** The answer with its body decoded, and no longer said to be encoded. */
async function readable(
  { statusCode = 502, rawHeaders, headers }: IncomingMessage,
  body: Buffer,
): Promise<SeenResponse> {
  const passed = headerPairs(rawHeaders).filter(
    ([name]) => !connectionHeaders.test(name) && !/^content-encoding$/iu.test(name),
  )
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (encoding === '' || encoding === 'identity' || body.length === 0)
    return { status: statusCode, headers: passed, body }
  const decoded = await decoders[encoding]?.(body, { maxOutputLength: maxBytes }).catch(() => undefined)
  if (!decoded) throw new Unreadable()
  return { status: statusCode, headers: passed, body: decoded }
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
