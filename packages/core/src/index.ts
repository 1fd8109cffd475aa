// Sign in: the flow of the interface document.
export { createSso } from './login/create-sso.ts'
export type {
  AgreedTransport,
  AuthorizationRequest,
  BackupCodeAnswer,
  CallOptions,
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
export type { TlsOptions, TlsVersion, TransportOption, TransportOptions } from './http/transport.ts'
export type { FirewallState, SharedBlocks } from './firewall/firewall-state.ts'
export type { TokenSet } from './tokens/token-set.ts'
export { accountName, identifyOwner, isSubjectAccount, ownerOfEmail } from './tokens/token-owner.ts'
export type { TokenOwner } from './tokens/token-owner.ts'

// Keep it: one valid access token, one refresh.
export { createTokenManager } from './tokens/create-token-manager.ts'
export type { TokenManager, TokenManagerOptions, TokenStatus, WaitingSignIn } from './tokens/token-manager.ts'
export type { TokenManagerEvents } from './refresh-protocol/events.ts'
export { copyTokenSets } from './refresh-protocol/account-list.ts'
export { firewallRecordName } from './refresh-protocol/record-names.ts'
export { sealedTokenStore } from './tokens/sealed-token-store.ts'
export type { SealedTokenStoreOptions } from './tokens/sealed-token-store.ts'
export type { TokenRecord } from './tokens/token-record.ts'
export type { Conflict, SwapOptions, TokenStore, Versioned } from './tokens/token-store.ts'

// What its adapters share.
export { documentedLifetime } from './tokens/token-set.ts'
export { processStat } from './support/process-stat.ts'
export type { ProcessStat } from './support/process-stat.ts'
export { withEncryption } from './tokens/sealed-token-store.ts'
export type { EncryptionKey } from './tokens/sealed-token-store.ts'
export { startTimeLimit, timeLimitSignal } from './support/time-limit.ts'
export type { TimeLimitOptions } from './support/time-limit.ts'
export { stackFrames } from './support/stack-frames.ts'
export { transportFromText, transportOf } from './http/transport.ts'
export type { Transport } from './http/transport.ts'

// Send nothing to somebody who could be anybody.
export { isLoopback, mayCarrySecrets, verificationProblem } from './support/verification.ts'

// Watch it: what is on its diagnostics channels.
export type { LoginStep, StepTrace } from './tracing.ts'

// What can go wrong.
export * from './errors.ts'
