/**
 * The gateway's own responses: JSON, and problem details (RFC 9457) with a `code` for programs.
 */
import { STATUS_CODES, type ServerResponse } from 'node:http'

/** A rejection as data. */
export interface Rejection {
  readonly status: 400 | 401 | 403 | 404 | 405 | 503
  readonly code: string
  /** For people. */
  readonly detail: string
  readonly headers?: Readonly<Record<string, string>>
}

export function sendRejection(response: ServerResponse, { status, code, detail, headers }: Rejection): void {
  const body = { title: STATUS_CODES[status], status, detail, code }
  send(response, status, { 'content-type': 'application/problem+json', ...headers }, JSON.stringify(body))
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  sendText(response, status, 'application/json', `${JSON.stringify(body)}\n`)
}

export function sendText(response: ServerResponse, status: number, contentType: string, text: string): void {
  send(response, status, { 'content-type': contentType }, text)
}

function send(response: ServerResponse, status: number, headers: Record<string, string>, text: string): void {
  const length = Buffer.byteLength(text)
  response.writeHead(status, { 'cache-control': 'no-store', 'content-length': length, ...headers }).end(text)
}
