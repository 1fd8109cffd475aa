/**
 * What the service itself counted: the judge of every test, since a client's own count can't be trusted.
 */

export interface Counters {
  /** Login pages answered (endpoint 1), 303s to the other region not included. */
  loginPages: number
  /** Form submissions that arrived at endpoint 2, whatever became of them. */
  formPosts: number
  /** Form submissions whose identity and credential were looked at. */
  credentialChecks: number
  /** Code exchanges that gave tokens. */
  codeExchanges: number
  /** Refresh grants that the service looked at, whatever became of them. */
  refreshRequests: number
  /** Refreshes that gave tokens, whether or not the answer reached anybody. */
  tokenRefreshes: number
  /** Refresh tokens that were presented again after they had been spent. */
  replays: number
  /** Passcodes and backup codes that were looked at. */
  passcodeChecks: number
  /** Challenge pages answered by the firewall, those of faults included. */
  challenges: number
  /** Owner API calls answered with data, those answered 401, and those answered 403 (option `mintedBy`). */
  ownerApiCalls: number
  ownerApiRejections: number
  ownerApiRefusals: number
}

export function createCounters(): Counters {
  return {
    loginPages: 0,
    formPosts: 0,
    credentialChecks: 0,
    codeExchanges: 0,
    refreshRequests: 0,
    tokenRefreshes: 0,
    replays: 0,
    passcodeChecks: 0,
    challenges: 0,
    ownerApiCalls: 0,
    ownerApiRejections: 0,
    ownerApiRefusals: 0,
  }
}
