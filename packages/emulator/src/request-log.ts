/** The log of what arrived, secrets masked: tests count requests and connections in it, people read it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from './clock.ts'
import { mediaTypeOf, tlsVersionOf } from './service-request.ts'

/** What stands in place of a secret. */
export const MASK = '[masked]'
const MAX_ENTRIES = 10_000

export interface LoggedRequest {
  /** Seconds since the epoch by the emulator's clock. */
  readonly at: number
  /** The Host header: it tells the instances apart. */
  readonly host: string
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string | readonly string[]>>
  readonly headers: Readonly<Record<string, string>>
  /** Names and values of a form or JSON body; of any other body its text is not kept. */
  body: Readonly<Record<string, unknown>>
  /** Undefined until answered; 0 if the connection was cut before that, or a fault spoiled the answer. */
  status: number | undefined
  /** A number for each connection, from 1. */
  readonly connection: number
  /** `TLSv1.2`, `TLSv1.3`; undefined over plain http. */
  readonly tlsVersion: string | undefined
}

/** Shown as they are; everything else in a query or body is masked, whatever its name. */
const PLAIN = new Set(
  [
    ['client_id', 'code_challenge', 'code_challenge_method', 'redirect_uri', 'response_type', 'scope', 'state'],
    ['login_hint', 'identity', 'grant_type', 'factor_id', '_phase', '_process', 'cancel', 'remember'],
  ].flat(),
)
const SECRET_HEADERS = new Set(['authorization', 'proxy-authorization'])

export interface RequestLog {
  readonly entries: LoggedRequest[]
  /** Opens the entry of a request; its status is set when the answer's connection lets go of it. */
  open(request: IncomingMessage, response: ServerResponse): void
  /** Adds the body, once it was read. */
  addBody(request: IncomingMessage, body: string): void
  /** Forgets all of them. */
  clear(): void
}

export function createRequestLog(clock: Clock): RequestLog {
  const entries: LoggedRequest[] = []
  const byRequest = new WeakMap<IncomingMessage, LoggedRequest>()
  const connections = new WeakMap<Socket, number>()
  let lastConnection = 0

  function connectionOf(socket: Socket): number {
    const number = connections.get(socket) ?? (lastConnection += 1)
    connections.set(socket, number)
    return number
  }

  return {
    entries,
    open(request, response) {
      const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/su)
      const entry: LoggedRequest = {
        at: clock.now(),
        host: request.headers.host ?? '',
        method: request.method ?? '',
        path,
        query: maskFields(grouped(query)),
        headers: maskHeaders(request),
        body: {},
        status: undefined,
        connection: connectionOf(request.socket),
        tlsVersion: tlsVersionOf(request),
      }
      entries.push(entry)
      byRequest.set(request, entry)
      if (entries.length > MAX_ENTRIES) entries.shift()
      response.once('close', () => {
        entry.status = response.headersSent ? response.statusCode : 0
      })
    },
    addBody(request, body) {
      const entry = byRequest.get(request)
      if (entry) entry.body = maskBody(mediaTypeOf(request), body)
    },
    clear() {
      entries.length = 0
    },
  }
}

/** A body for the log: its field names, and the values of those that are no secret. */
function maskBody(contentType: string, body: string): Readonly<Record<string, unknown>> {
  if (contentType === 'application/x-www-form-urlencoded') return maskFields(grouped(body))
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? maskFields(Object.entries(value)) : {}
  } catch {
    return {}
  }
}

function maskFields<Value>(fields: readonly (readonly [string, Value])[]): Record<string, Value | string> {
  return Object.fromEntries(fields.map(([name, value]) => [name, isPlain(name, value) ? value : MASK]))
}

function isPlain(name: string, value: unknown): boolean {
  return PLAIN.has(name) && [value].flat().every((item) => typeof item === 'string')
}

function maskHeaders({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, maskHeader(name, String(value))]))
}

function maskHeader(name: string, value: string): string {
  if (SECRET_HEADERS.has(name)) return `${value.split(' ', 1)[0]} ${MASK}`
  if (name === 'cookie') return value.replace(/=[^;]*/gu, `=${MASK}`)
  // The address of the authorize page may carry a code.
  return name === 'referer' ? (value.split('?', 1)[0] ?? '') : value
}

/** Names of a query or form with their one value, or all of them. */
function grouped(text: string): [string, string | string[]][] {
  const parameters = new URLSearchParams(text)
  return [...new Set(parameters.keys())].map((name) => {
    const values = parameters.getAll(name)
    return [name, values.length > 1 ? values : values.join('')]
  })
}
