/** What went over the wire between any client and a server of this process: Node's own word, not the server's log. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'

export interface Exchange {
  readonly method: string
  /** Absolute. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly status: number
  readonly answerHeaders: OutgoingHttpHeaders
  readonly answer: string
}

export interface Traffic extends Disposable {
  /** In the order of the answers. */
  readonly exchanges: readonly Exchange[]
}

/** Everything from now on that is asked of a path that begins in one of these ways. */
export function recordTraffic(...paths: readonly string[]): Traffic {
  const exchanges: Exchange[] = []
  const onStart = (message: unknown): void => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse }
    const { url = '' } = request
    if (!paths.some((path) => url.startsWith(path))) return
    const body = spyOn(request, 'push')
    const written = [spyOn(response, 'write'), spyOn(response, 'end')]
    response.once('finish', () => {
      exchanges.push({
        method: request.method ?? '',
        url: `http://${request.headers.host}${url}`,
        headers: request.headers,
        body: textOf(body),
        status: response.statusCode,
        answerHeaders: response.getHeaders(),
        answer: textOf(written.flat()),
      })
    })
  }
  subscribe('http.server.request.start', onStart)
  return { exchanges, [Symbol.dispose]: () => unsubscribe('http.server.request.start', onStart) }
}

/** The bytes that a method of a stream is given. */
function spyOn<Name extends string>(stream: Record<Name, (...args: never[]) => unknown>, name: Name): unknown[] {
  const chunks: unknown[] = []
  const own = stream[name]
  Object.defineProperty(stream, name, {
    value: (...args: never[]) => {
      chunks.push(args[0])
      return own.apply(stream, args)
    },
  })
  return chunks
}

function textOf(chunks: readonly unknown[]): string {
  const bytes = chunks.filter((chunk) => typeof chunk === 'string' || chunk instanceof Uint8Array)
  return Buffer.concat(bytes.map((chunk) => Buffer.from(chunk as string))).toString()
}
