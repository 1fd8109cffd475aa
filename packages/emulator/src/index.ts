/** The SSO service of the interface document and a small owner API, on loopback. */
export { startEmulator } from './start-emulator.ts'
export type { Emulator } from './emulator.ts'
export type {
  EmulatorOptions,
  FirewallOptions,
  HiddenInputsOptions,
  MfaPlace,
  PasscodePageOptions,
  Reuse,
  Rotation,
} from './options.ts'
export type { Strictness } from './strictness.ts'
export { DEMO_ACCOUNTS, type AccountOptions, type EmulatorAccount } from './accounts.ts'
export type { FactorOptions } from './factors.ts'
export type { Region } from './instances.ts'
export type { Clock } from './clock.ts'
export type { Counters } from './counters.ts'
export type { Endpoint, Fault } from './faults/fault.ts'
export type { Answer, Bend, BendFailure } from './faults/bent-answer.ts'
export type { LoggedRequest } from './journal/request-log.ts'
export type { SignInTokens, TokenResponse } from './refresh-tokens.ts'
