/**
 * What owner-sso's own packages share beneath their public names. Not for applications: it may change with any release.
 */
export { spelledAlike } from './manager/account-spelling.ts'
export { currentHolder } from './support/holder.ts'
export { onAbort, unlessAborted } from './support/abort.ts'
export { quotedNames, quotedWords } from './support/quotation.ts'
export { recentEntries } from './support/recent-entries.ts'
export { redacted, secretiveKind, wholeOf } from './support/redaction.ts'
export { parseCallOptions } from './issuer/call-options.ts'
export { howTokensAreLost, lostItsTokens, tokenSet } from './issuer/token-set.ts'
export { overdueAdvice, refusalAdvice } from './manager/refusal-advice.ts'
export { whatCame } from './support/what-came.ts'
export { elapsed, type Instant, instantOf, type Runtime } from './support/runtime.ts'
