/**
 * The switches: everything that the control API can change, as it stands, and the latest refusal of it.
 */
import type { VNode } from 'preact'
import { AccountSwitches } from './account-switches.tsx'
import type { Connection } from './connection.ts'
import { FaultSwitches } from './fault-switches.tsx'
import { OptionSwitches } from './option-switches.tsx'
import { ClockSwitches, FirewallSwitches, Scenarios } from './quick-switches.tsx'

export function SwitchesPanel({ connection: { state, problem, change } }: { readonly connection: Connection }): VNode {
  if (!state.value) return <p class="empty">Waiting for the emulator …</p>
  const props = { state: state.value, change }
  return (
    <>
      <p class="problem" role="alert">
        {problem.value}
      </p>
      <Scenarios {...props} />
      <ClockSwitches {...props} />
      <FirewallSwitches {...props} />
      <FaultSwitches {...props} />
      <AccountSwitches {...props} />
      <OptionSwitches {...props} />
    </>
  )
}
