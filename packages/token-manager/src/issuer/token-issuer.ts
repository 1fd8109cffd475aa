/**
 * The seam: all that a token manager needs of the service whose tokens it keeps. `createSso` fulfils it; so does anything else
 * that can make a refresh request (this package’s README).
 */
import type { ClientRejectedError, FirewallChallengeError } from '../errors.ts'
import type { CallOptions } from './call-options.ts'
import type { TokenSet } from './token-set.ts'

/** What the token manager says of each refresh. */
export interface IssuerRefreshOptions extends CallOptions {
  /** Milliseconds for the whole request, the response included. */
  readonly timeout?: number | undefined
  /**
   * Called at the last moment before the request is written, best on a connection that is open already. If it throws, nothing
   * may be sent, and `refresh` throws the same error (the send guard of `docs/internals/refresh-protocol.md`).
   */
  readonly beforeSend?: (() => void) | undefined
}

/**
 * What issues tokens, as a token manager sees it.
 *
 * A token manager never shares its refresh tokens, sends each of them once, and decides by what `refresh` throws what is
 * stored next. An issuer of your own throws the errors of this package accordingly:
 *
 * | what happened                                        | throw                                                        | what the token manager does                                             |
 * | ---------------------------------------------------- | ------------------------------------------------------------ | ----------------------------------------------------------------------- |
 * | finally refused: the refresh token is dead           | `ReauthenticationRequiredError('refresh_token_rejected')`    | stores the refusal; the owner signs in again                            |
 * | refused, but the refresh token is as good as before  | `TokenRejectedError` with the error code of RFC 6749, 5.2    | backs off; after five `invalid_request` the refresh token counts as dead |
 * | nothing was sent                                     | an `SsoError` with `requestSent: false`, as `UnreachableError` | backs off and tries again                                             |
 * | the client is not accepted (`invalid_client`)        | `ClientRejectedError`, and tell it to `useFirewallState`'s   | backs off; all accounts of the host rest                                |
 * | a firewall's page in place of the service's response | `FirewallChallengeError`                                     | no process that shares the store sends before `nextAttemptAt`           |
 * | in doubt: sent, but no usable response came back     | anything else, also an error that is not an `SsoError`       | replays the request, from shortly before the access token ends          |
 *
 * Whenever it is not certain that nothing was sent, let the error say so: a refresh token that is sent twice can end the
 * session. For the same reason the HTTP client must neither repeat a request nor follow a redirect with one.
 */
export interface TokenIssuer {
  /** Names the issuer's host, by its base address; what its token sets carry as `auth_url`. */
  readonly authUrl?: string | undefined
  /**
   * Makes one refresh request (RFC 6749 section 6), and never a second one.
   *
   * @param tokens - the stored token set; `auth_url` names the instance that issued it, where an issuer has several
   * @returns the new token set, whose `auth_url` is an address that names the host, and whose `expires_at` is in seconds since
   *   the epoch. A refresh token or `auth_url` that it lacks is taken from `tokens`; without `expires_at` the access token
   *   counts for eight hours: a new one is never thrown away
   * @throws SsoError as the table of {@link TokenIssuer} says
   */
  refresh(tokens: TokenSet, options?: IssuerRefreshOptions): Promise<TokenSet>
  /**
   * Optional: what `save` is given, as this issuer's tokens. Only an issuer knows the names and units that its libraries use.
   *
   * @returns nothing for what is none of them: `save` says what is wrong with it
   * @throws StoreError, RegionNotAllowedError for tokens that are another client's or another issuer's
   */
  tokenSetOf?(
    tokens: LibraryTokens,
  ): Promise<TokenSet | (Pick<TokenSet, 'refresh_token' | 'auth_url'> & { history?: string | undefined }) | undefined>
  /**
   * Optional: which instance tokens with this `auth_url` are refreshed at, as its base address. Token managers ask before they
   * store tokens, so that none are stored which could never be sent. Without it every address is taken.
   *
   * @throws RegionNotAllowedError for an address that is no instance of the service, as a rejection
   */
  allowedAuthUrl?(authUrl: string): Promise<string>
  /**
   * Optional: the base address that tokens with this `auth_url` are refreshed at, where that may be another host than the one
   * which `auth_url` names. Token managers keep to the firewall and the budget of this host.
   */
  tokenUrlOf?(authUrl: string): string
  /**
   * Optional: whether the response to a refresh names another owner than the account. Asked once, of the first refresh of a
   * refresh token that was brought along (`RefreshTokenGrant`): tokens of another owner are never served. Not certain: false.
   *
   * @param tokens - straight from `refresh`
   */
  isOfAnotherOwner?(tokens: TokenSet, account: string): Promise<boolean>
  /**
   * Optional, for an issuer that makes requests besides refreshes, such as sign-ins, or whose client may be rejected: token
   * managers call it with what the processes that share their store know of the firewall. From then on the issuer asks `state`
   * before those requests, and reports what came. `refresh` must not ask it: the token manager has asked already.
   */
  useFirewallState?(state: FirewallState): void
}

/** The permission to send one request after a block, to see whether it is over. It ends after a minute. */
export interface Probe {
  /** Nothing was sent by it: whoever comes next may probe. Never rejects. */
  giveBack(): Promise<void>
}

/**
 * What the processes that share a token store know of the firewall, and tell each other: a sign-in asks before its first request to
 * an instance of the service, which `authUrl` names, and tells what came.
 */
export interface FirewallState {
  /**
   * Returns if this process may send now; with a `Probe`, where the others wait for what comes of it.
   *
   * @throws FirewallChallengeError while another's challenge is waited out
   */
  enter(authUrl: string): Promise<Probe | undefined>
  /** A challenge page came, or the client was rejected. Returns when the next request may go, in seconds since the epoch, where that is known. */
  challenged(authUrl: string, error: FirewallChallengeError | ClientRejectedError): Promise<number | undefined>
  /** Optional: asked before every call of the service. @throws RefreshElsewhereError where this process makes none */
  admit?(): void
  /** The service itself answered. */
  passed(authUrl: string): Promise<void>
}

type Named<Names extends string, Value> = { readonly [Name in Names]?: Value | null | undefined }

/**
 * Tokens as OAuth libraries hand them out. Of several names for one thing the first that says something counts. Lives are seconds; moments seconds,
 * milliseconds or a date.
 */
export type LibraryTokens = Named<'access_token' | 'accessToken' | 'refresh_token' | 'refreshToken', string> &
  Named<'id_token' | 'idToken' | 'auth_url', string> &
  Named<'expires_at' | 'expiresAt' | 'expiry_date' | 'refresh_token_expires_at', number | string | Date> &
  Named<'expires_in', number | string> &
  Named<'expiresIn', number | string | (() => unknown)> & // openid-client's is a function, beside its expires_in
  Named<'refresh_token_expires_in' | 'refreshTokenExpiresIn' | 'refresh_expires_in', number | string>
