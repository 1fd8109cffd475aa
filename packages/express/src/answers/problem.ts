/**
 * Answers of our own: problem details (RFC 9457), and the one place that writes them.
 */
import { STATUS_CODES, type ServerResponse } from 'node:http'

/** The body of an answer: problem details of the type `about:blank`, with a `code` for programs. Never a secret, a path or a host. */
export interface Problem {
  /** The status in words. */
  readonly title: string
  readonly status: number
  /** What happened and what to do, for people: the same sentence for every answer of a code. */
  readonly detail: string
  /** A code of `SsoErrorCode` or `OwnerApiErrorCode`. */
  readonly code: string
  /** Which of its kinds, where the error has some: `rotated_token_lost`, for one. */
  readonly reason?: string
}

/** A whole answer, as data. */
export interface Answer {
  readonly status: number
  /** In addition to the content headers. */
  readonly headers: Readonly<Record<string, string>>
  readonly problem: Problem
}

/** An answer of a status, a code and a sentence. */
export function problemAnswer(
  status: number,
  code: string,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
  reason?: string,
): Answer {
  const title = STATUS_CODES[status] ?? 'Error'
  return {
    status,
    headers: status === 401 ? { 'www-authenticate': signInChallenge, ...headers } : headers,
    problem: { title, status, detail, code, ...(reason !== undefined && { reason }) },
  }
}

/**
 * What a 401 has to name (RFC 9110 section 11.6.1). Not `Bearer`: a caller's own bearer token is never used, and browsers
 * ask for nothing on a scheme they don't know.
 */
export const signInChallenge = 'OwnerSso realm="owner API"'

/** Headers of every answer with a problem in it. */
function headersOf({ headers, problem }: Answer): { body: Buffer; headers: Record<string, string | number> } {
  const body = Buffer.from(JSON.stringify(problem))
  return {
    body,
    headers: {
      'content-type': 'application/problem+json',
      'content-length': body.length,
      'cache-control': 'no-store',
      ...headers,
    },
  }
}

/** Writes an answer. Where one has begun already, the connection is cut, so that nobody takes half an answer for a whole one. */
export function sendAnswer(response: ServerResponse, answer: Answer): void {
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const { headers, body } = headersOf(answer)
  response.writeHead(answer.status, headers).end(body)
}

/** An answer as it goes over a bare socket, for a request that never becomes one of `node:http`. Ends the connection. */
export function rawAnswer(answer: Answer): string {
  const { headers, body } = headersOf(answer)
  const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${answer.status} ${answer.problem.title}\r\n${lines.join('')}\r\n${body.toString()}`
}
