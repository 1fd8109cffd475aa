/**
 * What every group of switches is given: the state of the control API, and a way to change it.
 */
import type { ControlState } from '../src/control/state.ts'

/** Asks for a change; every answer is the state that it led to. */
export type Change = (method: string, path: string, body?: unknown) => Promise<void>

export interface SwitchesProps {
  readonly state: ControlState
  readonly change: Change
}
