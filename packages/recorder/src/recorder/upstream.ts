/**
 * The service that a recording is made of: each request is sent once, as it came, over the TLS that was asked for; nothing
 * is followed.
 */
import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import type { SeenResponse } from '../masking/exchange-mask.ts'
import type { UpstreamTls } from './upstream-tls.ts'

/** A request for the service, complete but for its address. */
export interface UpstreamRequest {
  readonly url: string
  readonly method: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
  /** The client's connection: the service sees one of its own for it. */
  readonly connection: Socket
  /** The client has gone. */
  readonly signal: AbortSignal
}

/** What became of it: an answer, a connection that was `cut` once the request was sent, a client that went; or no connection. */
export type UpstreamOutcome =
  | { readonly kind: 'answer'; readonly answer: SeenResponse }
  | { readonly kind: 'cut' }
  | { readonly kind: 'none' }
  | { readonly kind: 'unreachable'; readonly reason: string }

export interface Upstream {
  send(request: UpstreamRequest): Promise<UpstreamOutcome>
  close(): void
}

const maxBytes = 8 * 1024 * 1024
const decoders: Readonly<Record<string, (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
}
/** Headers that belong to one connection (RFC 9110 section 7.6.1), and those that are written anew. */
const connectionHeaders =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|content-length|host)$/iu

/** It waits for an answer as long as its client does. */
export function createUpstream(tls: UpstreamTls): Upstream {
  const agents = new Map<Socket, { readonly http: HttpAgent; readonly https: HttpsAgent }>()
  const agentsOf = (connection: Socket): { readonly http: HttpAgent; readonly https: HttpsAgent } => {
    const present = agents.get(connection)
    if (present) return present
    const keep = { keepAlive: true, maxSockets: 1 }
    const made = { http: new HttpAgent(keep), https: new HttpsAgent({ ...keep, ...tls }) }
    agents.set(connection, made)
    connection.once('close', () => {
      end(made)
      agents.delete(connection)
    })
    return made
  }
  return {
    async send({ url, method, headers, body, connection, signal }) {
      const { http, https } = agentsOf(connection)
      const { protocol, host } = new URL(url)
      const own = [
        'Host',
        host,
        ...(body.length > 0 || method === 'POST' ? ['Content-Length', String(body.length)] : []),
      ]
      const passed = headers.filter(([name]) => !connectionHeaders.test(name)).flat()
      const options = { method, headers: [...own, ...passed], signal, maxHeaderSize: 65_536 }
      const isSecure = protocol === 'https:'
      return exchange(
        isSecure ? httpsRequest(url, { ...options, agent: https }) : httpRequest(url, { ...options, agent: http }),
        body,
        signal,
      )
    },
    close() {
      for (const pair of agents.values()) end(pair)
    },
  }
}

function end({ http, https }: { readonly http: HttpAgent; readonly https: HttpsAgent }): void {
  http.destroy()
  https.destroy()
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
      if (length > maxBytes) throw new Unreadable(`its answer is larger than ${maxBytes / 1024 / 1024} MiB`)
    }
    return { kind: 'answer', answer: await readable(answer, Buffer.concat(chunks)) }
  } catch (error) {
    sent.destroy()
    if (error instanceof Unreadable) return { kind: 'unreachable', reason: error.message }
    if (signal.aborted) return { kind: 'none' }
    return isSent ? { kind: 'cut' } : { kind: 'unreachable', reason: reasonOf(error) }
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
  const decode = decoders[encoding]
  if (!decode) throw new Unreadable('its answer is encoded in a way that can not be read: leave accept-encoding out')
  const decoded = await decode(body, { maxOutputLength: maxBytes }).catch(() => undefined)
  if (!decoded)
    throw new Unreadable(`its answer is not valid ${encoding}, or larger than ${maxBytes / 1024 / 1024} MiB`)
  return { status: statusCode, headers: passed, body: decoded }
}

/** Node's flat list of names and values, in pairs. */
export function headerPairs(raw: readonly string[]): (readonly [name: string, value: string])[] {
  return raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ''] as const] : []))
}

class Unreadable extends Error {}

/** Why there was no connection: a code like ECONNREFUSED, or what is wrong with the certificate. */
function reasonOf(error: unknown): string {
  const { code, message }: { code?: unknown; message?: unknown } =
    typeof error === 'object' && error !== null ? error : {}
  return String(code ?? message ?? error)
}
