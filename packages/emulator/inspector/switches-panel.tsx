/**
 * The switches: everything that the control API can change, as it stands, and the latest refusal of it.
 */
import { useSignal, type Signal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'
import { call, controlState, Refusal } from './api.ts'
import type { ControlState } from '../src/control/state.ts'
import type { Change } from './switches-props.ts'
import { AccountSwitches } from './account-switches.tsx'
import { ClockSwitches, FirewallSwitches, Scenarios } from './quick-switches.tsx'
import { FaultSwitches } from './fault-switches.tsx'
import { OptionSwitches } from './option-switches.tsx'

/** Milliseconds; tests and the command line switch as well. */
const lookAgain = 2000

export function SwitchesPanel(): VNode {
  const state = useSignal<ControlState | undefined>(undefined)
  const problem = useSignal('')
  const change: Change = (method, path, body) => settle(call(method, path, body ?? {}), state, problem)

  useEffect(() => {
    const look = (): void => void settle(controlState(), state, problem, false)
    look()
    const looking = setInterval(look, lookAgain)
    return () => clearInterval(looking)
  }, [])

  const known = state.value
  return (
    <>
      <p class="problem" role="alert">
        {problem.value}
      </p>
      {!known && <p class="empty">Waiting for the emulator …</p>}
      {known && (
        <>
          <Scenarios state={known} change={change} />
          <ClockSwitches state={known} change={change} />
          <FirewallSwitches state={known} change={change} />
          <FaultSwitches state={known} change={change} />
          <AccountSwitches state={known} change={change} />
          <OptionSwitches state={known} change={change} />
        </>
      )}
    </>
  )
}

async function settle(
  asked: Promise<ControlState>,
  state: Signal<ControlState | undefined>,
  problem: Signal<string>,
  clearing = true,
): Promise<void> {
  try {
    state.value = await asked
    if (clearing) problem.value = ''
  } catch (error) {
    problem.value = error instanceof Refusal ? error.message : 'The emulator can’t be reached'
  }
}
