/**
 * The SSO service as every request to it needs it: the settings, and what connections and hosts have shown since the start.
 */
import { createHttpContext, type HttpContext } from '../http/http-context.ts'
import type { SsoSettings } from './options.ts'

/** What every step of the flow is handed. One for each `createSso`; nothing in it belongs to an account. */
export interface ServiceContext extends SsoSettings, HttpContext {
  /** Seconds since the epoch. */
  readonly now: () => number
}

/** @param now - the clock, in seconds since the epoch */
export function createServiceContext(settings: SsoSettings, now: () => number): ServiceContext {
  return { ...createHttpContext(settings, now), now }
}
