/**
 * The SSO service as a login knows it: with what logins have shown of passwords, and which of them were completed.
 */
import { createHttpContext } from '../http/http-context.ts'
import type { ServiceContext, SsoSettings } from '../service/options.ts'
import { createCredentialPosts, type CredentialPosts } from './credential-posts.ts'
import { createSecretMemory, type SecretMemory } from './secret-memory.ts'

/** One for each `createSso`; nothing in it belongs to an account. */
export interface SsoContext extends ServiceContext {
  /** Which pairs of e-mail and password the service rejected, and which are being posted now. */
  readonly credentialPosts: CredentialPosts
  /** `state` of logins that were completed here: each is used once. */
  readonly completedLogins: SecretMemory
}

const anHour = 60 * 60

/** @param now - the clock, in seconds since the epoch; another one than the system's is for tests */
export function createSsoContext(settings: SsoSettings, now: () => number = () => Date.now() / 1000): SsoContext {
  return {
    ...createHttpContext(settings, now),
    credentialPosts: createCredentialPosts(),
    completedLogins: createSecretMemory(10_000, anHour),
  }
}
