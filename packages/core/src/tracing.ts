/**
 * Tracing channels for `node:diagnostics_channel`: what was called and how it ended, never with what or what came of it.
 */
import { tracingChannel } from 'node:diagnostics_channel'

/** What subscribers are given. Node adds `error`, an SsoError, where the call failed. */
export interface TraceContext {
  /** The method that was called, such as `login`. */
  readonly operation: string
  /** The home instance. */
  readonly auth_url: string
}

/** Runs calls on a tracing channel. Costs nothing while nobody listens. */
export type Trace = <T>(context: TraceContext, call: () => Promise<T>) => Promise<T>

/** @param name - such as `owner-sso:login` */
export function createTrace(name: string): Trace {
  const channel = tracingChannel<unknown, TraceContext>(name)
  return (context, call) => {
    if (!channel.hasSubscribers) return call()
    return new Promise((resolve, reject) => {
      // Node hands the result of what it traces to subscribers: theirs is undefined, since ours holds tokens.
      channel.tracePromise(async () => resolve(await call()), context).catch(reject)
    })
  }
}
