/**
 * Spans of logins with their steps, of refreshes, waits for the budget, store calls and proxied calls.
 *
 * `@opentelemetry/api` alone can't make a span the active one for what a channel tells of. So the open span is handed on in an
 * AsyncLocalStorage of our own: what owner-sso does within a call becomes its child.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Attributes,
  type Context,
  context as contexts,
  type Link,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import {
  budgetWaits,
  type Calls,
  errorType,
  follow,
  logins,
  type ProxiedCall,
  proxiedCalls,
  quietly,
  refreshes,
  steps,
  storeCalls,
} from './channels.ts'

/** An account as an attribute, for those who ask for it: not its name, which is a person's e-mail address. */
export type AccountAttribute = (account: string | undefined) => Attributes

/** A span of ours, and whether it is under way. */
interface Scope {
  readonly span: Span
  readonly context: Context
  isOpen: boolean
}

interface Beginning {
  readonly name: string
  readonly kind?: SpanKind
  readonly attributes: Attributes
  /** Where it belongs to, if that is not where it is made. */
  readonly parent?: Context
}

interface Traced<Message> {
  /** Nothing where the call gets no span. */
  readonly begin: (call: Message, isWithin: boolean) => Beginning | undefined
  /** What is known at the end. */
  readonly end?: (call: Message) => Attributes
}

/** Returns what ends it. */
export function traceCalls(tracer: Tracer, attributeOf: AccountAttribute): (() => void)[] {
  const scopes = new AsyncLocalStorage<Scope | undefined>()

  function spansOf<Message extends object & { readonly error?: unknown }>(
    calls: Calls<Message>,
    { begin, end }: Traced<Message>,
  ): () => void {
    const begun = new WeakMap<Message, Scope>()
    const beginSpan = (call: Message): Scope | undefined => {
      const scope = scopes.getStore()
      const here = scope?.isOpen === true ? scope.context : contexts.active()
      const beginning = begin(call, trace.getSpan(here) !== undefined)
      if (beginning === undefined) return scope
      const { name, parent = here, kind = SpanKind.INTERNAL, attributes } = beginning
      // What was begun in the background may outlive the call that began it.
      const links: Link[] = scope?.isOpen === false ? [{ context: scope.span.spanContext() }] : []
      const span = tracer.startSpan(name, { kind, attributes, links }, parent)
      const own: Scope = { span, context: trace.setSpan(parent, span), isOpen: true }
      begun.set(call, own)
      return own
    }
    calls.start.bindStore(scopes, quietly(beginSpan))
    const unfollow = follow(calls, {
      ended(call) {
        const own = begun.get(call)
        if (own === undefined) return
        own.isOpen = false
        const attributes = { ...(call.error !== undefined && { 'error.type': errorType(call.error) }), ...end?.(call) }
        own.span.setAttributes(attributes)
        if ('error.type' in attributes) own.span.setStatus({ code: SpanStatusCode.ERROR })
        own.span.end()
      },
    })
    return () => {
      calls.start.unbindStore(scopes)
      unfollow()
    }
  }

  return [
    spansOf(logins, {
      begin: ({ operation }) => ({ name: 'owner_sso.login', attributes: { 'owner_sso.login.operation': operation } }),
    }),
    spansOf(steps, {
      begin: ({ step }) => ({
        name: `owner_sso.login ${step}`,
        kind: SpanKind.CLIENT,
        attributes: { 'owner_sso.login.step': step },
      }),
      end: ({ result }) => (typeof result === 'number' ? { 'http.response.status_code': result } : {}),
    }),
    spansOf(refreshes, {
      begin: ({ account, reason, replay }) => ({
        name: 'owner_sso.refresh',
        kind: SpanKind.CLIENT,
        attributes: {
          'owner_sso.refresh.reason': reason,
          'owner_sso.refresh.replay': replay,
          ...attributeOf(account),
        },
      }),
      end: ({ error }) => ({ 'owner_sso.refresh.outcome': error === undefined ? 'tokens' : errorType(error) }),
    }),
    spansOf(budgetWaits, { begin: () => ({ name: 'owner_sso.budget', attributes: {} }) }),
    spansOf(storeCalls, {
      // Alone it would be a trace of its own, for each look of a sweep.
      begin: ({ operation }, isWithin) =>
        isWithin
          ? { name: `owner_sso.store ${operation}`, attributes: { 'owner_sso.store.operation': operation } }
          : undefined,
    }),
    spansOf(proxiedCalls, {
      begin: beginningOfProxied,
      end: (call) => ({ ...attributeOf(call.account), ...endOf(call) }),
    }),
  ]
}

/** What a caller may send is without end, and names of spans are not (OpenTelemetry's semantic conventions for HTTP). */
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'])

/** It belongs to the span of the HTTP server where one is made; otherwise to the caller's, as the request names it. */
function beginningOfProxied({ method, traceparent, tracestate }: ProxiedCall, isWithin: boolean): Beginning {
  const isKnown = knownMethods.has(method)
  const name = `owner_sso.proxy ${isKnown ? method : 'HTTP'}`
  const attributes = isKnown
    ? { 'http.request.method': method }
    : { 'http.request.method': '_OTHER', 'http.request.method_original': method }
  if (isWithin) return { name, attributes }
  const carrier = { ...(traceparent !== undefined && { traceparent }), ...(tracestate !== undefined && { tracestate }) }
  return { name, kind: SpanKind.SERVER, attributes, parent: propagation.extract(contexts.active(), carrier) }
}

function endOf({ result }: ProxiedCall): Attributes {
  if (typeof result !== 'number') return { 'error.type': String(result) }
  return { 'http.response.status_code': result, ...(result >= 500 && { 'error.type': String(result) }) }
}
