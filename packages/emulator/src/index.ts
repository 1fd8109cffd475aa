/**
 * The SSO service of the interface document and a small owner API, on loopback.
 */
export { startEmulator } from './start-emulator.ts'
export type { Emulator } from './switches/emulator.ts'
export type {
  ChangeableOptions,
  EmulatorOptions,
  FirewallOptions,
  StartOptions,
  Strictness,
} from './options/check-options.ts'
export {
  demoAccounts,
  type AccountOptions,
  type AccountSwitches,
  type FactorOptions,
  type Region,
} from './options/account-options.ts'
export type { EmulatorAccount } from './state/accounts.ts'
export type { Clock } from './state/clock.ts'
export type { Counters } from './state/counters.ts'
export type { Endpoint, Fault } from './faults/fault.ts'
export type { EmulatedResponse, Transform, TransformFailure } from './faults/transform.ts'
export { scenarios, type Scenario, type ScenarioName } from './switches/scenarios.ts'
export type { Firewall } from './state/firewall.ts'
export type { LoggedRequest } from './journal/exchange.ts'
export type { SignInTokens, TokenResponse } from './state/refresh-tokens.ts'
export type { SignInByHandOptions } from './service/sign-in-by-hand.ts'
export { startRecorder, type Recorder, type RecorderOptions } from './recorder/recorder.ts'
export { startReplay, type Replay, type ReplayOptions } from './recorder/replay.ts'
export type { Fixture } from './recorder/fixture.ts'
