/**
 * The token manager, as an application sees it: one valid access token, one refresh, for any number of callers.
 */
import type { TokenManagerEvents } from '../kernel/events.ts'
import type { CallOptions } from '../issuer/call-options.ts'
import type { RequestBudget } from '../gates/budget/request-budget.ts'
import type { LibraryTokens, TokenIssuer } from '../issuer/token-issuer.ts'
import type { TokenSet } from '../issuer/token-set.ts'
import type { TokenStore } from '../store/token-store.ts'
import type { AccountHistory, TokenStatus } from './token-status.ts'

/** What a token manager works with, and when it refreshes. */
export interface TokenManagerOptions {
  /**
   * What refreshes: what `createSso` returns, or an issuer of your own. Its sign-ins share what they learn of the firewall
   * through `store`, and are told what others learned.
   */
  readonly issuer: TokenIssuer
  readonly store: TokenStore
  /**
   * A second place for new tokens, in practice a folder of this machine: those that `store` refuses are kept there until
   * whichever process finds them next carries them over, also after a crash or a deployment. Seal it where `store` is sealed;
   * an unsealed spool next to a sealed store is refused.
   */
  readonly spool?: TokenStore | undefined
  /**
   * Fraction of a token's life after which it is refreshed in the background, give or take a tenth: each account has its own
   * place in that span, which all processes know. Default 0.75.
   */
  readonly refreshAfter?: number | undefined
  /**
   * Seconds between two refreshes of one account, whatever a 401 says. Default 60; 0 for tests. Half the token's life (10
   * seconds at least) where that is less. While the owner API refuses each new token within a minute, it doubles up to an hour.
   */
  readonly minRefreshInterval?: number | undefined
  /**
   * Seconds in which the service repeats the response of a refresh whose refresh token is sent again; default 0, it does not.
   * A process that loses a response then asks once more within that time, counted from its request, and at no other time
   * early. Where the service has no such grace the owner may have to sign in again at once: set only what it promises.
   */
  readonly rotationGrace?: number | undefined
  /**
   * The most refresh requests that go to one host in a minute, by default from all processes that share the store, for fleets whose
   * tokens may end together. Default: no limit. Callers without a working token are served first, and get `RefreshBudgetError` where
   * that would take longer than a request may (30 s).
   */
  readonly requestBudget?: RequestBudget | undefined
  /** How many accounts are kept in memory, the least recently used going first. Default 10,000; about 3 KB each, and their histories of 2 KB at the most. */
  readonly cachedAccounts?: number | undefined
  /**
   * Whether anything may go on after the call that needed it; default true. `false` is for a platform that freezes the process
   * between requests: a token that is due is refreshed in the foreground, by the call that finds it so, and no timer of ours
   * runs between calls. A call's `signal` then ends every wait but the one for its own request, which is at most the time of
   * that request (30 s) and of its save.
   */
  readonly background?: boolean | undefined
  /**
   * Keeps the process running until a promise has settled, as serverless platforms offer it under this name: it is called,
   * within the call that began it, with each refresh and each save that the call does not wait for. No timer of ours runs
   * between calls then either.
   */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
  /**
   * Where tokens are refreshed. `elsewhere`, for a server that the token host turns away: this process asks the service nothing,
   * so nobody can sign in through `issuer` either. It serves what others put into `store`, notes there what the owner API refuses, and
   * tells in time where nobody refreshes (`not-refreshed`). Default `here`.
   */
  readonly refresh?: 'here' | 'elsewhere' | undefined
}

/** What `getAccessToken` and `getTokens` take in addition to a signal. */
export interface AccessTokenOptions extends CallOptions {
  /**
   * Seconds that the access token lives at least. One that ends sooner is refreshed first, at most once in `minRefreshInterval`,
   * and not while the owner API refuses refreshed tokens. Default 0: one that works now.
   */
  readonly minValidity?: number | undefined
}

