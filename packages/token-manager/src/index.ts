/**
 * One valid access token for each account, whoever issues it. In the order of use:
 *
 * 1. keep the tokens under the name of their owner: one valid access token, one refresh in all processes,
 * 2. the seam to whoever issues them,
 * 3. store them: any place with a conditional write, sealed if wanted,
 * 4. share what is known of the firewall,
 * 5. handle what can go wrong,
 * 6. what adapters and stores share.
 */

// 1. Keep the tokens, under the name of their owner.
export { createTokenManager } from './manager/manager.ts'
export type {
  AccessTokenOptions,
  CurrentTokens,
  InvalidateOptions,
  RefreshCallOptions,
  RefreshTokenGrant,
  SaveOptions,
  TokenManager,
  TokenManagerOptions,
  WaitingSignIn,
} from './manager/token-manager.ts'
export { type RequestBudget, requestBudgetFrom } from './gates/budget/request-budget.ts'
export type { AccountHistory, Cause, TokenStatus, Why } from './manager/token-status.ts'
export type { TokenManagerEvents } from './kernel/events.ts'
export { type Keeper, keepSignedIn, sweepOnce, type SweepResult } from './keeper/keeper.ts'
export type { KeeperEvent, KeeperOptions, KeepOptions, SweepCounts } from './keeper/keeper-options.ts'

// 2. Whoever issues them.
export type { CallOptions } from './issuer/call-options.ts'
export type { LibraryTokens } from './issuer/token-issuer.ts'
export type { IssuerRefreshOptions, TokenIssuer } from './issuer/token-issuer.ts'
export { documentedLifetime, type TokenSet } from './issuer/token-set.ts'

// 3. Store them.
export type { Conflict, SwapOptions, TokenStore, Versioned } from './store/token-store.ts'
export type { HistoryEvent, HistoryEventName } from './store/history.ts'
export type { TokenRecord } from './store/token-record.ts'
export { type EncryptionKey, withEncryption } from './store/sealed-token-store.ts'
export { copyTokenSets } from './store/account-list.ts'
export { rekey, type RekeyOptions, type RekeyProgress } from './store/rekey.ts'

// 4. Share what is known of the firewall.
export type { FirewallState, Probe } from './issuer/token-issuer.ts'
export { firewallRecordName, refreshBudgetRecordName } from './store/own-record.ts'

// 5. What can go wrong.
export * from './errors.ts'

// 6. What adapters and stores share.
export { notebook, type Notebook, type Notes } from './store/notebook.ts'
export { checkedAccountName, refreshFromText } from './manager/options.ts'
export { processStat, type ProcessStat } from './support/holder.ts'
export { checkOptionNames, nearestName, type OptionNames } from './support/options.ts'
export { stackFrames } from './support/callback-fault.ts'
export { answeredInTime, startTimeLimit, withTimeLimit } from './support/time-limit.ts'
