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

export async function traced(message: RefreshTrace, request: () => Promise<Outcome>): Promise<Outcome> {
  if (!channel.hasSubscribers) return request()
  let outcome: Promise<Outcome> | undefined
  const published = async (): Promise<'tokens'> => {
    outcome = request()
    const ended = await outcome
    if (ended.kind === 'tokens') return 'tokens'
    throw ended.error
  }
  await channel.tracePromise(published, message).catch(() => undefined)
  return outcome ?? request()
}
