/**
 * Signs vehicle owners in at the SSO service, and keeps one valid access token for each account. In the order of use:
 *
 * 1. sign in: the flow of the interface document,
 * 2. keep the tokens under the name of their owner: one valid access token, one refresh, whoever issues them,
 * 3. store them: any place with a conditional write, sealed if wanted,
 * 4. share what is known of the firewall,
 * 5. watch it, and handle what can go wrong,
 * 6. what adapters and stores share.
 */

// 1. Sign in.
export { createSso } from './login/create-sso.ts'
export { isCallback } from './login/browser-login.ts'
export type {
  AuthorizationRequest,
  BackupCodeAnswer,
  CodeChallengeEncoding,
  Credentials,
  Factor,
  LoginOutcome,
  PasscodeAnswer,
  PasscodeSource,
  PendingLogin,
  RefreshOptions,
  Sso,
  SsoOptions,
} from './login/sso.ts'
export type { AgreedTransport } from './http/http-context.ts'
export type { TlsOptions, TlsVersion, TransportOption, TransportOptions } from './http/transport.ts'
export type { CallOptions } from './issuer/call-options.ts'

// 2. Keep the tokens, under the name of their owner. The seam between a service and the token manager is TokenIssuer.
export { createTokenManager } from './tokens/create-token-manager.ts'
export type {
  CurrentTokens,
  RefreshCallOptions,
  RefreshTokenGrant,
  SaveOptions,
  TokenManager,
  TokenManagerOptions,
  TokenStatus,
  WaitingSignIn,
} from './tokens/token-manager.ts'
export type { RequestBudget } from './budget/request-budget.ts'
export type { TokenManagerEvents } from './refresh-protocol/events.ts'
export { type Keeper, type KeeperStatus, keepSignedIn, sweepOnce, type SweepResult } from './keeper/keeper.ts'
export type { KeeperOptions, KeepOptions } from './keeper/keeper-options.ts'
export type { KeeperEvent, SweepCounts } from './keeper/keeper-event.ts'
export type { IssuerRefreshOptions, TokenIssuer } from './issuer/token-issuer.ts'
export { documentedLifetime, type TokenSet } from './issuer/token-set.ts'
export { accountName, identifyOwner, isSubjectAccount, ownerOfEmail, type TokenOwner } from './login/token-owner.ts'

// 3. Store them.
export type { Conflict, SwapOptions, TokenStore, Versioned } from './tokens/token-store.ts'
export type { RefreshFailure, TokenRecord } from './tokens/token-record.ts'
export {
  type EncryptionKey,
  sealedTokenStore,
  type SealedTokenStoreOptions,
  withEncryption,
} from './tokens/sealed-token-store.ts'
export { copyTokenSets } from './refresh-protocol/account-list.ts'

// 4. Share what is known of the firewall.
export type { FirewallState, Probe, SharedBlocks } from './issuer/firewall-state.ts'
export { firewallRecordName, refreshBudgetRecordName } from './refresh-protocol/record-names.ts'

// 5. Watch it: its diagnostics channels; and what can go wrong.
export type { LoginStep, StepTrace } from './tracing.ts'
export * from './errors.ts'

// 6. What adapters and stores share.
export { notebook, type Notebook, type Notes } from './refresh-protocol/notebook.ts'
export { checkedAccountName } from './tokens/options.ts'
export { isLoopback, mayCarrySecrets, verificationProblem } from './support/verification.ts'
export { currentHolder, type Liveness, livenessOf } from './refresh-protocol/holder.ts'
export type { Holder } from './tokens/token-record.ts'
export { processStat, type ProcessStat } from './support/process-stat.ts'
export { stackFrames } from './support/stack-frames.ts'
export { answeredInTime, startTimeLimit, withTimeLimit } from './support/time-limit.ts'
export { checkOptionNames, nearestName, type OptionNames } from './support/known-options.ts'
export { requestBudgetFrom } from './budget/request-budget.ts'
export { type Transport, transportFromText, transportOf } from './http/transport.ts'
