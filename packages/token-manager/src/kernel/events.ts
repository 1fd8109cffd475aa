/**
 * The token manager's events: what an operator wants to know. None carries a token.
 */
import type { ClientRejectedError, ReauthenticationReason, SsoError, StoreError } from '../errors.ts'

/** Each event with its argument. Times are seconds since the epoch. */
export interface TokenManagerEvents {
  /** A new token set was received. `replay`: the response to an earlier request had been lost. */
  refreshed: { readonly account: string; readonly expires_at: number; readonly replay: boolean }
  /**
   * The owner API refused an access token that came of a refresh, for the `in_a_row`-th time in a row. The one before it is
   * current again, until `expires_at`: sign in again before.
   */
  'refreshed-token-refused': { readonly account: string; readonly expires_at: number; readonly in_a_row: number }
  /** A refresh ended without one; what `error` says, callers get once the old access token has expired. */
  'refresh-failed': { readonly account: string; readonly error: SsoError }
  /**
   * A refresh was sent and its response is unknown; it is replayed once, at `nextAttemptAt`, if nothing is heard. Also where one
   * may have been sent, since the store lost the newest record: then callers without a working token wait until that time.
   */
  'in-doubt': { readonly account: string; readonly nextAttemptAt: number }
  /**
   * New tokens are not in the store: it could not be written. Repeated until it can. `spooled`: they are in the spool;
   * otherwise in this process's memory alone.
   */
  unsaved: { readonly account: string; readonly error: StoreError; readonly spooled: boolean }
  /** New tokens that a process had left in the spool are in the store. */
  'carried-over': { readonly account: string }
  /** A sign-in was saved, but the index of refresh tokens failed: the same one would be taken for a second account. */
  'not-indexed': { readonly account: string; readonly error: StoreError }
  /** The store had lost this account, or its newest record: this process put it back from memory. */
  restored: { readonly account: string }
  /** The result of a refresh was dropped: a newer sign-in, sign-out or refresh stands in the store. */
  superseded: { readonly account: string }
  /** The owner has to sign in again. */
  'reauthentication-required': { readonly account: string; readonly reason: ReauthenticationReason }
  /** A refresh was not made: the budget for refreshes (`requestBudget`) has no place for it before `nextAttemptAt`. */
  'over-budget': { readonly account: string; readonly auth_url: string; readonly nextAttemptAt: number }
  /**
   * The token endpoint does not accept this client (`invalid_client`). All accounts of this issuer rest until `nextAttemptAt`.
   * Told once, by one process of those that share the store, until the client was accepted again.
   */
  'client-rejected': {
    readonly auth_url: string
    readonly error: ClientRejectedError
    readonly nextAttemptAt: number
  }
  /**
   * This process leaves refreshes to others, one is due, and nobody has refreshed since `since`. The access token works until
   * `expires_at`, unless it was refused. Told once of each.
   */
  'not-refreshed': { readonly account: string; readonly since: number; readonly expires_at: number }
  /** The service's firewall blocks this client. No process that shares the store sends before `nextAttemptAt`. */
  blocked: { readonly account: string; readonly auth_url: string; readonly nextAttemptAt: number }
}
