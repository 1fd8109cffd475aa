/**
 * The tracing channels of `node:diagnostics_channel`: `owner-sso:login` has each call of a sign-in, `owner-sso:step` each
 * request that such a call makes, `owner-sso:refresh` each refresh request. They say which, where and how it ended; never what
 * was sent or received. They cost nothing while nobody listens.
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
  /** Where it goes to: scheme, host and port of the instance, or of its token endpoint (`tokenUrl`). */
  readonly auth_url: string
  /** Present once the step has succeeded: the status of the response. */
  readonly result?: number
}

const loginSteps = ['login-page', 'form-submission', 'code-exchange', 'mfa-factors', 'mfa-verify'] as const

/** The requests of a login, in the order of the interface document. */
export type LoginStep = (typeof loginSteps)[number]

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
  return traced(
    request,
    (published) => steps.tracePromise(published, { step, auth_url: authUrl }),
    ({ status }) => status,
  )
}

/**
 * Node hands the result of a traced call to the subscribers. Ours holds tokens and pages, so subscribers get only what
 * `publishedResult` takes from it, by default nothing.
 */
function traced<T>(
  call: () => Promise<T>,
  trace: (published: () => Promise<unknown>) => Promise<unknown>,
  publishedResult: (result: T) => unknown = () => undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const results: T[] = []
    const published = async (): Promise<unknown> => {
      const result = await call()
      results.push(result)
      return publishedResult(result)
    }
    trace(published).then(() => results.forEach(resolve), reject)
  })
}

const isLoginStep = (step: SsoStep): step is LoginStep => loginSteps.some((each) => each === step)
