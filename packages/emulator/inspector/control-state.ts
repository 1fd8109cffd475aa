/** `GET /_emulator/state`, as far as the switches need it (its shape is the control API's), and how a switch changes it. */

export interface OptionState {
  readonly value: unknown
  readonly initial: unknown
  readonly changeable: boolean
  /** What it takes, in words. */
  readonly expected: string
  /** The values it can have, where they are few. */
  readonly choices?: readonly unknown[]
  readonly about: string
}

export interface AccountState {
  readonly identity: string
  readonly region: 'home' | 'regional'
  readonly locked: boolean
  readonly captcha: boolean | 'after-submission'
}

export interface FaultState {
  readonly always: object | null
  readonly once: readonly object[]
}

export interface ScenarioState {
  readonly name: string
  readonly about: string
  readonly played: boolean
}

export interface ControlState {
  readonly authUrl: string
  readonly regionalAuthUrl: string
  readonly ownerApiUrl: string
  readonly clock: { readonly now: number; readonly offset: number; readonly frozen: boolean }
  readonly firewall: { readonly blockedUntil: number | null }
  readonly options: Readonly<Record<string, OptionState>>
  readonly accounts: readonly AccountState[]
  readonly faults: Readonly<Record<string, FaultState>>
  readonly failures: readonly { readonly where: string; readonly error: string }[]
  readonly scenarios: readonly ScenarioState[]
}

/** Asks for a change; every answer is the state that it led to. */
export type Change = (method: string, path: string, body?: unknown) => Promise<void>

/** What every group of switches is given. */
export interface SwitchesProps {
  readonly state: ControlState
  readonly change: Change
}
