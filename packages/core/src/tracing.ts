/**
 * The tracing channels of `node:diagnostics_channel`: `owner-sso:login` has each call of a sign-in, `owner-sso:step` each
 * request that such a call makes, `owner-sso:refresh` each refresh request. Which, where and how it ended; never with what, nor
 * what came of it. Free when nobody listens.
 */
import type { SsoStep } from '@owner-sso/token-manager'
import { tracingChannel } from 'node:diagnostics_channel'

/** What subscribers of `owner-sso:login` are given. Node adds `error`, an SsoError or TypeError, where the call failed. */
export interface TraceContext {
  /** The method that was called, such as `login`. */
  readonly operation: string
  /** The home instance. */
  readonly auth_url: string
}

/**
 * What subscribers of `owner-sso:step` are given. Node adds how the step ended: `result`, the HTTP status of the response, or
 * `error`, an SsoError; its `requestSent` says whether anything was sent.
 */
export interface StepTrace {
  /** Which request of a login this is, by the word that errors have for it; a region's login page is a second `login-page`. */
  readonly step: LoginStep
  /** The instance that it goes to: scheme, host and port. */
  readonly auth_url: string
  /** Present once the step has succeeded: the status of the response. */
  readonly result?: number
}

/** The requests of a login, in the order of the interface document. */
export type LoginStep = Extract<
  SsoStep,
  'login-page' | 'form-submission' | 'code-exchange' | 'mfa-factors' | 'mfa-verify'
>

const logins = tracingChannel<unknown, TraceContext>('owner-sso:login')
const steps = tracingChannel<unknown, StepTrace>('owner-sso:step')

/** Makes a call on the channel `owner-sso:login`. Costs nothing while nobody listens. */
export function traceLogin<T>(operation: string, authUrl: string, call: () => Promise<T>): Promise<T> {
  if (!logins.hasSubscribers) return call()
  return traced(call, (published) => logins.tracePromise(published, { operation, auth_url: authUrl }))
}

/**
 * Makes a request on the channel `owner-sso:step`. Costs nothing while nobody listens. A refresh is not on it: Node ends the
 * process whose subscriber throws, and a refresh has to be stored before anybody is told (`owner-sso:refresh`).
 */
export function traceStep<T extends { readonly status: number }>(
  step: SsoStep,
  authUrl: string,
  request: () => Promise<T>,
): Promise<T> {
  if (!steps.hasSubscribers || !isLoginStep(step)) return request()
  const status = ({ status: told }: T): number => told
  return traced(request, (published) => steps.tracePromise(published, { step, auth_url: authUrl }), status)
}

/**
 * Node hands the result of what it traces to subscribers. Ours holds tokens and pages, so that they are given what `told`
 * makes of it, or nothing.
 */
function traced<T>(
  call: () => Promise<T>,
  trace: (published: () => Promise<unknown>) => Promise<unknown>,
  told: (result: T) => unknown = () => undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const results: T[] = []
    const published = async (): Promise<unknown> => {
      const result = await call()
      results.push(result)
      return told(result)
    }
    trace(published).then(() => results.forEach(resolve), reject)
  })
}

const loginSteps: ReadonlySet<SsoStep> = new Set<LoginStep>([
  'login-page',
  'form-submission',
  'code-exchange',
  'mfa-factors',
  'mfa-verify',
])

const isLoginStep = (step: SsoStep): step is LoginStep => loginSteps.has(step)
