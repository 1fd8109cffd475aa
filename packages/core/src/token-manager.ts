/**
 * `createTokenManager`: one valid access token, one refresh, for any number of callers.
 */
import type { ReauthenticationReason } from './errors.ts'
import type { CallOptions, Sso } from './sso.ts'
import type { TokenSet } from './token-set.ts'
import type { TokenStore } from './token-store.ts'

export interface TokenManagerOptions {
  readonly sso: Pick<Sso, 'refresh'>
  readonly store: TokenStore
  /** Fraction of a token's life after which it is refreshed in the background, jittered. Default 0.75. */
  readonly refreshAfter?: number
  /** Seconds between two refreshes of one account, whatever `expires_in` or a 401 says. Default 60; 0 for tests. */
  readonly minRefreshInterval?: number
}

/** What is known of an account's tokens; never a token. */
export interface TokenStatus {
  readonly state: 'valid' | 'expired' | 'signed-out' | 'in-doubt' | 'reauthentication-required'
  /** Seconds since the epoch at which the access token ends; absent where there is none. */
  readonly expires_at?: number
  /** The instance that issued it. */
  readonly auth_url?: string
  readonly reason?: ReauthenticationReason
}

export interface TokenManager {
  /** A sign-in: replaces whatever was there, a tombstone included. Resolves when it is stored. */
  save(account: string, tokens: TokenSet): Promise<void>
  /**
   * A valid access token; the hot path.
   *
   * @throws SignedOutError, ReauthenticationRequiredError, RefreshInDoubtError, FirewallChallengeError, StoreError,
   *   SsoTimeoutError, UnreachableError
   */
  getAccessToken(account: string, options?: CallOptions): Promise<string>
  /** Refreshes now, whatever the token's age (but never twice within `minRefreshInterval`). */
  refresh(account: string, options?: CallOptions): Promise<void>
  /** After a 401: ignored unless `accessToken` is still the current one. The next `getAccessToken` refreshes. */
  invalidate(account: string, accessToken: string): Promise<void>
  status(account: string): Promise<TokenStatus>
  /** A sign-out: a tombstone, so that a refresh still under way can't undo it. */
  forget(account: string): Promise<void>
}
