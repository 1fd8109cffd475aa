/**
 * One SSO service, as an application sees it: its calls, and what they take and give.
 */
import type { CallOptions, FirewallState, TokenIssuer, TokenSet } from '@owner-sso/token-manager'
import type { ServiceName } from '../service/profiles.ts'
import type { Credentials } from '../steps/form-submission.ts'
import type { Factor } from '../steps/mfa-factors.ts'
import type { RefreshOptions } from '../steps/refresh.ts'

/** A chosen factor with its current passcode; without `factorId` the only factor is meant. A string: leading zeros count. */
export interface PasscodeAnswer {
  readonly passcode: string
  readonly factorId?: string | undefined
}

/** One of the account's backup codes, in place of a passcode. */
export interface BackupCodeAnswer {
  readonly backupCode: string
}

/** How `login` gets the passcode: the value, or a function that is asked with the factors once the service wants one. */
export type PasscodeSource =
  | string
  | ((
      factors: readonly Factor[],
    ) => string | PasscodeAnswer | BackupCodeAnswer | Promise<string | PasscodeAnswer | BackupCodeAnswer>)

/**
 * A login that waits for its passcode. It holds the credential and the session's cookies (the form is posted again): never
 * write it anywhere unsealed. Its fields are core's own. `JSON.stringify` (and `%j`) writes all of it, by way of `toJSON`;
 * everything else that reads its fields finds no secret. So keep it as JSON: `structuredClone` and a spread copy lose the login.
 */
export interface PendingLogin {
  readonly kind: 'owner-sso/pending-login'
  /** Seconds since the epoch after which it is expired. */
  readonly expires_at: number
  /** All of it as plain data: for storage under a seal alone. */
  toJSON?(): object
}

/** What came of an e-mail and a password: tokens, or the question for a passcode. */
export type LoginOutcome =
  | { readonly kind: 'tokens'; readonly tokens: TokenSet }
  | { readonly kind: 'passcode-required'; readonly factors: readonly Factor[]; readonly pending: PendingLogin }

/**
 * What `redeemCallback` needs of the request made by `createAuthorizationUrl`. It holds the verifier, and
 * shows no secret when printed, as a `PendingLogin`: keep it by way of JSON.
 */
export interface AuthorizationRequest {
  readonly kind: 'owner-sso/authorization-request'
  /** Where this login ends: no secret. */
  readonly redirectUri: string
  /** All of it as plain data: for storage alone. */
  toJSON?(): object
}

/**
 * One SSO service. All calls end within their time limits, but for the wait for a `passcode` function, and make each request at
 * most once. A login with the same e-mail and
 * password as one under way waits until the service has accepted or rejected them there: a wrong password counts once.
 */
export interface Sso extends TokenIssuer {
  /** Base address of the home instance, without a trailing slash. */
  readonly authUrl: string
  /** The option of this name. With `'registered'`, every sign-in is one in a browser. */
  readonly service: ServiceName
  /** Who signs in and refreshes: `ownerapi`, or the registered application. */
  readonly clientId: string
  /** Where a sign-in ends: the option of this name, or what `service` says. */
  readonly redirectUri: string
  /** Path of the owner API that lists what an account has: `/api/1/vehicles`, with `service: 'current'` `/api/1/products`. */
  readonly vehicleList: string
  /**
   * The whole login, scripted: 3 requests, with a second factor 7 or 6; one more over a region, one where the e-mail has a page of
   * its own, and one where the service wants the `transaction_id` alone. Where it wants a passcode and `passcode` is missing, it
   * ends there: 3 requests or 2.
   */
  login(
    credentials: Credentials & { readonly passcode?: PasscodeSource | undefined },
    options?: CallOptions,
  ): Promise<TokenSet>
  /** The same login up to the passcode. */
  beginLogin(credentials: Credentials, options?: CallOptions): Promise<LoginOutcome>
  /** The rest of it. A rejected passcode leaves `pending` usable, unless there were too many. */
  completeLogin(
    pending: PendingLogin,
    answer: PasscodeAnswer | BackupCodeAnswer,
    options?: CallOptions,
  ): Promise<TokenSet>
  /**
   * A login in the person's own browser, or in a web view: send them to `url`, keep `request`. `isCallback` says when they
   * are back.
   */
  createAuthorizationUrl(hint?: { readonly loginHint?: string | undefined }): {
    url: string
    request: AuthorizationRequest
  }
  /**
   * Redeems the address that the person ended on: `{redirect_uri}?code=…&state=…&issuer=…`. It may stand in a text that was copied with
   * it, such as a line of the browser's console.
   */
  redeemCallback(callbackUrl: string, request: AuthorizationRequest, options?: CallOptions): Promise<TokenSet>
  /** One refresh request at the token endpoint of the instance that issued the tokens, on a fresh connection (endpoint 6). */
  refresh(tokens: TokenSet, options?: RefreshOptions): Promise<TokenSet>
  /** The base address of the allowed instance that an address is on. @throws RegionNotAllowedError */
  allowedAuthUrl(authUrl: string): Promise<string>
  /** The base address that tokens of this instance are refreshed at: its own, unless `tokenUrl` says otherwise. */
  tokenUrlOf(authUrl: string): string
  /** Whether the id_token of a refresh, or a readable access token, names another owner than the account. */
  isOfAnotherOwner(tokens: TokenSet, account: string): Promise<boolean>
  /**
   * From now on sign-ins ask `state` before their first request to an instance, and tell it what came. Token managers call
   * this with what the processes know that share their store; `refresh` is not concerned, since they ask for it themselves.
   */
  useFirewallState(state: FirewallState): void
}
