/**
 * The SSO service as this client knows it: its settings, and what was learned about it since the start.
 */
import { createHttpContext, type HttpContext } from '../http/http-context.ts'
import { createSecretMemory, type SecretMemory } from './secret-memory.ts'
import type { SsoSettings } from './options.ts'

/** What every step of the flow is handed. One per `createSso`; nothing in it belongs to an account. */
export interface SsoContext extends SsoSettings, HttpContext {
  /** Seconds since the epoch. */
  readonly now: () => number
  /** Pairs of identity and credential that the service did not accept: not posted again (a repeat can lock the account). */
  readonly rejectedCredentials: SecretMemory
  /** `state` of logins that were completed here: each is used once. */
  readonly completedLogins: SecretMemory
}

const aDay = 24 * 60 * 60
const anHour = 60 * 60

/** @param now - the clock, in seconds since the epoch; another one than the system's is for tests */
export function createSsoContext(settings: SsoSettings, now: () => number = () => Date.now() / 1000): SsoContext {
  return {
    ...createHttpContext(settings, now),
    now,
    rejectedCredentials: createSecretMemory(10_000, aDay),
    completedLogins: createSecretMemory(10_000, anHour),
  }
}
