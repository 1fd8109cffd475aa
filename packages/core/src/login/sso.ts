/**
 * One SSO service, as an application sees it: what it is given, what it is asked, and what it answers.
 */
import type { CallOptions, FirewallState, TokenIssuer, TokenSet } from '@owner-sso/token-manager'
import type { RequestOptions } from '../http/http-context.ts'
import type { TlsOptions, TransportOption } from '../http/transport.ts'

/** How the code challenge is derived from the verifier; the document's reference computation is the default. */
export type CodeChallengeEncoding = 'hex-digest' | 'raw-digest'

/** Where the service is, and how it is spoken to. Only `authUrl` is required. */
export interface SsoOptions {
  /** Base address of the SSO service: https, or http on a loopback host. Its default is the variable `OWNER_SSO_AUTH_URL` where an adapter says so. */
  readonly authUrl: string
  /** Where a 303 may lead, in addition to `authUrl`'s own registrable domain (loopback and IP addresses have none: list them, with their port). */
  readonly regionalAuthUrls?: readonly string[] | undefined
  /** Default `${authUrl}/void/callback`; never changes with the region. May have a scheme of an app's own: `owner-app://auth/callback`. */
  readonly redirectUri?: string | undefined
  /** `hex-digest` (default): base64url of the hexadecimal text of the SHA-256; `raw-digest`: RFC 7636. */
  readonly codeChallengeEncoding?: CodeChallengeEncoding | undefined
  /**
   * How long an access token lives that does not say so itself (a JWT does); default eight hours. A number is seconds, taken as
   * they are. `'expires_in'` trusts that field of the answer as seconds, but not below 45 minutes: 300 becomes 2,700, so that a
   * field that means something else causes no storm of refreshes.
   */
  readonly accessTokenLifetime?: number | 'expires_in' | undefined
  /**
   * TLS, HTTP/2 and the User-Agent of every request: `'document'` (default), `'modern'`, or `{ tls, http2, userAgent }`.
   */
  readonly transport?: TransportOption | undefined
  /** `transport.userAgent` in short, and before it. Default `owner-sso/<version>`. A browser-like one is refused. */
  readonly userAgent?: string | undefined
  /** `transport.tls` in short, and before it: `{ transport: 'modern', tls: { ca } }`. Verification can't be turned off. */
  readonly tls?: TlsOptions | undefined
  /** Milliseconds for one request, wall clock, response included. Default 15,000. */
  readonly timeout?: number | undefined
  /** An outbound proxy's URL, for https alone: plain http never leaves the machine. Environment variables for proxies are ignored. */
  readonly proxy?: string | undefined
  /** Seconds that every call to a host fails fast after a challenge page. Default 900. */
  readonly firewallCooldown?: number | undefined
}

/** What a refresh takes in addition. */
export type RefreshOptions = RequestOptions

/** The account: `identity` is the e-mail, `credential` the password (interface document, endpoint 2). */
export interface Credentials {
  readonly identity: string
  readonly credential: string
}

/** A second factor of the account, as the service lists it. */
export interface Factor {
  readonly id: string
  /** What the owner called the device. */
  readonly name: string
  readonly factorType: string
  readonly factorProvider?: string | undefined
}

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
 * write it anywhere unsealed. Its fields are core's own. `JSON.stringify` writes all of it (`toJSON`), and so does `%j`;
 * nothing else that goes through its fields finds a secret. What is kept must have been through JSON: `structuredClone` and
 * a spread copy leave the login behind.
 */
export interface PendingLogin {
  readonly kind: 'owner-sso/pending-login'
  /** Seconds since the epoch after which it is refused. */
  readonly expires_at: number
  /** All of it as plain data: for storage under a seal alone. */
  toJSON?(): object
}

/** What came of an e-mail and a password: tokens, or the question for a passcode. */
export type LoginOutcome =
  | { readonly kind: 'tokens'; readonly tokens: TokenSet }
  | { readonly kind: 'passcode-required'; readonly factors: readonly Factor[]; readonly pending: PendingLogin }

/**
 * What `redeemCallback` needs of the request made by `createAuthorizationUrl`. It holds the verifier, and is as silent
 * as a `PendingLogin`: keep it by way of JSON.
 */
export interface AuthorizationRequest {
  readonly kind: 'owner-sso/authorization-request'
  /** Where this login ends: no secret. */
  readonly redirectUri: string
  /** All of it as plain data: for storage alone. */
  toJSON?(): object
}

/**
 * One SSO service. All calls end within their time limits and make each request at most once. A login with the same e-mail and
 * password as one under way waits until the service has accepted or rejected them there: a wrong password counts once.
 */
export interface Sso extends TokenIssuer {
  /** Base address of the home instance, without a trailing slash. */
  readonly authUrl: string
  /**
   * The whole login, scripted: 3 requests, with a second factor 7 or 6, over a region one more. Where the service wants a
   * passcode and `passcode` is missing, it ends there: 3 requests or 2.
   */
  login(
    credentials: Credentials & { readonly passcode?: PasscodeSource | undefined },
    options?: CallOptions,
  ): Promise<TokenSet>
  /** The same login up to the passcode. */
  beginLogin(credentials: Credentials, options?: CallOptions): Promise<LoginOutcome>
  /** The rest of it. A rejected passcode leaves `pending` usable. */
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
  /** Redeems the address that the person ended on: `{redirect_uri}?code=…&state=…&issuer=…`. */
  redeemCallback(callbackUrl: string, request: AuthorizationRequest, options?: CallOptions): Promise<TokenSet>
  /** One refresh request at the instance that issued the tokens, on a fresh connection (endpoint 6). */
  refresh(tokens: TokenSet, options?: RefreshOptions): Promise<TokenSet>
  /** The base address of the allowed instance that an address is on. @throws RegionNotAllowedError */
  allowedAuthUrl(authUrl: string): Promise<string>
  /** Whether the id_token of a refresh, or a readable access token, names another owner than the account. */
  isOfAnotherOwner(tokens: TokenSet, account: string): Promise<boolean>
  /**
   * From now on sign-ins ask `state` before their first request to an instance, and tell it what came. Token managers call
   * this with what the processes know that share their store; `refresh` is not concerned, since they ask for it themselves.
   */
  useFirewallState(state: FirewallState): void
  /** @deprecated The former name of `useFirewallState`. */
  heedBlocks(state: FirewallState): void
}
