/**
 * The diagnostics channel `owner-sso:refresh` (node:diagnostics_channel, TracingChannel): one trace a request, free when
 * nobody listens, and never with a token in it.
 */
import { tracingChannel } from 'node:diagnostics_channel'
import type { Outcome } from './outcome.ts'

/** The message of all five events of a trace; `result` is the word `tokens`, `error` an SsoError. */
export interface RefreshTrace {
  readonly account: string
  readonly auth_url: string
  readonly replay: boolean
}

const channel = tracingChannel<unknown, RefreshTrace>('owner-sso:refresh')

export interface Trace {
  readonly outcome: Promise<Outcome>
  /** What came of the request was put where it belongs: the trace ends, once new tokens are safe as well. */
  readonly endAfter: (safe: Promise<void> | undefined) => void
}

/**
 * Makes the request, on the channel. Its end is published only after the new tokens have been stored: Node ends the process
 * whose subscriber throws, and until then the only copy may be in its memory.
 */
export function traced(message: RefreshTrace, request: () => Promise<Outcome>): Trace {
  if (!channel.hasSubscribers) return { outcome: request(), endAfter: () => undefined }
  let end: Trace['endAfter'] | undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  let outcome: Promise<Outcome> | undefined
  const published = async (): Promise<'tokens'> => {
    outcome = request()
    const result = await outcome
    await ended
    if (result.kind === 'tokens') return 'tokens'
    throw result.error
  }
  channel.tracePromise(published, message).catch(() => undefined)
  return { outcome: outcome ?? request(), endAfter: (safe) => end?.(safe) }
}
