/**
 * The SSO service of the interface document and a small owner API, on loopback.
 */
export { startEmulator } from './start-emulator.ts'
export type { Emulator } from './emulator.ts'
export type {
  CaptchaKind,
  ChangeableOptions,
  EmulatorOptions,
  FactorListShape,
  FirewallOptions,
  FormAfterPasscode,
  FormerMfaPlace,
  HiddenInputsOptions,
  MfaPlace,
  PasscodePageOptions,
  Reuse,
  Rotation,
  StartOptions,
  SwitchableOptions,
} from './options/options.ts'
export type { CodeChallengeEncoding, Strictness } from './service/strictness.ts'
export {
  demoAccounts,
  /** @deprecated The name is `demoAccounts`; this one goes with the next minor version. */
  demoAccounts as DEMO_ACCOUNTS,
  type AccountOptions,
  type AccountSwitches,
} from './options/account-options.ts'
export type { EmulatorAccount } from './service/accounts.ts'
export type { FactorOptions } from './service/factors.ts'
export type { Region } from './service/instances.ts'
export type { Clock } from './service/clock.ts'
export type { Counters } from './service/counters.ts'
export type { Endpoint, Fault } from './faults/fault.ts'
export type { Answer, Bend, BendFailure, EmulatedResponse, Transform, TransformFailure } from './faults/transform.ts'
export {
  scenarios,
  /** @deprecated The name is `scenarios`; this one goes with the next minor version. */
  scenarios as SCENARIOS,
  type Scenario,
  type ScenarioName,
} from './switches/scenarios.ts'
export type { Firewall, FirewallClient } from './service/firewall.ts'
export type { LoggedRequest } from './journal/request-log.ts'
export type { SignInTokens, TokenResponse } from './service/refresh-tokens.ts'
export type { SignInByHandOptions } from './service/sign-in-by-hand.ts'
// Record and replay are a package of their own; these names go with the next minor version.
export {
  /** @deprecated Import it from `@owner-sso/recorder`. */
  startRecorder,
  /** @deprecated Import it from `@owner-sso/recorder`. */
  startReplay,
  /** @deprecated Import it from `@owner-sso/recorder`. */
  FixtureError,
  type Fixture,
  type Json,
  type Parameters,
  type RecordedAnswer,
  type RecordedBody,
  type RecordedExchange,
  type RecordedRequest,
  type Recorder,
  type RecorderOptions,
  type Replay,
  type ReplayOptions,
  type Shape,
} from '@owner-sso/recorder'
