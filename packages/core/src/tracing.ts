/**
 * The tracing channel `owner-sso:login` of `node:diagnostics_channel`: which call was made and how it ended, never with
 * what, nor what came of it.
 */
import { tracingChannel } from 'node:diagnostics_channel'

/** What subscribers are given. Node adds `error`, an SsoError or TypeError, where the call failed. */
export interface TraceContext {
  /** The method that was called, such as `login`. */
  readonly operation: string
  /** The home instance. */
  readonly auth_url: string
}

const channel = tracingChannel<unknown, TraceContext>('owner-sso:login')

/** Makes a call on the channel. Costs nothing while nobody listens. */
export function traceLogin<T>(operation: string, authUrl: string, call: () => Promise<T>): Promise<T> {
  if (!channel.hasSubscribers) return call()
  return new Promise((resolve, reject) => {
    const results: T[] = []
    // Node hands the result of what it traces to subscribers: theirs is undefined, since ours holds tokens.
    const traced = async (): Promise<void> => void results.push(await call())
    channel.tracePromise(traced, { operation, auth_url: authUrl }).then(() => results.forEach(resolve), reject)
  })
}
