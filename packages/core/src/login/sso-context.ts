/**
 * The SSO service as this client knows it: its settings, and what was learned about it since the start.
 */
import { createHttpContext, type HttpContext } from '../http/http-context.ts'
import { createCredentialPosts, type CredentialPosts } from './credential-posts.ts'
import { createSecretMemory, type SecretMemory } from './secret-memory.ts'
import type { SsoSettings } from './options.ts'

/** What every step of the flow is handed. One per `createSso`; nothing in it belongs to an account. */
export interface SsoContext extends SsoSettings, HttpContext {
  /** Seconds since the epoch. */
  readonly now: () => number
  /** Pairs of identity and credential: what the service rejected, and what is under way, is not posted beside it. */
  readonly credentialPosts: CredentialPosts
  /** `state` of logins that were completed here: each is used once. */
  readonly completedLogins: SecretMemory
}

const anHour = 60 * 60

/** @param now - the clock, in seconds since the epoch; another one than the system's is for tests */
export function createSsoContext(settings: SsoSettings, now: () => number = () => Date.now() / 1000): SsoContext {
  return {
    ...createHttpContext(settings, now),
    now,
    credentialPosts: createCredentialPosts(),
    completedLogins: createSecretMemory(10_000, anHour),
  }
}
