/**
 * HTTP as bytes over a bare socket: what no client library would send, and all of what comes back.
 */
import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  /** 0 where the connection was closed without an answer. */
  readonly status: number
  readonly head: string
  readonly body: string
  /** Everything that came back. */
  readonly text: string
}

/** Sends bytes and reads until the server closes. Put `Connection: close` into what may succeed. */
export function sendRaw(port: number, bytes: string): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.setEncoding('latin1')
    socket.on('connect', () => socket.write(bytes, 'latin1'))
    socket.on('data', (chunk) => (text += chunk))
    // A reset after the answer is as good as an end.
    socket.on('error', () => {})
    socket.on('close', () => resolve(parse(text)))
  })
}

function parse(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n')
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/u.exec(text)?.[1] ?? 0),
    head: end < 0 ? text : text.slice(0, end),
    body: end < 0 ? '' : text.slice(end + 4),
    text,
  }
}

/** A request of lines, with what every request has. */
export function rawRequest(method: string, target: string, lines: readonly string[] = [], body = ''): string {
  return [`${method} ${target} HTTP/1.1`, 'Host: app.example.com', ...lines, 'Connection: close', '', body].join('\r\n')
}

/** Lets the event loop turn until something holds; the test's own timeout ends it. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}

/** An open connection. */
export function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.on('error', reject)
  })
}
