/**
 * What owner-sso's own packages share beneath their public names. Not for applications: it may change with any release.
 */
export { spelledAlike } from './manager/options.ts'
export { currentHolder } from './support/holder.ts'
export { onAbort, unlessAborted } from './support/abort.ts'
export { quotedNames, quotedWords } from './support/quotation.ts'
export { recentEntries } from './support/recent-entries.ts'
export { redacted, secretiveKind, wholeOf } from './support/redaction.ts'
export { clientIn, otherClient, withClient, withoutClient } from './issuer/client-mark.ts'
export { parseCallOptions } from './issuer/call-options.ts'
export { howTokensAreLost, lostItsTokens, tokenSet } from './issuer/token-set.ts'
export { overdueAdvice, refusalAdvice } from './manager/token-status.ts'
export { hashOfAccount } from './support/account-hash.ts'
export { whatCame } from './support/options.ts'
export { elapsed, type Instant, instantOf, type Runtime } from './support/runtime.ts'
export { isLoopback, mayCarrySecrets, verificationProblem } from './support/addresses.ts'
export { systemCode } from './support/callback-fault.ts'
export {
  type TlsOptions,
  type TlsVersion,
  type Transport,
  transportFromText,
  type TransportName,
  transportNames,
  type TransportOption,
  type TransportOptions,
  transportOf,
} from './http/transport.ts'
export { openTunnel, type TunnelFailure, type TunnelOutcome, type TunnelRequest } from './http/tunnel.ts'
export { checkOption, checkOptions, kinds, longestTimer, type OptionRow, type OptionRows } from './support/options.ts'
export { withBrackets, withoutBrackets } from './support/addresses.ts'
export { proxyOf } from './http/tunnel.ts'
export { retryAfterSeconds } from './http/retry-after.ts'
