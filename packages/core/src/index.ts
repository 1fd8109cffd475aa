/**
 * Signs vehicle owners in at the SSO service, and keeps one valid access token for each account: the flow of the interface
 * document, and the token manager's public names beside it.
 */

// Sign in.
export { createSso } from './login/create-sso.ts'
export { isCallback } from './login/browser-login.ts'
export { pastedAddress } from './steps/pasted-address.ts'
export type {
  AuthorizationRequest,
  BackupCodeAnswer,
  LoginOutcome,
  PasscodeAnswer,
  PasscodeSource,
  PendingLogin,
  Sso,
} from './login/sso.ts'
export type { SsoOptions } from './service/options.ts'
export { clientSecretIn } from './service/client.ts'
export {
  type CodeChallengeEncoding,
  serviceFromText,
  type ServiceName,
  serviceNames,
  type ServiceProfile,
  serviceProfile,
} from './service/profiles.ts'
export type { Credentials } from './steps/form-submission.ts'
export type { Factor } from './steps/mfa-factors.ts'
export type { RefreshOptions } from './steps/refresh.ts'
export type { AgreedTransport } from '@owner-sso/token-manager/http'
export type { TlsOptions, TlsVersion, TransportOption, TransportOptions } from '@owner-sso/token-manager/support'
export { accountName, identifyOwner, isSubjectAccount, ownerOfEmail, type TokenOwner } from './login/token-owner.ts'

export { challengeEncodingFromText, refreshFromEnvironment, ssoOptionsFromEnvironment } from './service/environment.ts'

// Watch a sign-in, and handle what can go wrong with it.
export type { LoginStep, StepTrace } from './tracing.ts'
export * from './errors.ts'

// Keep the tokens.
export * from '@owner-sso/token-manager'

// What adapters share.
export {
  checkOption,
  checkOptions,
  isLoopback,
  kinds,
  mayCarrySecrets,
  openTunnel,
  type OptionRow,
  type OptionRows,
  overdueAdvice,
  proxyOf,
  refusalAdvice,
  systemCode,
  type Transport,
  transportFromText,
  type TransportName,
  transportNames,
  transportOf,
  type TunnelFailure,
  type TunnelOutcome,
  type TunnelRequest,
  verificationProblem,
  whatCame,
  withBrackets,
  withoutBrackets,
} from '@owner-sso/token-manager/support'
export {
  secretFromText,
  emailFromText,
  settingFromText,
  textFromUtf8,
  typedCredential,
  typedEmail,
  unquoted,
} from './support/setting-text.ts'
export { visible } from './support/visible.ts'
export { ssoOptionRows, tokenUrlFromText } from './service/options.ts'
export { typedCode } from './login/factor-choice.ts'
