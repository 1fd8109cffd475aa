/**
 * The tracing channel `owner-sso:refresh` of `node:diagnostics_channel`: each refresh request, which, where and how it ended;
 * never what came of it. Free when nobody listens.
 */
import { tracingChannel } from 'node:diagnostics_channel'

/** What subscribers of `owner-sso:refresh` are given. Node adds `result`, the word `tokens`, or `error`, an SsoError. */
export interface RefreshTrace {
  readonly account: string
  readonly auth_url: string
  /** The response to an earlier request had been lost. */
  readonly replay: boolean
}

/** A refresh request that is traced. */
export interface TracedRefresh<Outcome> {
  readonly outcome: Promise<Outcome>
  /** What came of the request was put where it belongs: the trace ends, once new tokens are safe as well. */
  readonly endAfter: (safe: Promise<void> | undefined) => void
}

const refreshes = tracingChannel<unknown, RefreshTrace>('owner-sso:refresh')

/**
 * Makes a refresh request on the channel `owner-sso:refresh`. Its end is published only after the new tokens have been stored:
 * Node ends the process whose subscriber throws, and until then the only copy may be in its memory.
 */
export function traceRefresh<Outcome extends { readonly kind: 'tokens' } | { readonly error: Error }>(
  message: RefreshTrace,
  request: () => Promise<Outcome>,
): TracedRefresh<Outcome> {
  if (!refreshes.hasSubscribers) return { outcome: request(), endAfter: () => undefined }
  let end: TracedRefresh<Outcome>['endAfter'] | undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  let outcome: Promise<Outcome> | undefined
  const published = async (): Promise<'tokens'> => {
    outcome = request()
    const result = await outcome
    await ended
    if ('error' in result) throw result.error
    return 'tokens'
  }
  refreshes.tracePromise(published, message).catch(() => undefined)
  return { outcome: outcome ?? request(), endAfter: (safe) => end?.(safe) }
}
