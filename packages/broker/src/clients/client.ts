/**
 * A client of the broker: a program, the accounts it may use, and what for.
 */

/** `token`: may be handed access tokens. `proxy`: may call the owner API through the broker, and sees no token. */
export type ClientScope = 'token' | 'proxy'

/** What a client may do at most. */
export interface ClientLimits {
  /** Calls in a minute, of all kinds together. Default: what the broker says. */
  readonly callsPerMinute?: number | undefined
}

/** A client as people see it; never a secret. Times are seconds since the epoch. */
export interface BrokerClient {
  readonly name: string
  /** Names under which token sets stand in the token store. */
  readonly accounts: readonly string[]
  readonly scope: readonly ClientScope[]
  readonly invited_at?: number
  /** From then on it is nobody. */
  readonly expires_at?: number
  readonly limits?: ClientLimits
}

/** A client and what became of it. The counts are written lazily: up to a minute behind. */
export interface ListedClient extends BrokerClient {
  readonly calls: number
  readonly last_used_at?: number
  /** An IP address, or `unix socket`. */
  readonly last_address?: string
}

/** Whom to let in, and to what. */
export interface Invitation {
  /** 1 to 64 letters, digits, single spaces and `. _ - @`; no other client has one that looks like it. */
  readonly name: string
  /**
   * The accounts it may use, by their e-mail or their name in the token store. A client that refreshes has one; where there
   * are several, each call names one (`X-Owner-Account`).
   */
  readonly accounts: readonly string[]
  /** Default `['token']`. */
  readonly scope?: readonly ClientScope[] | undefined
  /** Seconds since the epoch. Default: never. */
  readonly expiresAt?: number | undefined
  readonly limits?: ClientLimits | undefined
}

/** A client with its new secret, which is shown this once: what is kept is a hash. */
export interface Invited {
  readonly client: BrokerClient
  /** The client's own refresh token. The same secret is its key, for `Authorization: Bearer`. */
  readonly refresh_token: string
}

/** One of a client's secrets, by its hash. */
export interface ClientKey {
  /** SHA-256, 64 hexadecimal digits in lower case. */
  readonly sha256: string
  /** Seconds since the epoch: from then on it opens nothing. */
  readonly expires_at?: number
}

/** A client as it is kept. */
export interface KeptClient extends BrokerClient {
  /** The oldest first; at least one. */
  readonly keys: readonly ClientKey[]
}

/** A client without what nobody has to see. */
export function shownClient(client: KeptClient): BrokerClient {
  const { keys: _keys, ...shown } = client
  return shown
}

/** Which mistake a `ClientsError` is about. */
export type ClientsProblem = 'name-taken' | 'unknown-client' | 'malformed'

/** What can be wrong with the clients. The message is a sentence for the operator, without a secret. */
export class ClientsError extends Error {
  readonly code = 'ERR_BROKER_CLIENTS'
  readonly reason: ClientsProblem

  constructor(reason: ClientsProblem, message: string) {
    super(message)
    this.name = 'ClientsError'
    this.reason = reason
  }
}
