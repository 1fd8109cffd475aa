/**
 * The outcome of a call of axios, without the token. Responses and errors of axios hold the configuration, the request and its
 * sockets at some depth, and an application may log all of it.
 */
import { finished, PassThrough, type Readable } from 'node:stream'
import { types } from 'node:util'
import { property } from '../property.ts'

/** What the application sees of a call in place of what was sent. */
export interface Shown {
  /** The configuration as the application gave it. */
  readonly config: object
  readonly token: string
}

/** A configuration without the parts that lead to a request, or hold the outbound proxy's password. */
export function shownConfig(of: object): object {
  const config: Record<string, unknown> = { ...of }
  for (const name of ['httpAgent', 'httpsAgent', 'transport', 'fetchOptions', 'proxy']) delete config[name]
  if (isStream(config['data'])) delete config['data']
  return config
}

/** An answer that was taken, or that came with an error. */
export function shownResponse<Response>(response: Response, shown: Shown): Response {
  if (typeof response !== 'object' || response === null) return response
  Reflect.deleteProperty(response, 'request')
  Reflect.set(response, 'config', shown.config)
  const data = property(response, 'data')
  if (isStream(data)) Reflect.set(response, 'data', detached(data, shown))
  else if (data instanceof ReadableStream) Reflect.set(response, 'data', detachedWeb(data, shown))
  return response
}

/** An error and everything in it: texts and numbers stay, without the token; its answer is cleaned; other objects are removed. */
export function shownError<Failure>(
  error: Failure,
  shown: Shown,
  seen: Set<unknown> = new Set([abortReason(shown)]),
): Failure {
  if (typeof error !== 'object' || error === null || seen.has(error)) return error
  seen.add(error)
  for (const name of Reflect.ownKeys(error)) {
    const value: unknown = Reflect.get(error, name)
    const parts = [value].flat()
    if (name === 'config') Reflect.set(error, name, shown.config)
    else if (name === 'response') shownResponse(value, shown)
    else if (typeof value === 'string') Reflect.set(error, name, value.replaceAll(shown.token, '[redacted]'))
    else if (parts.every(isError)) parts.forEach((part) => shownError(part, shown, seen))
    else if (typeof value === 'object' && value !== null) Reflect.deleteProperty(error, name)
  }
  return error
}

/** The application's own error, which is not ours to change. */
function abortReason({ config }: Shown): unknown {
  return property(property(config, 'signal'), 'reason')
}

/** Throws away an answer that nobody will read, so that its connection is free again. */
export function discard(response: unknown): void {
  const data = property(response, 'data')
  if (isStream(data)) data.destroy()
  else if (data instanceof ReadableStream) void data.cancel().catch(() => {})
}

/** A stream's bytes and its end, good or bad, in a stream that knows nothing of the request. */
function detached(source: Readable, shown: Shown): PassThrough {
  const stream = new PassThrough()
  finished(source, (error) => {
    if (error) stream.destroy(shownError(error, shown))
  })
  stream.once('close', () => source.destroy())
  return source.pipe(stream)
}

/** The same for a stream of the web. */
function detachedWeb(source: ReadableStream<unknown>, shown: Shown): ReadableStream<unknown> {
  const reader = source.getReader()
  return new ReadableStream({
    async pull(controller) {
      const piece = await reader.read().catch((error: unknown) => {
        throw shownError(error, shown)
      })
      if (piece.done) controller.close()
      else controller.enqueue(piece.value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/** Also one of another realm. */
const isError = (value: unknown): boolean => types.isNativeError(value) || value instanceof Error

export const isStream = (data: unknown): data is Readable => typeof property(data, 'pipe') === 'function'