/** What else is known of a refused access token. */
export interface InvalidateOptions {
  /**
   * Whether a refresh may help where the access token before it does not work; default true. `false` for a refusal that may be about
   * the call: then nothing changes where there is no way back.
   */
  readonly refresh?: boolean | undefined
}

/** What `refresh` takes in addition to a signal. */
export interface RefreshCallOptions extends CallOptions {
  /**
   * Where refreshes have a budget: `background` waits until no caller needs a place in it, as a keeper of many accounts does.
   * Default `caller`.
   */
  readonly priority?: 'caller' | 'background' | undefined
}

/**
 * A refresh token that somebody already has: from another client, or from a person. The access token that came with it is served while it
 * lives: at some services a refresh before its first use brings tokens that the API refuses.
 */
export interface RefreshTokenGrant {
  readonly refresh_token: string
  readonly access_token?: string | undefined
  /** Seconds since the epoch at which the access token ends. Left out: as the token itself says, if it is a JWT; else it is not kept. */
  readonly expires_at?: number | undefined
  /** Base address of the instance that issued it; by default the issuer's own. */
  readonly auth_url?: string | undefined
  /** What happened to the account where it comes from, as `owner-sso export` writes it. */
  readonly history?: string | undefined
}

/** How `save` goes about a session that is there already. */
export interface SaveOptions {
  /**
   * Whether that session is ended in favour of the new tokens. By default a token set does, since it comes from a sign-in, and a
   * refresh token alone does not.
   */
  readonly replace?: boolean | undefined
}

/** A valid access token and what belongs to it. Prints in full: hand it to those it is for, and to no log. */
export interface CurrentTokens {
  readonly access_token: string
  readonly token_type: string
  /** Seconds since the epoch at which the access token ends, as far as is known. */
  readonly expires_at: number
  /** As it came with the access token, if the service sent one. May be over before the access token is. */
  readonly id_token?: string
}

/** One answer of a person to a sign-in that waits for it. */
export interface WaitingSignIn {
  /** Unique, and hard to guess. */
  readonly id: string
  /** What it waits for. */
  readonly step: 'passcode' | 'callback'
  /** Answers before this one. */
  readonly tries: number
  /** When the sign-in is over: seconds since the epoch. */
  readonly expires_at: number
}

/**
 * Valid access tokens for any number of accounts. Many of them, in many processes, may share one store. An account that is an
 * e-mail is the same however it is spelled: surrounding spaces and the case of A–Z don't count.
 */
