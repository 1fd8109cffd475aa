// Sign in: the flow of the interface document.
export { createSso } from './create-sso.ts'
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
} from './sso.ts'
export type { TlsOptions, TlsVersion, TransportOption, TransportOptions } from './transport.ts'
export type { SharedBlocks } from './http/shared-blocks.ts'
export type { TokenSet } from './token-set.ts'
export { accountName, identifyOwner, isSubjectAccount, ownerOfEmail } from './token-owner.ts'
export type { TokenOwner } from './token-owner.ts'

// Keep it: one valid access token, one refresh.
export { createTokenManager } from './create-token-manager.ts'
export type { TokenManager, TokenManagerOptions, TokenStatus, WaitingSignIn } from './token-manager.ts'
export type { TokenManagerEvents } from './refresh-protocol/events.ts'
export { copyTokenSets } from './refresh-protocol/account-list.ts'
export { firewallRecordName } from './refresh-protocol/record-names.ts'
export { sealedTokenStore } from './sealed-token-store.ts'
export type { SealedTokenStoreOptions } from './sealed-token-store.ts'
export type { TokenRecord } from './token-record.ts'
export type { Conflict, SwapOptions, TokenStore, Versioned } from './token-store.ts'

// What its adapters share.
export { documentedLifetime } from './token-set.ts'
export { processStat } from './process-stat.ts'
export type { ProcessStat } from './process-stat.ts'
export { withEncryption } from './sealed-token-store.ts'
export type { EncryptionKey } from './sealed-token-store.ts'
export { startTimeLimit, timeLimitSignal } from './time-limit.ts'
export type { TimeLimitOptions } from './time-limit.ts'
export { stackFrames } from './stack-frames.ts'
export { transportFromText, transportOf } from './transport.ts'
export type { Transport } from './transport.ts'

// Send nothing to somebody who could be anybody.
export { isLoopback, mayCarrySecrets, verificationProblem } from './verification.ts'

// Watch it: what is on its diagnostics channels.
export type { LoginStep, StepTrace } from './tracing.ts'

// What can go wrong.
export * from './errors.ts'
