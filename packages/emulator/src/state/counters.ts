/**
 * What the service itself counted: the judge of every test, since a client's own count can't be trusted.
 */

const none = {
  /** Login pages answered (endpoint 1), 303s to the other region not included. */
  loginPages: 0,
  /** Form submissions that arrived at endpoint 2, whatever became of them. */
  formPosts: 0,
  /** Form submissions whose identity and credential were looked at. */
  credentialChecks: 0,
  /** Code exchanges that gave tokens. */
  codeExchanges: 0,
  /** Refresh grants that the service looked at, whatever became of them. */
  refreshRequests: 0,
  /** Refreshes that gave tokens, whether or not the answer reached anybody. */
  tokenRefreshes: 0,
  /** Refresh tokens that were presented again after they had been spent. */
  replays: 0,
  /** Passcodes and backup codes that were looked at. */
  passcodeChecks: 0,
  /** Challenge pages answered by the firewall, those of faults included. */
  challenges: 0,
  /** Owner API calls answered with data, those answered 401, and those answered 403 for their token (`mintedBy`, `refreshedTokens`). */
  ownerApiCalls: 0,
  ownerApiRejections: 0,
  ownerApiRefusals: 0,
}

/** How often each thing happened since the emulator started. */
export type Counters = { -readonly [Name in keyof typeof none]: number }

export function createCounters(): Counters {
  return { ...none }
}