export interface TokenManager {
  /**
   * A sign-in, or a refresh token that somebody brings along. Resolves when it is stored; nothing is sent.
   *
   * A token set replaces whatever was there, a tombstone included. A refresh token alone takes the place of no session, unless
   * `replace` says so; the account's first call refreshes. If that shows that the tokens are another owner's, they are kept in
   * the account's record and never served: every call is an `OtherOwnerError`. An account that has this very refresh token
   * stays as it is.
   *
   * @throws TypeError if `tokens` is neither
   * @throws RegionNotAllowedError if `auth_url` is no instance that the issuer refreshes at
   * @throws SessionExistsError if the account has a session that may not be replaced
   * @throws ReauthenticationRequiredError if this refresh token is known to be spent (`refresh_token_spent`), or refused
   * @throws DuplicateTokenSetError if its refresh token was saved under another account, which still is in that sign-in
   * @throws StoreError if it could not be stored
   */
  save(account: string, tokens: TokenSet | RefreshTokenGrant | LibraryTokens, options?: SaveOptions): Promise<void>
  /**
   * A valid access token; the hot path.
   *
   * @throws SignedOutError, ReauthenticationRequiredError, RefreshInDoubtError, FirewallChallengeError, RefreshBudgetError,
   *   RefreshElsewhereError, StoreError, TokenRejectedError, UnreachableError, RegionNotAllowedError; SsoTimeoutError where no connection came in time, or
   *   when `signal` ends the wait (never the refresh), or RefreshInDoubtError then while the store has lost the newest record;
   *   ShortValidityError where there is none that lives for `minValidity`
   */
  getAccessToken(account: string, options?: AccessTokenOptions): Promise<string>
  /**
   * What `getAccessToken` returns, with all that a token endpoint says of it except the refresh token: for whoever hands
   * tokens on.
   *
   * @throws the same
   */
  getTokens(account: string, options?: AccessTokenOptions): Promise<CurrentTokens>
  /**
   * Refreshes now, whatever the token's age (but never twice within `minRefreshInterval`). Where an earlier response was
   * lost it asks for it again at once, and waits for `minRefreshInterval` at most after earlier failures.
   *
   * @throws the same; RefreshBudgetError within `minRefreshInterval` as well, where the token that the last refresh brought was
   *   refused (`invalidate`) or has ended
   */
  refresh(account: string, options?: RefreshCallOptions): Promise<void>
  /**
   * The owner API refused this access token: after a 401, or a 403 that is not about the call. Ignored unless it is the current one
   * or its predecessor. If it came of a refresh and was never accepted, the access token before it is current again, for all
   * processes, until it ends or is refused as well. Otherwise the next `getAccessToken` refreshes.
   *
   * @returns whether another access token works now, without a request
   */
  invalidate(account: string, accessToken: string, options?: InvalidateOptions): Promise<boolean>
  /**
   * The owner API accepted this access token: it answered with a 2xx or a 304. The one before it is not needed any more. Sends and writes
   * nothing; adapters call it on each answer.
   *
   * @throws TypeError for what cannot be the name of an account
   */
  accepted(account: string, accessToken: string): void
  status(account: string): Promise<TokenStatus>
  /**
   * What happened to an account, and why it is as it is: one cause, what that rests on, what to do, and whether it is sure. Sends
   * nothing. A store that can't be read is a cause, and no error.
   *
   * @example const { why } = await tokens.history(account); console.log(why.sentence, why.to_do)
   */
  history(account: string): Promise<AccountHistory>
  /** A sign-out: a tombstone, so that a refresh still under way can't undo it. @throws StoreError if it could not be stored */
  forget(account: string): Promise<void>
  /**
   * The names of all accounts that are not signed out.
   *
   * @throws TypeError if the store can't list its accounts
   * @throws StoreError after all names that can be told, where a record can't be read (`wrong-key`: it is sealed)
   */
  accounts(): AsyncIterable<string>
  /**
   * Calls `listener` on each such event. Returns an unsubscribe function. A listener that throws or rejects does no harm: the process
   * warns (`OWNER_SSO_CALLBACK`) with the place, and without the error's words.
   *
   * @throws TypeError if there is no such event, or `listener` is no function
   */
  on<Name extends keyof TokenManagerEvents>(
    event: Name,
    listener: (event: TokenManagerEvents[Name]) => void,
  ): () => void
  /**
   * Claims an answer to a waiting sign-in, before it is sent: of several processes that share the store, and of several
   * copies of the same waiting sign-in, one may send it. Whoever gives a sign-in so many tries counts on it.
   *
   * @returns false where this answer, or a later one, was claimed before
   * @throws StoreError if it could not be counted
   */
  claimTry(signIn: WaitingSignIn): Promise<boolean>
  /** Shares what is known of the firewall with the sign-ins of another `issuer` than the one that refreshes. */
  shareFirewallState(issuer: Required<Pick<TokenIssuer, 'useFirewallState'>>): void
  /**
   * Resolves when nothing of this process is half-way: no refresh, from its first look at the store to its save, no other
   * call that may write, and nothing received that neither the store nor the spool has. What a server awaits, after it stopped answering, before it
   * closes its store's client and exits. At most the time of one request (30 s) while the store works and no caller waits. Meanwhile no other
   * refresh is begun in the background, and a wait for another process's refresh ends unless a caller here needs it.
   *
   * @throws SsoTimeoutError when `signal` ends the wait
   */
  settled(options?: CallOptions): Promise<void>
}
