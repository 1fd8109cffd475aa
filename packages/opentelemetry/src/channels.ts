/**
 * The diagnostics channels of owner-sso, with what is read of their messages. They belong to core, the token manager and the
 * proxy, which know nothing of OpenTelemetry; nothing is imported from there.
 */
import { type Channel, channel, tracingChannel, type TracingChannel } from 'node:diagnostics_channel'
import { diag } from '@opentelemetry/api'

/** What Node adds at the end of a call: its result, or what it threw. */
interface Ended {
  readonly result?: unknown
  readonly error?: unknown
}

export interface Login extends Ended {
  readonly operation: string
}
export interface Step extends Ended {
  readonly step: string
}
export interface Refresh extends Ended {
  readonly account: string
  readonly reason: string
  readonly replay: boolean
}
export interface BudgetWait extends Ended {
  readonly per_minute: number
}
export interface StoreCall extends Ended {
  readonly operation: string
}
export interface ProxiedCall extends Ended {
  readonly method: string
  readonly traceparent?: string
  readonly tracestate?: string
  readonly account?: string
}
/** What is new of an account. */
export interface AccountNews {
  readonly account: string
  readonly expires_at?: number
  readonly waiting: number
}

export type Calls<Message extends object> = TracingChannel<unknown, Message>

export interface CallListener<Message> {
  readonly begun?: (call: Message) => void
  readonly ended: (call: Message) => void
}

// Held here for good: Node forgets a channel to which nobody holds on, and with it who listens.
export const logins: Calls<Login> = tracingChannel('owner-sso:login')
export const steps: Calls<Step> = tracingChannel('owner-sso:step')
export const refreshes: Calls<Refresh> = tracingChannel('owner-sso:refresh')
export const budgetWaits: Calls<BudgetWait> = tracingChannel('owner-sso:budget')
export const storeCalls: Calls<StoreCall> = tracingChannel('owner-sso:store')
export const proxiedCalls: Calls<ProxiedCall> = tracingChannel('owner-sso:proxy')
/** Each access token that a caller got. */
export const servedTokens: Channel = channel('owner-sso:token')
export const accountNews: Channel = channel('owner-sso:account')

const nothing = (): void => undefined

/** Returns what ends it. */
export function follow<Message extends object>(calls: Calls<Message>, listener: CallListener<Message>): () => void {
  const subscribers = {
    start: quietly(listener.begun ?? nothing),
    end: nothing,
    asyncStart: nothing,
    asyncEnd: quietly(listener.ended),
    error: nothing,
  }
  calls.subscribe(subscribers)
  return () => {
    calls.unsubscribe(subscribers)
  }
}

/** Returns what ends it. */
export function listen(news: Channel, listener: (message: unknown) => void): () => void {
  const subscriber = quietly(listener)
  news.subscribe(subscriber)
  return () => {
    news.unsubscribe(subscriber)
  }
}

/** Node ends the process whose subscriber throws: a fault of the SDK costs a span or a figure, and nothing else. */
export function quietly<Message, Result>(
  listener: (message: Message) => Result,
): (message: Message) => Result | undefined {
  return (message) => {
    try {
      return listener(message)
    } catch (error) {
      diag.error('@owner-sso/opentelemetry', error)
      return undefined
    }
  }
}

/** What kind of error ended a call: its code, or else its name. Its message may name a host or an account, and goes nowhere. */
export function errorType(error: unknown): string {
  const { code, name }: { readonly code?: unknown; readonly name?: unknown } =
    typeof error === 'object' && error !== null ? error : {}
  return [code, name].find((word) => typeof word === 'string' && /^\w{1,64}$/u.test(word))?.toString() ?? '_OTHER'
}
