/**
 * The tracing channel `owner-sso:proxy` of `node:diagnostics_channel`: each call that the proxy takes, to the end of its answer.
 * It tells no path, header or body. Free when nobody listens.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { tracingChannel } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** What subscribers of `owner-sso:proxy` are given. */
export interface ProxyTrace {
  readonly method: string
  /** The caller's own trace, as its request names it (W3C Trace Context). */
  readonly traceparent?: string | undefined
  readonly tracestate?: string | undefined
  /** Whose vehicles are called; absent until that is known. */
  account?: string
  /** Present at the end: the status of the answer, or that its caller hung up. */
  readonly result?: number | 'aborted'
}

/** A call that is traced. */
export interface TracedCall {
  readonly message: ProxyTrace
  /** Calls what is done for it later, so that it counts as a part of the call. */
  readonly within: <Result>(call: () => Result) => Result
}

const calls = tracingChannel<unknown, ProxyTrace>('owner-sso:proxy')

export function traceCall(
  { method = '', headers }: IncomingMessage,
  response: ServerResponse,
  forward: (traced: TracedCall | undefined) => void,
): void {
  if (!calls.hasSubscribers) return forward(undefined)
  const { traceparent, tracestate } = headers
  const message: ProxyTrace = { method, traceparent: oneOf(traceparent), tracestate: oneOf(tracestate) }
  void calls.tracePromise(async () => {
    const closed = new Promise<void>((resolve) => response.once('close', () => resolve()))
    forward({ message, within: AsyncLocalStorage.snapshot() })
    await closed
    return response.writableFinished ? response.statusCode : 'aborted'
  }, message)
}

const oneOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(',') : header
